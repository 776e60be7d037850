"""What a language model's answer may change, and within which bounds.

The model may have been talked into its answer by the very code that it read. So the answer is data: each value is held
against tables and against what the weights alone need, images are never taken from it, of packages only those within the bounds of
``llm_packages``, and one value that is out of bounds drops the whole answer.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_lol_action.analysis.answer.differences import complete, file_of
from gpu_lol_action.analysis.answer.llm_advice import Advice, Refused, one_line
from gpu_lol_action.analysis.answer.llm_packages import NO_PACKAGES, PackageAdvice
from gpu_lol_action.domain.analysis import Analysis, Override
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware
from gpu_lol_action.domain.sums import added

FLOOR_GB = 8
"""No card that is rented has less; a smaller answer is a mistake or a trick."""

CPU_GIB = 1.0
"""Weights that a processor runs well enough: smaller models are no reason to rent a card."""

MOST_CARDS = 8
MAX_MODEL_CHARACTERS = 60
MAX_COMMAND_CHARACTERS = 56
"""As many as leave the other columns of a comment their width."""
NOWHERE = Evidence("")


def hints_of(advice: Advice, model: str) -> tuple[Finding, ...]:
    """Return the findings that stand for an answer while the code is assembled anew: they outweigh what was detected."""
    values = (
        ("workload", advice.workload.value if advice.workload else None),
        ("hardware.gpu_count", advice.gpu_count or None),
    )
    return tuple(
        Finding(field, str(value), claim(model, advice), Confidence.HIGH, NOWHERE)
        for field, value in values
        if value is not None
    )


def claim(model: str, advice: Advice) -> str:
    """Return the sentence that shows a reason as what it is: somebody's words, of which nothing was checked."""
    said = f": “{advice.reason}”" if advice.reason else ", without a reason"
    return f"the language model `{one_line(model, MAX_MODEL_CHARACTERS)}` claims so{said}"


def apply_advice(
    before: Analysis,
    after: Analysis,
    advice: Advice,
    model: str,
    spec_text: str | None,
    packages: PackageAdvice = NO_PACKAGES,
) -> Analysis | Refused:
    """Return the analysis with an answer applied, or why the answer is not taken.

    ``before`` is what the code alone says; ``after`` is the same assembled for the run that the answer names and with
    ``hints_of`` it and the hints of ``packages``, so that memory, image and disk follow from the run, workload, count and packages
    that the model wants.
    """
    problem = _problem(before, after, advice)
    if problem is not None:
        return Refused(problem)
    proposed = after.proposed
    if proposed.needs_gpu:
        vram = advice.vram_gb or proposed.hardware.vram_required_gb
        needed = proposed.hardware.needed_gib if advice.vram_gb is None else None
        hardware = replace(
            proposed.hardware,
            vram_required_gb=vram,
            gpu_type=advice.gpu_type,
            needed_gib=needed,
            num_nodes=_machines(before, after, advice),
        )
        proposed = replace(proposed, hardware=hardware)
    changes = (*_run_changes(before, after), *_changes(before.proposed, proposed), *packages.changes())
    if not changes:
        return replace(before, not_understood=(*before.not_understood, *packages.gaps()))
    sentence = claim(model, advice)
    told = tuple(Finding(key, now, f"{sentence}; the code alone says {was}", Confidence.LOW, NOWHERE)
                 for key, was, now in changes)  # fmt: skip
    file = file_of(spec_text, before.spec_place)
    left_out = hints_of(advice, model)
    if _is_of_unknown_run(before, after, advice):
        # What starts the code's own run does not start the one that is meant.
        left_out += tuple(finding for finding in after.findings if finding.field == "entry_point")
        after = replace(after, first=None)
    return replace(
        after,
        proposed=proposed,
        spec=complete(file, proposed) if file is not None else proposed,
        findings=(*told, *(finding for finding in after.findings if finding not in left_out)),
        # A claim is no reason to doubt the repository's own file: what disagrees with it is what the code says.
        differences=before.differences,
        not_understood=(*after.not_understood, *packages.gaps()),
        override=Override(one_line(model, MAX_MODEL_CHARACTERS), advice.reason, changes),
    )


def _problem(before: Analysis, after: Analysis, advice: Advice) -> str | None:
    """Return the bound that an answer breaks."""
    known = {profile.name for profile in (*((before.first,) if before.first else ()), *before.profiles)}
    if advice.run is not None and advice.run not in known:
        return "its `run` is none of those that were found"
    if not after.proposed.needs_gpu:
        if _weights_gib(before) > CPU_GIB:
            return "it says that no GPU is needed, and the code loads a model onto one"
        return None
    card = accelerators()[advice.gpu_type] if advice.gpu_type else None
    vram = after.proposed.hardware.vram_required_gb if advice.vram_gb is None else advice.vram_gb
    vram = FLOOR_GB if vram is None else vram
    count = after.proposed.hardware.gpu_count
    weights = _least_weights_gib(after) if advice.run is None else _weights_gib(after)
    machines = after.proposed.hardware.num_nodes
    if advice.num_nodes is not None and not 1 <= advice.num_nodes <= machines:
        return f"it asks for {advice.num_nodes} machines, and the code for {machines}"
    if advice.gpu_count is not None and advice.gpu_count < 1:
        return "it says that no GPU is needed for a workload that needs one"
    if vram < FLOOR_GB and advice.vram_gb is not None:
        return f"it asks for {vram} GB, and {FLOOR_GB} GB is the least"
    if vram < weights:
        return f"it asks for {vram} GB, and the weights alone need {math.ceil(weights)} GB"
    if card is None and vram > _largest_gb():
        return f"it asks for {vram} GB, and no card has more than {_largest_gb():g} GB"
    if card is not None and card.marketed_gb < vram:
        return f"it asks for {vram} GB on a {card.name}, which has {card.marketed_gb:g} GB"
    most = card.max_per_node if card is not None else MOST_CARDS
    if advice.gpu_count is not None and count > most:
        return f"it asks for {count} GPUs, and one machine has {most}"
    return None


def _machines(before: Analysis, after: Analysis, advice: Advice) -> int:
    """Return the number of machines: what the code says of the run, or less; one for a run that the code does not know."""
    if advice.num_nodes is not None:
        return advice.num_nodes
    return 1 if _is_of_unknown_run(before, after, advice) else after.proposed.hardware.num_nodes


def _is_of_unknown_run(before: Analysis, after: Analysis, advice: Advice) -> bool:
    """Whether the answer is of a run that was not found: another workload than the code's, and none that has it is named."""
    return advice.run is None and after.proposed.meta.workload_type is not before.proposed.meta.workload_type


def _run_changes(before: Analysis, after: Analysis) -> tuple[tuple[str, str, str], ...]:
    """Return what is started before and now: the commands, or the runs' names where commands begin alike."""
    if before.first is None or after.first is None or before.first.name == after.first.name:
        return ()
    was, now = (one_line(run.command, MAX_COMMAND_CHARACTERS) for run in (before.first, after.first))
    return (("run", was, now) if was != now else ("run", before.first.name, after.first.name),)


def _weights_gib(analysis: Analysis) -> float:
    """Return what the weights alone take of each card in the run that is provisioned for."""
    return _weights_of(analysis.breakdown)


def _least_weights_gib(analysis: Analysis) -> float:
    """Return what the weights alone take of each card at least: a model may mean any of the runs that were found."""
    others = (_weights_of(profile.breakdown) for profile in analysis.profiles)
    return min((_weights_gib(analysis), *(weights for weights in others if weights)))


def _weights_of(breakdown: MemoryBreakdown | None) -> float:
    return added(term.gib for term in (breakdown.terms if breakdown else ()) if term.name == "weights")


def _largest_gb() -> float:
    return max(card.marketed_gb for card in accelerators().values() if card.is_nvidia)


def _changes(before: EnvironmentSpec, after: EnvironmentSpec) -> tuple[tuple[str, str, str], ...]:
    """Return key, what the code alone says, and what the answer made of it."""
    pairs = (
        ("meta.workload_type", before.meta.workload_type.value, after.meta.workload_type.value),
        ("hardware.vram_required_gb", _gb(before.hardware), _gb(after.hardware)),
        ("hardware.gpu_count", str(before.hardware.gpu_count), str(after.hardware.gpu_count)),
        ("hardware.num_nodes", str(before.hardware.num_nodes), str(after.hardware.num_nodes)),
        ("hardware.gpu_type", before.hardware.gpu_type or "any", after.hardware.gpu_type or "any"),
    )
    return tuple((key, was, now) for key, was, now in pairs if was != now)


def _gb(hardware: Hardware) -> str:
    return f"{hardware.vram_required_gb} GB" if hardware.vram_required_gb else "none"
