"""Work on a machine that would be lost with it: fetched before a planned end, and put back on the next machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_lol_action.launch.remote_scripts import build_script, check_nonce, marked_lines

MAX_FILES_BYTES = 256 * 1024 * 1024
"""Of files before compression: more would not be ready in the time that an end may be put off."""
MAX_PACKED_BYTES = 24 * 1024 * 1024
"""Compressed. GitHub takes blobs of up to 100 MB, but a request of that size is refused long before on slow days."""
_NUMBER = re.compile(r"[0-9]{1,9}")
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a machine gave: counts of changed tracked files, commits that no remote has, other files, and what was too large."""

    changed: int
    commits: int
    files: int
    left_out: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be lost."""
        return not (self.changed or self.commits or self.files or self.left_out)


def build_rescue_script(folder: str, sha: str, keep: Sequence[str], nonce: str) -> str:
    """Return the script that writes what would be lost to its standard output."""
    if not _OBJECT_ID.fullmatch(sha):
        raise ValueError(f"{sha[:80]!r} is no commit")
    values = {
        "nonce": check_nonce(nonce),
        "folder": folder,
        "sha": sha,
        "keep": "\n".join(path for path in keep if "\n" not in path),
        "max_bytes": str(MAX_FILES_BYTES),
    }
    return build_script("rescue", values=values)


def parse_rescue_output(said: str, nonce: str) -> Fetched | str:
    """Return what the machine gave, or why it gave nothing whole."""
    counts: dict[str, int] = {}
    is_done = False
    for line in marked_lines(said, "rescue", nonce):
        key, _, value = line.partition(" ")
        if key == "failed":
            return value[:200]
        is_done = is_done or key == "done"
        if _NUMBER.fullmatch(value):
            counts[key] = int(value)
    if not is_done:
        return "the machine did not finish packing it"
    return Fetched(*(counts.get(key, 0) for key in ("changed", "commits", "files", "left_out")))


def build_restore_script(folder: str, nonce: str) -> str:
    """Return the script that puts saved work (on its standard input) back into the checkout."""
    return build_script("restore", values={"nonce": check_nonce(nonce), "folder": folder})


@dataclass(frozen=True, slots=True)
class Restored:
    """What went back into the checkout, and what lies in ~/rescued-work because it did not fit."""

    placed: tuple[str, ...]
    kept: tuple[str, ...]


def parse_restore_output(said: str, nonce: str) -> Restored | str:
    """Return what was put where, or why nothing was."""
    placed, kept, is_done = [], [], False
    for line in marked_lines(said, "restore", nonce):
        key, _, value = line.partition(" ")
        if key == "failed":
            return value[:200]
        if key == "kept" and value in ("commits.bundle", "changes.patch", "files.tar"):
            kept.append(value)
        elif key in ("commits", "changes", "files"):
            placed.append(key)
        is_done = is_done or key == "done"
    return Restored(tuple(placed), tuple(kept)) if is_done else "the machine did not finish unpacking it"
