"""Runs beside the eight that a checkout is known by: of what a change touches, and by their names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form, form_of
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import (
    Run,
    configured_runs,
    documented_runs,
    looked_up,
    program_runs,
)
from gpu_lol_action.analysis.runs.entry_points import programs as programs_of
from gpu_lol_action.analysis.runs.run_kinds import is_beside, is_variant
from gpu_lol_action.analysis.runs.run_levels import is_library, levels_of
from gpu_lol_action.analysis.runs.run_names import run_names

MAX_TOUCHED = 4
MAX_LOOKED_INTO = 60
"""Programs that are looked into for them: a first commit touches all there are."""


def touched_runs(
    checkout: Checkout, paths: Collection[str], known: Sequence[Run], programs: Collection[str] | None = None
) -> tuple[Run, ...]:
    """Return runs whose program, launch script or configuration is among the paths, beside the known ones; at most four, named.

    A program that is known already counts again only where a script that starts it is touched: that is a run of its own. With
    ``programs`` only runs of these are looked at.
    """
    seen = {kind for run in known for kind in (_kind(run, ()), _kind(run, paths))}
    found: list[Run] = []
    for run in islice(_touched(checkout, paths), MAX_LOOKED_INTO):
        kind = _kind(run, paths)
        is_asked = programs is None or (run.script.path if run.script is not None else "") in programs
        if kind in seen or not is_asked or is_variant(run):
            continue
        seen.add(kind)
        started = looked_up(checkout, run)
        if started is not None and started.behavior is not Behavior.NEITHER:
            found.append(started)
        if len(found) >= MAX_TOUCHED:
            break
    names = run_names((*known, *found))[len(known) :]
    return tuple(replace(run, name=name) for run, name in zip(found, names, strict=True))


def run_called(checkout: Checkout, name: str, known: Sequence[Run]) -> Run | None:
    """Return the run of that name beside the known ones: of what commands, configurations and programs start, the first."""
    levels = levels_of(checkout)
    alone = program_runs(source for source in programs_of(checkout) if not is_library(checkout, levels, source))
    for run in (*documented_runs(checkout), *configured_runs(checkout), *alone):
        if run_names((*known, run))[-1] != name:
            continue
        started = looked_up(checkout, run)
        if started is not None and started.behavior is not Behavior.NEITHER:
            return replace(started, name=name)
    return None


def is_program(checkout: Checkout, path: str) -> bool:
    """Whether there is a program at that path which trains or runs a model when it is started by itself."""
    source = checkout.find(path)
    if source is None or source.code is None or is_library(checkout, levels_of(checkout), source):
        return False
    started = looked_up(checkout, program_runs([source])[0])
    return started is not None and started.behavior is not Behavior.NEITHER


def _touched(checkout: Checkout, paths: Collection[str]) -> Iterator[Run]:
    """Yield the runs of what is touched: those that somebody tells of, then programs; steps beside the work behind the others."""
    told = [*documented_runs(checkout), *configured_runs(checkout)]
    commanded = {run.script for run in told}
    levels = levels_of(checkout)
    free = (s for s in programs_of(checkout) if s.path in paths and s not in commanded)
    alone = program_runs(source for source in free if not is_library(checkout, levels, source))
    yield from sorted((run for run in (*told, *alone) if _is_touched(run, paths)), key=is_beside)


def _is_touched(run: Run, paths: Collection[str]) -> bool:
    own = [source.path for source in (run.script, *run.configs[:1]) if source is not None]
    return any(path in paths for path in own) or _is_launched_by(run, paths)


def _is_launched_by(run: Run, paths: Collection[str]) -> bool:
    return run.evidence.path in paths and form_of(run.evidence.path) is Form.SHELL


def _kind(run: Run, paths: Collection[str]) -> object:
    """Return what tells a run from others: the touched script that starts it, else its program and configuration."""
    if _is_launched_by(run, paths):
        return run.evidence.path
    program = run.script or (run.command.target if run.command is not None else run.evidence.path)
    return program, tuple(source.path for source in run.configs[:1] if source.path in paths)
