"""Functions and classes at the top of a program's modules that nothing of it names: what stands in them is not what it does.

A module is imported for a part of it. Whoever takes a name from it, or offers it under a package's name, has not used it yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

# What begins at a line's start ends what stands above it, but for what closes a bracket, and comments.
_DEFINED = regex(r"^((?:async\s{1,4})?def|class)\s{1,4}(\w{1,100})|^[^\s)\]}#]", re.MULTILINE)
# To take a name from a module, or to offer it under a package's name, is not yet to use it.
_IMPORTED = regex(r"^[ \t]*(?:from\s[\w.]{1,200}\s)?import\s(?:\([^)]{0,4000}\)|[^\n]{0,2000})", re.MULTILINE)
_OFFERED = regex(r"^__all__\s{0,4}[+:=][^\[(\n]{0,40}[\[(][^\])]{0,8000}[\])]", re.MULTILINE)
# Names that are put together as the program runs: any class may be meant.
_BY_NAME = regex(
    r"\bgetattr\(\s{0,4}(?!self\b|args\b|cfg\b|config\b|opts?\b)|\bimport_module\(|\bglobals\(\)|\b__import__\(|(?<![\w.])eval\("
    r"|\binstantiate\w{0,40}\(|\bget_class\(|\blocate\("
)
_BY_NAME_WORDS = (
    "getattr(",
    "import_module(",
    "globals()",
    "__import__(",
    "eval(",
    "instantiate",
    "get_class(",
    "locate(",
)
# What a model is built by is loaded beside its weights, and need not be named.
_CONFIGURES = regex(r"Config|Args|Arguments|Options|Settings|Hparams|HParams|Params\b")
MOST_READ = 40  # modules of a program whose words are looked at


@record(frozen=True, slots=True)
class Definition:
    """A function or class at the top of a module, by its name and where its text stands; ``is_registered``: a decorator has it."""

    name: str
    begin: int
    end: int
    is_class: bool
    is_registered: bool


def is_unused_at(source: Source, line: int, closure: Sequence[Source]) -> bool:
    """Whether a line of a module stands in a function or class that nothing of the program names; of many modules nobody looks."""
    if source.code is None or source is closure[0] or len(closure) > MOST_READ:
        return False
    held = next((each for each, lines in _defined(source) if line in lines), None)
    return held is not None and _CONFIGURES.search(held.name) is None and is_unused(held, source, closure)


def is_unused(held: Definition, source: Source, closure: Sequence[Source]) -> bool:
    """Whether nothing registers a definition, and nothing names it but itself and who takes it from its module."""
    if held.is_registered or (held.is_class and any(map(_goes_by_name, closure))):
        return False
    own = source.text[: held.begin] + source.text[held.end :]
    others = [other.text for other in closure if other is not source and other.mentions(held.name)]
    word = _alone(held.name)
    return not any(word.search(_OFFERED.sub("", _IMPORTED.sub("", text))) for text in (own, *others))


def definitions(text: str) -> Iterator[Definition]:
    """Yield the functions and classes at the top of a module."""
    begins = [(found.start(), found[1], found[2], found[0] == "@") for found in _DEFINED.finditer(text)]
    is_registered = False
    for (begin, kind, name, is_mark), (end, *_) in pairwise([*begins, (len(text), None, None, False)]):
        if name:
            yield Definition(name, begin, end, kind == "class", is_registered)
        is_registered = is_mark


@remembered
def _defined(source: Source) -> tuple[tuple[Definition, range], ...]:
    """Return what a module defines at its top, each with its lines."""
    text, found = source.text, []
    line = counted = 1
    place = 0
    for each in definitions(text):
        line += text.count("\n", place, each.begin)
        counted = line + text.count("\n", each.begin, each.end)
        found.append((each, range(line, counted + (not text.endswith("\n") and each.end == len(text)))))
        place = each.begin
    return tuple(found)


@remembered
def _goes_by_name(source: Source) -> bool:
    return any(map(source.mentions, _BY_NAME_WORDS)) and _BY_NAME.search(source.text) is not None


def _alone(word: str) -> re.Pattern[str]:
    """Return how a word stands by itself in a program."""
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
