"""The places that the sum of the memory terms comes from: of each term the finding that says most of it, else one that says something.

A term of which nothing in the code says anything (an optimizer that is assumed, the framework's own share) has no place.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm

_OF_MODEL = (
    "model.id",
    "model.layers",
    "model.family",
    "media.network",
    "media.own_network",
    "documented.parameters_b",
)
_OF_INPUT = ("training.sequence_length", "training.batch_size", "media.image_size", "media.frames", "media.own_at_work")
_OF_TERM = {
    "weights": _OF_MODEL,
    "frozen parts": _OF_MODEL,
    "gradients": ("training.method", *_OF_MODEL),
    "reference model": ("training.reference_model",),
    "optimizer": ("training.optimizer",),
    "adapters": ("training.lora_rank", "training.method"),
    "activations": _OF_INPUT,
    "logits": ("model.id", "model.vocabulary", *_OF_MODEL),
    "KV cache": ("training.sequence_length",),
}


def place_of_model(findings: tuple[Finding, ...]) -> Evidence:
    """Return where the sized model is named, built or told of; else what is run, or the whole checkout."""
    return _first(findings, (*_OF_MODEL, "entry_point")) or Evidence(".")


def with_places(breakdown: MemoryBreakdown, findings: tuple[Finding, ...]) -> MemoryBreakdown:
    """Return the breakdown with the place behind each term."""
    terms = (
        MemoryTerm(term.name, term.gib, term.basis, _first(findings, _OF_TERM.get(term.name, ())))
        for term in breakdown.terms
    )
    return replace(breakdown, terms=tuple(terms))


def _first(findings: tuple[Finding, ...], fields: tuple[str, ...]) -> Evidence | None:
    found = (best(findings, field) for field in fields)
    return next((finding.evidence for finding in found if finding is not None), None)
