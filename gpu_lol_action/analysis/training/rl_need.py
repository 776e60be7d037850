"""Findings on an engine and models beside the trained one to the memory that the cards of the run must offer."""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.analysis.training import rl_engine
from gpu_lol_action.analysis.training.placement import LARGE_CARD_GIB
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm
from gpu_lol_action.estimation.engine_beside import Engine, beside_engine, with_companions
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import VramQuestion

_FROZEN = {rl_engine.REWARD: "reward model", rl_engine.TEACHER: "teacher"}


def with_engine(breakdown: MemoryBreakdown, question: VramQuestion, findings: tuple[Finding, ...]) -> MemoryBreakdown:
    """Return the breakdown with critic, reward model and the engine's room; as it is for every other run."""
    if not question.method.trains:
        return breakdown
    critic = _model(value_of_best(findings, rl_engine.CRITIC), question.model)
    frozen = ((name, _model(value_of_best(findings, field), question.model)) for field, name in _FROZEN.items())
    known = [(name, model) for name, model in frozen if model is not None]
    breakdown = with_companions(breakdown, question, critic, known)
    share = value_of_best(findings, rl_engine.SHARE)
    if value_of_best(findings, rl_engine.FIELD) != "colocated" or share is None:
        return breakdown
    engine = Engine(
        float(share),
        parts=int(value_of_best(findings, rl_engine.PARTS) or 1),
        group=int(value_of_best(findings, rl_engine.GROUP) or 1),
        sleeps=value_of_best(findings, rl_engine.SLEEPS) != "no",
        shares_weights=value_of_best(findings, rl_engine.WEIGHTS) == "shared",
        is_trainer_moved=value_of_best(findings, rl_engine.MOVED) == "yes",
    )
    shared = beside_engine(breakdown, question, engine)
    most = float(math.floor(LARGE_CARD_GIB))
    if shared.required_gib <= most or breakdown.required_gib > most:
        return shared if breakdown.required_gib <= most else breakdown
    # A share is chosen for a card that exists: where it cannot be, what was read of who makes room for whom is not all.
    return replace(shared, required_gib=most, low_gib=min(shared.low_gib, most), expected_gib=min(shared.expected_gib, most),
                   high_gib=most, terms=_cut(shared.terms, min(shared.expected_gib, most) - breakdown.expected_gib))  # fmt: skip


def _cut(terms: tuple[MemoryTerm, ...], gib: float) -> tuple[MemoryTerm, ...]:
    """Return the terms with the engine's of so many GiB."""
    return tuple(replace(term, gib=round(gib, 2)) if term.name == "engine" else term for term in terms)


def _model(name: str | None, actor: ModelFacts) -> ModelFacts | None:
    """Return a model beside the actor: the actor's own where its name tells no size, as most are started from it."""
    if name is None:
        return None
    return actor if name == "same" else find_model(name) or actor
