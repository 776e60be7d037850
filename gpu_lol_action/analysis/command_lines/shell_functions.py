"""Functions of a script that take words by their places: what they start is read where they are called, with what they are handed there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gpu_lol_action.analysis.command_lines.shell_words import shell_words
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

Numbered = tuple[int, str]
MAX_BODY = 80
MAX_FUNCTIONS = 60
MAX_CALLS = 20
MAX_WORDS = 20
MAX_DEPTH = 4
_HEAD = regex(
    r"([ \t]{0,20})(?:function[ \t]{1,4})?([A-Za-z_][\w-]{0,60})[ \t]{0,4}(?:\([ \t]{0,2}\))?[ \t]{0,4}\{[ \t]*(?:#.*)?$"
)
_IS_HEAD = regex(r"[ \t]{0,20}(?:function[ \t]|[\w-]{1,60}[ \t]{0,4}\()")
_PLACE = regex(r"\$(?:\{([1-9])(?::?-([^{}]{0,120}))?\}|([1-9])(?!\d))|\"?\$(?:[@*]|\{[@*]\})\"?")
# What moves the words, or asks how many there are, is more than putting them in.
_MOVES = regex(r"\bshift\b|\bgetopts\b|\bset[ \t]+--|\$#|\$\{#")
_HERE = regex(r"<<-?[ \t]{0,4}[\"']?([A-Za-z_]\w{0,40})")
_BEFORE = regex(r"(?:(?:if|then|else|do|!|time|[A-Za-z_]\w{0,60}=[^\s;|&]{0,200})[ \t]{1,8}){0,6}")
# What stands behind a call and hands it nothing: where its output goes, and that the next line does not wait.
_BEHIND = regex(
    r"(?:[ \t]+(?:[12&]?>>?[ \t]?&?[\w./${}-]{1,200}|\|[ \t]?tee[ \t][^|;&]{1,200}|&|#.*)|[ \t]*(?:;[ \t]*(?:then|do)?|\|\|[ \t].*|&&[ \t].*))+$"
)
_FIRST = regex(r"[A-Za-z_][\w-]*(?=$|[ \t;&|>])")


@record(frozen=True, slots=True)
class _Function:
    """A function's lines with their numbers, from its head to its end; ``is_placed``: it puts its words in, and does no more with them."""

    body: tuple[Numbered, ...]
    is_placed: bool


@record(slots=True)
class _Script:
    """The functions of a script, and how many more calls are read. Counts down; private to one reading."""

    functions: Mapping[str, _Function]
    kept: frozenset[str]
    left: int = MAX_CALLS

    def read(self, line: Numbered, stack: tuple[str, ...] = ()) -> Iterator[Numbered]:
        """Yield a line, or what the function starts that it calls."""
        called = _call(line[1], self.functions)
        if called is None or called[1] is None or called[0] in (*stack, *self.kept):
            yield line
            return
        name, words = called
        if not self.functions[name].is_placed or len(stack) >= MAX_DEPTH or self.left <= 0:
            yield line
            return
        self.left -= 1
        for number, text in self.functions[name].body:
            yield from self.read((number, _put(text, words or ())), (*stack, name))


def with_called_functions(numbered: Iterable[Numbered]) -> Iterator[Numbered]:
    """Yield a script's lines, those of its functions in the place of each call.

    A function stands where it is if nothing calls it, or not all calls can be read, or it does more with its words than to put them in.
    """
    lines = list(numbered)
    texts = _inside_texts(lines)
    functions, places = _functions(lines, texts)
    if not any(function.is_placed for function in functions.values()):
        yield from lines
        return
    outside = [line for at, line in enumerate(lines) if at not in places and at not in texts]
    reached, unread = _reached(outside, functions)
    moved = {name for name, each in functions.items() if each.is_placed and name in reached and name not in unread}
    script = _Script(functions, frozenset(set(functions) - moved))
    for at, line in enumerate(lines):
        name = places.get(at)
        if name in moved:
            continue
        is_read = at not in texts and (name is None or name in reached)
        yield from script.read(line) if is_read else [line]


def _reached(outside: Sequence[Numbered], functions: Mapping[str, _Function]) -> tuple[set[str], set[str]]:
    """Return the functions that are called, from outside of all functions or from one that is; and those with a call whose words cannot be told."""
    reached: set[str] = set()
    unread: set[str] = set()
    pending = [line for _, line in outside]
    while pending:
        called = _call(pending.pop(), functions)
        if called is None:
            continue
        name, words = called
        if words is None:
            unread.add(name)
        if name not in reached:
            reached.add(name)
            pending += [line for _, line in functions[name].body]
    return reached, unread


def _inside_texts(lines: Sequence[Numbered]) -> set[int]:
    """Return the places of lines that are a text which the script writes (``cat <<EOF``)."""
    inside: set[int] = set()
    end = ""
    for at, (_, line) in enumerate(lines):
        if end:
            inside.add(at)
            end = "" if line.strip() == end else end
        elif "<<" in line and (found := _HERE.search(line)) is not None:
            end = found[1]
    return inside if not end else set()


def _functions(lines: Sequence[Numbered], texts: set[int]) -> tuple[dict[str, _Function], dict[int, str]]:
    """Return a script's functions by name, and of which each line is, by its place."""
    functions: dict[str, _Function] = {}
    places: dict[int, str] = {}
    at = 0
    while at < len(lines) and len(functions) < MAX_FUNCTIONS:
        line = lines[at][1]
        head = _HEAD.match(line) if at not in texts and _IS_HEAD.match(line) else None
        closing = f"{head[1]}}}" if head is not None else ""
        within = range(at + 1, min(at + 1 + MAX_BODY, len(lines))) if head is not None else range(0)
        end = next((place for place in within if place not in texts and lines[place][1].rstrip() == closing), None)
        if head is None or end is None:
            at += 1
            continue
        text = "\n".join(line for _, line in lines[at + 1 : end])
        is_placed = _PLACE.search(text) is not None and _MOVES.search(text) is None
        functions[head[2]] = _Function(tuple(lines[at + 1 : end]), is_placed)
        places.update(dict.fromkeys(range(at, end + 1), head[2]))
        at = end + 1
    return functions, places


def _call(line: str, functions: Mapping[str, _Function]) -> tuple[str, list[str] | None] | None:
    """Return the function that a line calls with its words, None for words that cannot be told; None where it calls none."""
    text = line.strip()
    before = _BEFORE.match(text)
    text = text[before.end() :] if before is not None else text
    first = _FIRST.match(text)
    if first is None or first[0] not in functions:
        return None
    rest = _BEHIND.sub("", text[first.end() :])
    if any(mark in rest for mark in "|;&<>`\\") or "$(" in rest:
        return first[0], None
    try:
        return first[0], shell_words(rest)[:MAX_WORDS]
    except ValueError:
        return first[0], None


def _put(text: str, words: Sequence[str]) -> str:
    """Return a line with the words in their places, but for those in single quotes, which a shell leaves alone."""

    def put(found: re.Match[str]) -> str:
        before = text[: found.start()]
        is_quoted = before.count('"') % 2 == 1
        if before.count("'") % 2 == 1 and not is_quoted:
            return found[0]
        place = found[1] or found[3]
        if place is None:
            return " ".join(map(shlex.quote, words))
        word = words[int(place) - 1] if int(place) <= len(words) else (found[2] or "")
        return word if is_quoted or " " not in word else shlex.quote(word)

    return _PLACE.sub(put, text)
