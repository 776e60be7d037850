"""Trainings over several machines that are the only ones told of: no variants of another one, but what is there to be run."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.run_ranks import DOCUMENT, README, Rank


def as_only_training(ranks: list[Rank]) -> list[Rank]:
    """Return ranks in which a training over several machines is no variant where no command trains otherwise, nor is any model run before it."""
    trained = [r for r in ranks if r.run.behavior is Behavior.TRAINS and not r.is_beside and r.run.command is not None]
    # A README that sends its reader to the script for a cluster alone means that one, whatever else lies there.
    trained = [r for r in trained if r.kind == README] or trained
    if not trained or not all(r.run.command is not None and r.run.command.nodes > 1 for r in trained):
        return ranks
    used = [r for r in ranks if r.run.behavior is Behavior.INFERS and not r.is_beside and r.kind <= DOCUMENT]
    if any(_is_told_before(rank, trained[0]) for rank in used):
        return ranks
    return [replace(rank, is_variant=False) if rank in trained else rank for rank in ranks]


def _is_told_before(one: Rank, other: Rank) -> bool:
    """Whether a run is told of before another one: in the same document by its line, as scripts that sentences name come after all commands."""
    first, second = one.run.command, other.run.command
    if first is not None and second is not None and first.said.path == second.said.path:
        return first.said.line < second.said.line
    return one.order < other.order
