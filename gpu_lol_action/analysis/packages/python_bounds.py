"""The Pythons on which the code of a run works at all: what it is written in, and what it takes of Python's own library.

A name that a Python does not have ends the program, and a statement that it does not know keeps a file from being read. Every Python up
to 3.11, which is taken where nothing else is asked for, knows what came before: what counts is what came later, and what went.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.gone_names import PYTHON, gone_names
from gpu_lol_action.analysis.programs.loaded_modules import loaded_modules
from gpu_lol_action.analysis.python.code import Import, PythonCode
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_SINCE = {
    "itertools.batched": 12, "typing.override": 12, "typing.TypeAliasType": 12, "typing.TypeIs": 13, "typing.ReadOnly": 13,
    "typing.NoDefault": 13, "copy.replace": 13, "warnings.deprecated": 13, "annotationlib": 14, "compression.zstd": 14,
    "concurrent.interpreters": 14, "string.templatelib": 14,
}  # fmt: skip
"""By name the minor of the Python 3 that has it first: the library's own documentation ("New in version")."""
_TYPE_PARAMETERS = regex(r"(?m)^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+\w{1,80}\[")
_TYPE_STATEMENT = regex(r"(?m)^[ \t]*type[ \t]+\w{1,80}[ \t]*(?:\[[^\]\n]{1,200}\])?[ \t]*=(?!=)")
# Up to 3.11 a quote ends the f-string that it begins.
_SAME_QUOTES = regex(
    r"""\b[fF][rR]?(?:"(?:[^"\n{]|\{[^"\n{}]{0,80}\}){0,200}\{[^"'{}\n]{1,80}"[^"\n]{0,80}"[^"\n{}]{0,40}\}"""
    r"""|'(?:[^'\n{]|\{[^'\n{}]{0,80}\}){0,200}\{[^"'{}\n]{1,80}'[^'\n]{0,80}'[^'\n{}]{0,40}\})"""
)
_NEWER = (
    (_TYPE_PARAMETERS, "a list of type parameters", 12),
    (_TYPE_STATEMENT, "a `type` statement", 12),
    (_SAME_QUOTES, "an f-string within whose braces its own quotes stand", 12),
)
_PYTHON_2 = regex(
    r"(?m)^[ \t]*(?:(?:print|exec)[ \t]+(?![=.,:)\]|&^%<>!+*/-])(?:[\"'\w]|>>)(?!(?:n|s|f|r)?\b(?:in|is|if|and|or|not)\b)|raise[ \t]+[\w.]{1,80}[ \t]*,[ \t]*\S)"
)


@record(frozen=True, slots=True)
class PythonBound:
    """What of the code only some Pythons take: those from 3.``since`` on, or those before 3.``until`` (0: Python 2 alone).

    ``is_certain`` where the program ends there as it starts; else where it comes to that place.
    """

    what: str
    evidence: Evidence
    since: int = 0
    until: int | None = None
    is_certain: bool = True

    def allows(self, python: str) -> bool:
        """Whether ``3.11`` (any patch of it) takes it."""
        minor = int(python.split(".")[1])
        return minor >= self.since and (self.until is None or minor < self.until)

    @property
    def specifier(self) -> str:
        """The bound as pip writes it."""
        return f">=3.{self.since}" if self.until is None else f"<3.{self.until}"

    @property
    def said(self) -> str:
        """The bound in a few words, with its place."""
        if self.until is None:
            return f"{self.what} ({self.evidence}) needs Python 3.{self.since} or a later one"
        return f"{self.what} ({self.evidence}) is in no Python from 3.{self.until} on"


def python_bounds(checkout: Checkout, run: Run | None) -> tuple[PythonBound, ...]:
    """Return the strictest bounds from below and from above, as far as there are any: of what the run loads as it starts."""
    if run is None or run.script is None:
        return ()
    found = [bound for source in loaded_modules(checkout, run.script) for bound in _of_program(checkout, source)]
    lowest = max((bound for bound in found if bound.until is None), key=lambda bound: bound.since, default=None)
    highest = min((b for b in found if b.until is not None and b.is_certain), key=_end, default=None)
    # What is only perhaps come to says something where it is stricter.
    rare = min(
        (b for b in found if b.until is not None and (highest is None or _end(b) < _end(highest))),
        key=_end,
        default=None,
    )
    return tuple(bound for bound in (lowest, highest, rare) if bound is not None)


def _end(bound: PythonBound) -> int:
    return bound.until or 0


@remembered
def _of_program(checkout: Checkout, source: Source) -> tuple[PythonBound, ...]:
    return tuple(_bounds_in(checkout, source, source.code)) if source.code is not None else ()


def _bounds_in(checkout: Checkout, source: Source, code: PythonCode) -> Iterator[PythonBound]:
    taken = {name: item.line for item in code.imports if not item.is_optional for name in _names_of(item)}
    for gone in gone_names(source):
        if gone.package == PYTHON and not _is_own(checkout, gone.name):
            where = Evidence(source.path, gone.line)
            yield PythonBound(f"`{gone.name}`", where, until=gone.until[1], is_certain=gone.name in taken)
    for name in sorted(_SINCE.keys() & taken.keys()):
        yield PythonBound(f"`{name}`", Evidence(source.path, taken[name]), since=_SINCE[name])
    for pattern, what, minor in _NEWER:
        if line := code.line_of(pattern):
            yield PythonBound(what, Evidence(source.path, line), since=minor)
    if line := code.line_of(_PYTHON_2):
        yield PythonBound("a statement of Python 2", Evidence(source.path, line), until=0)


def _names_of(item: Import) -> tuple[str, ...]:
    return (item.module, *(f"{item.module}.{name}" for name in item.names))


def _is_own(checkout: Checkout, name: str) -> bool:
    """Whether a module of that name is the checkout's: `parser`, `commands`, `symbol`."""
    return "." not in name and name.lower() in _stems(checkout)


@remembered
def _stems(checkout: Checkout) -> frozenset[str]:
    sources = checkout.of(Form.PYTHON)
    stems = {source.name.removesuffix(".py") for source in sources}
    return frozenset(stems | {source.folder.rpartition("/")[2].lower() for source in sources})
