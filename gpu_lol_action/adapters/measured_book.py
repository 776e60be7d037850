"""The book of measured runs, one per repository, over a store of versioned texts (ledger_refs.py, ledger_files.py).

One text for the whole repository: it is listed with all our refs, so that reading it costs a proposal no request.
"""

from __future__ import annotations

from collections.abc import Callable

from gpu_lol_action.adapters.ledger import Store
from gpu_lol_action.domain.measured import MeasuredBook
from gpu_lol_action.domain.measured_json import UnreadableBook, book_from_json, book_to_json
from gpu_lol_action.errors import TransientError

FOLDER = "measured"
NAME = "runs"
_TRIES = 5


class StoredMeasuredRuns:
    """The port ``MeasuredRuns`` on a store."""

    def __init__(self, store: Store) -> None:
        """Ask nothing yet."""
        self._store = store

    def read(self) -> MeasuredBook:
        """Return the runs; none where nothing was measured yet. Raises TransientError for a broken book."""
        return self._newest()[1]

    def change(self, edit: Callable[[MeasuredBook], MeasuredBook]) -> MeasuredBook:
        """Write the edited book, again over whatever was written meanwhile; return it. Raises TransientError."""
        for _ in range(_TRIES):
            version, book = self._newest()
            edited = edit(book)
            if edited == book:
                return book
            text, summary = book_to_json(edited), "Measured runs"
            written = (
                self._store.create(NAME, text, summary)
                if version is None
                else self._store.append(NAME, version, text, summary)
            )
            if written is not None:
                return edited
        raise TransientError("record_contended", "the book of measured runs changes faster than it can be written")

    def _newest(self) -> tuple[str | None, MeasuredBook]:
        version = self._store.tip(NAME)
        if version is None:
            return None, MeasuredBook()
        text = self._store.texts([(NAME, version)])[NAME, version]
        try:
            return version, book_from_json(text or "")
        except UnreadableBook as error:
            raise TransientError(
                "record_unreadable",
                f"the book of measured runs cannot be read: {error}",
                fix=f"A maintainer deletes the ref `refs/gpu-lol/{FOLDER}/{NAME}`; then it starts anew.",
            ) from None
