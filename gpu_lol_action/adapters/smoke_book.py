"""Histories of smoke tests, one per branch (stored_text.py)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

from gpu_lol_action.adapters.ledger import Store
from gpu_lol_action.adapters.stored_text import Entry, Kind, StoredText
from gpu_lol_action.domain.smoke import SmokeHistory
from gpu_lol_action.domain.smoke_json import UnreadableHistory, history_from_json, history_to_json

FOLDER = "smoke"


class StoredSmokeBook:
    """The port ``SmokeBook`` on a store."""

    def __init__(self, store: Store) -> None:
        """Ask nothing yet."""
        kind = Kind(FOLDER, SmokeHistory(), history_to_json, history_from_json, UnreadableHistory)
        self._texts = StoredText(store, kind)

    def read(self, branch: str) -> SmokeHistory:
        """Return a branch's runs; an empty history where there is none yet. Raises TransientError for a broken one."""
        return self._texts.read(_entry(branch))

    def change(self, branch: str, edit: Callable[[SmokeHistory], SmokeHistory]) -> SmokeHistory:
        """Write the edited history, again over whatever was written meanwhile; return it. Raises TransientError."""
        return self._texts.change(_entry(branch), edit)


def _entry(branch: str) -> Entry:
    # A ref's last part holds no slash, and nothing else that people put into the names of branches.
    name = "b" + base64.b32encode(hashlib.sha256(branch.encode()).digest()).decode()[:12].lower()
    return Entry(name, f"the smoke tests' history of {branch}", f"Smoke tests of {branch}")
