"""Why a run needs more or less than before: each finding that differs is set back alone, and the memory is computed again.

What the memory model says without one change is by definition what that change does; which line of a breakdown moved most
is not: a longer sequence moves activations, logits and cache at once, and a larger model all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.memory.memory_need import memory_need
from gpu_lol_action.domain.change import Cause, RunNeed, is_more
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.estimation.known_models import ModelFacts

MOST_SET_BACK = 24
"""Findings that are tried: each costs a millisecond or two, and a rewrite of a whole program has no single cause."""
MOST_CAUSES = 4
LEAST_GIB = 0.05

# What a run's memory follows from. Documentation counts as one: its statements are weighed together.
_ASKED = (
    "model.",
    "training.",
    "media.",
    "serving.",
    "hardware.gpu_count",
    "hardware.num_nodes",
    "workload",
    "gpu.use",
)
_DOCUMENTED = "documented"
# Where nothing can be computed, these speak for a need before others do.
_ORDER = (
    "model.id",
    "model.",
    "training.method",
    "training.",
    "hardware.",
    "serving.",
    "media.",
    "documented",
    "workload",
    "entry_point",
)
_COUNTED_FROM = frozenset({"training.batch_spread", "training.batch_tokens"})


@record(frozen=True, slots=True)
class Weighed:
    """A run as it is compared: its findings (those of the tree may be among them) and what they came to."""

    findings: tuple[Finding, ...]
    need: RunNeed


def need_as_said(findings: tuple[Finding, ...], known: Mapping[str, ModelFacts]) -> RunNeed:
    """Return what a run needs as it is written, whether any card holds that or not."""
    kind = _kind(findings)
    return _computed(findings, kind, known) if kind is not None else RunNeed(0, None, None)


def select_causes(base: Weighed, head: Weighed, known: Mapping[str, ModelFacts]) -> tuple[Cause, ...]:
    """Return what explains the difference, what pushes in its direction first; ``evidence`` is each finding's own place."""
    changed = [cause for field in _fields(base.findings, head.findings) for cause in _changed(base, head, field)]
    if not changed:
        return ()
    kind = _kind(head.findings)
    if kind is None or head.need.gpu_count == 0 or base.need.gpu_count == 0:
        return tuple(sorted(changed, key=_weight)[:MOST_CAUSES])
    here = _computed(head.findings, kind, known)
    direction = -1 if is_more(head.need, base.need) else 1
    measured = []
    for cause in changed[:MOST_SET_BACK]:
        without = _computed(_set_back(head.findings, base.findings, cause.finding.field), kind, known)
        measured.append((_push(here, without) * direction, _with_effect(cause, here, without)))
    telling = [pair for pair in measured if abs(pair[0]) > 0]
    if not telling:
        return tuple(sorted(changed, key=_weight)[:MOST_CAUSES])
    telling.sort(key=lambda pair: (pair[0] < 0, -abs(pair[0]), _weight(pair[1])))
    return tuple(cause for _, cause in telling[:MOST_CAUSES])


def _fields(base: tuple[Finding, ...], head: tuple[Finding, ...]) -> Iterable[str]:
    names = dict.fromkeys(finding.field for finding in (*head, *base))
    asked = [name for name in names if name.startswith(_ASKED) and name not in _COUNTED_FROM]
    stated = [name for name in names if name.startswith(_DOCUMENTED)]
    return (*asked, *stated, *(name for name in names if name == "entry_point"))


def _changed(base: Weighed, head: Weighed, field: str) -> list[Cause]:
    old, new = best(base.findings, field), best(head.findings, field)
    if new is not None and (old is None or old.value != new.value):
        return [Cause(new, old.value if old is not None else None, new.value, new.evidence)]
    if new is None and old is not None:
        return [Cause(old, old.value, None, old.evidence)]
    return _other_statements(base, head, field) if field.startswith(_DOCUMENTED) else []


def _other_statements(base: Weighed, head: Weighed, field: str) -> list[Cause]:
    """Return the first statement that only one side has: a table may tell of several cards, and the surest stay as they are."""
    before, after = ({item.value: item for item in side.findings if item.field == field} for side in (base, head))
    came = [Cause(item, None, value, item.evidence) for value, item in after.items() if value not in before]
    went = [Cause(item, value, None, item.evidence) for value, item in before.items() if value not in after]
    return [*came, *went][:1]


def _set_back(head: tuple[Finding, ...], base: tuple[Finding, ...], field: str) -> tuple[Finding, ...]:
    """Return the head's findings with those of a field as they were; documentation is set back as a whole."""
    if field.startswith(_DOCUMENTED):
        return (
            *(item for item in head if not item.field.startswith(_DOCUMENTED)),
            *(item for item in base if item.field.startswith(_DOCUMENTED)),
        )
    return (*(item for item in base if item.field == field), *(item for item in head if item.field != field))


def _computed(findings: tuple[Finding, ...], kind: WorkloadType, known: Mapping[str, ModelFacts]) -> RunNeed:
    if (_kind(findings) or kind) is WorkloadType.CPU_ONLY:
        return RunNeed(0, None, None)
    need = memory_need(findings, kind, known, is_as_said=True)
    expected = need.breakdown.expected_gib if need.breakdown is not None else None
    return RunNeed(need.gpu_count, need.required_gib, expected)


def _push(here: RunNeed, without: RunNeed) -> float:
    """Return how strongly a change pushes up (positive) or down: in memory per card, else in what is asked of one, and in cards."""
    count = math.log(max(here.gpu_count, 1) / max(without.gpu_count, 1))
    with_it, alone = here.expected_gib, without.expected_gib
    if with_it is not None and alone is not None and abs(with_it - alone) >= LEAST_GIB:
        return math.log(max(with_it, LEAST_GIB) / max(alone, LEAST_GIB)) + count
    if (here.expected_gib is None) is not (without.expected_gib is None):
        # A model that is recognized, or not any more: the figure rests on that, whatever it is.
        return math.copysign(10.0, here.total_gib - without.total_gib)
    asked = math.log(max(here.required_gib or 1, 1) / max(without.required_gib or 1, 1))
    return asked + count


def _with_effect(cause: Cause, here: RunNeed, without: RunNeed) -> Cause:
    if here.expected_gib is None or without.expected_gib is None or here.gpu_count != without.gpu_count:
        return cause
    effect = round(here.expected_gib - without.expected_gib, 2)
    return Cause(cause.finding, cause.old_value, cause.new_value, cause.evidence, effect)


def _kind(findings: tuple[Finding, ...]) -> WorkloadType | None:
    found = best(findings, "workload")
    return WorkloadType(found.value) if found is not None else None


def _weight(cause: Cause) -> tuple[int, int, str]:
    field = cause.finding.field
    place = next((index for index, prefix in enumerate(_ORDER) if field.startswith(prefix)), len(_ORDER))
    return place, -cause.finding.confidence, field
