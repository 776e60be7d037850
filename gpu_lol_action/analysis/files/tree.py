"""The only hands that touch a checkout's files: they list and read a tree, bounded, and never leave it.

Every folder is opened from the one above it without following links, so that a folder that becomes a link while the
tree is read leads nowhere either.
"""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpu_lol_action.analysis.formats.paths import SKIPPED_FOLDERS
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_DEPTH = 12
MAX_ENTRIES = 100_000
MAX_LISTED_BYTES = 64 * 1024
MAX_SHOWN = 120

LINK = "symbolic links are not followed"
SPECIAL = "FIFOs, sockets and devices are not opened"
BAD_NAME = "file names that are not printable text are not read"
SUBMODULE = "submodules are not read"
REPOSITORY = "other repositories inside this one are not read"
DEEP = f"folders more than {MAX_DEPTH} levels deep are not read"
CROWDED = f"after {MAX_ENTRIES} entries the rest is not read"
UNREADABLE = "could not be opened, or changed while they were read"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PIECE = 16 * 1024
_SUBMODULE_PATH = regex(r"^[ \t]*path[ \t]*=[ \t]*(\S[^\n]{0,500})$", re.MULTILINE)


@record(frozen=True, slots=True)
class LeftOut:
    """A place in a tree that was not read, or not whole, and why."""

    path: str
    reason: str


@record(slots=True)
class Tree:
    """An open tree. ``folder`` caches the last folder's handle: files are read folder by folder."""

    handle: int
    folder: tuple[str, int] | None = None

    def read(self, path: str, limit: int) -> bytes | str:
        """Return a regular file's bytes, or the reason why it was not read; it is never waited for."""
        parent, _, name = path.rpartition("/")
        try:
            handle = os.open(name, _FILE, dir_fd=self._folder(parent))
        except (OSError, ValueError):
            return UNREADABLE
        details = os.fstat(handle)
        if not stat.S_ISREG(details.st_mode) or details.st_size > limit:
            os.close(handle)
            return too_large(limit) if stat.S_ISREG(details.st_mode) else SPECIAL
        try:
            content = _whole(handle, details.st_size, limit)
        except OSError:
            return UNREADABLE
        finally:
            os.close(handle)
        return content if len(content) <= limit else UNREADABLE

    def scan(self, path: str) -> list[os.DirEntry[str]] | None:
        """Return a folder's entries by name; None where it cannot be opened, or holds more than is ever read."""
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(self._folder(path)) as entries:
                for entry in entries:
                    # The disk's order must not decide which are seen: all of a folder, or none.
                    if len(found) >= MAX_ENTRIES:
                        return None
                    found.append(entry)
        except OSError:
            return None
        return sorted(found, key=lambda entry: entry.name)

    def close(self) -> None:
        """Close the cached folder."""
        if self.folder is not None:
            os.close(self.folder[1])
            self.folder = None

    def _folder(self, path: str) -> int:
        if not path:
            return self.handle
        if self.folder is not None and self.folder[0] == path:
            return self.folder[1]
        self.close()
        above = self.handle
        for part in path.split("/"):
            try:
                handle = os.open(part, _FOLDER, dir_fd=above)
            finally:
                if above != self.handle:
                    os.close(above)
            above = handle
        self.folder = (path, above)
        return above


def _whole(handle: int, size: int, limit: int) -> bytes:
    """Return what an open file of about that size holds, or more bytes than the limit; Python's own files look at each three times."""
    pieces, taken = [], 0
    while taken <= limit:
        wanted = max(size + 1 - taken, _PIECE)
        piece = os.read(handle, wanted)
        pieces.append(piece)
        taken += len(piece)
        if not piece or (taken == size and len(piece) < wanted):  # the end, as it was told
            break
    return b"".join(pieces)


@contextmanager
def open_tree(root: Path) -> Iterator[Tree | None]:
    """Open a folder for reading; None where it is none. The root itself may be a link: the user named it."""
    try:
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    tree = Tree(handle)
    try:
        yield tree
    finally:
        tree.close()
        os.close(handle)


def list_tree(tree: Tree) -> tuple[list[str], list[LeftOut]]:
    """Return the regular files, shallow ones first, then by path; and what was left out."""
    paths: list[str] = []
    left: list[LeftOut] = []
    submodules = _submodules(tree)
    pending = deque([""])
    seen = 0
    while pending:
        folder = pending.popleft()
        entries = tree.scan(folder) if seen <= MAX_ENTRIES else None
        if entries is None:
            left.append(LeftOut(shown(folder) or ".", UNREADABLE if seen <= MAX_ENTRIES else CROWDED))
            continue
        if folder and any(entry.name == ".git" for entry in entries):
            left.append(LeftOut(folder, REPOSITORY))
            continue
        seen += len(entries)
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            reason = _refused(entry, path, submodules)
            if reason is not None:
                left.append(LeftOut(shown(path), reason))
            elif entry.is_file(follow_symlinks=False):
                paths.append(path)
            elif entry.name.lower() not in SKIPPED_FOLDERS:
                pending.append(path)
    return sorted(paths, key=lambda path: (path.count("/"), path)), left


def _refused(entry: os.DirEntry[str], path: str, submodules: frozenset[str]) -> str | None:
    """Return why an entry is not read, or None."""
    if not entry.name.isprintable():
        return BAD_NAME
    if entry.is_symlink():
        return LINK
    if entry.is_dir(follow_symlinks=False):
        if path in submodules:
            return SUBMODULE
        return DEEP if path.count("/") >= MAX_DEPTH else None
    return None if entry.is_file(follow_symlinks=False) else SPECIAL


def _submodules(tree: Tree) -> frozenset[str]:
    content = tree.read(".gitmodules", MAX_LISTED_BYTES)
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
    return frozenset(path.strip().strip('"').strip("/") for path in _SUBMODULE_PATH.findall(text))


def too_large(limit: int) -> str:
    """Return the reason for a file over a size limit."""
    return f"over {limit // 1024} KiB, so not read"


def shown(path: str) -> str:
    """Return a path as it can be shown to anyone: printable, and not endless."""
    plain = path if path.isprintable() else ascii(path)[1:-1]
    return plain if len(plain) <= MAX_SHOWN else f"{plain[:40]}...{plain[-60:]}"


def describe(left: list[LeftOut]) -> list[str]:
    """Return one line per reason, with the first paths: what a reader needs to find them."""
    by_reason: dict[str, list[str]] = {}
    for item in sorted(left, key=lambda item: (item.reason, item.path.count("/"), item.path)):
        by_reason.setdefault(item.reason, []).append(item.path)
    return [
        f"{reason}: {', '.join(paths[:3])}{f' and {len(paths) - 3} more' if len(paths) > 3 else ''}"
        for reason, paths in by_reason.items()
    ]
