"""What the run's programs give to TRL's configuration of a trainer that generates (``GRPOConfig(use_vllm=True)``)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.programs.main_guards import started_alone
from gpu_lol_action.analysis.programs.unused_definitions import is_unused_at
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import scope_of, values_of
from gpu_lol_action.analysis.training.said_settings import Said
from gpu_lol_action.domain.finding import Confidence, Evidence

_CONFIGS = frozenset({"GRPOConfig", "RLOOConfig", "OnlineDPOConfig", "XPOConfig", "NashMDConfig", "GOLDConfig"})
_PARSERS = ("TrlParser", "HfArgumentParser")
MOST_CALLS = 20
"""Calls that are looked at: of more nothing tells which is the run's."""


def said_to_trl(checkout: Checkout, run: Run, said: Said) -> Said:
    """Return what is said, with what the run's programs give to TRL's configuration (``GRPOConfig(use_vllm=True)``).

    Where something else tells a value (an option, a configuration, a caller) it is that; of modules beside the run's, none counts. Of several
    calls that differ none is taken, but where all stand in the script itself (one may be for a quick try): then with less trust.
    """
    given = _given(checkout, run, is_mixed=True)
    if not given:
        return said
    texts = dict(said.texts)
    taken = [confidence for name, (_, confidence) in given.items() if name not in texts]
    for name, (setting, _) in given.items():
        texts.setdefault(name, setting)
    return Said(texts, min([said.surely, *taken]))


def given_to_trl(checkout: Checkout, run: Run, name: str, said: Said) -> Setting | None:
    """Return the setting that TRL's configuration has under a common word: what a call gives it, else what its command or parser reads.

    A program's own option or entry of that word (``beta`` of an average) says nothing of it.
    """
    given = _given(checkout, run)
    if name in given:
        return given[name][0]
    command, script = run.command, run.script
    is_command = script is None and command is not None and command.tool == "trl"
    is_parsed = script is not None and any(map(script.mentions, _PARSERS))
    return said.texts.get(name) if is_command or is_parsed else None


def _given(checkout: Checkout, run: Run, *, is_mixed: bool = False) -> Mapping[str, tuple[Setting, Confidence]]:
    """Return what the one call that makes such a configuration gives it, and how far to trust that; nothing where calls differ.

    ``is_mixed``: of the script's own calls the first that says a word counts, with less trust.
    """
    if run.script is None:
        return {}
    calls = _calls(checkout, run, run.script)
    differ = any(_says(each) != _says(calls[0][1]) for _, each in calls)
    is_own = is_mixed and all(source is run.script for source, _ in calls)
    if not 0 < len(calls) <= MOST_CALLS or (differ and not is_own):
        return {}
    places = {(source.path, call.line) for source, call in calls}
    scope = scope_of(checkout, run)
    found: dict[str, tuple[Setting, Confidence]] = {}
    for confidence, settings in scope.tiers:
        for setting in settings:
            called, _, name = setting.path.rpartition(".")
            is_made = called.removeprefix("trl.") in _CONFIGS and confidence is not Confidence.LOW
            if (
                is_made
                and _stands(setting, places)
                and not (confidence is Confidence.MEDIUM and scope.is_anothers(setting))
            ):
                found.setdefault(name, (setting, min(confidence, Confidence.MEDIUM) if differ else confidence))
    return found


def _stands(setting: Setting, places: Collection[tuple[str, int]]) -> bool:
    where: Evidence = setting.called or setting.evidence
    return (where.path, where.line) in places


def _says(call: Call) -> object:
    return call.arguments, call.keywords, call.spread


def _calls(checkout: Checkout, run: Run, script: Source) -> list[tuple[Source, Call]]:
    """Return the calls of a run's programs that make such a configuration where the run may come by."""
    closure = import_closure(checkout, script)
    found: list[tuple[Source, Call]] = []
    for source in closure:
        calls = source.code.calls_named(*sorted(_CONFIGS)) if source.code is not None else ()
        if not calls:
            continue
        alone = frozenset[int]() if source is script else started_alone(source)
        dead = dead_lines(source, values_of(checkout, run))
        for call in calls[: MOST_CALLS + 1]:
            is_dead = call.line in alone or any(call.line in block for block in dead)
            if not is_dead and not is_unused_at(source, call.line, closure):
                found.append((source, call))
    return found
