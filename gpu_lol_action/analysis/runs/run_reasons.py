"""Why a run is the first of all, and where each of the others was found, in words."""

from __future__ import annotations

from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.run_ranks import CONFIGURATION, DOCUMENT, LIBRARY, SCRIPT, Rank


def place_of(rank: Rank) -> str:
    """Return, in words, where a run was found."""
    does = "trains" if rank.run.behavior is Behavior.TRAINS else "runs a model"
    if rank.kind <= DOCUMENT:
        return f"a documented {'command' if rank.run.command else 'program'} that {does}"
    if rank.kind == SCRIPT:
        return f"a launch script that {does}"
    if rank.kind == CONFIGURATION:
        return "a configuration of a folder without programs"
    return f"a program that {does}"


def reason_of(rank: Rank, runs: int) -> str:
    """Return why this run is the first."""
    if rank.level >= LIBRARY:
        return "nothing is made to be started, so a module of the library stands for it"
    if runs == 1:
        return "nothing else here trains or runs a model"
    place = place_of(rank)
    if rank.use:
        return f"{place}; of {runs} runs it is first, for {rank.use}"
    if rank.is_main_section and rank.kind <= DOCUMENT and rank.run.command:
        place += f" in the section `{rank.run.command.section[:60]}`"
    is_opening = rank.is_use_first and rank.run.behavior is Behavior.INFERS
    wins = "what the README opens with" if is_opening else "training before inference"
    return f"{place}; of {runs} runs it is first by nearness to the root, documentation, and {wins}"
