"""What a program takes of libraries, calls or gives them, and what newer releases of these have no longer.

Names are in ``data/gone_names.csv``, those of Python's own library in ``data/gone_python_names.csv``, arguments of calls in
``data/gone_arguments.csv``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.tables import table_rows

PYTHON = "python"
"""What stands for a package where Python itself took a name out."""
UNSLOTH = "unsloth"
MAX_FOUND = 200
"""Places of one word in one program that are looked at."""

_RENAMED = regex(r"(?m)^[ \t]*import[ \t]+([A-Za-z_][\w.]{0,80})[ \t]+as[ \t]+(\w{1,40})")
_TAKEN_AS = regex(
    r"(?m)^[ \t]*from[ \t]+([A-Za-z_][\w.]{0,80})[ \t]+import[ \t]+\(?[ \t]*(\w{1,60})[ \t]+as[ \t]+(\w{1,40})"
)
_BEFORE = regex(r"(?:\A|[^\w.\])])([A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){0,3})\Z")
_LONGEST = 170  # characters that `_BEFORE` may look at
# A program that asks which release it has, or catches that a name is missing, knows both.
_KNOWS_BOTH = regex(
    r"hasattr\(|AttributeError|ImportError|__version__|version_info|\bPY[23]\b|version\.parse|Version\("
)
_NEAR = 400


@record(frozen=True, slots=True)
class Gone:
    """A name that newer releases of a package have no longer: ``until`` is the first release without it."""

    package: str
    name: str
    line: int
    until: tuple[int, ...]


@functools.lru_cache(maxsize=1)
def _rows() -> Mapping[str, Mapping[str, tuple[str, tuple[int, ...]]]]:
    """Return the table: by the top of a name, each dotted name with its package and the first release without it."""
    rows: dict[str, dict[str, tuple[str, tuple[int, ...]]]] = {}
    for row in (*table_rows("gone_names.csv"), *table_rows("gone_python_names.csv")):
        release = tuple(int(part) for part in row["gone_in"].split("."))
        rows.setdefault(row["name"].split(".")[0], {})[row["name"]] = (row.get("package", PYTHON), release)
    return MappingProxyType({top: MappingProxyType(names) for top, names in rows.items()})


@functools.lru_cache(maxsize=1)
def _arguments() -> Mapping[str, Mapping[str, Mapping[str, tuple[str, tuple[int, ...]]]]]:
    """Return the other table: by the top of a name and its last word, each argument with its package and the first release without it.

    A library hands out its classes under more than one name.
    """
    rows: dict[str, dict[str, dict[str, tuple[str, tuple[int, ...]]]]] = {}
    for row in table_rows("gone_arguments.csv"):
        top, *_, last = row["name"].split(".")
        release = tuple(int(part) for part in row["gone_in"].split("."))
        rows.setdefault(top, {}).setdefault(last, {})[row["argument"]] = (row["package"], release)
    return MappingProxyType(rows)


@functools.lru_cache(maxsize=1)
def packages_with_gone_names() -> frozenset[str]:
    """Return the packages that the tables have names of."""
    names = {package for names in _rows().values() for package, _ in names.values()}
    calls = (arguments for calls in _arguments().values() for arguments in calls.values())
    return frozenset(names | {package for arguments in calls for package, _ in arguments.values()})


def gone_options() -> Mapping[str, tuple[str, tuple[int, ...]]]:
    """Return the arguments of ``TrainingArguments``, which transformers' own parser takes from the command line."""
    return _arguments()["transformers"]["TrainingArguments"]


@remembered
def gone_names(source: Source) -> tuple[Gone, ...]:
    """Return what a program takes whatever happens, calls, or gives to a call, by line; of one name the first place."""
    code = source.code
    if code is None or not (code.may_import_any(_tops()) or source.mentions("np.")):
        return ()
    tops = sorted(code.imported() & _tops() | ({"numpy"} if _takes_all(code) else set()))
    found: dict[str, Gone] = {}
    for each in (*_taken(code, tops), *_called(source, code, tops), *_given(code, tops)):
        known = found.get(each.name)
        if known is None or each.line < known.line:
            found[each.name] = each
    return tuple(sorted(found.values(), key=lambda each: (each.line, each.name)))


@functools.lru_cache(maxsize=1)
def _tops() -> frozenset[str]:
    return frozenset(_rows()) | frozenset(_arguments())


def _takes_all(code: PythonCode) -> bool:
    return any("*" in item.names for item in code.imports)


def _taken(code: PythonCode, tops: Sequence[str]) -> Iterator[Gone]:
    """Yield what the program imports as it starts."""
    if not tops:
        return
    for item in code.imports:
        names = _rows().get(item.module.split(".")[0])
        if names is None or item.is_optional:
            continue
        for dotted in (item.module, *(f"{item.module}.{name}" for name in item.names)):
            known = _known(dotted, names)
            if known is not None:
                yield Gone(names[known][0], known, item.line, names[known][1])


def _called(source: Source, code: PythonCode, tops: Iterable[str]) -> Iterator[Gone]:
    """Yield what the program calls or reads of modules that it imports, under the names that it gives them."""
    text = source.text
    meant: Mapping[str, str] | None = None
    for top in tops:
        names = _rows().get(top, {})
        for tail in dict.fromkeys(name.rsplit(".", maxsplit=1)[-1] for name in names):
            for place in _places(text, f".{tail}"):
                meant = _meant(code) if meant is None else meant
                known = _known(_dotted(text, place, tail, meant), names)
                if known is None or not known.endswith(f".{tail}"):
                    continue
                if _is_remark(text, place) or _KNOWS_BOTH.search(text, max(0, place - _NEAR), place + _NEAR):
                    continue
                line = text.count("\n", 0, place) + 1
                yield Gone(names[known][0], known, code.line_of_file(line), names[known][1])
                break


def _given(code: PythonCode, tops: Iterable[str]) -> Iterator[Gone]:
    """Yield the arguments that the program gives by name to what it calls of modules that it imports.

    Unsloth hands TRL's trainers on and takes the words of older releases: ``unsloth/trainer.py``, which needs TRL 0.18 to 0.24.
    """
    tops = set(tops) - ({"trl"} if UNSLOTH in code.imported() else set())
    lasts = sorted({last for top in tops for last in _arguments().get(top, {})})
    meant = _meant(code) if lasts else {}
    for call in code.calls_named(*lasts) if lasts else ():
        top = meant.get(call.name.partition(".")[0], "").partition(".")[0]
        arguments = _arguments().get(top, {}).get(call.last, {})
        for name, _ in call.keywords:
            if name in arguments:
                package, until = arguments[name]
                yield Gone(package, f"{call.last}({name}=)", call.line, until)


def _places(text: str, word: str) -> Iterator[int]:
    """Yield where a word begins that no letter follows."""
    place = text.find(word)
    for _ in range(MAX_FOUND):
        if place < 0:
            return
        end = place + len(word)
        if not (text[end : end + 1].isalnum() or text.startswith("_", end)):
            yield place
        place = text.find(word, end)


def _dotted(text: str, place: int, tail: str, meant: Mapping[str, str]) -> str:
    """Return the full name of what ends with a tail at a place; empty where its first word is no imported module."""
    read = _BEFORE.search(text, max(0, place - _LONGEST), place)
    if read is None:
        return ""
    first, dot, rest = read[1].partition(".")
    return f"{meant[first]}{dot}{rest}.{tail}" if first in meant else ""


def _meant(code: PythonCode) -> Mapping[str, str]:
    """Return what the names that a program imports stand for, as full names of modules."""
    meant: dict[str, str] = {}
    for item in code.imports:
        meant.setdefault(item.module.split(".")[0], item.module.split(".")[0])
        meant.update((name, f"{item.module}.{name}") for name in item.names)
    if _takes_all(code):
        meant.setdefault("np", "numpy")
    lines = code.lines_of_imports()
    meant.update((found[2], found[1]) for found in _RENAMED.finditer(lines))
    meant.update((found[3], f"{found[1]}.{found[2]}") for found in _TAKEN_AS.finditer(lines))
    return meant


def _known(dotted: str, names: Mapping[str, object]) -> str | None:
    """Return the longest row that a full name begins with; None where none does."""
    words = dotted.split(".")
    return next((name for end in range(len(words), 0, -1) if (name := ".".join(words[:end])) in names), None)


def _is_remark(text: str, place: int) -> bool:
    return "#" in text[text.rfind("\n", 0, place) + 1 : place]
