"""Values that a program hands to a library, followed to where they are written: a configuration, an imported module, a caller.

``SFTConfig(max_length=cfg["data"]["window"])`` says which entry of the configuration is a length, whatever that is called there.
What is not told in one way is not told: of several sections, callers or modules all must say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.programs.code_settings import FOR_TRIALS, given_by_name, registry_entries
from gpu_lol_action.analysis.programs.local_values import (
    Argument,
    argument_of,
    called_in,
    classes_with,
    givens,
    handed_on,
    is_overlaid,
    local_value,
    makes_items,
    means,
    option_names,
    parameters_of,
)
from gpu_lol_action.analysis.programs.main_guards import started_alone
from gpu_lol_action.analysis.programs.taken_names import makers, starts, taken
from gpu_lol_action.analysis.python.values import ENVIRONMENT, STARRED, Value
from gpu_lol_action.analysis.python.walk import LEAST_ENTRIES
from gpu_lol_action.analysis.runs.other_places import JUDGES
from gpu_lol_action.analysis.runs.said_names import SaidNames, Told
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_STEPS = 5
"""From a library's call to a configuration: through the function that makes it, and those that call this one."""
MAX_FOLLOWED = 400
"""Steps for one program's arguments."""
MAX_CALLERS = 12
_HOLDS_OPTIONS = regex(
    r"(?:\w{0,20}_)?(?:args|opts?|options|flags|cfg|conf|config|configs|hparams|hps?|params|settings)", re.IGNORECASE
)
_OWN_PARAMETERS = ("self.hparams.", "self._hparams.")
"""Where Lightning's modules keep what they were made with (``save_hyperparameters``)."""
_MAKES_COMMANDS = ("click.", "typer.", "tyro.", "cyclopts", "app.command")
_TRIES = regex(r"_?(?:tests?|overfit|sanity|demo|check)(?:_.{0,60})?", re.IGNORECASE)
# What judges a training, and models beside the one that learns.
_BESIDE = regex(
    r"(?:^|[._])(?:val|valid|validation|validate|tests?|tst|eval|evaluation|evaluate|dev|teacher|critic|judge|reward|scor(?:er|ing)|draft)"
    r"(?:model)?(?:$|[._])",
    re.IGNORECASE,
)
_SPLITS = regex(r"[Tt]okeni[sz]er?\b")
UNTOLD: Told = ("", None)
"""Of what is somebody else's to say: nothing that it starts with counts."""


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
    _names: SaidNames | None = field(default=None, repr=False, compare=False)
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
            # A text beside the model's is cut there; items of a data set are its own.
            is_cut = source is not self.closure[0] and _SPLITS.search(setting.path) and not makes_items(source)
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
        if not setting.text or (
            value.path == value.reference and value.reference in parameters_of(source, setting.owner)
        ):
            return self.value(source, value, setting.owner)
        if value.path is not None and value.path == value.reference and is_overlaid(source):
            return self._laid_over(value.path, setting.owner, source)
        # What an option starts with is not what the configuration says (`r=model_args.lora_rank`).
        base, _, rest = (value.path or "").removeprefix("self.").partition(".")
        if not rest or _HOLDS_OPTIONS.fullmatch(base) is None or value.reference not in option_names(source):
            return None
        return self._said.under(rest.split(".")) if self._said.whole(rest) is not None else None

    @property
    def _said(self) -> SaidNames:
        self._names = self._names or SaidNames(self.options, self.configs)
        return self._names

    def _laid_over(self, name: str, owner: str, source: Source) -> Told | None:
        """Return what a command or a configuration puts in place of a variable of the module (`exec(open("configurator.py").read())`)."""
        is_modules = local_value(source, name, owner) == local_value(source, name, "")
        return self._said.whole(name) if is_modules else None

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
            found = self._said.ordered(words[-1])
        elif path is not None and len(words) == 2 and path.startswith(_OWN_PARAMETERS):
            found = self._named(source, words[1], owner, steps, is_own=True)
        elif path is not None and len(words) > 1:
            words = self._whole_name(source, words, owner)
            if _BESIDE.search(".".join(words)) is not None:
                return None
            found = self._said.under(words[1:])
            found = found or self._of_made(source, words, steps) or self._imported(source, words)
            found = found if found is not UNTOLD else None
        elif path is not None:
            found = self._named(source, words[0], owner, steps, is_own=path.startswith("self."))
        if found is None and value.otherwise is not None:
            found = self.value(source, value.otherwise, owner, steps + 1)
        is_plain = path is not None and len(words) == 1
        text = source.code.resolve(value, owner) if found is None and not is_plain else None
        return (text, None) if text is not None else found

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

    def _of_made(self, source: Source, words: list[str], steps: int) -> Told | None:
        """Return what an object is made with under a name (``config = GPTConfig(window=512)``); ``UNTOLD`` where it may be made with anything."""
        maker = makers(source).get(words[0], "").rpartition(".")[2] if len(words) == 2 else ""
        calls = source.code.calls_named(maker) if source.code is not None and maker[:1].isupper() else ()
        if len(calls) != 1:
            return None
        (call,) = calls
        given = call.keyword(words[1]) or (handed_on(call, source, words[1]) if call.rest else None)
        if given is None:
            return UNTOLD if call.rest else None
        told = self.value(source, given, call.owner, steps + 1)
        return (told[0], told[1] or Evidence(source.path, call.line)) if told is not None else UNTOLD

    def _named(self, source: Source, word: str, owner: str, steps: int, *, is_own: bool) -> Told | None:
        """Return what a plain name stands for: another name, a parameter that callers give, a constant of an imported module."""
        if is_own:
            owners = classes_with(source, word)
            if len(owners) != 1:
                return None
            (owner,) = owners
        over = self._laid_over(word, owner, source) if is_overlaid(source) and not is_own else None
        if over is not None:
            return over
        inner = local_value(source, word, owner)
        if inner is not None and inner.value.table == "argv":
            return self._said.under([word])  # a word of the command, which has the variable's name
        if inner is not None:
            told = self.value(source, inner.value, owner, steps + 1)
            return (told[0], told[1] or Evidence(source.path, inner.line)) if told is not None else None
        if word in parameters_of(source, owner):
            return self._of_callers(source, owner, word, steps) or self._of_command(source, owner, word)
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
            self._given[place] = found[0] if len({text for text, _ in found}) == 1 else None
        return self._given[place]

    def _of_command(self, source: Source, function: str, parameter: str) -> Told | None:
        """Return what the command gives for a parameter of the function that a library makes it of (``fire.Fire(main)``, ``@app.command()``).

        Nothing else calls such a function; of one that is handed over what it starts with counts as well.
        """
        calls = source.code.calls if source.code is not None else ()
        handed = any(call.arguments and call.arguments[0].path == function for call in calls)
        callers = self._callers(source, function)
        is_called = any(True for each in callers for _ in self._calls(each, source, function, parameter))
        if is_called or not (handed or any(map(source.mentions, _MAKES_COMMANDS))):
            return None
        starting = [e for e in givens(source).get(parameter, ()) if e.is_parameter and e.owner == function]
        text = starting[0].value.text if starting and handed else None
        return self._said.ordered(parameter) or ((text, Evidence(source.path, starting[0].line)) if text else None)

    def _callers(self, source: Source, function: str) -> Sequence[Source]:
        """Return the programs that call something of that name: a method only those of its own file."""
        if source.code is not None and source.code.signatures[function].is_method:
            return [source]
        if not self._calling:
            for caller in self.closure:
                for last in called_in(caller):
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
        for call in caller.code.calls_named("partial")[:MAX_CALLERS]:
            given = call.keyword(parameter)
            if given is not None and call.arguments and call.arguments[0].path == function and not signature.is_method:
                yield Argument(given, caller, call.line, call.owner)

    def _parsing(self, source: Source) -> list[Source]:
        """Return the programs whose parser may have made the options that another is handed: the run's own before those of modules."""
        if source.mentions("add_argument"):
            return []
        program = self.closure[0]
        if program.mentions("add_argument"):
            return [program] if source is not program else []
        return [other for other in self.closure if other is not source and not JUDGES.fullmatch(other.name)]

    def _imported(self, source: Source, words: list[str]) -> Told | None:
        """Return what modules of the project that the program imports say of a name."""
        others = [other for other in self.closure if other is not source]
        found = [
            (other, each)
            for other, each in taken(source, words, others)
            if len(words) <= 2 or each.is_option or other.mentions(f".{words[-2]}.{words[-1]} =")
        ]
        if not found and len(words) == 2 and _HOLDS_OPTIONS.fullmatch(words[0]) is not None:
            found = [(o, each) for o in self._parsing(source) for each in starts(o).get(words[1], ()) if each.is_option]
        places = {each.text: Evidence(other.path, each.line) for other, each in reversed(found)}
        return next(iter(places.items())) if len(places) == 1 else None
