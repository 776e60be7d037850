"""Where a run fits: over how many cards, and what is assumed so that it fits on cards that are rented at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from gpu_lol_action.analysis.training.relaxed import AGAINST, Relaxed, fewer_than
from gpu_lol_action.domain.card_sizes import ORDINARY_GIB
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.estimation.vram import Method, VramQuestion, estimate_vram, sharded

# The largest card that is rented widely; a run that needs more is divided over several.
LARGE_CARD_GIB = accelerators()["A100-80GB"].memory_gib
LARGEST_CARD_GIB = accelerators()["H200"].memory_gib
MOST_CARDS = 8
DEAR_CARDS = 2
"""So many large cards cost less than one of the largest; of as many again as those it is the other way."""
LONG_TEXT = 4096
"""Tokens to which a length is cut that was read and is not believed."""
SHORT_TEXT = 128
"""Tokens to which a length that only was assumed is cut before a batch that was read is not believed."""
COUNTS = (1, 2, 4, 8)
MACHINES = (2, 4, 8, 16, 32, 64)
"""How many machines of eight a training may be divided over: the memory of a cluster is asked for in such steps."""
ROOM = 0.95
ALL_FIELDS = frozenset({"as said"})
"""In place of the fields that somebody decided: then nothing is assumed at all."""
_BATCH, _LENGTH = "training.batch_size", "training.sequence_length"


Placed = tuple[VramQuestion, int, tuple[Relaxed, ...]]
Step = tuple[str, dict[str, Any], str]


def place(asked: VramQuestion, stated: int | None, said_fields: AbstractSet[str]) -> Placed:
    """Return the question as it is placed, the count of cards, and what was assumed besides.

    ``stated`` is the count that something says. An assumption must not ask for what nobody rents, nor for more cards.

    Only what nothing says is assumed otherwise: 16-bit numbers, then gradient checkpointing, then one sample at a time.
    """
    steps: Sequence[Step] = (
        ("training.precision", {"precision": "bf16"}, "16-bit numbers are assumed"),
        ("training.gradient_checkpointing", {"is_checkpointing": True}, "gradient checkpointing is assumed"),
        (_BATCH, {"batch_size": 1}, "one sample at a time is assumed"),
    )
    chosen: Placed = (*_placed(asked, stated), ())
    if said_fields is ALL_FIELDS:
        return chosen
    if not asked.method.trains:
        if _is_on_any_card(chosen[0]) and (stated is not None or chosen[1] == 1):
            return chosen
        return _one_at_a_time(asked, stated, chosen)
    said: tuple[Relaxed, ...] = ()
    for field, change, words in steps:
        if _is_rentable(chosen[0]) and (stated is not None or chosen[1] == 1):
            break
        if field not in said_fields and _changes(asked, change):
            asked = replace(asked, **change)
            without = "nothing says otherwise, and more or larger cards would be needed without it"
            said = (*said, Relaxed(field, f"{words}: {without}"))
            question, count = _placed(asked, stated)
            if not _is_rentable(chosen[0]) or count < chosen[1]:
                chosen = (question, count, said)
    if chosen[1] == 1 and _BATCH not in said_fields:
        chosen = _with_batch_of_adapters(chosen)
    # Divided as the run says, and not as many cards needed it.
    undivided = replace(chosen[0], sharding=asked.sharding, gpu_count=asked.gpu_count) if stated is None else chosen[0]
    few = _placed(_single(undivided, said_fields), stated)[1]
    if not _is_held(undivided, stated, few):
        fewer = _on_some_card(undivided, chosen[2], stated, few, steps, said_fields)
        return fewer if _is_on_any_card(fewer[0]) else _on_some_machines(chosen, fewer)
    return chosen if _is_on_any_card(chosen[0]) else _over_machines(chosen)


def _changes(asked: VramQuestion, change: Mapping[str, Any]) -> bool:
    """Whether a step takes memory from a run: what is so already, or is smaller, is not assumed."""
    return estimate_vram(replace(asked, **change)).required_gib < estimate_vram(asked).required_gib


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
    asked: VramQuestion,
    said: tuple[Relaxed, ...],
    stated: int | None,
    few: int,
    steps: Sequence[Step],
    said_fields: AbstractSet[str],
) -> Placed:
    """Return the question with what was read set aside, step by step, until some card holds it: nobody runs what none does."""
    short = asked
    if _LENGTH not in said_fields and _has_texts(asked):
        shorter = _shorter(asked, stated, few)
        if shorter is not None:
            return (*_placed(shorter, stated), said)  # that a length is assumed is said wherever none was found
        short = replace(asked, sequence_length=min(asked.sequence_length, SHORT_TEXT))
    if _BATCH in said_fields and (smaller := _smaller_batch(short, stated, few)) is not None:
        fewer = f"a batch of {smaller.batch_size} is assumed {AGAINST}: {_why_not(short, stated)}"
        return (*_placed(smaller, stated), (*said, Relaxed(_BATCH, fewer, is_against=True)))
    length: Step = (_LENGTH, {"sequence_length": LONG_TEXT}, f"{LONG_TEXT} tokens are assumed")
    for field, change, words in (*steps, length):
        if field in said_fields and _changes(asked, change):
            asked = replace(asked, **change)
            told = f"{words} {AGAINST}: no card holds the run otherwise"
            said = (*said, Relaxed(field, told, is_against=True))
            if _is_held(asked, stated, few):
                return (*_placed(asked, stated), said)
    # What is left to ask for is at least what several machines may hold.
    return *_placed(asked, stated), said


def _why_not(asked: VramQuestion, stated: int | None) -> str:
    if stated is not None:
        return "no card that is widely rented holds the run otherwise"
    is_on_many = _is_on_any_card(_placed(asked, stated)[0])
    return "more cards would be needed for it alone" if is_on_many else "no card holds the run otherwise"


def _on_some_machines(chosen: Placed, fewer: Placed) -> Placed:
    """Return what not even a single sample of fits one machine (``fewer``) over the machines that hold that, with as many samples of what was read as they hold.

    That a sample does not fit is no reason to doubt how many were written.
    """
    spread = _over_machines(fewer)
    question, count, said = chosen
    if spread[0].gpu_count == fewer[0].gpu_count:
        return chosen
    for batch in (question.batch_size, *fewer_than(question.batch_size, 1)):
        held = sharded(replace(question, batch_size=batch), spread[0].gpu_count)
        if need_of(estimate_vram(held)) <= LARGE_CARD_GIB:
            words = f"a batch of {batch} is assumed {AGAINST}: more machines would be needed for it alone"
            told = () if batch == question.batch_size else (Relaxed(_BATCH, words, is_against=True),)
            return held, count, (*said, *told, *spread[2][-1:])
    return spread


def _over_machines(chosen: Placed) -> Placed:
    """Return what no machine of eight holds divided over the fewest that do; as it was where a count of its own says otherwise."""
    question, count, said = chosen
    if count != MOST_CARDS or question.gpu_count != count:
        return chosen
    for machines in MACHINES:
        spread = sharded(question, count * machines)
        if need_of(estimate_vram(spread)) <= LARGE_CARD_GIB:
            words = f"{machines} machines of {count} cards are assumed: fewer do not hold it"
            return spread, count, (*said, Relaxed("hardware.num_nodes", words))
    return chosen


def _one_at_a_time(asked: VramQuestion, stated: int | None, chosen: Placed) -> Placed:
    """Return the question of an inference with the largest batch that as many cards hold as a single sample takes.

    As it is where that does not help. Where no card holds what was read and there are no texts, a single sample: what makes pictures or sound has batches of its own at its edge: of windows, of frames that are prepared.
    """
    if asked.batch_size == 1:
        return chosen
    single, least = _placed(replace(asked, batch_size=1), stated)
    is_held = _is_on_any_card(chosen[0])
    if not _is_on_any_card(single) or (is_held and least >= chosen[1]):
        return chosen
    otherwise = "a larger card or more of them would be needed for it alone" if is_held else "no card holds it"
    for batch in fewer_than(asked.batch_size, 2) if is_held or _has_texts(asked) else ():
        question, count = _placed(replace(asked, batch_size=batch), stated)
        if count <= least and (_is_rentable(question) if stated is not None else _is_on_any_card(question)):
            words = f"a batch of {batch} is assumed {AGAINST}: {otherwise}"
            return question, count, (Relaxed(_BATCH, words, is_against=True),)
    words = f"one sample at a time is assumed {AGAINST}: {otherwise}"
    return single, least, (Relaxed(_BATCH, words, is_against=True),)


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
    return smaller, count, (*said, Relaxed(_BATCH, words))


def _smaller_batch(asked: VramQuestion, stated: int | None, few: int) -> VramQuestion | None:
    """Return the question with the largest batch that a machine holds, of so many cards one of those that are widely rented; None where none does with two."""
    for batch in fewer_than(asked.batch_size, 2):
        smaller = replace(asked, batch_size=batch)
        if _is_rentable(_placed(smaller, stated)[0]) if stated is not None else _is_held(smaller, stated, few):
            return smaller
    return None


def _has_texts(asked: VramQuestion) -> bool:
    return asked.model.has_shape and asked.model.kind.startswith(("llm", "vlm"))


def _single(asked: VramQuestion, said_fields: AbstractSet[str]) -> VramQuestion:
    """Return the least of a run that somebody may mean: one sample, and of texts whose length nothing says a short one."""
    is_open = _has_texts(asked) and _LENGTH not in said_fields
    length = min(asked.sequence_length, SHORT_TEXT) if is_open else asked.sequence_length
    return replace(asked, batch_size=1, sequence_length=length)


def _shorter(asked: VramQuestion, stated: int | None, few: int) -> VramQuestion | None:
    """Return the question with texts whose length nothing says as long as a machine holds them; None where none does."""
    texts = (replace(asked, sequence_length=length) for length in fewer_than(asked.sequence_length, SHORT_TEXT))
    return next((shorter for shorter in texts if _is_held(shorter, stated, few)), None)


def _is_held(asked: VramQuestion, stated: int | None, few: int) -> bool:
    """Whether some machine holds a run: for its samples no more of the largest cards are taken than one sample at a time would need, or twice as many large ones."""
    question, count = _placed(asked, stated)
    if not _is_on_any_card(question):
        return False
    if stated is not None or count == 1:
        return True
    return count <= (DEAR_CARDS * few if _is_rentable(question) else few)


def _is_on_any_card(question: VramQuestion) -> bool:
    return need_of(estimate_vram(question)) <= LARGEST_CARD_GIB


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
    spreads = [
        sharded(question, count) if count > 1 else replace(question, gpu_count=1) for count in COUNTS if count >= least
    ]
    large = next((each for each in spreads if _is_rentable(each)), None)
    if large is not None and large.gpu_count <= DEAR_CARDS * spreads[0].gpu_count:
        return large, large.gpu_count
    # What each card keeps of its own samples is not divided: it takes a larger card sooner than more of them.
    largest = next((each for each in spreads if _is_on_any_card(each)), None)
    if largest is not None and (large is None or large.gpu_count > DEAR_CARDS * largest.gpu_count):
        return largest, largest.gpu_count
    chosen = large or sharded(question, MOST_CARDS)
    return chosen, chosen.gpu_count
