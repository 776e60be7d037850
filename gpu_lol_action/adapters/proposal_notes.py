"""Notes about proposals, one per pull request, over a store of versioned texts (ledger_refs.py): compare-and-swap."""

from __future__ import annotations

from collections.abc import Callable

from gpu_lol_action.adapters.ledger import Store
from gpu_lol_action.domain.proposal_note import ProposalNote, UnreadableNote, note_from_json, note_to_json
from gpu_lol_action.errors import TransientError

FOLDER = "proposals"
_TRIES = 5


class ProposalNotes:
    """What people said about each pull request's proposal."""

    def __init__(self, store: Store) -> None:
        """Ask nothing yet."""
        self._store = store

    def read(self, number: int) -> ProposalNote:
        """Return a pull request's note; an empty one where nobody has said anything. Raises TransientError for a broken one."""
        return self._newest(str(number))[1]

    def change(self, number: int, edit: Callable[[ProposalNote], ProposalNote]) -> ProposalNote:
        """Write the edited note, again over whatever was written meanwhile; return it. Raises TransientError."""
        name = str(number)
        for _ in range(_TRIES):
            version, note = self._newest(name)
            edited = edit(note)
            if edited == note:
                return note
            text, summary = note_to_json(edited), f"Proposal of #{number}"
            written = (
                self._store.create(name, text, summary)
                if version is None
                else self._store.append(name, version, text, summary)
            )
            if written is not None:
                return edited
        raise TransientError("record_contended", f"the note of #{number} changes faster than it can be written")

    def _newest(self, name: str) -> tuple[str | None, ProposalNote]:
        version = self._store.tip(name)
        if version is None:
            return None, ProposalNote()
        text = self._store.texts([(name, version)])[name, version]
        try:
            return version, note_from_json(text or "")
        except UnreadableNote as error:
            raise TransientError(
                "record_unreadable",
                f"what was set for #{name} cannot be read: {error}",
                fix=f"A maintainer deletes the ref `refs/gpu-lol/{FOLDER}/{name}`; then `set` starts anew.",
            ) from None
