"""Which programs of a run call a function, and what they give it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.code_settings import FOR_TRIALS
from gpu_lol_action.analysis.programs.local_values import (
    Argument,
    argument_of,
    called_in,
    calls_of,
    means,
    parsed_names,
)
from gpu_lol_action.analysis.programs.main_guards import started_alone
from gpu_lol_action.analysis.programs.others_names import JUDGES, TRIES
from gpu_lol_action.analysis.programs.taken_names import makers
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_CALLERS, MAX_CALLING = 12, 40
"""Calls of one program, and programs of a run, that are asked what they give."""
_OPTIONS = regex(r"(?:\w{0,20}_)?(?:args|opts?|options|flags|hparams)")


@record(slots=True)
class Callers:
    """The calls in one run's programs, the first of which is started. Remembers them; private to who follows that run's values."""

    closure: Sequence[Source]
    _calling: dict[str, list[Source]] = field(default_factory=dict, repr=False, compare=False)

    def given(self, source: Source, function: str, parameter: str) -> Iterator[Argument | None]:
        """Yield what calls of a function give for a parameter, or leave it at; None for a call of which that is not known."""
        for caller in self._programs(source, function):
            yield from self._calls(caller, source, function, parameter)

    def _programs(self, source: Source, function: str) -> Sequence[Source]:
        """Return the programs that call something of that name: a method only those of its own file."""
        if source.code is not None and source.code.signatures[function].is_method:
            return [source]
        if function not in self._calling:
            # To ask for all that a program calls has it parsed: most do not even have the word.
            asked = (caller for caller in self.closure[:MAX_CALLING] if caller.mentions(function))
            self._calling[function] = [caller for caller in asked if function in called_in(caller)]
        return self._calling[function]

    def _calls(self, caller: Source, source: Source, function: str, parameter: str) -> Iterator[Argument | None]:
        """Yield what one program's calls of a function of another, or of its own, give for the parameter."""
        if caller.code is None or source.code is None:
            return
        signature = source.code.signatures[function]
        alone = started_alone(caller) if caller is not self.closure[0] else frozenset[int]()
        for call in calls_of(caller, function)[:MAX_CALLERS]:
            is_tried = call.line in alone or FOR_TRIALS.search(call.owner) or TRIES.fullmatch(call.owner)
            if not is_tried and call.owner != function and means(call, caller, source, function, signature):
                yield argument_of(call, caller, source, function, parameter)
        for call in caller.code.calls_named("partial")[:MAX_CALLERS]:
            given = call.keyword(parameter)
            if given is not None and call.arguments and call.arguments[0].path == function and not signature.is_method:
                yield Argument(given, caller, call.line, call.owner)

    def parsing(self, source: Source, base: str) -> list[Source]:
        """Return the programs whose parser may have made the options that another is handed under a name: the run's own before those of modules.

        None for what the module makes itself (``config = json.load(...)``), and where the program parses for several commands.
        """
        if source.mentions("add_argument"):
            return []
        program = self.closure[0]
        if program.mentions("add_argument"):
            is_handed = base not in makers(source) and (base in parsed_names(program) or _OPTIONS.fullmatch(base))
            return [program] if is_handed and source is not program and not program.mentions("add_parser(") else []
        return [other for other in self.closure if other is not source and not JUDGES.fullmatch(other.name)]
