"""What people said about a pull request's proposal, read back for whatever rests on it."""

from __future__ import annotations

from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.context import Context


def read_note(context: Context, number: int, *, is_needed: bool = False) -> ProposalNote:
    """Return what people said about a pull request's proposal; a note that cannot be read corrects nothing.

    ``is_needed``: then that is raised, for what would be rented is not what was said.
    """
    if context.surfaces is None or not number:
        return ProposalNote()
    try:
        return context.surfaces.notes.read(number)
    except GpuLolError as error:
        if is_needed:
            raise
        context.progress.note(f"Left out: what was set for this pull request ({error.explanation.what}).")
        return ProposalNote()
