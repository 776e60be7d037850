"""The words of a command that a program puts together: followed to constants, settings, configurations and callers.

A list may grow behind its first words (``words += ["--port", "80"]``). What only some runs add is taken where a value decides it that
is known: ``if tp > 1: words += ["-tp", str(tp)]`` is, ``if quantized: words += ["--quantization", "awq"]`` is not.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from gpu_lol_action.analysis.commands.program_configs import own_configs
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.programs.local_values import parameters_of
from gpu_lol_action.analysis.python.code import Call, PythonCode
from gpu_lol_action.analysis.python.values import STARRED, Value
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

UNKNOWN = "$UNKNOWN"
MAX_PROGRAMS = 12  # that what starts something may import its words from
MAX_ABOVE = 8  # lines above one, in which what it stands below is looked for
MAX_ADDED = 60  # calls that make one list longer
_READS = ("yaml", "json.load", "toml", "OmegaConf", "configparser")
_WORD = regex(r"[A-Za-z_]\w{0,80}")
_OFF = frozenset({"", "none", "false", "null"})
_PATHS = {"sys.executable": "python"}


@record(slots=True)
class StartedWords:
    """Tells the words of commands of one program. Keeps what follows its values, once something asks for it; private to the look for commands."""

    checkout: Checkout
    source: Source
    code: PythonCode
    _lists: list[tuple[Sequence[str], Mapping[tuple[str, str], Sequence[Call]]]] = field(
        default_factory=list, repr=False, compare=False
    )
    _follower: list[Follower] = field(default_factory=list, repr=False, compare=False)

    def line(self, value: Value, owner: str, name: str, line: int, *, with_holes: bool = False) -> str | None:
        """Return a list of words, or a text, as a line; a word that is not known stands as a variable. ``name`` keeps the list, if any.

        A text of which nothing is known but what is written out is none, unless ``with_holes``.
        """
        if value.items:
            words = [*self._words(value.items, owner), *self._added(name, owner, line)]
            return " ".join(shlex.quote(word) if word != UNKNOWN else word for word in words)
        if value.parts:
            texts = [self._text(part, owner) for part in value.parts]
            holes = [text for part, text in zip(value.parts, texts, strict=True) if part.text is None]
            return "".join(text or UNKNOWN for text in texts) if with_holes or any(holes) else None
        return self.code.resolve(value)

    def _words(self, items: Sequence[Value], owner: str) -> list[str]:
        return [_PATHS.get(item.path or "") or self._text(item, owner) or UNKNOWN for item in items]

    def _added(self, name: str, owner: str, line: int) -> Iterator[str]:
        """Yield the words that a list gets behind its first ones."""
        if not name:
            return
        lines, added = self._growing()
        for call in [each for each in added.get((name, owner), ()) if each.line > line][:MAX_ADDED]:
            given = call.arguments[0]
            items = given.items if call.last == "extend" else (given,)
            words = self._words(items, owner)
            told = [word for item, word in zip(items, words, strict=True) if item.text is None]
            is_known = all(word != UNKNOWN and word.lower() not in _OFF for word in told)
            is_deeper = _depth(lines, call.line) > _depth(lines, line)
            if not is_deeper or (told and is_known and _is_asked(lines, call.line, items)):
                yield from words

    def _growing(self) -> tuple[Sequence[str], Mapping[tuple[str, str], Sequence[Call]]]:
        """Return the program's lines, and the calls that make each list longer, by its name and function."""
        if not self._lists:
            added: dict[tuple[str, str], list[Call]] = {}
            for call in self.code.calls_named("extend", "append"):
                if call.arguments:
                    name = call.name.rpartition(".")[0].rpartition(".")[2]
                    added.setdefault((name, call.owner), []).append(call)
            self._lists.append((self.source.text.split("\n"), added))
        return self._lists[0]

    def _text(self, value: Value, owner: str) -> str | None:
        """Return what one word is; None where it is not told in one way."""
        if value.text is not None or value is STARRED:
            return value.text
        if value.parts:
            parts = [self._text(part, owner) for part in value.parts]
            return "".join(part for part in parts if part is not None) if None not in parts else None
        told = self._follow().value(self.source, value, owner)
        if told is not None:
            return told[0]
        # What a parameter starts with is not what it is given by those that call the function.
        is_given = value.reference in parameters_of(self.source, owner) and self.code.calls_named(owner)
        return self.code.resolve(value, owner) if not is_given else None

    def _follow(self) -> Follower:
        if not self._follower:
            closure = import_closure(self.checkout, self.source)[:MAX_PROGRAMS]
            reads = any(
                map(self.source.mentions, _READS)
            )  # to look for what a program opens has all that it imports parsed
            files = own_configs(self.checkout, self.source) if reads else ()
            configs = [setting for each in files for setting in read_settings(each)]
            self._follower.append(Follower((), configs, closure))
        return self._follower[0]


def _is_asked(lines: Sequence[str], number: int, items: Sequence[Value]) -> bool:
    """Whether the condition right above a line asks what the line adds (``if tp > 1:`` above ``words += ["-tp", str(tp)]``), and no switch beside it."""
    depth, above = _depth(lines, number), range(max(0, number - 2), max(-1, number - 2 - MAX_ABOVE), -1)
    head = next((lines[at].strip() for at in above if lines[at].strip() and _depth(lines, at + 1) < depth), "")
    names = {item.reference for item in items if item.reference is not None}
    return head.startswith(("if ", "elif ", "while ")) and not names.isdisjoint(_WORD.findall(head))


def _depth(lines: Sequence[str], number: int) -> int:
    """Return how far a line is set in."""
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    return len(line) - len(line.lstrip())
