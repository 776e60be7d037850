"""A run's cheaper configurations, through the same memory model, each with the line that would be edited."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from gpu_lol_action.analysis.documents.silent_documents import SILENCE
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.memory.machine_need import MemoryNeed
from gpu_lol_action.analysis.training.placement import need_of
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.what_if import Alternative, Lever, LineEdit
from gpu_lol_action.estimation.levers import Variant, tried
from gpu_lol_action.estimation.vram import VramQuestion, estimate_vram

LEAST_GIB = 2
REACH = 40
"""Lines of a statement in which the argument is looked for that a finding at its first line means."""

# The findings that say what a lever changes, the nearest first.
_SAID = {
    Lever.HALF_PRECISION: ("training.precision", "model.weight_bits"),
    Lever.HALF_BATCH: ("training.batch_size",),
    Lever.EIGHT_BIT_OPTIMIZER: ("training.optimizer",),
    Lever.CHECKPOINTING: ("training.gradient_checkpointing",),
    Lever.SHARDING: ("training.sharding", "hardware.gpu_count", "entry_point"),
    Lever.LORA: ("training.method", "model.id"),
    Lever.QLORA: ("model.weight_bits", "training.method", "model.id"),
    Lever.EIGHT_BIT_WEIGHTS: ("model.weight_bits", "model.id"),
    Lever.FOUR_BIT_WEIGHTS: ("model.weight_bits", "model.id"),
}
# A switch or a word that stands for the lever's other state, by lever: only then is one literal all that is to be edited.
_WORDS = {
    Lever.CHECKPOINTING: (("False", "True"), ("false", "true")),
    Lever.HALF_PRECISION: (("float32", "bfloat16"), ("fp32", "bf16")),
    Lever.QLORA: (("False", "True"), ("false", "true")),
    Lever.EIGHT_BIT_OPTIMIZER: (
        ("adamw_torch_fused", "adamw_bnb_8bit"),
        ("adamw_torch", "adamw_bnb_8bit"),
        ("adamw_hf", "adamw_bnb_8bit"),
    ),
}
_NAMED = regex(r"`([^`\s]{1,80})`")


def alternatives(
    checkout: Checkout, findings: tuple[Finding, ...], need: MemoryNeed, asked: VramQuestion, computed: MemoryBreakdown
) -> tuple[Alternative, ...]:
    """Return the configurations that need less memory on all cards together or on each, one lever each, then two harmless ones.

    ``computed`` is what the run needs as it is: where documentation was weighed against the sum, each other sum is corrected
    by as much.
    """
    if computed.weighed is not None and computed.weighed.field == SILENCE:
        return ()  # the sum was not believed, and what a lever makes of it says as little
    plain = estimate_vram(asked)
    is_same_count = asked.gpu_count == need.gpu_count
    # What lies on the card beside this model's own sum stays there whichever lever is pulled; and what was asked for over or
    # under the sum, because documentation says so or a model was only assumed, is asked for in proportion.
    beside = max(computed.expected_gib - plain.expected_gib, 0.0) if is_same_count else 0.0
    required = need.saved.required_gib if need.saved is not None else computed.required_gib
    ratio = required / (need_of(plain) + beside) if is_same_count else 1.0
    reader = _Reader(checkout, findings, beside, ratio)
    if need.saved is not None:
        # Other configurations start from the run as it is written, so that to say what was assumed is one of them.
        found = (reader.alternative(levers, variant) for levers, variant in tried(need.saved.unsaved))
        return tuple(each for each in found if each.required_gib < computed.required_gib)
    found = (reader.alternative(levers, variant) for levers, variant in tried(asked, need.written_batch))
    most = computed.expected_gib * reader.shrink
    return tuple(
        each for each in found if each.expected_gib < most or each.expected_gib * each.gpu_count < most * need.gpu_count
    )


@record(frozen=True, slots=True)
class _Reader:
    checkout: Checkout
    findings: tuple[Finding, ...]
    beside_gib: float
    ratio: float

    @property
    def shrink(self) -> float:
        """By how much a sum is shown smaller than it is: where a run is said to fit less than it, half of it fits half of that."""
        return min(self.ratio, 1.0)

    def alternative(self, levers: tuple[Lever, ...], variant: Variant) -> Alternative:
        """Return what a variant needs, and where it would be written."""
        breakdown = estimate_vram(variant.question)
        required = (need_of(breakdown) + self.beside_gib) * self.ratio
        said = next((item for field in _SAID[levers[0]] if (item := best(self.findings, field)) is not None), None)
        edit = _edit(self.checkout, said, variant.lever) if said is not None and len(levers) == 1 else None
        return Alternative(
            levers=levers,
            words=variant.words,
            setting=variant.setting,
            costs=variant.costs,
            expected_gib=round((breakdown.expected_gib + self.beside_gib) * self.shrink, 2),
            required_gib=max(LEAST_GIB, math.ceil(required - 0.05)),
            gpu_count=variant.question.gpu_count,
            evidence=said.evidence if said is not None and said.evidence.path else None,
            edit=edit,
        )


def _edit(checkout: Checkout, said: Finding, lever: Lever) -> LineEdit | None:
    """Return the line with the one literal changed; None where more than that would have to be written, or it is not clear which."""
    source = checkout.find(said.evidence.path)
    if source is None or source.form is Form.NOTEBOOK or not said.evidence.line or lever not in _WORDS:
        return None
    lines = source.text.split("\n")
    keys = [word.lstrip("-") for word in _NAMED.findall(said.why)]
    numbers = range(said.evidence.line, min(said.evidence.line + REACH, len(lines) + 1))
    edits = list(dict.fromkeys(_edited(lines, numbers, keys, _WORDS[lever])))
    if len({line for line, _ in edits}) != 1:
        return None
    line, new = edits[0]
    return LineEdit(said.evidence.path, line, lines[line - 1], new)


def _edited(
    lines: list[str], numbers: Iterable[int], keys: list[str], words: tuple[tuple[str, str], ...]
) -> Iterator[tuple[int, str]]:
    """Yield each line on which a key stands before one of the words alone, with the word's other in its place."""
    for number in numbers:
        text = lines[number - 1]
        for key in keys:
            for old, new in words:
                # Between name and value: an option's type and help may stand, but no other name's value.
                pattern = rf"(?<![\w])({re.escape(key)}[\"']?\s*(?::\s*[\w\[\]., ]+=|[=:]|\s)\s*[\"']?(?:torch\.)?){re.escape(old)}(?![\w.])"
                edited, count = re.subn(pattern, rf"\g<1>{new}", text)
                if count == 1:
                    yield number, edited
                    break
