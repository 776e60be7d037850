"""Values that a program hands to a library, followed to where they are written: a configuration, an imported module, a caller.

``SFTConfig(max_length=cfg["data"]["window"])`` says which entry of the configuration is a length, whatever that is called there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.files.unfilled_options import is_unfilled
from gpu_lol_action.analysis.programs.code_settings import FOR_TRIALS, code_settings, given_by_name, registry_entries
from gpu_lol_action.analysis.python.code import Call, Default
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_STEPS = 5
"""From a library's call to a configuration: through the function that makes it, and those that call this one."""
MAX_FOLLOWED = 600
MAX_CALLERS = 8
_HOLDS_OPTIONS = regex(
    r"(?:\w{0,20}_)?(?:args|opts?|options|flags|cfg|conf|config|configs|hparams|hps?|params|settings)", re.IGNORECASE
)
_MADE = regex(r"(?m)^[ \t]*(\w{1,40})(?:[ \t]?:[ \t]?[\w.\[\]]{1,60})?[ \t]?=[ \t]?([\w.]{1,80})\(")
_UNSET = frozenset({"", "none", "null", "???"})


@record(slots=True)
class Follower:
    """Follows the values of one run's programs.

    ``said``: what its command and its configurations say, the nearest first; ``stray``: what configurations say that lie by and that
    nothing names. ``written`` tells of settings that it found where they are written; as they are found they stand where the library is called,
    by which it is decided whether that is reached. Private to the making of a run's scope.
    """

    said: Sequence[Setting]
    stray: Sequence[Setting]
    closure: Sequence[Source]
    written: dict[Setting, Evidence] = field(default_factory=dict, repr=False, compare=False)
    left: int = MAX_FOLLOWED
    _by_key: dict[int, dict[str, list[Setting]]] = field(default_factory=dict, repr=False, compare=False)

    def added(self, source: Source, settings: list[Setting]) -> list[Setting]:
        """Return a program's settings with those that its calls give and something else tells: behind what constructors give themselves."""
        found = list(self._arguments(source))
        told = {(each.path, each.evidence) for each in found}
        kept = [each for each in settings if (each.path, each.evidence) not in told]
        first = next((at for at, each in enumerate(kept) if not each.path[:1].isupper()), len(kept))
        return [*kept[:first], *found, *kept[first:]]

    def placed(self, settings: Iterable[Setting]) -> tuple[Setting, ...]:
        """Return settings where they are written."""
        return tuple(replace(s, evidence=self.written[s]) if s in self.written else s for s in settings)

    def _arguments(self, source: Source) -> Iterator[Setting]:
        for setting, value in given_by_name(source):
            found = self._told(source, setting, value)
            if found is not None and found[0] != setting.text:
                known = Setting(setting.key, setting.path, found[0], setting.evidence, setting.owner)
                self.written[known] = found[1] or setting.evidence
                yield known

    def _told(self, source: Source, setting: Setting, value: Value) -> tuple[str, Evidence | None] | None:
        code = source.code
        if code is None or value.text is not None:
            return None
        if not setting.text or value.reference in code.signatures.get(setting.owner, ()):
            return self.value(source, value, setting.owner)
        # What the program starts with is not what its configuration says (`r=model_args.lora_rank`).
        base, _, rest = (value.path or "").removeprefix("self.").partition(".")
        return self._said_under(fold_key(rest).split(".")) if rest and _HOLDS_OPTIONS.fullmatch(base) else None

    def value(self, source: Source, value: Value, owner: str, steps: int = 0) -> tuple[str, Evidence | None] | None:
        """Return a value's text, and where that is written if it is not in the call itself; None where it is not told, or not alike."""
        code = source.code
        if value.text is not None:
            return value.text, None
        if code is None or steps > MAX_STEPS or self.left <= 0:
            return None
        self.left -= 1
        path = code.names().path_of(value) or value.path or value.reference
        found = None
        if path is not None:
            words = path.removeprefix("self.").removeprefix("os.").split(".")
            found = self._held(source, words) if len(words) > 1 else self._named(source, path, owner, steps)
        if found is None and (text := code.resolve(value, owner)) is not None:
            return text, None
        return found or (self.value(source, value.otherwise, owner, steps + 1) if value.otherwise else None)

    def _held(self, source: Source, words: list[str]) -> tuple[str, Evidence | None] | None:
        """Return what a configuration, or a module that the program imports, has under a dotted name."""
        return self._said_under([fold_key(word) for word in words[1:]]) or self._imported(source, words)

    def _said_under(self, words: list[str]) -> tuple[str, Evidence | None] | None:
        """Return what the run's configurations have under a name behind what holds them all; of files that lie by, what all say alike."""
        near = [each for each in self._keyed(self.said, words[-1]) if _is_under(each, words)]
        if near:
            return near[0].text, near[0].evidence
        stray = [each for each in self._keyed(self.stray, words[-1]) if _is_under(each, words)]
        # `<<: *base` leaves a section's entries in another one.
        stray = stray or [each for each in self._keyed(self.said, words[-1]) if "." in each.path]
        return (stray[0].text, stray[0].evidence) if len({each.text for each in stray}) == 1 else None

    def _keyed(self, settings: Sequence[Setting], key: str) -> list[Setting]:
        kept = self._by_key.setdefault(id(settings), {})
        if not kept:
            for setting in settings:
                if setting.text.strip().lower() not in _UNSET and not is_unfilled(setting.text):
                    kept.setdefault(setting.key, []).append(setting)
        return kept.get(key, [])

    def _named(self, source: Source, path: str, owner: str, steps: int) -> tuple[str, Evidence | None] | None:
        """Return what a plain name stands for: another name, a parameter that callers give, a constant of an imported module."""
        code, word = source.code, path.rpartition(".")[2]
        if code is None:
            return None
        classes = [name for name, taken in code.signatures.items() if word in taken and name[:1].isupper()]
        of = owner if "." not in path else (classes[0] if len(classes) == 1 else "")
        if word in code.signatures.get(of, ()):
            return self._given(source, of, word, steps)
        inner = code.names().values.get(word)
        if inner is not None and inner.table == "argv":
            return self._said_under([fold_key(word)])  # a word of the command, which has the variable's name
        if inner is not None and inner.reference != word:
            return self.value(source, inner, owner, steps + 1)
        return self._imported(source, [word]) if "." not in path else None

    def _given(self, source: Source, function: str, parameter: str, steps: int) -> tuple[str, Evidence | None] | None:
        """Return what all calls of a function give for a parameter, if they give the same."""
        code = source.code
        place = code.signatures[function].index(parameter) if code is not None else 0
        having = [other for other in self.closure if other.code is not None and other.mentions(function)]
        is_only = not any(function in other.code.signatures for other in having if other.code and other is not source)
        found: list[tuple[str, Evidence | None]] = []
        for caller in having:
            is_meant = is_only or caller is source or function in _taken_names(caller)
            for call in caller.code.calls_named(function)[:MAX_CALLERS] if caller.code is not None and is_meant else ():
                given = _argument(call, parameter, place)
                if given is None or FOR_TRIALS.search(call.owner):
                    continue
                told = self.value(caller, given, call.owner, steps + 1)
                if told is None:
                    return None
                found.append((told[0], told[1] or Evidence(caller.path, call.line)))
        return found[0] if len({text for text, _ in found}) == 1 else None

    def _imported(self, source: Source, words: list[str]) -> tuple[str, Evidence | None] | None:
        """Return what modules of the project that the program imports say of a name, if they say the same."""
        taken = _taken_names(source)
        is_held = len(words) > 1
        if is_held and not _is_borrowed(source, words[0], taken):
            return None
        if not is_held and not (words[0] in taken or ("*" in taken and words[0].isupper())):
            return None
        found: dict[str, Evidence] = {}
        for other in self.closure:
            spellings = {words[-1], words[-1].replace("_", "-")}
            if other is source or other.code is None or not any(map(other.mentions, sorted(spellings))):
                continue
            for default in _starts(other).get(words[-1], ()):
                if not default.owner or default.is_option or (is_held and default.owner in taken):
                    found.setdefault(default.text, Evidence(other.path, default.line))
            if found and fold_key(words[-1]) in _of_registries(other):
                return None  # it is one of many, and what the run calls decides
        return next(iter(found.items())) if len(found) == 1 else None


def _is_under(setting: Setting, words: list[str]) -> bool:
    """Whether a setting stands under a dotted name; a section may be a folder, or a file, of its own (``model/large.yaml``: ``name``)."""
    if f".{setting.path}".endswith(f".{'.'.join(words)}"):
        return True
    places = {*setting.evidence.path.lower().replace(".", "/").split("/"), *setting.path.split(".")}
    return all(word in places for word in words[:-1])


def _argument(call: Call, parameter: str, place: int) -> Value | None:
    named = call.keyword(parameter)
    return named if named is not None else (call.arguments[place] if place < len(call.arguments) else None)


@remembered
def _starts(source: Source) -> dict[str, list[Default]]:
    """Return what a module starts with by name, but for its functions' parameters."""
    found: dict[str, list[Default]] = {}
    for default in source.code.defaults if source.code is not None else ():
        if not default.is_parameter and default.text.strip().lower() not in _UNSET:
            found.setdefault(default.name, []).append(default)
    return found


@remembered
def _of_registries(source: Source) -> frozenset[str]:
    """Return the keys that the entries of a module's registries say, each its own way."""
    entries = registry_entries(source)
    return frozenset(s.key for s in code_settings(source) if s.owner in entries) if entries else frozenset()


@remembered
def _taken_names(source: Source) -> frozenset[str]:
    """Return the names that a program takes from other modules, and the last words of these."""
    code = source.code
    imports = code.imports if code is not None else ()
    return frozenset(name for item in imports for name in (*item.names, item.module.rpartition(".")[2]))


@remembered
def _renamed(source: Source) -> frozenset[str]:
    return frozenset(regex(r"\bas[ \t]+(\w{1,40})").findall(source.text))


@remembered
def _made_by(source: Source) -> dict[str, frozenset[str]]:
    """Return the last words of what a program calls to make each of its variables."""
    made: dict[str, set[str]] = {}
    for found in _MADE.finditer(source.text):
        made.setdefault(found[1], set()).update({found[2].partition(".")[0], found[2].rpartition(".")[2]})
    return {name: frozenset(words) for name, words in made.items()}


def _is_borrowed(source: Source, base: str, taken: frozenset[str]) -> bool:
    """Whether a name holds what another module says: it is taken from there, made by what is, or called as what holds options."""
    if base in taken or base in _renamed(source) or _HOLDS_OPTIONS.fullmatch(base) is not None:
        return True
    return bool(_made_by(source).get(base, frozenset()) & taken)
