"""One kind of value over a store of versioned texts (ledger_refs.py, ledger_files.py): read, and changed by compare-and-swap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from gpu_lol_action.adapters.ledger import Store
from gpu_lol_action.errors import TransientError

Value = TypeVar("Value")
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Kind(Generic[Value]):
    """What is kept in a folder of our refs: its empty value, its text form, and the error of a text that is none."""

    folder: str
    empty: Value
    write: Callable[[Value], str]
    read: Callable[[str], Value]
    unreadable: type[ValueError]


@dataclass(frozen=True, slots=True)
class Entry:
    """One text by its ref's name, and its name in sentences: ``what`` is read, ``summary`` heads a new version."""

    name: str
    what: str
    summary: str
    anew: str = "it starts anew"


class StoredText(Generic[Value]):
    """Values of one kind on a store."""

    def __init__(self, store: Store, kind: Kind[Value]) -> None:
        """Ask nothing yet."""
        self._store = store
        self._kind = kind

    def read(self, entry: Entry) -> Value:
        """Return the value; the empty one where nothing was written yet. Raises TransientError for a broken text."""
        return self._newest(entry)[1]

    def change(self, entry: Entry, edit: Callable[[Value], Value]) -> Value:
        """Write the edited value, again over whatever was written meanwhile; return it. Raises TransientError."""
        for _ in range(_TRIES):
            version, value = self._newest(entry)
            edited = edit(value)
            if edited == value:
                return value
            text = self._kind.write(edited)
            written = (
                self._store.create(entry.name, text, entry.summary)
                if version is None
                else self._store.append(entry.name, version, text, entry.summary)
            )
            if written is not None:
                return edited
        raise TransientError("record_contended", f"{entry.what} changes faster than it can be written")

    def _newest(self, entry: Entry) -> tuple[str | None, Value]:
        version = self._store.tip(entry.name)
        if version is None:
            return None, self._kind.empty
        text = self._store.texts([(entry.name, version)])[entry.name, version]
        try:
            return version, self._kind.read(text or "")
        except self._kind.unreadable as error:
            place = f"refs/gpu-lol/{self._kind.folder}/{entry.name}"
            raise TransientError(
                "record_unreadable",
                f"{entry.what} cannot be read: {error}",
                fix=f"A maintainer deletes the ref `{place}`; then {entry.anew}.",
            ) from None
