"""Where a run fits: over how many cards, and what is assumed so that it fits on cards that are rented at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from gpu_lol_action.domain.card_sizes import ORDINARY_GIB
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.sums import added
from gpu_lol_action.estimation.vram import Method, VramQuestion, estimate_vram, least_cards, sharded

# The largest card that is rented widely; a run that needs more is divided over several.
LARGE_CARD_GIB = accelerators()["A100-80GB"].memory_gib
LARGEST_CARD_GIB = accelerators()["H200"].memory_gib
MOST_CARDS = 8
COUNTS = (1, 2, 4, 8)
MACHINES = (2, 4, 8, 16, 32, 64)
"""How many machines of eight a training may be divided over: the memory of a cluster is asked for in such steps."""
ROOM = 0.95
_OF_EACH_CARD = frozenset({"activations", "logits"})
"""What a card keeps of its own share of the batch, over however many cards the model is divided."""
ALL_FIELDS = frozenset({"as said"})
"""In place of the fields that somebody decided: then nothing is assumed at all."""
Placed = tuple[VramQuestion, int, tuple[str, ...]]
Step = tuple[str, dict[str, Any], str]


def place(asked: VramQuestion, stated: int | None, said_fields: AbstractSet[str]) -> Placed:
    """Return the question as it is placed, the count of cards, and what was assumed besides.

    ``stated`` is the count that something says. An assumption must not ask for what nobody rents, nor for more cards.

    Only what nothing says is assumed otherwise: 16-bit numbers, then gradient checkpointing, then one sample at a time.
    """
    steps: Sequence[Step] = (
        ("training.precision", {"precision": "bf16"}, "16-bit numbers are assumed"),
        ("training.gradient_checkpointing", {"is_checkpointing": True}, "gradient checkpointing is assumed"),
        ("training.batch_size", {"batch_size": 1}, "one sample at a time is assumed"),
    )
    chosen: Placed = (*_placed(asked, stated), ())
    if said_fields is ALL_FIELDS:
        return chosen
    if not asked.method.trains:
        if _is_on_any_card(chosen[0]) and (stated is not None or chosen[1] == 1):
            return chosen
        return _one_at_a_time(asked, stated, chosen)
    said: tuple[str, ...] = ()
    for field, change, words in steps:
        if _is_rentable(chosen[0]) and (stated is not None or chosen[1] == 1):
            break
        if field not in said_fields and _changes(asked, change):
            asked = replace(asked, **change)
            said = (*said, f"{words}: nothing says otherwise, and more or larger cards would be needed without it")
            question, count = _placed(asked, stated)
            if not _is_rentable(chosen[0]) or count < chosen[1]:
                chosen = (question, count, said)
    if chosen[1] == 1 and "training.batch_size" not in said_fields:
        chosen = _with_batch_of_adapters(chosen)
    if not _is_held(chosen[0], stated):
        chosen = _on_some_card(chosen, stated, asked, steps, said_fields)
    return chosen if _is_on_any_card(chosen[0]) else _over_machines(chosen)


def _changes(asked: VramQuestion, change: Mapping[str, Any]) -> bool:
    """Whether a step makes anything other than it is: what is so already is not assumed."""
    return any(getattr(asked, name) != value for name, value in change.items())


def machines_of(question: VramQuestion, count: int) -> int:
    """Return the machines that a placed question takes, of so many cards each."""
    return question.gpu_count // count if question.gpu_count >= 2 * MOST_CARDS and count == MOST_CARDS else 1


def over_stages(question: VramQuestion, count: int, machines: int) -> VramQuestion:
    """Return the question of a model that several machines hold together: each serves a stage of its layers, or trains a shard of its states.

    Any other as it is.
    """
    if machines > 1 and question.method.trains and _is_by_data(question) and question.gpu_count == count:
        return replace(question, gpu_count=count * machines)
    is_one_model = question.method is Method.INFERENCE and question.gpu_count == count > 1 and not question.is_copied
    return sharded(question, count * machines) if machines > 1 and is_one_model else question


def _is_by_data(question: VramQuestion) -> bool:
    """Whether states are divided among all that train (ZeRO, FSDP), and not layers or matrices among a few."""
    return question.sharding.divides_state and not question.sharding.divides_activations


def share_batch(asked: VramQuestion, stated: int | None, machines: int = 1) -> tuple[VramQuestion, int | None]:
    """Return the question with its share of a batch that is for all cards of all machines together, over the count per machine that is stated.

    Where nothing says one, a card that holds all of it has it; a batch that none holds was chosen on a whole machine.
    """
    for count in (stated,) if stated is not None else (1, MOST_CARDS):
        shared = replace(asked, batch_size=max(1, -(-asked.batch_size // (count * machines))), gpu_count=count)
        if count in {stated, MOST_CARDS} or _is_rentable(shared):
            return shared, count if stated is not None or count > 1 else None
    return asked, stated


def need_of(breakdown: MemoryBreakdown) -> float:
    """Return what is asked of a card: not more than the large one that everybody rents where the sum itself leaves room on it.

    Batches are chosen so that they fit a card that exists; between two sizes of card the spread of an estimate says little.
    """
    fits = breakdown.expected_gib <= ROOM * LARGE_CARD_GIB
    return min(breakdown.required_gib, float(math.floor(LARGE_CARD_GIB))) if fits else breakdown.required_gib


def _on_some_card(
    chosen: Placed, stated: int | None, written: VramQuestion, steps: Sequence[Step], said_fields: AbstractSet[str]
) -> Placed:
    """Return the question with what was read set aside, step by step, until some card holds it: nobody runs what none does."""
    asked, _, said = chosen
    # Divided as the run says, and not as many cards needed it.
    asked = replace(asked, sharding=written.sharding, gpu_count=written.gpu_count) if stated is None else asked
    length: Step = ("training.sequence_length", {"sequence_length": 4096}, "4096 tokens are assumed")
    for field, change, words in (*steps, length):
        if field in said_fields and _changes(asked, change):
            if field == "training.batch_size" and (smaller := _smaller_batch(asked, stated)) is not None:
                is_on_none = stated is None and not _is_on_any_card(chosen[0])
                otherwise = "no card holds" if is_on_none else "no card that is widely rented holds"
                said = (
                    *said,
                    f"a batch of {smaller.batch_size} is assumed against what was read: {otherwise} the run otherwise",
                )
                return (*_placed(smaller, stated), said)
            asked = replace(asked, **change)
            said = (*said, f"{words} against what was read: no card holds the run otherwise")
            question, count = _placed(asked, stated)
            if _is_held(question, stated):
                return question, count, said
    # What is left to ask for is at least what several machines may hold.
    return *_placed(asked, stated), said


def _over_machines(chosen: Placed) -> Placed:
    """Return what no machine of eight holds divided over the fewest that do; as it was where a count of its own says otherwise."""
    question, count, said = chosen
    if count != MOST_CARDS or question.gpu_count != count:
        return chosen
    for machines in MACHINES:
        spread = sharded(question, count * machines)
        if need_of(estimate_vram(spread)) <= LARGE_CARD_GIB:
            return spread, count, (*said, f"{machines} machines of {count} cards are assumed: fewer do not hold it")
    return chosen


def _one_at_a_time(asked: VramQuestion, stated: int | None, chosen: Placed) -> Placed:
    """Return the question of an inference with the largest batch that one card holds, or one sample where its batch was read and no card holds it.

    As it is where that does not help. What makes pictures or sound has batches of its own at its edge: of windows, of frames that are prepared.
    """
    smaller = asked
    while _is_on_any_card(chosen[0]) and smaller.batch_size > 1:
        smaller = replace(smaller, batch_size=smaller.batch_size // 2)
        question, count = _placed(smaller, stated)
        if count == 1:
            words = f"a batch of {smaller.batch_size} is assumed against what was read: several cards would be needed for it alone"
            return question, count, (words,)
    question, count = _placed(replace(asked, batch_size=1), stated)
    if asked.batch_size == 1 or not _is_on_any_card(question) or count >= chosen[1] > 1:
        return chosen
    otherwise = "more cards would be needed" if _is_on_any_card(chosen[0]) else "no card holds the run otherwise"
    return question, count, (f"one sample at a time is assumed against what was read: {otherwise}",)


def _with_batch_of_adapters(chosen: Placed) -> Placed:
    """Return the question of adapters with the largest batch that an ordinary card holds; as it is where none does, or for anything else.

    Who trains adapters alone chooses a batch that a card of 24 GB holds.
    """
    question, count, said = chosen
    if not question.method.has_adapters or question.model.kind.startswith("diffusion"):
        return chosen
    smaller = question
    while smaller.batch_size > 1 and estimate_vram(smaller).required_gib > ORDINARY_GIB:
        smaller = replace(smaller, batch_size=smaller.batch_size // 2)
    if smaller is question or estimate_vram(smaller).required_gib > ORDINARY_GIB:
        return chosen
    words = f"a batch of {smaller.batch_size} is assumed: nothing says otherwise, and adapters are trained on a card of 24 GB where one holds them"
    return smaller, count, (*said, words)


def _smaller_batch(asked: VramQuestion, stated: int | None) -> VramQuestion | None:
    """Return the question with its batch halved until a machine holds it, of so many cards one of those that are widely rented; None where none does with two."""
    smaller = asked
    while smaller.batch_size > 2:
        smaller = replace(smaller, batch_size=(smaller.batch_size + 1) // 2)
        question, _ = _placed(smaller, stated)
        if _is_rentable(question) if stated is not None else _is_held(question, stated):
            return smaller
    return None


def _is_held(question: VramQuestion, stated: int | None) -> bool:
    """Whether some machine holds a placed question: more cards than one that nobody named help only what they divide."""
    if not _is_on_any_card(question):
        return False
    is_spread = stated is None and question.gpu_count > 1 and not _is_rentable(question)
    own = added(term.gib for term in estimate_vram(question).terms if term.name in _OF_EACH_CARD) if is_spread else 0.0
    return own <= LARGE_CARD_GIB


def _is_on_any_card(question: VramQuestion) -> bool:
    return estimate_vram(question).required_gib <= LARGEST_CARD_GIB


def _is_rentable(question: VramQuestion) -> bool:
    return need_of(estimate_vram(question)) <= LARGE_CARD_GIB


def _placed(question: VramQuestion, stated: int | None) -> tuple[VramQuestion, int]:
    """Return the question for the count that is stated, or for the fewest large cards on which the run fits."""
    if stated is not None:
        spread = replace(question, gpu_count=stated)
        if need_of(estimate_vram(spread)) > LARGE_CARD_GIB and stated > 1:
            spread = sharded(question, stated)
        if question.method is Method.INFERENCE and stated > 1 and not question.is_copied:
            spread = sharded(question, stated)
        return spread, stated
    least = question.gpu_count if question.sharding.divides_weights else 1  # what divides its model takes several
    for several in (number for number in COUNTS if 1 < least <= number):
        if need_of(estimate_vram(sharded(question, several))) <= LARGE_CARD_GIB:
            return sharded(question, several), several
    question = replace(question, gpu_count=1)
    if need_of(estimate_vram(question)) <= LARGE_CARD_GIB:
        return question, 1
    count = least_cards(question, LARGE_CARD_GIB)
    if count is None:
        # Activations and logits are on every card: what dividing does not help runs on one larger card, if on any.
        # What divides its model anyway takes no fewer cards for that.
        fewest = next((number for number in COUNTS if number >= least), MOST_CARDS)
        larger = sharded(question, fewest) if fewest > 1 else question
        count = fewest if _is_on_any_card(larger) else MOST_CARDS
    return (sharded(question, count) if count > 1 else question), count
