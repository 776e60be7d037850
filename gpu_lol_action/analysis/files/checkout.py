"""A checkout as values: what of a tree is read, for what each file may speak, and what was left out and why."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from gpu_lol_action.analysis.files.effort import Effort, remembered
from gpu_lol_action.analysis.files.started_tests import is_of_a_framework, started_tests
from gpu_lol_action.analysis.files.tree import (
    MAX_DEPTH,
    UNREADABLE,
    LeftOut,
    Tree,
    describe,
    list_tree,
    open_tree,
    shown,
)
from gpu_lol_action.analysis.files.troubles import troubles_of
from gpu_lol_action.analysis.formats.notebooks import read_notebook
from gpu_lol_action.analysis.formats.paths import Form, Role, form_of, nearest_folder, role_of
from gpu_lol_action.analysis.formats.texts import has_mark, is_text, text_of
from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.domain.digests import blake2
from gpu_lol_action.domain.records import record

MAX_FILES = 10_000
MAX_FILE_BYTES = 512 * 1024
MAX_NOTEBOOK_BYTES = 16 * 1024 * 1024
MAX_TABLE_BYTES = 256 * 1024
"""Of TOML: a project with an extra for each build of PyTorch has half of that, and the reader takes long over each line."""
MAX_TOTAL_BYTES = 96 * 1024 * 1024
MAX_CHECKED_BYTES = 256 * 1024
MAX_LINES = 10_000
"""Of an INI file: its reader's errors add up to the square of their number."""
MAX_LINE = 8000
"""Characters of a line of prose or of a script. Where lines have no end, expressions that read them have none either."""

SPEC_FILE = ".gpu-lol.yaml"

LFS_POINTER = "Git LFS pointers, whose files are not fetched"
NOT_TEXT = "not valid UTF-8, so read with replacements"
LONG_LINES = f"lines over {MAX_LINE} characters are cut"
MANY_LINES = f"lines after the first {MAX_LINES} are cut"
TOO_MANY = f"after {MAX_FILES} files or {MAX_TOTAL_BYTES // 2**20} MiB the rest is not read"

_LFS = b"version https://git-lfs.github.com/spec/"
_LIMITS = {Form.NOTEBOOK: MAX_NOTEBOOK_BYTES, Form.TOML: MAX_TABLE_BYTES}
_BY_LINES = frozenset({Form.MARKDOWN, Form.SHELL, Form.DOCKERFILE, Form.REQUIREMENTS, Form.INI, Form.BATCH})


@record(frozen=True, slots=True, eq=False)
class Source:
    """One file that was read, compared by identity.

    ``content`` is text, or a program's bytes, which only become text when they are asked for: most never are. ``code`` is
    set for Python and notebooks that may speak for the workload; a notebook's text is the code of its cells. ``digest`` is
    of the file's bytes; empty where they were not read, and of a program, whose content they are.
    """

    path: str
    form: Form
    role: Role
    content: bytes | str
    code: PythonCode | None = None
    effort: Effort = field(default_factory=Effort, repr=False)
    digest: bytes = b""

    @property
    def text(self) -> str:
        """The text, with a line feed alone at the end of lines."""
        return self.content if isinstance(self.content, str) else text_of(self.content)

    def is_of(self, content: bytes) -> bool:
        """Whether it is what a file of these bytes is read as."""
        return self.content == content if isinstance(self.content, bytes) else self.digest == _digest(content)

    def mentions(self, word: str) -> bool:
        """Whether a word may stand somewhere in the file: True too where only decoding it would tell."""
        if isinstance(self.content, str):
            return word in self.content
        return word.encode() in self.content or has_mark(self.content)

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


@record(frozen=True, slots=True, eq=False)
class Checkout:
    """A tree as far as it was read, in the order of paths, and what was left out.

    ``project`` is the folder that its operator says the project is in; empty where none is named, or it holds nothing.
    Compared by identity, so that what several detectors need of one checkout is computed once.
    """

    sources: tuple[Source, ...]
    by_path: Mapping[str, Source]
    spec_text: str | None
    files_skipped: int
    notes: tuple[str, ...]
    effort: Effort = field(default_factory=Effort, repr=False)
    project: str = ""
    spec_path: str = SPEC_FILE
    """Where the file with the spec lies, or belongs where there is none."""

    @property
    def files_read(self) -> int:
        """How many files were opened and read."""
        return self.effort.files_read

    @property
    def bytes_read(self) -> int:
        """How many bytes of files were read."""
        return self.effort.bytes_read

    @property
    def bytes_parsed(self) -> int:
        """How many bytes of programs were parsed so far."""
        return self.effort.python.taken_bytes

    def of(self, *forms: Form, roles: tuple[Role, ...] = (Role.WORKLOAD,)) -> tuple[Source, ...]:
        """Return the files of these forms and roles, shallow ones first, then by path."""
        return _chosen(self, forms, roles)

    def find(self, path: str) -> Source | None:
        """Return the file with that path relative to the root, or None."""
        return self.by_path.get(path)

    def find_named(self, reference: str) -> Source | None:
        """Return the file that a command means: that path, or the shallowest that ends like it (a folder of a bigger tree).

        Of equally shallow ones with none of the folders that it names (one was renamed) the one whose folder is spelled most alike.
        """
        parts = [part for part in reference.strip().split("/") if part not in {"", "."}]
        named = _by_name(self).get(parts[-1], ()) if parts else ()
        # More folders than a checkout is read to are in no path of it.
        for start in range(max(0, len(parts) - MAX_DEPTH - 1), len(parts)):
            tail = "/".join(parts[start:])
            found = next((s for s in named if s.path == tail or s.path.endswith(f"/{tail}")), None)
            if found is not None and start and "/" not in tail:
                near = [source for source in named if source.depth == found.depth]
                return near[nearest_folder([source.folder for source in near], "/".join(parts[:-1]))]
            if found is not None:
                return found
        return None

    def gaps(self) -> tuple[str, ...]:
        """Return what was not read or not understood, one line per reason: asked after detection.

        Programs that no detector had to parse are tried too where they are small: who wrote one that is broken wants to know.
        """
        left_bytes = MAX_CHECKED_BYTES
        for source in _shallow_first(self):
            if source.code is not None and len(source.content) <= left_bytes:
                left_bytes -= source.code.check()
        troubles = list(troubles_of(self.sources))
        troubles += [LeftOut(path, reason) for path, reason in self.effort.failures.items()]
        return (*self.notes, *describe(troubles))


@remembered
def _chosen(checkout: Checkout, forms: tuple[Form, ...], roles: tuple[Role, ...]) -> tuple[Source, ...]:
    return tuple(source for source in _shallow_first(checkout) if source.form in forms and source.role in roles)


@functools.lru_cache(maxsize=2)
def _shallow_first(checkout: Checkout) -> tuple[Source, ...]:
    return tuple(sorted(checkout.sources, key=lambda source: (source.depth, source.path)))


@functools.lru_cache(maxsize=2)
def _by_name(checkout: Checkout) -> Mapping[str, tuple[Source, ...]]:
    """Return the files by the last part of their path, shallow ones first."""
    found: dict[str, list[Source]] = {}
    for source in _shallow_first(checkout):
        found.setdefault(source.path.rpartition("/")[2], []).append(source)
    return {name: tuple(sources) for name, sources in found.items()}


def read_checkout(root: Path, like: Checkout | None = None, folder: str = "") -> Checkout:
    """Read a tree within bounds. Symbolic links, special files and what is too large are left out and named.

    ``folder`` is where the project is said to be: it comes first, and what its files may speak for follows from their place in it.

    ``like`` is another commit of the same project that was looked into before: files that are equal in both are the same
    sources, with all that was found out of them, so that each is parsed once.
    """
    effort = Effort()
    with open_tree(root) as tree:
        if tree is None:
            return Checkout((), {}, None, 1, (f"{UNREADABLE}: .",), effort)
        paths, left = list_tree(tree)
        start = f"{folder}/" if folder else ""
        reader = _Reader(tree, effort, left, like.by_path if like is not None else {}, start)
        for path in sorted(paths, key=lambda path: not path.startswith(start)) if start else paths:
            reader.take(path)
        for path in tuple(started_tests(reader.sources)):
            reader.take_started(path)
        spec = tree.read(SPEC_FILE, MAX_FILE_BYTES)
    ordered = tuple(sorted(reader.sources, key=lambda source: source.path))
    return Checkout(
        ordered,
        {source.path: source for source in ordered},
        text_of(spec) if isinstance(spec, bytes) else None,
        len(left),
        tuple(describe([*left, *reader.remarks])),
        effort,
    )


def _digest(content: bytes) -> bytes:
    return blake2(content, 16)


@record(slots=True)
class _Reader:
    """Files become sources while the bounds allow. Shallow ones come first: where a bound cuts, it cuts what speaks least."""

    tree: Tree
    effort: Effort
    left: list[LeftOut]
    known: Mapping[str, Source]
    start: str = ""
    sources: list[Source] = field(default_factory=list)
    remarks: list[LeftOut] = field(default_factory=list)

    def take(self, path: str) -> None:
        """Read one file, or note why not."""
        form = form_of(path)
        if form is not None:
            self._take(path, form, role_of(path.removeprefix(self.start), form))

    def take_started(self, path: str) -> None:
        """Read a program that was left out for its name, and that a document starts; one written for a framework of tests stays out."""
        before = tuple(self.sources)
        self._take(path, Form.PYTHON, Role.WORKLOAD)
        for read in self.sources[len(before) :]:
            is_test = isinstance(read.content, bytes) and is_of_a_framework(read.content)
            self.sources.remove(read if is_test else next(source for source in before if source.path == path))

    def _take(self, path: str, form: Form, role: Role) -> None:
        if role is Role.ASIDE and form in {Form.PYTHON, Form.NOTEBOOK}:
            # Tests and the like say nothing, and are half of many trees: that they are there is all that is asked.
            self.sources.append(Source(path, form, role, "", None, self.effort))
            return
        content = self._read(path, form)
        if isinstance(content, str):
            self.left.append(LeftOut(shown(path), content))
            return
        self.effort.files_read += 1
        self.effort.bytes_read += len(content)
        known = self.known.get(path)
        if known is not None and known.is_of(content):
            self.sources.append(known)
            return
        if not is_text(content):
            self.remarks.append(LeftOut(shown(path), NOT_TEXT))
        self.sources.append(self._source(path, form, role, content))

    def _read(self, path: str, form: Form) -> bytes | str:
        """Return a file's bytes, or the reason why it is left out."""
        if len(self.sources) >= MAX_FILES or self.effort.bytes_read >= MAX_TOTAL_BYTES:
            return TOO_MANY
        content = self.tree.read(path, _LIMITS.get(form, MAX_FILE_BYTES))
        if isinstance(content, bytes) and self.effort.bytes_read + len(content) > MAX_TOTAL_BYTES:
            return TOO_MANY
        return LFS_POINTER if isinstance(content, bytes) and content.startswith(_LFS) else content

    def _source(self, path: str, form: Form, role: Role, content: bytes) -> Source:
        if form is Form.PYTHON:
            return Source(path, form, role, content, PythonCode(content, (), self.effort.python), self.effort)
        text = text_of(content)
        if form is Form.NOTEBOOK:
            read = read_notebook(text)
            if isinstance(read, str):
                self.remarks.append(LeftOut(shown(path), read))
                read = ("", ())
            return Source(
                path, form, role, read[0], PythonCode(*read, self.effort.python), self.effort, _digest(content)
            )
        if form is Form.INI and text.count("\n") > MAX_LINES:
            self.remarks.append(LeftOut(shown(path), MANY_LINES))
            text = "\n".join(text.split("\n")[:MAX_LINES])
        if form in _BY_LINES and len(text) > MAX_LINE and any(len(line) > MAX_LINE for line in text.split("\n")):
            self.remarks.append(LeftOut(shown(path), LONG_LINES))
            text = "\n".join(line[:MAX_LINE] for line in text.split("\n"))
        return Source(path, form, role, text, None, self.effort, _digest(content))
