"""Git's loose objects and refs, read and written without a process for each: the stand-in asks for dozens in a story.

Only what is simple is here. An object in a pack, and everything else, is git's own business (github_git.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

_ID = frozenset("0123456789abcdef")


def is_id(text: str) -> bool:
    """Whether this is an object's whole name."""
    return len(text) == 40 and _ID.issuperset(text)


def read_object(repository: Path, sha: str) -> tuple[str, bytes] | None:
    """Return kind and content of a loose object; None where there is no such file."""
    if not is_id(sha):
        return None
    try:
        raw = zlib.decompress((repository / "objects" / sha[:2] / sha[2:]).read_bytes())
    except FileNotFoundError:
        return None
    head, _, content = raw.partition(b"\0")
    return head.split(b" ")[0].decode(), content


def write_object(repository: Path, kind: str, content: bytes) -> str:
    """Store an object; return its name. Whoever reads meanwhile sees all of it or nothing."""
    raw = f"{kind} {len(content)}\0".encode() + content
    sha = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
    folder = repository / "objects" / sha[:2]
    if (folder / sha[2:]).exists():
        return sha
    folder.mkdir(exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix="tmp_obj_")
    with os.fdopen(handle, "wb") as file:
        file.write(zlib.compress(raw, 1))
    Path(name).replace(folder / sha[2:])
    return sha


def read_refs(repository: Path) -> dict[str, str]:
    """Return every ref by its full name; a symbolic one by what it leads to is left out."""
    found = dict(_packed(repository))
    root = repository / "refs"
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if name.endswith(".lock"):
                continue
            with contextlib.suppress(FileNotFoundError):  # deleted a moment ago
                sha = path.read_text(encoding="ascii").strip()
                if is_id(sha):
                    found[path.relative_to(repository).as_posix()] = sha
    return dict(sorted(found.items()))


def read_ref(repository: Path, name: str) -> str | None:
    """Return what one ref points at."""
    try:
        sha = (repository / name).read_text(encoding="ascii").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        return dict(_packed(repository)).get(name)
    return sha if is_id(sha) else None


def _packed(repository: Path) -> Iterator[tuple[str, str]]:
    try:
        lines = (repository / "packed-refs").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        sha, _, name = line.partition(" ")
        if is_id(sha):
            yield name, sha
