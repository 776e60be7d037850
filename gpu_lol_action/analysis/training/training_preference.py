"""Training on preferences: pairs of answers in one batch, and a frozen copy of the model that the new one is compared with."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.programs.main_guards import started_alone
from gpu_lol_action.analysis.programs.unused_definitions import definitions, is_unused, is_unused_at
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_calls import called_at
from gpu_lol_action.analysis.runs.settings import Scope, is_on, look_up, values_of
from gpu_lol_action.analysis.training.said_settings import said_of
from gpu_lol_action.analysis.training.trl_settings import given_to_trl
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# Trainers that read a better and a worse answer as one batch of twice the size; the first also keep a reference model.
_WITH_REFERENCE = ("DPOTrainer", "IPOTrainer", "SPINTrainer", "XPOTrainer", "OnlineDPOTrainer", "NashMDTrainer")
_PAIRED = (*_WITH_REFERENCE, "SimPOTrainer", "ORPOTrainer", "CPOTrainer", "RewardTrainer")
_ALONE = ("KTOTrainer",)
# What LLaMA-Factory, axolotl and ms-swift call it in their configurations, and TRL on its command line.
_KINDS = ("stage", "rl", "rlhf_type", "train_stage")
_KINDS_WITH_REFERENCE = frozenset({"dpo", "ipo"})
# DreamBooth's: a batch of as many pictures of the whole class beside those of the one thing.
_BESIDE = ("with_prior_preservation",)
# Said of a run, these leave what else its trainer's library can do to others.
_KINDS_WITHOUT = frozenset({"sft", "pt", "cpt", "pretrain"})
# OpenRLHF's programs of that kind are its modules (`deepspeed --module openrlhf.cli.train_dpo`).
_OPENRLHF = regex(r"openrlhf\.cli\.train_(dpo|rm|kto)")
# These compare with the model they began with where their penalty for leaving it is not nought.
_PENALIZED = ("GRPOTrainer",)
_PENALTY = regex(r"(?=[\d.]{0,12}[1-9])\d{0,4}\.?\d{1,12}(?:[eE]-?\d{1,2})?")
MOST_HANDINGS = 20
"""Calls of one module that are asked whether they hand a reference over in what is used."""
_REFERENCE = regex(r"(?:ref|reference)_model(?:_\w+)?")


def preference_of(checkout: Checkout, run: Run, scope: Scope) -> list[Finding]:
    """Return that answers come in pairs, and that a reference model is kept; nothing where neither is so.

    Adapters need no second model: without them the first one is the reference.
    """
    kind = look_up(scope, _KINDS)
    named = kind.text.strip().lower() if kind is not None else ""
    command = run.command
    if command is not None and command.tool in {"trl", "swift"} and {"dpo"} & set(command.words[:2]):
        named = "dpo"
    if named in _KINDS_WITH_REFERENCE:
        where = kind.evidence if kind is not None else run.evidence
        return [_pairs(where, f"`{named}`"), _reference(where, f"`{named}`")]
    if named in _KINDS_WITHOUT:
        return []
    if (openrlhf := _of_openrlhf(checkout, run)) is not None:
        return openrlhf
    found: list[Finding] = []
    prior = look_up(scope, _BESIDE)
    if is_on(prior) and prior is not None:
        why = f"`{prior.setting.key}` adds a picture of the class to each"
        found.append(Finding("training.pairs", "on", why, prior.confidence, prior.evidence))
    if (where_paired := called_at(checkout, run, *_PAIRED)) is not None:
        found.append(_pairs(where_paired, "the trainer"))
    kept = (
        called_at(checkout, run, *_WITH_REFERENCE, *_ALONE)
        or _given_reference(checkout, run)
        or _penalized(checkout, run)
    )
    if kept is not None:
        found.append(_reference(kept, "the trainer"))
    return found


def _of_openrlhf(checkout: Checkout, run: Run) -> list[Finding] | None:
    """Return what OpenRLHF's module reads and keeps; None for any other run. `--ref_offload` has the frozen copy wait in main memory."""
    named = _OPENRLHF.fullmatch(run.command.target) if run.command is not None else None
    if named is None:
        return None
    what = f"`{named[0]}`"
    found = [_pairs(run.evidence, what)] if named[1] != "kto" else []
    if named[1] != "rm" and not said_of(checkout, run).is_on("ref_offload"):
        found.append(_reference(run.evidence, what))
    return found


def _penalized(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where TRL's trainer of groups is started with a penalty for leaving the model that it began with (``beta``)."""
    command = run.command
    if command is not None and command.tool == "trl" and "grpo" in command.words[:2]:
        where: Evidence | None = run.evidence
    else:
        where = called_at(checkout, run, *_PENALIZED)
    number = given_to_trl(checkout, run, "beta", said_of(checkout, run)) if where is not None else None
    return number.evidence if number is not None and _PENALTY.fullmatch(number.text.strip()) else None


def _given_reference(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where the program, or what it imports, hands a reference model to what trains: not in what nobody calls."""
    closure = import_closure(checkout, run.script) if run.script is not None else ()
    for source in closure:
        if source.code is None or not (source.mentions("ref_model") or source.mentions("reference_model")):
            continue
        handing = [call for call in source.code.calls if _hands_over(call)][:MOST_HANDINGS]
        dead = dead_lines(source, values_of(checkout, run)) if handing else ()
        alone = frozenset[int]() if source is run.script or not handing else started_alone(source)
        for call in handing:
            is_dead = call.line in alone or any(call.line in block for block in dead)
            if not is_dead and not _is_unused(source, call, closure):
                return Evidence(source.path, call.line)
    return None


def _is_unused(source: Source, call: Call, closure: Sequence[Source]) -> bool:
    """Whether a call stands in what nothing of the program names, also in a function of the started program itself."""
    if source is not closure[0]:
        return is_unused_at(source, call.line, closure)
    held = next((each for each in definitions(source.text) if each.name == call.owner and not each.is_class), None)
    return held is not None and is_unused(held, source, closure)


def _hands_over(call: Call) -> bool:
    return any(_REFERENCE.fullmatch(key) and (value.text or value.reference) for key, value in call.keywords) and bool(
        regex(r"[Tt]rainer").search(call.last)
    )


def _pairs(where: Evidence, what: str) -> Finding:
    return Finding("training.pairs", "on", f"{what} reads a better and a worse answer at once", Confidence.HIGH, where)


def _reference(where: Evidence, what: str) -> Finding:
    why = f"{what} keeps a frozen copy of the model to compare with"
    return Finding("training.reference_model", "kept", why, Confidence.MEDIUM, where)
