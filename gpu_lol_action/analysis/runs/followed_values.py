"""Values that a program hands to a library, followed to where they are written: a configuration, an imported module, a caller.

``SFTConfig(max_length=cfg["data"]["window"])`` says which entry of the configuration is a length, whatever that is called there.
What is not told in one way is not told: of several sections, callers or modules all must say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.files.unfilled_options import is_unfilled
from gpu_lol_action.analysis.programs.code_settings import FOR_TRIALS, given_by_name, registry_entries
from gpu_lol_action.analysis.programs.local_values import (
    Argument,
    argument_of,
    classes_with,
    entry_in,
    givens,
    local_value,
    means,
    option_names,
    parameters_of,
)
from gpu_lol_action.analysis.programs.main_guards import started_alone
from gpu_lol_action.analysis.programs.taken_names import UNSET, starts, taken
from gpu_lol_action.analysis.python.values import ENVIRONMENT, STARRED, Value
from gpu_lol_action.analysis.python.walk import LEAST_ENTRIES
from gpu_lol_action.analysis.runs.other_places import JUDGES
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_STEPS = 5
"""From a library's call to a configuration: through the function that makes it, and those that call this one."""
MAX_FOLLOWED = 400
"""Steps for one program's arguments."""
MAX_CALLERS = 12
MAX_WORDS, MAX_ALIKE = 6, 200
_HOLDS_OPTIONS = regex(
    r"(?:\w{0,20}_)?(?:args|opts?|options|flags|cfg|conf|config|configs|hparams|hps?|params|settings)", re.IGNORECASE
)
_TRIES = regex(r"_?(?:tests?|overfit|sanity|demo|check)(?:_.{0,60})?", re.IGNORECASE)
# What judges a training, and models beside the one that learns.
_BESIDE = regex(
    r"(?:^|[._])(?:val|valid|validation|validate|tests?|tst|eval|evaluation|evaluate|dev|teacher|critic|judge|reward|scor(?:er|ing)|draft)"
    r"(?:model)?(?:$|[._])",
    re.IGNORECASE,
)
_SPLITS = regex(r"[Tt]okeni[sz]er?\b")
Told = tuple[str, "Evidence | None"]
"""A value's text, and where that is written if it is not in the call itself."""


@record(slots=True)
class Follower:
    """Follows the values of one run's programs, by what its command says (``options``) and its configurations.

    Private to the making of a run's scope, and to the look for its model.
    """

    options: Sequence[Setting]
    configs: Sequence[Setting]
    closure: Sequence[Source]
    left: int = MAX_FOLLOWED
    _written: dict[Setting, Evidence] = field(default_factory=dict, repr=False, compare=False)
    _by_name: dict[str, list[Setting]] = field(default_factory=dict, repr=False, compare=False)
    _said: dict[str, Told | None] = field(default_factory=dict, repr=False, compare=False)
    _calling: dict[str, list[Source]] = field(default_factory=dict, repr=False, compare=False)
    _given: dict[tuple[str, str, str], Told | None] = field(default_factory=dict, repr=False, compare=False)

    def added(self, source: Source, settings: list[Setting]) -> list[Setting]:
        """Return a program's settings with those that its calls give and something else tells: constructors' behind what these say themselves.

        As in the program's own settings other calls' come last.
        """
        found = list(self._arguments(source))
        told = {(each.path, each.evidence) for each in found}
        kept = [each for each in settings if (each.path, each.evidence) not in told]
        first = next((at for at, each in enumerate(kept) if not each.path[:1].isupper()), len(kept))
        typed = [each for each in found if each.path[:1].isupper()]
        return [*kept[:first], *typed, *kept[first:], *(each for each in found if not each.path[:1].isupper())]

    def placed(self, settings: Iterable[Setting]) -> tuple[Setting, ...]:
        """Return settings where they are written; until then they stand where the call is, which decides whether it is reached."""
        return tuple(
            replace(s, evidence=self._written[s], called=s.evidence) if s in self._written else s for s in settings
        )

    def _arguments(self, source: Source) -> Iterator[Setting]:
        self.left = MAX_FOLLOWED
        entries = registry_entries(source)
        found: dict[str, list[tuple[Setting, Evidence]]] = {}
        for setting, value in given_by_name(source):
            is_beside = _BESIDE.search(setting.owner) or _BESIDE.search(value.path or "")
            is_cut = source is not self.closure[0] and _SPLITS.search(setting.path)  # of a text beside the model's
            if value.text is not None or setting.owner in entries or is_cut or (is_beside and not setting.text):
                continue
            told = self._told(source, setting, value)
            if told is not None and told[0] != setting.text:
                known = Setting(setting.key, setting.path, told[0], setting.evidence, setting.owner)
                found.setdefault(setting.key, []).append((known, told[1] or setting.evidence))
        for pairs in found.values():
            if len({known.text for known, _ in pairs}) >= LEAST_ENTRIES:
                continue  # presets, of which the run takes one
            for known, written in pairs:
                self._written[known] = written
                yield known

    def _told(self, source: Source, setting: Setting, value: Value) -> Told | None:
        chosen = source.code.names().keys_of(value) if source.code is not None and setting.text else ()
        is_name = value.path == value.reference
        if (
            not setting.text
            or value.otherwise is not None  # `cfg.get("window", 512)` starts with what nobody says
            or any(self._named_so(fold_key(key)) for key in chosen)
            or (is_name and value.reference in parameters_of(source, setting.owner))
            or (is_name and value.reference in option_names(source) and self._ordered(value.reference or ""))
        ):
            return self.value(source, value, setting.owner)
        # What an option starts with is not what the configuration says (`r=model_args.lora_rank`).
        base, _, rest = (value.path or "").removeprefix("self.").partition(".")
        if not rest or _HOLDS_OPTIONS.fullmatch(base) is None or value.reference not in option_names(source):
            return None
        found = self._said_under([fold_key(word) for word in rest.split(".")])
        return found if any(each.path == fold_key(rest) for each in self._named_so(fold_key(rest))) else None

    def text(self, source: Source, value: Value, owner: str) -> str | None:
        """Return the text of an expression that stands in a function or class, ``owner``; None where it is not told in one way."""
        return (self.value(source, value, owner) or (None,))[0]

    def given(self, source: Source, function: str, parameter: str) -> str | None:
        """Return the text that all calls of a function give for a parameter; None where they do not agree."""
        return (self._of_callers(source, function, parameter, 0) or (None,))[0]

    def value(self, source: Source, value: Value, owner: str, steps: int = 0) -> Told | None:
        """Return what an expression of a program is, which stands in a function or class, ``owner``; None where it is not told in one way."""
        if value.text is not None:
            return value.text, None
        if source.code is None or steps > MAX_STEPS or self.left <= 0 or value is STARRED:
            return None
        self.left -= 1
        path = value.path or value.reference
        words = (path or "").removeprefix("self.").split(".")
        found: Told | None = None
        if (path or "").startswith(f"{ENVIRONMENT}."):
            asked = [each for each in self.options if each.path == fold_key(words[-1])]
            found = (asked[0].text, asked[0].evidence) if asked else None
        elif path is not None and len(words) > 1:
            words = self._whole_name(source, words, owner)
            if _BESIDE.search(".".join(words)) is not None:
                return None
            found = self._said_under([fold_key(word) for word in words[1:]]) or self._imported(source, words)
        elif path is not None:
            found = self._named(source, words[0], owner, steps, is_own=path.startswith("self."))
        if found is None and value.table is not None:
            found = self._entry(source, value, owner, steps)
        if found is None and value.otherwise is not None:
            found = self.value(source, value.otherwise, owner, steps + 1)
        is_plain = path is not None and len(words) == 1
        text = source.code.resolve(value, owner) if found is None and not is_plain else None
        return (text, None) if text is not None else found

    def _entry(self, source: Source, value: Value, owner: str, steps: int) -> Told | None:
        """Return the entry of a table, of the program or of one that it imports, that a followed key takes."""
        row = source.code.names().row_of(value) if source.code is not None else value
        parts = row.key.parts or (row.key,) if row.key is not None and row.key.text is None else ()
        told = [self.value(source, part, owner, steps + 1) for part in parts]
        known = [each[0] for each in told if each is not None]
        if not known or len(known) < len(told):
            return None
        text = entry_in(source, self.closure, row.table or "", "".join(known))
        return (text, None) if text is not None else None

    def _named_so(self, name: str) -> list[Setting]:
        """Return what is said under this name, or under one that ends in it, behind a section."""
        if not self._by_name:
            for setting in (*self.options, *self.configs):
                if setting.text.strip().lower() not in UNSET and not is_unfilled(setting.text):
                    words = setting.path.split(".")
                    for start in range(max(0, len(words) - MAX_WORDS), len(words)):
                        self._by_name.setdefault(".".join(words[start:]), []).append(setting)
        return self._by_name.get(name, [])

    def _said_under(self, words: list[str]) -> Told | None:
        """Return what the command, or else the configurations, say under a name behind what holds them all."""
        name = ".".join(words)
        if name not in self._said:
            self._said[name] = self._look_under(words, name)
        return self._said[name]

    def _ordered(self, name: str) -> Told | None:
        """Return what the command says under exactly this name."""
        path = fold_key(name)
        ordered = (each for each in self.options if each.path == path and not is_unfilled(each.text))
        return next(((each.text, each.evidence) for each in ordered), None)

    def _look_under(self, words: list[str], name: str) -> Told | None:
        if (ordered := self._ordered(name)) is not None:
            return ordered
        below = self._named_so(name)
        near = [each for each in below if each.path == name] or below
        if not near and len(words) > 1:
            # A section may be a folder, or a file, of its own: `model/large.yaml` has `cfg.model.name` as `name`.
            near = [each for each in self._named_so(words[-1])[:MAX_ALIKE] if set(words[:-1]) <= _places(each)]
        return (near[0].text, near[0].evidence) if len({each.text for each in near}) == 1 else None

    def _whole_name(self, source: Source, words: list[str], owner: str) -> list[str]:
        """Return a dotted name with what its first word stands for: a section that is taken aside (``data = cfg["data"]``)."""
        signature = parameters_of(source, owner)
        local = local_value(source, words[0], owner)
        if local is None and words[0] in signature:
            function = owner
            paths = {
                given.value.path if given is not None else None
                for caller in self._callers(source, function)
                for given in self._calls(caller, source, function, words[0])
            }
            path = paths.pop() if len(paths) == 1 else None
        else:
            path = local.value.path if local is not None else None
        bare = (path or "").removeprefix("self.").removesuffix(".value")  # absl's flags hold theirs so
        return [*bare.split("."), *words[1:]] if "." in bare and not bare.startswith("os.") else words

    def _named(self, source: Source, word: str, owner: str, steps: int, *, is_own: bool) -> Told | None:
        """Return what a plain name stands for: another name, a parameter that callers give, a constant of an imported module."""
        if is_own:
            owners = classes_with(source, word)
            if len(owners) != 1:
                return None
            (owner,) = owners
        inner = local_value(source, word, owner)
        if inner is not None and inner.value.table == "argv":
            return self._said_under([fold_key(word)])  # a word of the command, which has the variable's name
        if inner is not None:
            told = self.value(source, inner.value, owner, steps + 1)
            return (told[0], told[1] or Evidence(source.path, inner.line)) if told is not None else None
        if word in parameters_of(source, owner):
            return self._of_callers(source, owner, word, steps)
        is_set = any(each.owner in {"", owner} for each in givens(source).get(word, ()))
        return None if is_own or is_set else self._imported(source, [word])

    def _of_callers(self, source: Source, function: str, parameter: str, steps: int) -> Told | None:
        """Return what all calls of a function give for a parameter, or leave at what it starts with."""
        place = (source.path, function, parameter)
        if place not in self._given:
            self._given[place] = None  # where calls lead back to themselves
            found: list[Told] = []
            for caller in self._callers(source, function):
                for given in self._calls(caller, source, function, parameter):
                    told = self.value(given.source, given.value, given.owner, steps + 1) if given is not None else None
                    if told is None or given is None:
                        return None
                    found.append((told[0], told[1] or Evidence(given.source.path, given.line)))
            if not found and source is self.closure[0]:  # Fire, click and their kin call it with what the command says
                return self._ordered(parameter)
            self._given[place] = found[0] if len({text for text, _ in found}) == 1 else None
        return self._given[place]

    def _callers(self, source: Source, function: str) -> Sequence[Source]:
        """Return the programs that call something of that name: a method only those of its own file."""
        if source.code is not None and source.code.signatures[function].is_method:
            return [source]
        if not self._calling:
            for caller in self.closure:
                for last in dict.fromkeys(call.last for call in caller.code.calls) if caller.code is not None else ():
                    self._calling.setdefault(last, []).append(caller)
        return self._calling.get(function, ())

    def _calls(self, caller: Source, source: Source, function: str, parameter: str) -> Iterator[Argument | None]:
        """Yield what a program's calls of a function of another, or of its own, give for the parameter; None for one of which it is not known."""
        if caller.code is None or source.code is None:
            return
        signature = source.code.signatures[function]
        alone = started_alone(caller) if caller is not self.closure[0] else range(0)
        for call in caller.code.calls_named(function)[:MAX_CALLERS]:
            is_tried = call.line in alone or FOR_TRIALS.search(call.owner) or _TRIES.fullmatch(call.owner)
            if not is_tried and call.owner != function and means(call, caller, source, function, signature):
                yield argument_of(call, caller, source, function, parameter)

    def _imported(self, source: Source, words: list[str]) -> Told | None:
        """Return what modules of the project that the program imports say of a name."""
        others = [other for other in self.closure if other is not source]
        found = [(other, each) for other, each in taken(source, words, others) if len(words) <= 2 or each.is_option]
        if not found and len(words) == 2 and _HOLDS_OPTIONS.fullmatch(words[0]) is not None:
            # What a parser elsewhere has made is handed through, but where the program has one of its own.
            has_own = any(each.mentions("add_argument") for each in (source, self.closure[0]))
            parsing = [] if has_own else [other for other in others if not JUDGES.fullmatch(other.name)]
            found = [
                (o, each) for o in parsing for each in starts(o).get(words[1], ()) if each.is_option and not each.owner
            ]
        places = {each.text: Evidence(other.path, each.line) for other, each in reversed(found)}
        return next(iter(places.items())) if len(places) == 1 else None


def _places(setting: Setting) -> set[str]:
    return {*setting.evidence.path.lower().replace(".", "/").split("/"), *setting.path.split(".")}
