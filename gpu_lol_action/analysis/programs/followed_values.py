"""Values that a program hands to a library, followed to where they are written: a configuration, an imported module, a caller.

``SFTConfig(max_length=cfg["data"]["window"])`` says which entry of the configuration is a length, whatever that is called there.
What is not told in one way is not told: of several sections, callers or modules all must say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.programs.built_arguments import BuiltArguments
from gpu_lol_action.analysis.programs.callers import Callers
from gpu_lol_action.analysis.programs.gin_bindings import gin_names
from gpu_lol_action.analysis.programs.local_values import (
    KEPT_BY_LIGHTNING,
    classes_with,
    declared_start,
    entry_in,
    givens,
    handed_on,
    handed_over,
    is_overlaid,
    local_value,
    makes_commands,
    parameters_of,
    starting_with,
)
from gpu_lol_action.analysis.programs.loop_configs import loop_entry
from gpu_lol_action.analysis.programs.others_names import BESIDE, HOLDS_OPTIONS
from gpu_lol_action.analysis.programs.said_names import SaidNames, Told
from gpu_lol_action.analysis.programs.taken_names import makers, started_with, taken
from gpu_lol_action.analysis.python.values import ENVIRONMENT, MAX_TEXT, STARRED, Value
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_STEPS = 5
"""From a library's call to a configuration: through the function that makes it, and those that call this one."""
MAX_FOLLOWED = 400
"""Steps for one program's arguments."""
MAX_ROW = 8
"""Values of a row that is followed (the sides of a picture, a clip or a scan), or of a text that is joined."""
_CONFIGURES = regex(r"Config|Args|Arguments|Options|Settings|[Hh][Pp]arams")
UNTOLD: Told = ("", None)
"""Of what is somebody else's to say: nothing that it starts with counts."""


@record(slots=True)
class Follower:
    """Follows the values of one run's programs, by what its command says (``options``) and its configurations.

    Private to the making of a run's scope, and to the looks for its model and the sides of its pictures.
    """

    options: Sequence[Setting]
    configs: Sequence[Setting]
    closure: Sequence[Source]
    aside: Sequence[Setting] = ()
    left: int = MAX_FOLLOWED
    _names: SaidNames | None = field(default=None, repr=False, compare=False)
    _built: list[BuiltArguments] = field(default_factory=list, repr=False, compare=False)
    _calling: Callers | None = field(default=None, repr=False, compare=False)
    _given: dict[tuple[str, str, str], Told | None] = field(default_factory=dict, repr=False, compare=False)

    def text(self, source: Source, value: Value, owner: str) -> str | None:
        """Return the text of an expression that stands in a function or class, ``owner``; None where it is not told in one way."""
        return (self.value(source, value, owner) or (None,))[0]

    def given(self, source: Source, function: str, parameter: str) -> str | None:
        """Return the text that all calls of a function give for a parameter, or its command; None where they do not agree, or none is seen."""
        is_called = any(True for _ in self._calls.given(source, function, parameter))
        is_called = is_called or self._bound(source, function, parameter) is not None
        told = self._of_callers(source, function, parameter, 0) if is_called else self.said.ordered(parameter)
        return told[0] if told is not None else None

    @property
    def said(self) -> SaidNames:
        """What the command and the configurations say, by name."""
        self._names = self._names or SaidNames(self.options, self.configs, self.aside)
        return self._names

    @property
    def _calls(self) -> Callers:
        self._calling = self._calling or Callers(self.closure)
        return self._calling

    def laid_over(self, name: str, owner: str, source: Source) -> Told | None:
        """Return what a command or a configuration puts in place of a variable of the module (`exec(open("configurator.py").read())`)."""
        is_modules = local_value(source, name, owner) == local_value(source, name, "")
        return self.said.whole(name) if is_modules else None

    def value(self, source: Source, value: Value, owner: str, steps: int = 0) -> Told | None:
        """Return what an expression of a program is, which stands in a function or class, ``owner``; None where it is not told in one way."""
        if (asked := self._asked(value)) is not None or value.text is not None:
            return asked or (value.text or "", None)
        if source.code is None or steps > MAX_STEPS or self.left <= 0 or value is STARRED:
            return None
        self.left -= 1
        if value.items:
            return self._all(source, value.items, owner, steps, ",")
        if value.parts and (joined := self._all(source, value.parts, owner, steps, "")) is not None:
            return joined
        path = value.path or value.reference
        words = (path or "").removeprefix("self.").split(".")
        found: Told | None = None
        if path is not None and len(words) > 1 and not path.startswith(f"{ENVIRONMENT}."):
            words = self._whole_name(source, words, owner)
            if BESIDE.search(".".join(words)) is not None:
                return None
            found = self.said.under(words[1:])
            found = (
                found
                or self._of_made(source, words, steps)
                or self._of_loop(source, words, owner, steps)
                or self._imported(source, words)
            )
            found = found if found is not UNTOLD else None
            kept = path.removeprefix(KEPT_BY_LIGHTNING)
            if found is None and kept != path and "." not in kept:
                found = self._named(source, kept, owner, steps, is_own=True)
        elif path is not None and len(words) == 1:
            found = self._named(source, words[0], owner, steps, is_own=path.startswith("self."))
        if found is None and value.table is not None:
            found = self._entry(source, value, owner, steps)
        if found is None and value.otherwise is not None:
            found = self.value(source, value.otherwise, owner, steps + 1)
        is_plain = path is not None and len(words) == 1
        text = source.code.resolve(value, owner) if found is None and not is_plain else None
        return (text, None) if text is not None else found

    def _asked(self, value: Value) -> Told | None:
        """Return what the environment is set to, where a value is one of it."""
        path = value.path or ""
        return self.said.ordered(path.removeprefix(f"{ENVIRONMENT}.")) if path.startswith(f"{ENVIRONMENT}.") else None

    def _entry(self, source: Source, value: Value, owner: str, steps: int) -> Told | None:
        """Return the entry of a table, of the program or of one that it imports, under the key that something else tells."""
        row = source.code.names().row_of(value) if source.code is not None else value
        parts = row.key.parts or (row.key,) if row.key is not None else ()
        told = [self.value(source, part, owner, steps + 1) for part in parts]
        known = [each[0] for each in told if each is not None]
        if not known or len(known) < len(told):
            return None
        text = entry_in(source, self.closure, row.table or "", "".join(known))
        return (text, None) if text is not None else None

    def _all(self, source: Source, parts: Sequence[Value], owner: str, steps: int, between: str) -> Told | None:
        """Return the values of a row (``(height, width)``), or of what is joined to a text, where all of them are told."""
        told = [self.value(source, each, owner, steps + 1) for each in parts[:MAX_ROW]]
        known = [each for each in told if each is not None]
        if len(known) < len(parts):
            return None
        where = next((where for _, where in known if where is not None), None)
        return between.join(text for text, _ in known)[:MAX_TEXT], where

    def _whole_name(self, source: Source, words: list[str], owner: str) -> list[str]:
        """Return a dotted name with what its first word stands for: a section that is taken aside (``data = cfg["data"]``)."""
        signature = parameters_of(source, owner)
        local = local_value(source, words[0], owner)
        if local is None and words[0] in signature:
            function = owner
            paths = {
                given.value.path if given is not None else None
                for given in self._calls.given(source, function, words[0])
            }
            path = paths.pop() if len(paths) == 1 else None
        else:
            path = local.value.path if local is not None else None
        bare = (path or "").removeprefix("self.").removesuffix(".value")  # absl's flags hold theirs so
        return [*bare.split("."), *words[1:]] if "." in bare and not bare.startswith("os.") else words

    def _of_made(self, source: Source, words: list[str], steps: int) -> Told | None:
        """Return what an object is made with under a name (``config = GPTConfig(window=512)``, ``dict(window=512)``); ``UNTOLD`` where it may be made with anything."""
        if len(words) != 2 or source.code is None:
            return None
        maker = makers(source).get(words[0], "").rpartition(".")[2]
        calls = source.code.calls_named(maker) if maker[:1].isupper() else ()
        line, given = 0, source.code.names().tables.get(words[0], {}).get(words[1])
        if given is None and len(calls) == 1:
            line, given = calls[0].line, calls[0].keyword(words[1]) or handed_on(calls[0], words[1])
        if given is None:
            return UNTOLD if len(calls) == 1 and calls[0].spread else None
        told = self.value(source, given, calls[0].owner if line else "", steps + 1)
        if told is None:
            return UNTOLD
        return (told[0], told[1] or Evidence(source.path, line)) if line else told

    def _of_loop(self, source: Source, words: list[str], owner: str, steps: int) -> Told | None:
        """Return what Ray's trainer hands a worker's function under a name."""
        given = loop_entry(source, owner, words[0], words[1]) if len(words) == 2 else None
        told = self.value(source, given.value, given.owner, steps + 1) if given is not None else None
        return (told[0], told[1] or Evidence(source.path, given.line)) if told is not None and given else None

    def _named(self, source: Source, word: str, owner: str, steps: int, *, is_own: bool) -> Told | None:
        """Return what a plain name stands for: another name, a parameter that callers give, a constant of an imported module."""
        if is_own:
            owners = classes_with(source, word)
            if len(owners) != 1:
                return None
            (owner,) = owners
        over = self.laid_over(word, owner, source) if is_overlaid(source) and not is_own else None
        if over is not None:
            return over
        inner = local_value(source, word, owner)
        if inner is not None and inner.value.table == "argv":
            return self.said.under([word])  # a word of the command, which has the variable's name
        if inner is not None:
            told = self.value(source, inner.value, owner, steps + 1)
            return (told[0], told[1] or Evidence(source.path, inner.line)) if told is not None else None
        if word in parameters_of(source, owner):
            return self._of_callers(source, owner, word, steps)
        is_set = any(each.owner in {"", owner} for each in givens(source).get(word, ()))
        return None if is_own or is_set else self._imported(source, [word])

    def _of_callers(self, source: Source, function: str, parameter: str, steps: int) -> Told | None:
        """Return what all calls of a function give for a parameter, or leave at what it starts with, as it does where a library calls it."""
        place = (source.path, function, parameter)
        if place not in self._given:
            self._given[place] = None  # where calls lead back to themselves
            found: list[Told] = []
            calls = list(self._calls.given(source, function, parameter))
            # `main()` gives nothing for what has no start of its own: click does, from its options.
            start = declared_start(source, function, parameter) if not any(calls) else None
            calls = calls if start is None else []
            if not calls:
                found += self._of_library(source, function, parameter)
                # Of a method the objects that it is called on are in other programs.
                is_method = source.code is not None and source.code.signatures[function].is_method
                start = start or starting_with(source, function, parameter)
                calls = [] if found else [None if is_method else start]
            bound = self._bound(source, function, parameter)
            own = starting_with(source, function, parameter) if bound is not None else None
            for given in calls:
                if bound is not None and (given is None or given == own):
                    found.append(bound)  # gin gives what a call does not
                    continue
                told = self.value(given.source, given.value, given.owner, steps + 1) if given is not None else None
                if told is None or given is None:
                    return None
                found.append((told[0], told[1] or Evidence(given.source.path, given.line)))
            self._given[place] = found[0] if len({text for text, _ in found}) == 1 else None
        return self._given[place]

    def _bound(self, source: Source, function: str, parameter: str) -> Told | None:
        """Return what gin-config binds to a parameter; None where it binds nothing, or not one thing under the names that it has for it."""
        told = [self.said.under([*name.split("."), parameter]) for name in gin_names(source, function, self.closure)]
        found = [each for each in told if each is not None]
        return found[0] if len({text for text, _ in found}) == 1 else None

    def _of_library(self, source: Source, function: str, parameter: str) -> list[Told]:
        """Return what a function or class is given that only a library calls: one that it makes a command of, or builds by a configuration."""
        is_handed = function in handed_over(source)
        is_command = is_handed or source is self.closure[0] or makes_commands(source)
        said = self.said.ordered(parameter) if is_command else None
        if said is not None:
            return [said]
        self._built = self._built or [BuiltArguments(self.configs)]
        return [*self._built[0].given(function, parameter)]

    def _imported(self, source: Source, words: list[str]) -> Told | None:
        """Return what modules of the project that the program imports say of a name."""
        others = [other for other in self.closure if other is not source]
        found = [
            (other, each)
            for other, each in taken(source, words, others)
            if len(words) <= 2 or each.is_option or other.mentions(f".{words[-2]}.{words[-1]} =")
        ]
        if not found and len(words) == 2 and HOLDS_OPTIONS.fullmatch(words[0]) is not None:
            found = [
                (o, each)
                for o in self._calls.parsing(source, words[0])
                for each in started_with(o, words[1])
                if each.is_option
                and (o is self.closure[0] or not each.owner or _CONFIGURES.search(each.owner) is not None)
            ]
        places = {each.text: Evidence(other.path, each.line) for other, each in reversed(found)}
        return next(iter(places.items())) if len(places) == 1 else None
