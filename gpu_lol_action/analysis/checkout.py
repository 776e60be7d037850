"""The only file reader of the analysis: a checkout as values, bounded, sorted, never followed out of, never executed."""

from __future__ import annotations

import bisect
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpu_lol_action.analysis.paths import SKIPPED_FOLDERS, Form, Role, form_of, role_of
from gpu_lol_action.analysis.python_code import PythonCode, read_python

MAX_FILES = 4000
MAX_FILE_BYTES = 512 * 1024
MAX_NOTEBOOK_BYTES = 4 * 1024 * 1024
MAX_TOTAL_BYTES = 48 * 1024 * 1024
MAX_PYTHON_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 12
MAX_ENTRIES = 100_000
MAX_NOTEBOOK_MISSES = 20
NOTEBOOK_REACH = 2000

SPEC_FILE = ".gpu-lol.yaml"


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One file that was read, compared by identity. ``code`` is set for Python and notebooks, where ``text`` is the code of the cells."""

    path: str
    form: Form
    role: Role
    text: str
    code: PythonCode | None = None

    @property
    def name(self) -> str:
        """File name in small letters."""
        return self.path.rsplit("/", 1)[-1].lower()

    @property
    def folder(self) -> str:
        """Folder relative to the root; empty for the root."""
        return self.path.rpartition("/")[0]

    @property
    def depth(self) -> int:
        """Number of folders above it."""
        return self.path.count("/")


@dataclass(frozen=True, slots=True, eq=False)
class Checkout:
    """A tree as far as it was read, in the order of paths, and what was left out.

    Compared by identity, so that what several detectors need of one checkout is computed once.
    """

    sources: tuple[Source, ...]
    by_path: Mapping[str, Source]
    spec_text: str | None
    files_skipped: int
    notes: tuple[str, ...]

    def of(self, *forms: Form, roles: tuple[Role, ...] = (Role.WORKLOAD,)) -> tuple[Source, ...]:
        """Return the files of these forms and roles, shallow ones first, then by path."""
        found = [source for source in self.sources if source.form in forms and source.role in roles]
        return tuple(sorted(found, key=lambda source: (source.depth, source.path)))

    def find(self, path: str) -> Source | None:
        """Return the file with that path relative to the root, or None."""
        return self.by_path.get(path)

    def find_named(self, reference: str) -> Source | None:
        """Return the file that a command means: that path, or the shallowest that ends like it (a folder of a bigger tree)."""
        parts = [part for part in reference.strip().split("/") if part not in {"", "."}]
        # More folders than a checkout is read to are in no path of it.
        for start in range(max(0, len(parts) - MAX_DEPTH - 1), len(parts)):
            tail = "/".join(parts[start:])
            ends = [source for source in self.sources if source.path == tail or source.path.endswith(f"/{tail}")]
            if ends:
                return min(ends, key=lambda source: (source.depth, source.path))
        return None


def read_checkout(root: Path) -> Checkout:
    """Read a tree within bounds. Symbolic links, special files and what is too large are left out and counted."""
    paths, skipped, notes = _list(root)
    sources: list[Source] = []
    total = python_total = unparsed = 0
    # Shallow files first: where a bound cuts, it cuts what speaks least.
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        form = form_of(path)
        if form is None:
            continue
        limit = MAX_NOTEBOOK_BYTES if form is Form.NOTEBOOK else MAX_FILE_BYTES
        raw = _read(root, path, limit)
        if raw is None or len(sources) >= MAX_FILES or total + len(raw) > MAX_TOTAL_BYTES:
            skipped += 1
            continue
        total += len(raw)
        role = role_of(path, form)
        is_code = form in {Form.PYTHON, Form.NOTEBOOK} and role is not Role.ASIDE
        may_parse = python_total + len(raw) <= MAX_PYTHON_BYTES
        unparsed += is_code and not may_parse
        source = _source(path, form, role, raw, may_parse=may_parse)
        python_total += len(source.text) if source.code else 0
        sources.append(source)
    spec = _read(root, SPEC_FILE, MAX_FILE_BYTES)
    spec_text = spec.decode("utf-8", "replace") if spec is not None else None
    if unparsed:
        notes.append(
            f"{unparsed} programs in deep folders were not parsed: {MAX_PYTHON_BYTES // 2**20} MiB is the most"
        )
    ordered = tuple(sorted(sources, key=lambda source: source.path))
    return Checkout(ordered, {source.path: source for source in ordered}, spec_text, skipped, tuple(notes))


def _list(root: Path) -> tuple[list[str], int, list[str]]:
    """Return relative paths of regular files; how many entries were refused; and what was cut."""
    paths: list[str] = []
    notes: list[str] = []
    refused = seen = 0
    pending = [("", 0)]
    while pending:
        folder, depth = pending.pop()
        for entry in _scan(root / folder if folder else root):
            seen += 1
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink():
                refused += 1
            elif entry.is_dir(follow_symlinks=False):
                if entry.name.lower() in SKIPPED_FOLDERS:
                    continue
                if depth >= MAX_DEPTH:
                    notes.append(f"folders more than {MAX_DEPTH} levels deep were not read")
                else:
                    pending.append((path, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                paths.append(path)
            else:
                refused += 1
        if seen > MAX_ENTRIES:
            notes.append(f"more than {MAX_ENTRIES} entries: the rest was not read")
            break
    return paths, refused, sorted(set(notes))


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    """Return a folder's entries by name; an unreadable folder, or names that are not text, count as empty."""
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry in found if entry.name.isprintable()]
    except OSError:
        return []
    return sorted(entries, key=lambda entry: entry.name)


def _read(root: Path, path: str, limit: int) -> bytes | None:
    """Return a regular file's bytes without following a link at its end; None when it is too large or unreadable."""
    try:
        handle = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    details = os.fstat(handle)
    if not stat.S_ISREG(details.st_mode) or details.st_size > limit:
        os.close(handle)  # before Python wraps it: it refuses a folder by an error
        return None
    with os.fdopen(handle, "rb") as file:
        return file.read(limit)


def _source(path: str, form: Form, role: Role, raw: bytes, *, may_parse: bool) -> Source:
    # Windows PowerShell writes lists (`pip freeze > requirements.txt`) as UTF-16 with its mark; pip reads them so.
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = raw.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")
    if form is Form.NOTEBOOK:
        code, lines = _notebook(text)
        return Source(path, form, role, code, read_python(code, lines) if may_parse else None)
    is_code = form is Form.PYTHON and role is not Role.ASIDE and may_parse
    return Source(path, form, role, text, read_python(text) if is_code else None)


def _notebook(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the code cells as one program, with the line of the file for each line; magics become comments."""
    try:
        cells = json.loads(text).get("cells", [])
    except (ValueError, AttributeError, RecursionError):
        return "", ()
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    code: list[str] = []
    lines: list[int] = []
    position = misses = 0
    for line in _code_lines(cells):
        needle = json.dumps(line, ensure_ascii=False)[1:-1]
        # Cells follow each other in the file. Those that are written otherwise (`\\u005a`) are looked for in vain, each of
        # them through the rest of the file: after a few of these only nearby.
        end = len(text) if misses < MAX_NOTEBOOK_MISSES else position + NOTEBOOK_REACH
        found = text.find(needle, position, end) if needle else position
        misses += found < 0
        position = position if found < 0 else found + len(needle)
        is_magic = line.lstrip().startswith(("!", "%", "?"))
        code.append(f"#{line}" if is_magic else line)
        lines.append(bisect.bisect_right(starts, found if found >= 0 else position))
    return "\n".join(code), tuple(lines)


def _code_lines(cells: object) -> Iterator[str]:
    for cell in cells if isinstance(cells, list) else []:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        whole = "".join(part for part in source if isinstance(part, str)) if isinstance(source, list) else source
        if isinstance(whole, str):
            yield from whole.split("\n")
