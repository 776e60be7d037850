"""A card that a trainer shares with an engine which generates what it learns from (reinforcement learning of language models).

vLLM claims a share u of the whole card (``gpu_memory_utilization``) for the model's weights and its cache, whatever else lies
there; the documentation of vLLM, verl and TRL. So a card of size C must satisfy, all in GiB:

- u C >= E: what the engine holds at least: weights at 16 bit over its tensor parallelism, and the cache of one group of
  answers to one prompt, which are generated together (Shao et al. 2024);
- C (1 - u) >= R while it generates: R is what the trainer leaves on the card meanwhile: weights, optimizer, frozen copies
  (gradients are freed before), or next to nothing where it moves these to main memory;
- where both read the same weights W (Unsloth), these lie in u C: E holds them once, R and T are without them;
- C >= T while the trainer steps, T its own need, where the engine sleeps and gives its memory back, and C (1 - u) >= T where
  it does not.

A critic that is trained beside the actor has weights and optimizer like it, and gradients when the actor's are freed (PPO:
Schulman et al. 2017; Yao et al. 2023, DeepSpeed-Chat); a reward model is frozen: 2 bytes per parameter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm, with_terms
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.sums import added
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.shown_size import parameters
from gpu_lol_action.estimation.vram_question import GB, GIB, VramQuestion
from gpu_lol_action.estimation.vram_shape import layer_shape

GRAPHS_GIB = 1.0
"""Captured graphs, activations of a chunk of prompt, and the second context of the engine's process."""
MOST_SHARE = 0.95
_RESIDENT = frozenset(
    {"weights", "optimizer", "adapters", "reference model", "critic", "reward model", "teacher", "overhead"}
)


@record(frozen=True, slots=True)
class Engine:
    """An engine on the trainer's cards: its share of each, over how many it divides its model, and who makes room for whom.

    ``group``: answers to one prompt that are generated together; ``sleeps``: its memory is the trainer's while that steps;
    ``is_trainer_moved``: weights and optimizer wait in main memory while it generates; ``shares_weights``: both read the same weights.
    """

    share: float
    parts: int = 1
    group: int = 1
    sleeps: bool = True
    is_trainer_moved: bool = False
    shares_weights: bool = False


def engine_gib(model: ModelFacts, engine: Engine, tokens: int, shared_gib: float = 0.0) -> float:
    """Return what the engine holds at least on each of its cards; ``shared_gib``: weights that it has together with the trainer."""
    held = shared_gib * GIB / GB if engine.shares_weights else model.parameters_b * 2
    if model.has_shape:
        shape = layer_shape(model)
        held += 2 * shape.layers * shape.hidden * shape.kv_share * tokens * engine.group * 2 / GB
    return held / max(engine.parts, 1) * GB / GIB + GRAPHS_GIB


def beside_engine(breakdown: MemoryBreakdown, question: VramQuestion, engine: Engine) -> MemoryBreakdown:
    """Return the breakdown of a trainer with the room that an engine on the same card takes besides."""
    share = min(engine.share, MOST_SHARE)
    rest = 1 - share
    # Weights that both read lie in the engine's part, and are no more in the trainer's.
    shared = added(t.gib for t in breakdown.terms if t.name == "weights") if engine.shares_weights else 0.0
    least = engine_gib(question.model, engine, question.sequence_length, shared) / share
    resident = added(term.gib for term in breakdown.terms if term.name in _RESIDENT) - shared
    least = max(least, (GRAPHS_GIB if engine.is_trainer_moved else resident) / rest)

    def whole(gib: float) -> float:
        return max(gib if engine.sleeps else (gib - shared) / rest, least)

    more = whole(breakdown.expected_gib) - breakdown.expected_gib
    if more < 0.05:
        return breakdown
    basis = f"a share of {share:g} of each card{', given back while the trainer steps' if engine.sleeps else ''}"
    return replace(
        breakdown,
        terms=(*breakdown.terms, MemoryTerm("engine", round(more, 2), basis)),
        low_gib=round(whole(breakdown.low_gib), 2),
        expected_gib=round(whole(breakdown.expected_gib), 2),
        high_gib=round(whole(breakdown.high_gib), 2),
        required_gib=float(math.ceil(whole(breakdown.required_gib) - 0.05)),
    )


def with_companions(
    breakdown: MemoryBreakdown,
    question: VramQuestion,
    critic: ModelFacts | None,
    frozen: Sequence[tuple[str, ModelFacts]],
) -> MemoryBreakdown:
    """Return the breakdown with a critic that is trained as the actor is, and frozen models by their names (a reward model)."""
    own = max(question.model.parameters_b, 1e-9)
    states = added(t.gib for t in breakdown.terms if t.name in {"weights", "optimizer", "adapters"})
    weights = added(t.gib for t in breakdown.terms if t.name == "weights")
    terms = []
    if critic is not None:
        basis = f"{critic.name}, {parameters(critic.parameters_b)}, trained like the actor"
        terms.append(MemoryTerm("critic", round(states * critic.parameters_b / own, 2), basis))
    for name, model in frozen:
        basis = f"{model.name}, {parameters(model.parameters_b)}, frozen"
        terms.append(MemoryTerm(name, round(weights * model.parameters_b / own, 2), basis))
    return with_terms(breakdown, terms)
