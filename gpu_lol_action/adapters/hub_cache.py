"""Answers from outside on disk (the Hub's pages, catalogs of prices): so many, so large, so old; what cannot be read or written is as if it were not there."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

MAX_ENTRIES = 500
MAX_ENTRY_BYTES = 1024 * 1024 + 4096
FRESH = timedelta(hours=24)
"""For so long the Hub is not asked again; after that it is, with the entity tag, and an old answer is better than none."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer as it was kept."""

    fields: dict[str, Any]
    entity_tag: str
    at: datetime

    def is_fresh(self, now: datetime) -> bool:
        """Whether it need not be asked for again; one from the future is not."""
        return timedelta(0) <= now - self.at < FRESH


@dataclass(frozen=True, slots=True)
class HubCache:
    """A folder of JSON files, one for each page. ``folder`` None keeps nothing; what is longer is not kept."""

    folder: Path | None
    max_bytes: int = MAX_ENTRY_BYTES

    def read(self, key: tuple[str, ...]) -> Kept | None:
        """Return what was kept of a page, however old."""
        if self.folder is None:
            return None
        try:
            handle = os.open(self._path(self.folder, key), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(handle, "rb") as file:
                entry = json.loads(file.read(self.max_bytes))
            fields, entity_tag, at = entry["fields"], entry["entity_tag"], datetime.fromisoformat(entry["at"])
            # The file's name is a hash: what it holds must say that it is about this page.
            is_right = entry["key"] == list(key) and isinstance(fields, dict) and isinstance(entity_tag, str)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return Kept(fields, entity_tag, at) if is_right and at.tzinfo is not None else None

    def write(self, key: tuple[str, ...], kept: Kept) -> None:
        """Keep an answer, in one step, so that a reader finds it whole or not at all."""
        if self.folder is None:
            return
        entry = {
            "key": list(key),
            "at": kept.at.astimezone(timezone.utc).isoformat(),
            "entity_tag": kept.entity_tag,
            "fields": kept.fields,
        }
        data = json.dumps(entry).encode()
        if len(data) > self.max_bytes:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(self._path(self.folder, key))
            self._drop_oldest(self.folder)
        except OSError:
            return

    @staticmethod
    def _path(folder: Path, key: tuple[str, ...]) -> Path:
        """Return a file's place; its name is a hash, so that no id can lead out of the folder."""
        return folder / (hashlib.sha256("\0".join(key).encode()).hexdigest() + ".json")

    @staticmethod
    def _drop_oldest(folder: Path) -> None:
        entries = sorted((entry.stat().st_mtime_ns, entry.name) for entry in folder.iterdir())
        for _, name in entries[: max(len(entries) - MAX_ENTRIES, 0)]:
            (folder / name).unlink(missing_ok=True)
