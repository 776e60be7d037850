"""Modules that could train, of which a program takes other parts: an optimizer's step beside functions on tensors, a trainer beside its network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.behavior import training_calls
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
MOST_READ = 40  # modules of a program whose words are looked at


@record(frozen=True, slots=True)
class _Definition:
    """A function or class at the top of a module, by its name and where its text stands; ``is_registered``: a decorator has it."""

    name: str
    begin: int
    end: int
    is_class: bool
    is_registered: bool


def is_training_unreached(source: Source, closure: Sequence[Source]) -> bool:
    """Whether all calls of a module that train stand in functions and classes at its top that nothing of the program uses."""
    calls = training_calls(source.code) if source.code is not None else []
    if not calls or len(closure) > MOST_READ:
        return False
    text = source.text
    starts = [0, *(found.end() for found in regex(r"\n").finditer(text))]
    definitions = tuple(_definitions(text))
    holders = {_holder(definitions, starts[min(call.line, len(starts)) - 1]) for call in calls}
    if not all(holder is not None and _is_unused(holder, source, closure) for holder in holders):
        return False
    is_made = any(holder is not None and holder.is_class for holder in holders)
    return not (is_made and any(map(_goes_by_name, closure)))


def _goes_by_name(source: Source) -> bool:
    return any(map(source.mentions, _BY_NAME_WORDS)) and _BY_NAME.search(source.text) is not None


def _definitions(text: str) -> Iterator[_Definition]:
    """Yield the functions and classes at the top of a module."""
    begins = [(found.start(), found[1], found[2], found[0] == "@") for found in _DEFINED.finditer(text)]
    is_registered = False
    for (begin, kind, name, is_mark), (end, *_) in pairwise([*begins, (len(text), None, None, False)]):
        if name:
            yield _Definition(name, begin, end, kind == "class", is_registered)
        is_registered = is_mark


def _holder(definitions: Sequence[_Definition], at: int) -> _Definition | None:
    """Return the definition in which a place lies; None for what runs as the module is imported."""
    return next((each for each in definitions if each.begin <= at < each.end), None)


def _is_unused(held: _Definition, source: Source, closure: Sequence[Source]) -> bool:
    """Whether nothing registers a definition, and nothing names it but itself and who takes it from its module."""
    if held.is_registered:
        return False
    own = source.text[: held.begin] + source.text[held.end :]
    others = [other.text for other in closure if other is not source and other.mentions(held.name)]
    word = _alone(held.name)
    return not any(word.search(_OFFERED.sub("", _IMPORTED.sub("", text))) for text in (own, *others))


def _alone(word: str) -> re.Pattern[str]:
    """Return how a word stands by itself in a program."""
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
