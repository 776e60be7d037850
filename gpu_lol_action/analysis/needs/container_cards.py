"""What containers are given a card, where no program of the checkout tells of any: by Docker Compose's file, or as a document starts them."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.cluster_orders import tells_of_training
from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.formats.texts import without_comment
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# A variant beside them (`docker-compose.gpu.yml`) is for those who have one.
_FILES = frozenset({"docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"})
_RESERVES = regex(
    r"^[ \t-]{0,80}(?:driver:[ \t]{0,9}[\"']?nvidia|runtime:[ \t]{0,9}[\"']?nvidia|capabilities:[ \t]{0,9}\[[^\]\n]{0,60}\bgpu\b|-[ \t]{1,9}gpu[ \t]{0,9}$)",
    re.MULTILINE,
)
_GIVEN = regex(r"(?<![\w-])--gpus[ =](?:all\b|[\"']?device=|[1-9])|--runtime[ =]nvidia\b|\bnvidia-docker run\b")
_DOCKER = regex(r"\b(?:docker|podman) (?:container )?run\b|\bnvidia-docker run\b")
_ALONE = regex(
    r"(?:cd [\w./-]{1,100} && )?(?:(?:sudo|exec|time|nohup|-[A-Za-z]{1,4}|[A-Za-z_]\w{0,40}=[\w./:-]{0,100}) ){0,6}(?:docker|podman|nvidia-docker) (?:container )?run\b"
)
_STARTS = "starts a container with a GPU"
MAX_DOCUMENTS, MAX_HELPERS, MAX_BEFORE = 20, 3, 400
MAX_LINES, MAX_COMMAND = 4000, 4000


def container_need(checkout: Checkout) -> Finding | None:
    """Return that a checkout of containers alone, without a list of packages of its own, has them given a GPU; else None."""
    return _compose_need(checkout) or _started_with_a_card(checkout)


def served_on_a_card(checkout: Checkout, run: Run | None) -> Finding | None:
    """Return that the services' file at the root reserves a GPU and has a server of models started, where that is the run; else None."""
    if run is None or run.script is not None or run.command is None or not run.command.is_tool:
        return None
    source = checkout.by_path.get(run.evidence.path)
    if source is None or source.depth > 0 or source.name not in _FILES or not _RESERVES.search(source.text):
        return None
    why = f"`{source.name}` reserves a GPU and has `{run.shown}` started"
    return Finding("gpu.use", "yes", why, Confidence.MEDIUM, run.evidence)


def container_workload(checkout: Checkout, need: Finding) -> Finding | None:
    """Return what a document has containers with a card do, told by what it speaks of more; None where they were not started by one."""
    source = checkout.by_path.get(need.evidence.path)
    if source is None or (source.form is not Form.MARKDOWN and not need.why.endswith(_STARTS)):
        return None
    kind = "training" if tells_of_training(source.text) else "inference"
    return Finding("workload", kind, f"{need.why}, and tells mostly of {kind}", Confidence.LOW, need.evidence)


def _started_with_a_card(checkout: Checkout) -> Finding | None:
    """Return where a document or a script starts a container with a card, beside at most a few helpers that import nothing for one."""
    if declared_packages(checkout) or len(checkout.of(Form.PYTHON, Form.NOTEBOOK)) > MAX_HELPERS:
        return None
    for source in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))[:MAX_DOCUMENTS]:
        for found in _GIVEN.finditer(source.text) if _DOCKER.search(source.text) is not None else ():
            # Over as many lines as the command goes on.
            before = source.text[max(0, found.start() - MAX_BEFORE) : found.end()].replace("\\\n", " ").split("\n")[-1]
            if _DOCKER.search(before) is not None:
                where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
                why = f"`{source.name}` {_STARTS}"
                return Finding("gpu.use", "yes", why, Confidence.MEDIUM, where)
    for source in checkout.of(Form.SHELL)[:MAX_DOCUMENTS]:
        if _DOCKER.search(source.text) is not None and (line := _started_by(source)) is not None:
            why = f"`{source.name}` {_STARTS}"
            return Finding("gpu.use", "yes", why, Confidence.MEDIUM, Evidence(source.path, line))
    return None


def _started_by(script: Source) -> int | None:
    """Return the line on which a script starts a container with a card whenever it is run: no remark, no echo, nothing indented, and not to look for one alone."""
    first, command = 0, ""
    for number, line in enumerate(script.text.splitlines()[:MAX_LINES], 1):
        first, command = (first, command) if command else (number, "")
        command = f"{command} {line.removesuffix(chr(92))}"[:MAX_COMMAND]
        if line.endswith("\\"):
            continue
        told = without_comment(command[1:])
        if _ALONE.match(told) is not None and _GIVEN.search(told) is not None and "nvidia-smi" not in told:
            return first
        command = ""
    return None


def _compose_need(checkout: Checkout) -> Finding | None:
    """Return that the services' file at the root reserves a GPU, where there is no program that is started; else None."""
    source = next((s for s in checkout.of(Form.YAML) if s.depth == 0 and s.name in _FILES), None)
    found = _RESERVES.search(source.text) if source is not None else None
    if source is None or found is None or declared_packages(checkout):
        return None
    if any(program.code is not None and program.code.has_main for program in checkout.of(Form.PYTHON)):
        return None
    where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
    return Finding("gpu.use", "yes", f"`{source.name}` reserves a GPU for its containers", Confidence.MEDIUM, where)
