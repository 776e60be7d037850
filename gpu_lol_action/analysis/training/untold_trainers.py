"""Trainers of diffusion models that leave to a command, which is not known, what decides how much they need.

A program that demands the model which it trains is started by nobody with its defaults alone. The batch that it starts with (4, 16)
is then as little a run's as the model is: commands that are published for such programs mostly say one sample, and gather gradients
instead. They also say 16-bit numbers and gradient checkpointing where the run would not fit a card that many people own.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.training.placement import ALL_FIELDS
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.estimation.vram import Method, VramQuestion, estimate_vram

OWNED_CARD_GIB = accelerators()["RTX4090"].memory_gib
_SAVINGS = (
    ("training.precision", {"precision": "bf16"}, "16-bit numbers were assumed"),
    ("training.gradient_checkpointing", {"is_checkpointing": True}, "gradient checkpointing was assumed"),
)
Told = tuple[VramQuestion, tuple[str, ...]]


def as_told(question: VramQuestion, findings: tuple[Finding, ...], said_fields: AbstractSet[str]) -> Told:
    """Return the question as such trainers are mostly run, and what was assumed so; any other run's as it is."""
    takes_a_model = question.method.trains and question.method is not Method.PRETRAIN
    if said_fields is ALL_FIELDS or not (takes_a_model and question.model.kind.startswith("diffusion")):
        return question, ()
    return _by_command(question, said_fields) if _is_untold(findings) else (question, ())


def _by_command(question: VramQuestion, said_fields: AbstractSet[str]) -> Told:
    """Return the question with one sample at a time, and with what saves memory where a card of one's own needs it."""
    said: tuple[str, ...] = ()
    if question.batch_size > 1:
        said = (
            f"one sample at a time was assumed: {question.batch_size} are what the program starts with, not a command",
        )
        question = replace(question, batch_size=1)
    for field, change, words in _SAVINGS:
        if field not in said_fields and estimate_vram(question).required_gib > OWNED_CARD_GIB:
            question = replace(question, **change)
            said = (
                *said,
                f"{words}: the program leaves it to its command, and needs a card of a data center without it",
            )
    return question, said


def _is_untold(findings: tuple[Finding, ...]) -> bool:
    """Whether a program is what is started, not a command, and neither names its model; its batch is then its own default."""
    named, batch, start = (best(findings, field) for field in ("model.id", "training.batch_size", "entry_point"))
    is_command = start is not None and not start.evidence.path.endswith(".py")
    is_named = named is not None and named.confidence is not Confidence.LOW
    return batch is not None and batch.evidence.path.endswith(".py") and not (is_command or is_named)
