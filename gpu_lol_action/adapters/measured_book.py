"""The book of measured runs, one per repository (stored_text.py).

One text for the whole repository: it is listed with all our refs, so that reading it costs a proposal no request.
"""

from __future__ import annotations

from collections.abc import Callable

from gpu_lol_action.adapters.ledger import Store
from gpu_lol_action.adapters.stored_text import Entry, Kind, StoredText
from gpu_lol_action.domain.measured import MeasuredBook
from gpu_lol_action.domain.measured_json import UnreadableBook, book_from_json, book_to_json

FOLDER = "measured"
NAME = "runs"
_BOOK = Entry(NAME, "the book of measured runs", "Measured runs")


class StoredMeasuredRuns:
    """The port ``MeasuredRuns`` on a store."""

    def __init__(self, store: Store) -> None:
        """Ask nothing yet."""
        self._texts = StoredText(store, Kind(FOLDER, MeasuredBook(), book_to_json, book_from_json, UnreadableBook))

    def read(self) -> MeasuredBook:
        """Return the runs; none where nothing was measured yet. Raises TransientError for a broken book."""
        return self._texts.read(_BOOK)

    def change(self, edit: Callable[[MeasuredBook], MeasuredBook]) -> MeasuredBook:
        """Write the edited book, again over whatever was written meanwhile; return it. Raises TransientError."""
        return self._texts.change(_BOOK, edit)
