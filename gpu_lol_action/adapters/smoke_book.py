"""Histories of smoke tests, one per branch, over a store of versioned texts (ledger_refs.py, ledger_files.py): compare-and-swap."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

from gpu_lol_action.adapters.ledger import Store
from gpu_lol_action.domain.smoke import SmokeHistory
from gpu_lol_action.domain.smoke_json import UnreadableHistory, history_from_json, history_to_json
from gpu_lol_action.errors import TransientError

FOLDER = "smoke"
_TRIES = 5


class StoredSmokeBook:
    """The port ``SmokeBook`` on a store."""

    def __init__(self, store: Store) -> None:
        """Ask nothing yet."""
        self._store = store

    def read(self, branch: str) -> SmokeHistory:
        """Return a branch's runs; an empty history where there is none yet. Raises TransientError for a broken one."""
        return self._newest(branch)[1]

    def change(self, branch: str, edit: Callable[[SmokeHistory], SmokeHistory]) -> SmokeHistory:
        """Write the edited history, again over whatever was written meanwhile; return it. Raises TransientError."""
        name = _name(branch)
        for _ in range(_TRIES):
            version, history = self._newest(branch)
            edited = edit(history)
            if edited == history:
                return history
            text, summary = history_to_json(edited), f"Smoke tests of {branch}"
            written = (
                self._store.create(name, text, summary)
                if version is None
                else self._store.append(name, version, text, summary)
            )
            if written is not None:
                return edited
        raise TransientError(
            "record_contended", f"the smoke tests' history of {branch} changes faster than it can be written"
        )

    def _newest(self, branch: str) -> tuple[str | None, SmokeHistory]:
        name = _name(branch)
        version = self._store.tip(name)
        if version is None:
            return None, SmokeHistory()
        text = self._store.texts([(name, version)])[name, version]
        try:
            return version, history_from_json(text or "")
        except UnreadableHistory as error:
            raise TransientError(
                "record_unreadable",
                f"the smoke tests' history of {branch} cannot be read: {error}",
                fix=f"A maintainer deletes the ref `refs/gpu-lol/{FOLDER}/{name}`; then it starts anew.",
            ) from None


def _name(branch: str) -> str:
    """Return a branch's name as a ref's last part may be: it may hold slashes, and anything else that people type."""
    return "b" + base64.b32encode(hashlib.sha256(branch.encode()).digest()).decode()[:12].lower()
