"""Counts of GPUs in what configures a run: the product of its batch sizes, and its remarks (``batch_size: 32  # 8 GPUs``)."""

from __future__ import annotations

import itertools
import re

from gpu_lol_action.analysis.documents.documented_phrases import card_phrases, gpu_number
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.run_configs import run_configs
from gpu_lol_action.analysis.runs.settings import Found, as_number, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "hardware.gpu_count"
USUAL_NODE, MOST_CARDS = 8, 64
MAX_LINES, MAX_LINE_CHARACTERS = 400, 300
MAX_STATEMENT_LINES, MAX_BATCHES, MAX_SAMPLES = 60, 20, 4096
_REMARK = regex(r"(?:^|\s)#\s?(.{4,200})$")
# "#   tune run --nproc_per_node 4 lora_finetune_distributed --config llama2/13B_lora": the command that a recipe tells on top.
_LAUNCHED = regex(r"\s--(?:nproc[_-]per[_-]node|num[_-]processes|num[_-]gpus)[ =](\d{1,2})(?=\s)")
# "# Config for 8 nodes, with GBS 128": of several machines each has all its cards at work.
_FOR_MACHINES = regex(
    r"\b(?:config(?:uration)?|recipe|example|script|settings?)\s+for\s+(?:[2-9]|[1-9]\d{1,2})\s+nodes\b", re.IGNORECASE
)
_SCALED, _EVALUATES = regex(r"auto_scale_lr\b"), regex(r"(?:\w{1,40}[._])?(?:val|test|eval)", re.IGNORECASE)
# `flags.DEFINE_integer('num_cores', 8, 'Number of TPU cores or number of GPUs.')`
_CORES = regex(r"[\"']num_cores[\"'],\s{0,40}(?:default=)?(\d{1,2}),\s{0,40}(?:help=)?[\"'][^\"'\n]{0,60}\bGPUs?\b")
_ASSIGNS = regex(r"[A-Za-z_]\w{0,80}\s{0,4}=")
# "1 GPU per process", "for each of the 2 GPUs of a node", "on more than one GPU": how the work is laid out, not on what; nor is it
# what was evaluated or failed.
_NOT_A_WORLD = regex(
    r"\bper\b|\beach\b|more than|fewer|less than|\bif\b|multi|single or|\bor\b|memory|out of|\bOOM\b|fail|crash|\bnot\b|n't\b|"
    r"debug|evaluat|\beval\b|\btest|infer|\be\.?g\.|example",
    re.IGNORECASE,
)


def _of_cores(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the cards of an option that counts a TPU's cores or cards, whichever is there; its own help says so."""
    told = as_number(run.options.get("num_cores", ""))
    for source in import_closure(checkout, run.script) if run.script is not None else ():
        found = _CORES.search(source.text) if source.mentions("num_cores") else None
        if found is not None:
            where = run.evidence if told else Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
            return _counted(told or int(found[1]), "`num_cores` counts cards where there is no TPU", where)
    return []


def noted_count(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the count per machine that a training's configuration tells besides the keys for it; none where it tells none."""
    if run.behavior is not Behavior.TRAINS:
        return []
    return _of_batches(checkout, run) or _of_scaled_rate(checkout, run) or _of_cores(checkout, run)


def _of_batches(checkout: Checkout, run: Run) -> list[Finding]:
    """Return DeepSpeed's number of cards: a batch for all is that of a card times its steps times their number."""
    for source in run_configs(checkout, run):
        if source.form is not Form.JSON or not source.mentions("train_micro_batch_size_per_gpu"):
            continue
        settings = {setting.path: setting for setting in read_settings(source)}
        numbers = [
            as_number(settings[name].text) if name in settings else missing
            for name, missing in (
                ("train_batch_size", None),
                ("train_micro_batch_size_per_gpu", None),
                ("gradient_accumulation_steps", 1),
            )
        ]
        batch, each, steps = numbers
        if batch and each and steps and batch % (each * steps) == 0:
            where = settings["train_batch_size"].evidence
            return _counted(
                batch // (each * steps), f"`train_batch_size` is {batch}, {each} times {steps} of each card", where
            )
    return []


def _of_scaled_rate(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the cards for which OpenMMLab's configuration chose its rate: the batch of all by that of one."""
    scope = scope_of(checkout, run)
    base = look_up_number(scope, ("base_batch_size",), 2, 65_536)
    # Elsewhere the word is what a rate is measured by, whatever the run's own batch.
    if base is None or base.confidence is not Confidence.HIGH or not _stands_under(checkout, base, _SCALED):
        return []
    batches = itertools.islice(scope.under(("samples_per_gpu", "batch_size")), MAX_BATCHES)
    each = next((found for found in batches if not _stands_under(checkout, found, _EVALUATES)), None)
    if each is None or each.confidence is not Confidence.HIGH:
        return []
    whole, part = as_number(base.text) or 0, as_number(each.text) or 0
    if not 0 < part <= MAX_SAMPLES:
        return []
    why = f"`base_batch_size` is {whole}, and a card takes {part}"
    return _counted(whole // part, why, base.evidence) if whole % part == 0 else []


def _stands_under(checkout: Checkout, found: Found, name: re.Pattern[str]) -> bool:
    """Whether a setting stands in a section of such a name: in a program that is what the statement around it assigns."""
    if name.match(found.setting.path):
        return True
    source = checkout.find(found.evidence.path)
    if source is None or source.form is not Form.PYTHON or found.evidence.line is None:
        return False
    above = source.text.split("\n")[max(0, found.evidence.line - MAX_STATEMENT_LINES) : found.evidence.line]
    return name.match(next((line for line in reversed(above) if _ASSIGNS.match(line)), "")) is not None


def _counted(count: int, why: str, where: Evidence) -> list[Finding]:
    if not 1 < count <= MOST_CARDS:
        return []
    return [Finding(FIELD, str(min(count, USUAL_NODE)), why, Confidence.MEDIUM, where)]


def remarked_count(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the first count that a remark in a training's configuration, or in its launch script above the command, names."""
    if run.behavior is not Behavior.TRAINS:
        return []
    for source in run_configs(checkout, run):
        is_config = source.form in {Form.YAML, Form.TOML} or (source.form is Form.PYTHON and source is not run.script)
        if is_config and (found := _in_remarks(source, MAX_LINES)) is not None:
            return [found]
    script = checkout.find(run.evidence.path) if run.command is not None else None
    if (
        script is not None
        and script.form is Form.SHELL
        and (found := _in_remarks(script, run.evidence.line or 1)) is not None
    ):
        return [found]
    return []


def _in_remarks(source: Source, last: int) -> Finding | None:
    for number, line in enumerate(source.text.split("\n")[: min(last, MAX_LINES)], 1):
        remark = _REMARK.search(line) if "#" in line and len(line) <= MAX_LINE_CHARACTERS else None
        if remark is None or _NOT_A_WORLD.search(remark[1]):
            continue
        launched = _LAUNCHED.search(remark[1])
        count = as_number(launched[1]) if launched is not None else None
        count = count or next((card.count for card in card_phrases(remark[1]) if card.count), None)
        count = count or gpu_number(remark[1]) or (USUAL_NODE if _FOR_MACHINES.search(remark[1]) else None)
        if count is not None and count <= USUAL_NODE:
            why = f"a remark in what configures the run names {count} {'GPU' if count == 1 else 'GPUs'}"
            return Finding(FIELD, str(count), why, Confidence.LOW, Evidence(source.path, number))
    return None
