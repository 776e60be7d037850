"""Runs that a change touches beside those that the answers of base and head show, estimated in the same way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain

from gpu_lol_action.analysis.answer.assemble import detect_tree, estimated_runs
from gpu_lol_action.analysis.answer.placed import placed_in
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.project_folder import project_folder, project_of
from gpu_lol_action.analysis.formats.roomy import roomy
from gpu_lol_action.analysis.runs.runs import all_runs
from gpu_lol_action.analysis.runs.touched_runs import touched_runs
from gpu_lol_action.domain.analysis import Analysis, Profile
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.known_models import ModelFacts


@record(frozen=True, slots=True)
class Side:
    """A commit as it was read, and what it came to."""

    checkout: Checkout
    analysis: Analysis


@record(frozen=True, slots=True)
class Touched:
    """Runs of touched files that neither side shows: of the base to compare with, of the head, and names of those that came."""

    base: tuple[Profile, ...]
    head: tuple[Profile, ...]
    came: frozenset[str]

    @classmethod
    def between(cls, base: Side, head: Side, known: Mapping[str, ModelFacts]) -> Touched:
        """Return what two commits touch. What was only moved has not come."""
        old, new = base.checkout, head.checkout
        paths = frozenset(path for path in chain(old.by_path, new.by_path) if not is_same_file(old, new, path))
        # What the machine holds that one gets for the first run is no news.
        after = tuple(run for run in _profiles(head, paths, known) if _is_larger(run, head.analysis.first))
        before = _profiles(base, paths, known, frozenset(run.program for run in after)) if after else ()
        gone = frozenset(_name(path) for path in old.by_path if path not in new.by_path)
        here = frozenset(path for run in after for path in (run.program, run.evidence.path))
        there = frozenset(path for path in here if path in old.by_path or _name(path) in gone)
        came = (run.name for run in after if not {run.program, run.evidence.path} <= there)
        return cls(before, after, frozenset(came))


def is_same_file(one: Checkout, other: Checkout, path: str) -> bool:
    """Whether both have a file at that path, and the same one."""
    here, there = one.find(path), other.find(path)
    return here is not None and there is not None and here.content == there.content


@roomy
def _profiles(
    side: Side, paths: Collection[str], known: Mapping[str, ModelFacts], programs: Collection[str] | None = None
) -> tuple[Profile, ...]:
    """Return the runs of these files that the answer does not show; with ``programs`` only runs of these."""
    # Of a project in a folder, as its answer is: what lies beside that is not told of.
    folder, project = project_folder(side.checkout), project_of(side.checkout)
    own = _within(paths, folder)
    runs = touched_runs(project, own, all_runs(project), None if programs is None else _within(programs, folder))
    tree = detect_tree(project) if runs else ()
    found = tuple(profile for profile, _ in estimated_runs(project, tree, known, runs))
    return placed_in(found, folder, project)


def _within(paths: Collection[str], folder: str) -> Collection[str]:
    """Return those of the paths that lie in a folder, as they are there."""
    start = f"{folder}/"
    return frozenset(path.removeprefix(start) for path in paths if path.startswith(start)) if folder else paths


def _is_larger(run: Profile, first: Profile | None) -> bool:
    if first is None:
        return True
    return run.gpu_count > first.gpu_count or (run.vram_required_gb or 0) > (first.vram_required_gb or 0)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
