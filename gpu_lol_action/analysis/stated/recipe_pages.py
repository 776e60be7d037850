"""Pages that tell on how many cards a training was done whose program lies elsewhere, where nothing here computes on a card.

Two kinds: a page beside no program at all, which tells again and again of several cards of a kind; and a recipe, which starts the training
program of another project (``python3 [FAIRSEQ]/train.py``) and says on how many GPUs.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.commands.cluster_orders import tells_of_training
from gpu_lol_action.analysis.commands.command_verbs import TRAINING_TARGET
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.analysis.stated.documented_counts import per_machine, speaks_of_training
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

LEAST_TOLD = 3
# Another project's folder, whose place the reader puts in: `[FAIRSEQ]/train.py`, `<nemo>/train.py`, `$KALDI_ROOT/train.py`.
_OF_ANOTHER = regex(r"(?:\[[\w -]{1,40}\]|<[\w -]{1,40}>|\$\{?\w{1,40}\}?)/\S{0,100}")
_LINK = regex(r"https?://")


def told_by_pages(checkout: Checkout) -> list[Finding]:
    """Return that a training is what the pages tell of, and its number of cards; [] where they tell of none."""
    stated = documented.detect(checkout, None)
    counts = [f for f in stated if f.field == "documented.gpu_count"]
    if not checkout.of(Form.PYTHON, Form.NOTEBOOK, Form.SHELL, Form.YAML, Form.JSON):
        sure = [f for f in counts if f.confidence >= Confidence.MEDIUM and int(f.value) > 1]
        page = checkout.find(sure[0].evidence.path) if sure else None
        if len(sure) < LEAST_TOLD or page is None or not tells_of_training(page.text):
            return []
        if not _are_one_projects(stated, sure, page.text.split("\n")):
            return []
        return _told(sure[0])
    if not counts or not any(
        command.is_documented and _OF_ANOTHER.fullmatch(command.target) and TRAINING_TARGET.search(command.target)
        for command in launch_commands(checkout)
    ):
        return []
    said = next((finding for finding in counts if speaks_of_training(checkout, finding.evidence)), None)
    return _told(said) if said is not None else []


def _are_one_projects(stated: list[Finding], sure: list[Finding], lines: list[str]) -> bool:
    """Whether the numbers are told of cards of one kind, and not in a list of others' works, each with a link to it."""
    places = {finding.evidence for finding in sure}
    kinds = {f.value for f in stated if f.evidence in places and f.field.endswith("card")}
    linked = sum(
        _LINK.search(lines[place.line - 1]) is not None for place in places if 0 < (place.line or 0) <= len(lines)
    )
    return len(kinds) <= 1 and 2 * linked <= len(places)


def _told(count: Finding) -> list[Finding]:
    why = f"{count.why} for a training whose program is not here"
    said = Finding("workload", "training", why, Confidence.LOW, count.evidence)
    return [said, replace(per_machine(count), field="hardware.gpu_count", confidence=Confidence.LOW)]
