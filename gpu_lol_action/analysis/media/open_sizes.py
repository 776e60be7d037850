"""What a network keeps where only the data would tell how long or large a sample is: then the sum is a bound.

A length or resolution that nothing says is followed at a usual one. Sums that stay small do so at any size of that order; a large
one says more of the assumption than of the run, so what is usually asked for where nothing is known counts more than it.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_lol_action.analysis.files import tree_size
from gpu_lol_action.analysis.formats.surest import best, value_of_best
from gpu_lol_action.analysis.media.question import DEFAULT_POSITIONS, LONGEST_SOUND, OWN_POSITIONS, PADDED_POSITIONS
from gpu_lol_action.analysis.models import encoder_loads
from gpu_lol_action.analysis.runs import layouts_alone
from gpu_lol_action.analysis.stated.ordinary_cards import FEW_SAMPLES
from gpu_lol_action.analysis.stated.reconcile import WEIGHT_OF_NAMED_CARD
from gpu_lol_action.domain.card_sizes import ORDINARY_GIB
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.media import DEFAULT_SIZE, OWN
from gpu_lol_action.estimation.media_facts import Network, find_network
from gpu_lol_action.estimation.vram import VramQuestion, estimate_vram

WEIGHT_OF_BOUND = WEIGHT_OF_NAMED_CARD
"""Of the sum at a usual size beside what is asked for where nothing is known: that of a card that is only named."""
MOST_BELIEVED = 160
"""GiB over which the samples of a network of one's own were misread: its authors' batch fits on a card, of 80 with 16-bit numbers."""

# Nothing recognized: what a small model of one's own needs, and what the smallest rented card (16 GB) offers with room.
DEFAULT_GIB = 12
# A project's own model, where it has more than a lesson's few programs: all of the smallest rented card. Of 76 such answers readers
# held 12 GB for too small in 33 and 16 in 18, none for too much; of twelve of known repositories two held either for too much.
PROJECT_GIB = 15
# Of ten programs or more: what any card of 24 GB offers, which costs an eighth more than one of 16 (the bundled prices). Of 84 answers
# of 16 GB without documents ten were too small and become right, three become too much.
LARGE_PROJECT = 10
# Adapters are there for models that are too large to train whole: 7 B parameters at 16 bit, what they keep and their adapters' states.
ADAPTED_GIB = 20
# What is divided over cards does not fit on one: 7 B parameters with all their states, over four cards.
DIVIDED_GIB = 40
# Handwritten digits (28 pixels a side) and pictures of CIFAR's size: what their networks keep is small, whatever they are.
SMALL_PICTURES = ((28, 6), (32, 8))
# Recognizers of speech of 20 to 150 million weights, as their recipes fill cards: 700 to 1000 seconds at 16 bit on 32 GB, 1400 on 80
# GB with two copies of each sound; 300 seconds at 32 bit on 32 GB.
MOST_ASSUMED_GIB = 44
STATES_GIB, GIB_PER_SECOND = 3, {True: 0.025, False: 0.07}

# A batch of so many tokens is as large whatever its sentences' lengths are.
# Transformers on patches are made for one size, which their names say; EfficientNets for one each.
_SIZED = regex(r"[_-]\d{3}$")
_TOLD = ("training.sequence_length", "media.audio_seconds", "training.card_tokens")


@record(frozen=True, slots=True)
class Bound:
    """A question whose samples are of an assumed size: ``gib`` of that size is the most that is expected, ``gap`` says so."""

    question: VramQuestion
    gib: float = 0.0
    gap: str = ""


def bounded(
    question: VramQuestion, findings: tuple[Finding, ...], usual_gib: float, *, is_divided: bool = True
) -> Bound:
    """Return the question with samples as small as what is asked for, between the sum and ``usual_gib``, leaves room for.

    The question as it is where a size is said, or where the sum is not over what is asked for without knowing anything. A sum
    that no card holds bounds likewise, unless its batch is still to be divided over cards (``is_divided``).
    """
    missing = _missing(question, findings)
    trains = is_divided and question.model.kind == OWN and question.method.trains
    most = estimate_vram(question).required_gib if missing or trains else 0.0
    if not missing and most > MOST_BELIEVED and question.batch_size <= FEW_SAMPLES:
        missing = "what was followed of its network fits on no card, as it does for its authors"
    if not missing or most <= usual_gib:
        return Bound(question)
    least = estimate_vram(_with_share(question, 0.0)).required_gib
    wanted = max(least, usual_gib ** (1 - WEIGHT_OF_BOUND) * most**WEIGHT_OF_BOUND)
    smaller = _with_share(question, (wanted - least) / max(most - least, 1.0))
    gap = f"{missing}: {most:.0f} GiB are an upper bound, {math.ceil(wanted)} GiB were taken"
    return Bound(smaller, most, gap)


def _with_share(question: VramQuestion, share: float) -> VramQuestion:
    """Return the question with samples of a share of their assumed size."""
    if (network := _of_pictures(question)) is not None:
        side = max(share, 0.0) ** 0.5  # as many pixels
        height, width = round(network.height * side), round(network.width * side)
        return replace(question, image_height=max(1, height), image_width=max(1, width))
    if question.model.kind != OWN:
        return replace(question, sequence_length=max(1, round(question.sequence_length * share)))
    return replace(
        question,
        sample_elements=max(1.0, question.sample_elements * share),
        sample_at_work=max(1.0, question.sample_at_work * share),
    )


def _of_pictures(question: VramQuestion) -> Network | None:
    """Return the counted network that the question's model is, where it takes pictures of any size and gives classes; None for others."""
    network = find_network(question.model.name) if question.model.kind != OWN else None
    is_any = network is not None and network.family == "vision" and network.height == DEFAULT_SIZE
    return network if network is not None and is_any and _SIZED.search(network.name) is None else None


def up_to(breakdown: MemoryBreakdown, bound: Bound) -> MemoryBreakdown:
    """Return the breakdown with the bound as the end of its range."""
    if not bound.gap:
        return breakdown
    return replace(breakdown, high_gib=max(breakdown.high_gib, bound.gib))


def _missing(question: VramQuestion, findings: tuple[Finding, ...]) -> str:
    """Return what nothing says of the samples of a network of one's own, and what it was followed with; "" where it is said."""
    if (network := _of_pictures(question)) is not None:
        is_open = question.method.trains and best(findings, "media.image_size") is None
        usual = f"{network.height} x {network.width} pixels"
        return f"nothing says how large its pictures are, and {usual} were assumed" if is_open else ""
    if question.model.kind != OWN:
        told = ("training.sequence_length", "model.vocabulary", "model.family", "model.id")
        if question.model.source != "shape" or not question.method.trains or any(best(findings, each) for each in told):
            return ""
        return f"nothing says how long its texts and how large its vocabulary are, and {question.sequence_length} tokens were assumed"
    if best(findings, "media.own_sequence") is None:
        is_open = best(findings, "media.own_assumed") is not None
        return "nothing says how large its pictures are, and usual ones were assumed" if is_open else ""
    is_padded = best(findings, "training.padding") is not None
    if any(best(findings, field) for field in _TOLD) or (best(findings, OWN_POSITIONS) and not is_padded):
        return ""
    positions = PADDED_POSITIONS if is_padded else DEFAULT_POSITIONS
    return f"nothing says how long its sequences are, and {positions} positions were assumed"


def assumed_size(findings: tuple[Finding, ...], *, trains: bool) -> tuple[int, str]:
    """Return the GiB that are assumed where no model is recognized, and what for: pictures, or the seconds of a batch, say a little."""
    pictures, sounds = best(findings, "media.image_size"), best(findings, "media.audio_seconds")
    sides = [int(side) for side in regex(r"\d{1,6}").findall(pictures.value)] if pictures is not None else []
    small = next((gib for side, gib in SMALL_PICTURES if pictures is not None and max(sides, default=0) <= side), None)
    programs = tree_size.programs_of(findings)
    if pictures is not None and small is not None and programs < LARGE_PROJECT:
        return small, f"a model of pictures of {pictures.value} pixels"
    if trains and sounds is not None and float(sounds.value) > LONGEST_SOUND:
        precision = best(findings, "training.precision")
        is_half = precision is not None and precision.value in {"fp16", "bf16"}
        gib = math.ceil(STATES_GIB + float(sounds.value) * GIB_PER_SECOND[is_half])
        return min(max(gib, DEFAULT_GIB), MOST_ASSUMED_GIB), f"batches of {float(sounds.value):g} seconds of sound"
    is_adapted = sounds is None and pictures is None and value_of_best(findings, "training.method") == "lora"
    if trains and is_adapted and best(findings, encoder_loads.FIELD) is None:
        return ADAPTED_GIB, "a model that adapters are trained for"
    if trains and best(findings, layouts_alone.FIELD) is not None:
        return DIVIDED_GIB, "a model that is divided over cards"
    if programs > 0:
        is_large = programs >= LARGE_PROJECT
        return ORDINARY_GIB if is_large else PROJECT_GIB, f"a model of a project's own, of {programs} programs"
    return DEFAULT_GIB, "a model of one's own"
