"""Which run of the base is which of the head."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.answer.touched import Touched
from gpu_lol_action.domain.analysis import Analysis, Profile

Pair = tuple[Profile | None, Profile | None]


def _runs(analysis: Analysis) -> tuple[Profile, ...]:
    return (*((analysis.first,) if analysis.first is not None else ()), *analysis.profiles)


def paired_runs(base: Analysis, head: Analysis) -> list[Pair]:
    """Return which run of the base is which of the head: the same program and name, then name, then program, then its stem."""
    left = list(_runs(base))
    waiting = list(_runs(head))
    pairs: list[Pair] = []
    for is_same in (_is_same_run, _has_same_name, _has_same_program, _has_same_stem):
        for run in list(waiting):
            match = next((other for other in left if is_same(other, run)), None)
            if match is not None:
                left.remove(match)
                waiting.remove(run)
                pairs.append((match, run))
    first = base.first if base.first in left else None
    if head.first in waiting and first is not None:
        # Both first runs are without a partner: what was provisioned for then and now, whatever they are called.
        left.remove(first)
        waiting.remove(head.first)
        pairs.append((first, head.first))
    return [*pairs, *((None, run) for run in waiting), *((run, None) for run in left)]


def with_touched(pairs: Sequence[Pair], touched: Touched) -> list[Pair]:
    """Return pairs with the runs that neither answer shows and the change touches.

    Such a run of the base only serves to be compared with: what goes of sixty programs changes nobody's machine. One of the
    head that came counts if a script or a page starts it or what it needs is known: of others too little is.
    """
    lone = [old for old, new in pairs if new is None and old is not None]
    found = list(pairs)
    for run in touched.head:
        match = next(
            (old for old in (*lone, *touched.base) if _has_same_program(old, run) and _is_alike(old, run)), None
        )
        if match is not None:
            found = [pair for pair in found if pair != (match, None)]
            found.append((match, run))
        elif run.name in touched.came and (run.breakdown is not None or run.evidence.path != run.program):
            found.append((None, run))
    return found


def _is_alike(one: Profile, other: Profile) -> bool:
    """Whether the same file starts both, or they have the same name."""
    return one.evidence.path == other.evidence.path or one.name == other.name


def _is_same_run(one: Profile, other: Profile) -> bool:
    return (one.name, one.program) == (other.name, other.program)


def _has_same_name(one: Profile, other: Profile) -> bool:
    return one.name == other.name


def _has_same_program(one: Profile, other: Profile) -> bool:
    return bool(one.program) and one.program == other.program


def _has_same_stem(one: Profile, other: Profile) -> bool:
    return bool(one.program) and one.program.rpartition("/")[2] == other.program.rpartition("/")[2]
