"""The ledger's texts as numbered files in a folder: the terminal's ledger.

`<folder>/<name>/000001.json`, `000002.json`, ...: nothing is overwritten, so the files are the audit log.
A version is written aside, synced, and then linked to its number: `link` fails where the number is taken,
which makes it a compare-and-swap between processes without a lock that a killed one could leave behind.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gpu_lol_action.errors import OperatorError

_VERSION = re.compile(r"\d{6}")
_NOTE = "sweep.json"
_MAX_BYTES = 4 * 1024 * 1024


class FileStore:
    """The port `Store` (ledger.py) on a folder, usually below the XDG state directory."""

    def __init__(self, folder: Path) -> None:
        """Create nothing yet."""
        self._folder = folder

    def tip(self, name: str) -> str | None:
        """Return the highest number of a name."""
        return next(iter(self.history(name)), None)

    def tips(self) -> Mapping[str, str]:
        """Return the highest number of every name."""
        if not self._folder.is_dir():
            return {}
        newest = {entry.name: self.tip(entry.name) for entry in self._folder.iterdir() if entry.is_dir()}
        return {name: version for name, version in newest.items() if version is not None}

    def survey(self) -> tuple[Mapping[str, str], str | None]:
        """Return both in one look."""
        return self.tips(), self.read_note()

    def texts(self, versions: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str | None]:
        """Return the text of each file; None where it cannot be read as one."""
        return {(name, version): _read(self._path(name, version)) for name, version in versions}

    def history(self, name: str) -> Sequence[str]:
        """Return the numbers of a name, highest first."""
        folder = self._folder / name
        if not folder.is_dir():
            return ()
        stems = (entry.stem for entry in folder.iterdir() if entry.suffix == ".json")
        return sorted((stem for stem in stems if _VERSION.fullmatch(stem)), reverse=True)

    def create(self, name: str, text: str, summary: str) -> str | None:  # noqa: ARG002 - a file has no message
        """Write number one; None where the name has one."""
        return self._write(name, 1, text)

    def append(self, name: str, parent: str, text: str, summary: str) -> str | None:  # noqa: ARG002 - a file has no message
        """Write the number after `parent`; None where it is taken, or `parent` is none."""
        if not self._path(name, parent).exists():
            return None
        return self._write(name, int(parent) + 1, text)

    def write_note(self, text: str) -> None:
        """Replace the note as a whole."""
        aside = self._aside(self._folder, text)
        aside.replace(self._folder / _NOTE)
        _sync_folder(self._folder)

    def read_note(self) -> str | None:
        """Return the note."""
        return _read(self._folder / _NOTE)

    def _path(self, name: str, version: str) -> Path:
        return self._folder / name / f"{version}.json"

    def _write(self, name: str, number: int, text: str) -> str | None:
        version = f"{number:06d}"
        target = self._path(name, version)
        aside = self._aside(target.parent, text)
        try:
            os.link(aside, target)
        except FileExistsError:
            return None
        except OSError as error:
            raise _unusable(self._folder, error) from None
        finally:
            aside.unlink(missing_ok=True)
        _sync_folder(target.parent)
        return version

    def _aside(self, folder: Path, text: str) -> Path:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(prefix=".writing-", dir=folder)
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise _unusable(self._folder, error) from None
        return Path(name)


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as source:
            raw = source.read(_MAX_BYTES + 1)
        return raw.decode("utf-8") if len(raw) <= _MAX_BYTES else None
    except (OSError, UnicodeDecodeError):
        return None


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut: a machine may be paid for on its account."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unusable(folder: Path, error: OSError) -> OperatorError:
    return OperatorError(
        "ledger_refused",
        f"the ledger's folder {folder} cannot be written",
        why=error.strerror or "",
        fix="Make it writable, or set XDG_STATE_HOME to a folder that is.",
    )
