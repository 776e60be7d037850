"""Counts of GPUs that stand beside a training program which can be spread: what lies ready for a launcher, what submits it."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.launcher_configs import accelerate_configs
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.formats.told_numbers import USUAL_NODE
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_FIELD = "hardware.gpu_count"
_OF_CONFIGS = regex(r"conf|accelerate|deepspeed|recipe|setting|launch|script", re.IGNORECASE)
_PER_MACHINE = ("ngpus", "num_gpus_per_node", "gpus_per_node", "ngpus_per_node", "num_gpus", "gpus")
MAX_DOCUMENTS = 10
_OPEN = regex(
    r"(?:python3?|torchrun|accelerate\s+launch|deepspeed)[ \t]+(?:-{1,2}[\w.-]{1,40}(?:[= ][^\s<\[-]\S{0,40})?[ \t]+){0,8}(?:\[[A-Za-z][\w ./-]{1,40}\]|<[A-Za-z][\w ./-]{1,40}>|(?:\.?/)?path/to/\S{1,80})[^\n]{0,200}"
)
_CARDS = regex(r"--(?:gpus|num[_-]gpus|devices|nproc[_-]per[_-]node|num[_-]processes)[ =](\d{1,2})(?![\d,.])")
_EVALUATES = regex(
    r"\s-e\s|\s-{1,2}(?:eval|test|infer|predict)|evaluat|(?<![a-z])(?:test|eval|infer|demo)", re.IGNORECASE
)


def counts_beside(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the count that a file beside the run's program says; none where none does."""
    return _prepared(checkout, run) or _submitted(checkout, run) or _listed_hosts(run)


def _prepared(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the processes of the configuration that lies ready for ``accelerate``."""
    is_told = run.command is not None and not run.command.is_divided
    if is_told:
        return []
    folder = run.script.folder if run.script is not None else ""
    near = [source for source in accelerate_configs(checkout) if _is_beside(source, folder)]
    for source in near[:1]:
        settings = {setting.key: setting for setting in read_settings(source)}
        count, machines = (
            as_number(settings[key].text) if key in settings else None for key in ("num_processes", "num_machines")
        )
        if count is not None and 1 < count <= 64:
            why = f"`num_processes` is {count} in the configuration that lies ready for `accelerate`"
            number = max(1, count // max(1, machines or 1))
            return [Finding(_FIELD, str(number), why, Confidence.LOW, settings["num_processes"].evidence)]
    return []


def _is_beside(source: Source, folder: str) -> bool:
    """Whether a file lies in the program's folder or above it, or in a folder of configurations there: what lies in another part of the tree is another program's."""
    places = source.folder.split("/") if source.folder else []
    while places and _OF_CONFIGS.search(places[-1]):
        places.pop()
    place = "/".join(places)
    return not place or folder == place or folder.startswith(f"{place}/")


def _submitted(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the GPUs per machine that the program beside it asks for which hands it to a cluster (submitit)."""
    script = run.script
    if script is None:
        return []
    for source in checkout.of(Form.PYTHON):
        if source.folder != script.folder or source is script or not source.mentions("submitit") or source.code is None:
            continue
        if script not in import_closure(checkout, source):
            continue
        for default in source.code.defaults:
            count = as_number(default.text) if default.name in _PER_MACHINE else None
            if count is not None and 1 < count <= 16:
                why = f"`{default.name}` is {count} in what hands the program to a cluster"
                return [Finding(_FIELD, str(count), why, Confidence.LOW, Evidence(source.path, default.line))]
    return []


def left_open(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the cards of a documented command that leaves open which program it starts, where none starts the run's own: ``python [EXP_PATH] --gpus 8``."""
    if run.command is not None:
        return []
    for source in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))[:MAX_DOCUMENTS]:
        if source.depth > 0 and source.folder != "docs":
            continue
        for found in _OPEN.finditer(source.text):
            number = _CARDS.search(found[0])
            if number is None or _EVALUATES.search(found[0]) or not 1 < int(number[1]) <= USUAL_NODE:
                continue
            why = f"`{number[0].strip()}` is given where any program is started"
            where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
            return [Finding(_FIELD, number[1], why, Confidence.LOW, where)]
    return []


def _listed_hosts(run: Run) -> list[Finding]:
    """Return a whole machine where a launcher takes its machines from a list of hosts: of each it starts all cards, and such have eight as a rule."""
    command = run.command
    hosts = command.options.get("hostfile", "").strip("\"'") if command is not None and command.is_launcher else ""
    if hosts in {"", "None", "/dev/null", "True"}:
        return []
    why = f"the machines of `{hosts}` are taken with all their cards, {USUAL_NODE} as a rule"
    return [Finding(_FIELD, str(USUAL_NODE), why, Confidence.LOW, run.evidence)]
