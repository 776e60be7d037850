"""What of a program's tree a reader of networks needs: its classes, functions, module-level values, and where names come from."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.texts import defined_names, may_define
from gpu_lol_action.analysis.python.faulty import parse_mostly
from gpu_lol_action.analysis.python.syntax import parse_cost
from gpu_lol_action.domain.records import record

MAX_CHARACTERS = 200_000
MAX_KEPT = 64
"""Programs that are kept for the next run that imports them: no more than one run may have."""


@record(frozen=True, slots=True)
class _Outline:
    """What a program's tree says; ``is_broken`` where there is none."""

    body: Sequence[ast.stmt] = ()
    classes: Mapping[str, ast.ClassDef] = field(default_factory=dict)
    functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)
    values: Mapping[str, ast.expr] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)
    stars: Sequence[str] = ()
    is_broken: bool = False


@record(slots=True, eq=False)
class Program:
    """One program: its statements, and by name its classes, functions, assigned values, and what it imports.

    It is parsed when it is first asked for one of these: of the programs that a run imports most never are. ``cost`` is what
    parsing takes, in bytes of ordinary code; ``stem`` is the module's own word: that of the folder for a package.
    """

    source: Source
    cost: int
    stem: str
    _outline: _Outline | None = None
    _defined: frozenset[str] | None = None

    @property
    def dotted(self) -> list[str]:
        """The words of its dotted name, from the root on."""
        words = self.source.path.rpartition(".")[0].split("/")
        return words[:-1] if words[-1] == "__init__" else words

    @property
    def is_broken(self) -> bool:
        """Whether it cannot be parsed: then it has nothing."""
        return (self._outline or self._outlined()).is_broken

    @property
    def body(self) -> Sequence[ast.stmt]:
        """Its statements."""
        return (self._outline or self._outlined()).body

    @property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        """Classes of the module by name."""
        return (self._outline or self._outlined()).classes

    @property
    def functions(self) -> Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]:
        """Functions of the module by name."""
        return (self._outline or self._outlined()).functions

    @property
    def values(self) -> Mapping[str, ast.expr]:
        """Assigned values of the module by name."""
        return (self._outline or self._outlined()).values

    @property
    def imports(self) -> Mapping[str, str]:
        """The dotted origin of each name that is imported."""
        return (self._outline or self._outlined()).imports

    @property
    def stars(self) -> Sequence[str]:
        """The modules of which every name is imported."""
        return (self._outline or self._outlined()).stars

    def defines(self, name: str) -> bool:
        """Whether the module has a class or function of that name; not parsed where none may be."""
        if self._outline is None and not self.may_define_any((name,)):
            return False
        return name in self.classes or name in self.functions

    def may_define_any(self, names: Iterable[str]) -> bool:
        """Whether the program may have a class or function of one of these names: a look at its text."""
        content = self.source.content
        if self._defined is None:
            self._defined = defined_names(content)
        return any(may_define(content, name, self._defined) for name in names)

    def mentions_any(self, words: Iterable[str]) -> bool:
        """Whether one of these words stands in its text."""
        text = self.source.text
        return any(word in text for word in words)

    def decorates_with(self, word: str) -> bool:
        """Whether a decorator may have that word (in small letters) in its name: a look at its text."""
        text = self.source.text.lower()
        place = text.find(word)
        while place >= 0:
            if "@" in text[text.rfind("\n", 0, place) + 1 : place]:
                return True
            place = text.find(word, place + 1)
        return False

    def _outlined(self) -> _Outline:
        if self._outline is None:
            self._outline = _outline_of(self.source.text, self.source.effort.python.take)
        return self._outline


@functools.lru_cache(maxsize=MAX_KEPT)
def program_of(source: Source) -> Program | None:
    """Return a program to be asked; None where it is too long."""
    text = source.text
    if source.code is None or len(text) > MAX_CHARACTERS:
        return None
    stem = source.path.rpartition("/")[2].rpartition(".")[0]  # as an import writes it; ``name`` is in small letters
    stem = source.folder.rpartition("/")[2] if stem == "__init__" else stem
    return Program(source, parse_cost(text), stem)


def _outline_of(text: str, may_spend: Callable[[int], bool]) -> _Outline:
    tree, _ = parse_mostly(text, may_spend)
    if isinstance(tree, str):
        return _Outline(is_broken=True)
    classes: dict[str, ast.ClassDef] = {}
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    values: dict[str, ast.expr] = {}
    imports: dict[str, str] = {}
    for node in _statements(tree.body):
        if isinstance(node, ast.ClassDef):
            classes.setdefault(node.name, node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions[node.name] = node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(origins_of(node))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            values.setdefault(node.target.id, node.value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values[target.id] = node.value
    stars = [origin.removesuffix(".*") for name, origin in imports.items() if name.startswith("*")]
    return _Outline(tree.body, classes, functions, values, imports, stars)


def _statements(body: Sequence[ast.stmt], depth: int = 0) -> list[ast.stmt]:
    """Return the statements of a module, with those under ``try`` and ``if``; not those of the main guard."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if depth < 3 and isinstance(node, ast.Try):
            found += _statements([*node.body, *(s for handler in node.handlers for s in handler.body)], depth + 1)
        elif depth < 3 and isinstance(node, ast.If) and not _is_main(node):
            found += _statements([*node.body, *node.orelse], depth + 1)
    return found


def _is_main(node: ast.If) -> bool:
    return (
        isinstance(node.test, ast.Compare) and isinstance(node.test.left, ast.Name) and node.test.left.id == "__name__"
    )


def origins_of(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Return the dotted origin of each name that an import binds."""
    if isinstance(node, ast.Import):
        return {alias.asname: alias.name for alias in node.names if alias.asname} | {
            alias.name.split(".")[0]: alias.name.split(".")[0] for alias in node.names if not alias.asname
        }
    module = node.module or ""
    return {
        f"*{module}" if alias.name == "*" else alias.asname or alias.name: f"{module}.{alias.name}".strip(".")
        for alias in node.names
    }
