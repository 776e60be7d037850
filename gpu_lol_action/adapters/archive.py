"""A tarball of somebody's repository, unpacked as data: nothing in it can act, escape or fill the disk.

Links, devices and names that leave the folder are passed over and reported; what is too much is refused
while it is read, not after. `repack` makes the tar that goes to a machine: links stay, owners and dates go.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gpu_lol_action.errors import TransientError, UserError

_MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is still a repository. Bytes are of the unpacked files; `ratio` is unpacked to packed."""

    total_bytes: int = 2048 * _MEGABYTE
    file_bytes: int = 100 * _MEGABYTE
    files: int = 100_000
    path_bytes: int = 1024
    ratio: int = 300


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What was taken, and how many entries of which kind were passed over."""

    files: int
    total_bytes: int
    skipped: Counter[str]


class _Meter(io.RawIOBase):
    """Counts what is unpacked and stops a bomb early: at a total, or at a ratio no source code reaches."""

    def __init__(self, packed: IO[bytes], bounds: Bounds) -> None:
        self._packed = packed
        self._source = gzip.GzipFile(fileobj=packed, mode="rb")
        self._bounds = bounds
        self.unpacked = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size if size >= 0 else _MEGABYTE)
        self.unpacked += len(data)
        # Headers and padding count too: half as much again for many small files.
        if self.unpacked > self._bounds.total_bytes * 3 // 2:
            raise _too_large(f"over {self._bounds.total_bytes // _MEGABYTE} MB unpacked")
        packed = max(self._packed.tell(), 1)
        if self.unpacked > 64 * _MEGABYTE and self.unpacked / packed > self._bounds.ratio:
            raise _too_large(f"it unpacks to more than {self._bounds.ratio} times its size")
        return data


def unpack(archive: Path, folder: Path, commit: str, bounds: Bounds | None = None) -> Unpacked:
    """Write the files of GitHub's archive of `commit` under `folder` (without the archive's top folder).

    Raises UserError where the repository is over the bounds, TransientError where the archive is damaged or
    is of another commit.
    """
    limits = bounds or Bounds()
    skipped: Counter[str] = Counter()
    files = total = 0
    with _members(archive, commit, limits) as (tar, members):
        for member in members:
            name = safe_name(member.name, limits.path_bytes)
            why = _why_not(member, name, limits)
            if why:
                skipped[why] += 1
                continue
            if member.isdir() or name is None:
                continue
            files, total = files + 1, total + member.size
            _check_amount(files, total, limits)
            if not _write(tar, member, folder / name):
                skipped["names that clash"] += 1
    return Unpacked(files, total, skipped)


def repack(archive: Path, destination: Path, commit: str, bounds: Bounds | None = None) -> Path:
    """Write a tar.gz of the same tree without the top folder, owners and dates; return its path.

    Links are kept, because the tree would not be that commit's without them; a file below a link is refused,
    as git has none such and it could write anywhere.
    """
    limits = bounds or Bounds()
    links: set[str] = set()
    files = total = 0
    partial = destination.with_name(destination.name + ".partial")
    with _members(archive, commit, limits) as (tar, members), tarfile.open(partial, "w:gz", compresslevel=4) as out:
        for member in members:
            name = safe_name(member.name, limits.path_bytes)
            if name is None or not (member.isfile() or member.isdir() or member.issym()):
                continue
            parents = {name.rsplit("/", cut)[0] for cut in range(1, name.count("/") + 1)}
            if parents & links:
                raise TransientError("archive_damaged", f"the archive holds a file below the link {name[:80]!r}")
            files, total = files + 1, total + member.size
            _check_amount(files, total, limits)
            if member.issym():
                links.add(name)
            out.addfile(_cleaned(member, name), tar.extractfile(member) if member.isfile() else None)
    return partial.replace(destination)


def safe_name(name: str, longest: int) -> str | None:
    """The path below the archive's top folder, or None where there is none, or none that we would write."""
    parts = name.split("/")
    if name.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return None
    below = "/".join(parts[1:])
    try:
        size = len(below.encode())
        longest_part = max(len(part.encode()) for part in parts)
    except UnicodeEncodeError:
        return None
    has_control = any(ord(letter) < 32 or ord(letter) == 127 for letter in below)
    return below if below and size <= longest and longest_part <= 255 and not has_control else None


@contextmanager
def _members(archive: Path, commit: str, bounds: Bounds) -> Iterator[tuple[tarfile.TarFile, Iterator[tarfile.TarInfo]]]:
    """The entries in order, read once; damage anywhere becomes one error, as does another commit's archive."""
    try:
        with archive.open("rb") as packed, tarfile.open(fileobj=_Meter(packed, bounds), mode="r|") as tar:
            yield tar, _checked_entries(tar, commit)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, ValueError) as error:
        raise TransientError(
            "archive_damaged", f"GitHub's archive cannot be read: {error}", fix="Try again in a few minutes."
        ) from None


def _checked_entries(tar: tarfile.TarFile, commit: str) -> Iterator[tarfile.TarInfo]:
    for member in tar:
        # `git archive` writes the commit into the global header, which stands before the first entry.
        found = tar.pax_headers.get("comment")
        if found != commit:
            raise TransientError(
                "archive_of_another_commit",
                f"GitHub's archive is of {str(found)[:12]}, not of {commit[:12]}",
                fix="Try again in a few minutes.",
            )
        yield member
        # tarfile keeps every entry it has seen; a hundred thousand of them are memory for nothing.
        tar.members = []  # type: ignore[attr-defined]  # typeshed leaves it out; Python documents it as read in order


def _why_not(member: tarfile.TarInfo, name: str | None, bounds: Bounds) -> str | None:
    if member.issym() or member.islnk():
        return "links"
    if not (member.isfile() or member.isdir()):
        return "devices"
    is_top = member.isdir() and "/" not in member.name.strip("/")
    if name is None and not is_top:
        return "unsafe names"
    if member.size > bounds.file_bytes:
        return f"files over {bounds.file_bytes // _MEGABYTE} MB"
    return None


def _check_amount(files: int, total: int, bounds: Bounds) -> None:
    if files > bounds.files:
        raise _too_large(f"over {bounds.files:,} files")
    if total > bounds.total_bytes:
        raise _too_large(f"over {bounds.total_bytes // _MEGABYTE} MB unpacked")


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> bool:
    """Write one plain file, never over another and never executable."""
    source = tar.extractfile(member)
    if source is None:
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            while chunk := source.read(_MEGABYTE):
                out.write(chunk)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        return False
    return True


def _cleaned(member: tarfile.TarInfo, name: str) -> tarfile.TarInfo:
    clean = tarfile.TarInfo(name)
    clean.type = tarfile.SYMTYPE if member.issym() else tarfile.DIRTYPE if member.isdir() else tarfile.REGTYPE
    clean.linkname = member.linkname if member.issym() else ""
    clean.size = member.size if member.isfile() else 0
    clean.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return clean


def _too_large(why: str) -> UserError:
    return UserError(
        "repository_too_large",
        "this repository is larger than gpu-lol reads",
        why=why,
        fix="Keep data and weights outside of git, for example on the Hugging Face Hub.",
    )
