"""What a name stands for that a program compares with words: an option, a constant, what the calls of a function give it.

``build("sdxl")`` decides ``if name == "sdxl":`` in ``def build(name):``; what stands in its other branches is no run's.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.programs.dead_branches import TASKS, compared_blocks, dead_lines
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.programs.local_values import givens, parameters_of
from gpu_lol_action.analysis.programs.main_guards import started_alone
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import scope_of, values_of

MAX_CHOICES, MAX_FUNCTIONS = 20, 12
"""Names of one program that are followed, and functions that take one."""


def unreached(checkout: Checkout, run: Run, source: Source) -> tuple[Collection[int], ...]:
    """Return the lines of a program of the run, from 1, to which the run does not come."""
    values = values_of(checkout, run)
    names = list(itertools.islice(_compared(source, frozenset(values)), MAX_CHOICES))
    if names:
        tiers = scope_of(checkout, run).tiers
        follower = Follower(tiers[0][1], tiers[1][1], import_closure(checkout, run.script) if run.script else ())
        told = ((name, _told(follower, source, name)) for name in names)
        values = {**{fold_key(name): text for name, text in told if text is not None}, **values}
    alone = frozenset[int]() if source is run.script else started_alone(source)
    return (alone, *dead_lines(source, values))


def _compared(source: Source, known: frozenset[str]) -> Mapping[str, None]:
    """Return the names of a program that it compares with words, where nothing else is called alike and no option tells it."""
    wanted = {name for name, _, _ in compared_blocks(source)} - known - TASKS
    spelled: dict[str, set[str]] = {}
    for name in _names(source) if wanted else ():
        if fold_key(name) in wanted:
            spelled.setdefault(fold_key(name), set()).add(name)
    return {name: None for names in spelled.values() if len(names) == 1 for name in names if not _varies(source, name)}


@remembered
def _names(source: Source) -> tuple[str, ...]:
    functions = source.code.signatures if source.code is not None else {}
    taken = (word for function in functions for word in parameters_of(source, function))
    return tuple(dict.fromkeys((*givens(source), *taken)))


def _varies(source: Source, name: str) -> bool:
    return any(source.mentions(words) for words in (f"for {name} in", f"global {name}", f"as {name}:"))


def _told(follower: Follower, source: Source, name: str) -> str | None:
    """Return what a name is wherever it stands in the program; None where that is not told in one way."""
    if source.code is None:
        return None
    functions = [each for each in source.code.signatures if name in parameters_of(source, each)]
    if len(functions) > MAX_FUNCTIONS:
        return None
    mine = [each for each in givens(source).get(name, ()) if not each.is_parameter]
    if functions and not mine:
        found = {follower.given(source, function, name) for function in functions}
    else:
        found = {follower.text(source, each.value, each.owner) for each in mine} if not functions else set()
    return found.pop() if len(found) == 1 else None
