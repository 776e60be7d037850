"""Notes about proposals, one per pull request (stored_text.py)."""

from __future__ import annotations

from collections.abc import Callable

from gpu_lol_action.adapters.ledger import Store
from gpu_lol_action.adapters.stored_text import Entry, Kind, StoredText
from gpu_lol_action.domain.proposal_note import ProposalNote, UnreadableNote, note_from_json, note_to_json

FOLDER = "proposals"


class ProposalNotes:
    """What people said about each pull request's proposal."""

    def __init__(self, store: Store) -> None:
        """Ask nothing yet."""
        self._texts = StoredText(store, Kind(FOLDER, ProposalNote(), note_to_json, note_from_json, UnreadableNote))

    def read(self, number: int) -> ProposalNote:
        """Return a pull request's note; an empty one where nobody has said anything. Raises TransientError for a broken one."""
        return self._texts.read(_entry(number))

    def change(self, number: int, edit: Callable[[ProposalNote], ProposalNote]) -> ProposalNote:
        """Write the edited note, again over whatever was written meanwhile; return it. Raises TransientError."""
        return self._texts.change(_entry(number), edit)


def _entry(number: int) -> Entry:
    return Entry(str(number), f"what was set for #{number}", f"Proposal of #{number}", "`set` starts anew")
