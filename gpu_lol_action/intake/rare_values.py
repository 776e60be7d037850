"""Readers of words that one command has, loaded when it is given: every command waits for what the parser imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_lol_action.domain.gpus import UnknownAccelerator
    from gpu_lol_action.intake.estimate_cells import CellProblem
    from gpu_lol_action.intake.requirements import Wanted


def comment_of(name: str) -> int | None:
    """Return the number of the comment that a request's name points to (``confirm``); None where it is no such name."""
    from gpu_lol_action.domain import confirmation

    return confirmation.comment_of(name)


def read_requirements(word: str) -> Wanted | UnknownAccelerator:
    """Return what a word asks of a machine (``offers``), or what is wrong with it and the nearest names."""
    from gpu_lol_action.intake import requirements

    return requirements.read_requirements(word)


def check_cell(column: str, text: str) -> CellProblem | None:
    """Return what is wrong with one cell of a table (``estimate``)."""
    from gpu_lol_action.intake import estimate_cells

    return estimate_cells.check_cell(column, text)
