"""The computed memory beside what documentation states: which statement is meant, and what the two ask for together.

Both are estimates of one quantity whose errors are factors, so they are averaged as logarithms. A statement on the very
run is weighed above the sum of terms, which nobody has measured, and less than it is not asked for; a card that was used is an
upper bound, weighed the same where the run is said to have used it; a card only named somewhere is weighed below the sum.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.documents.documented_batches import of_other_batches
from gpu_lol_action.analysis.runs.documented_places import AT_COMMAND, FIELD, IN_ROW, IN_SECTION, OF_ANOTHER
from gpu_lol_action.domain.card_sizes import SIZES_GB, whole_gib
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.named_cards import named_card_gib
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

WEIGHT_OF_MEMORY = 0.7
WEIGHT_OF_REMARK = 0.3  # in a comment, beside one of many settings
WEIGHT_OF_CARD = 0.7
WEIGHT_OF_DEMANDED_CARD = 0.85
WEIGHT_OF_NAMED_CARD = 0.3
# A roughly computed figure gives way to an amount that is asked for.
WEIGHT_OVER_ROUGH = 0.9
# A statement further off speaks of another run (a larger model, several cards together).
FURTHEST = 2.5
FURTHEST_FROM_ROUGH = 6.0
_OF_TRAINING = regex(r"(?:^|/)(?:pre_?|how_?to_?)?(?:train|training|fine_?tun(?:e|ing))\.\w+$", re.IGNORECASE)
LEAST_OF_SOLD = 0.93  # of the memory that a card is sold with, what it has for programs
LARGE_CARD_GIB = accelerators()["A100-80GB"].memory_gib
LARGEST_CARD_GIB = accelerators()["H200"].memory_gib
VOTES_FOR_COUNT = 20
ABOUT_AS_OFTEN = 1.5
SECTION_DISTANCE = 0.3  # how much nearer than one in the section of the run's own command
RANK_DISTANCE = 0.3  # how much nearer a statement for no purpose has to be than one for the run's own
FURTHEST_CARD_FROM_ROUGH = 24.0
ROWS_OF_A_TABLE = 4  # amounts of one document from which on the one in the middle says more than the nearest
FURTHEST_CARD = 6.0  # a run may leave most of its authors' card empty


@record(frozen=True, slots=True)
class Statement:
    """One stated amount per GPU in GiB. ``is_card``: the size of a card that was used, not an amount that was asked for.

    ``is_at_command``: it stands right above the run's own command, or points at it. ``place``: how its line is about the run
    (``documented_places``), if it is. ``is_counted``: it stands beside the count of GPUs that the run takes. ``rank`` 0: stated for the run's own purpose (training, inference); 1: for none in particular; 2: for the other one.
    """

    memory_gib: float
    is_card: bool
    weight: float
    rank: int
    finding: Finding
    is_counted: bool = False
    is_at_command: bool = False
    place: str = ""


@record(frozen=True, slots=True)
class Agreement:
    """What is asked for, in whole GiB, why in one sentence, where the statement stands, and the statement."""

    required_gib: int
    why: str
    evidence: Evidence
    finding: Finding


def statements(
    findings: Iterable[Finding], *, trains: bool, is_quantized: bool = False, is_offloaded: bool = False
) -> tuple[Statement, ...]:
    """Return everything that is stated of memory per GPU, in the documents' order.

    What holds for quantized weights, or for weights in main memory, is said of this run only where its are so.
    """
    findings, (mine, other) = tuple(findings), ("training", "inference")[:: 1 if trains else -1]
    places = {f.evidence: f.value for f in findings if f.field == FIELD}
    places |= dict.fromkeys(of_other_batches(findings), OF_ANOTHER)
    found: list[Statement] = []
    for finding in findings:
        prefix, _, kind = finding.field.rpartition(".")
        if prefix.startswith("documented") and kind in {"memory_gb", "card"}:
            holds = {other: False, "quantized": is_quantized, "offloaded": is_offloaded}.get(prefix.rpartition(".")[2])
            holds = False if holds is None and not trains and _OF_TRAINING.search(finding.evidence.path) else holds
            place = places.get(finding.evidence, "")
            rank = 2 if holds is False or place == OF_ANOTHER else 0 if holds or prefix.endswith(mine) else 1
            found.append(replace(_statement(finding, rank, is_card=kind == "card"), place=place))
    return tuple(s for s in found if not _is_named_beside_amount(s, found))


def _is_named_beside_amount(card: Statement, stated: Sequence[Statement]) -> bool:
    """Whether a card is only named where an amount is asked for: fast on an H800, and "fits into 16G of VRAM". Where it has that amount they are one."""
    if not card.is_card or card.weight > WEIGHT_OF_NAMED_CARD:
        return False
    beside = (s for s in stated if not s.is_card and s.finding.evidence == card.finding.evidence)
    return any(s.weight >= WEIGHT_OF_MEMORY and not _has_amount(card, s) for s in beside)


def _statement(finding: Finding, rank: int, *, is_card: bool) -> Statement:
    if is_card:
        weight = {Confidence.HIGH: WEIGHT_OF_DEMANDED_CARD, Confidence.MEDIUM: WEIGHT_OF_CARD}.get(
            finding.confidence, WEIGHT_OF_NAMED_CARD
        )
        return Statement(named_card_gib(finding.value), True, weight, rank, finding)
    weight = WEIGHT_OF_MEMORY if finding.confidence is not Confidence.LOW else WEIGHT_OF_REMARK
    return Statement(float(finding.value), False, weight, rank, finding)


def reconcile(
    computed_gib: float, stated: Iterable[Statement], *, is_rough: bool, is_managed: bool = False
) -> Agreement | None:
    """Return what sum and documentation ask for together; None where no statement is near enough to be about this run.

    ``is_managed``: the program keeps its weights in main memory by means of its own, so the sum is only a bound: what its
    documentation demands is the need, however far below.
    """
    stated = _without_totals(stated)
    demanded = _demand_below(computed_gib, stated) if is_managed else None
    if demanded is not None:
        where = demanded.finding.evidence
        why = f"the program moves its weights, so {computed_gib:.3g} GiB are a bound, and {where} asks for {demanded.memory_gib:g} GB"
        return Agreement(max(1, math.ceil(demanded.memory_gib)), why, where, demanded.finding)
    alone = _only_demand(stated, least=Confidence.MEDIUM if is_rough else Confidence.HIGH)
    if alone is not None and alone.memory_gib < computed_gib and not is_rough:
        alone = None  # of a smaller model than the one that is surely known
    near = [s for s in stated if s.rank < 2 and (s is alone or _is_near(s, computed_gib, is_rough=is_rough))]
    near = _pointing(near)
    # Amounts that are asked for say more than cards; the nearest is the one about this configuration.
    asked = [s for s in near if not s.is_card]
    asked = [s for s in asked if s.weight >= WEIGHT_OF_MEMORY] or asked
    asked = [s for s in asked if s.place == IN_ROW] or asked  # of a table the row that names what the command names
    if is_rough:  # a sum that may be far off does not tell which of several amounts is meant; what is demanded does
        asked = [s for s in asked if s.finding.confidence is Confidence.HIGH] or asked
    chosen = _middle_of_table(asked) if is_rough else None
    chosen = chosen or min(asked, key=lambda s: _distance(s, computed_gib) + _set_back(s, asked), default=None)
    chosen = chosen or _card_named_most(_beside([s for s in near if s.weight >= WEIGHT_OF_CARD] or near), computed_gib)
    if chosen is None:
        return None
    is_told = is_rough and not chosen.is_card and chosen.weight >= WEIGHT_OF_MEMORY
    weight = WEIGHT_OVER_ROUGH if is_told else chosen.weight
    size = computed_gib ** (1 - weight) * chosen.memory_gib**weight
    if (chosen.is_card or _is_of_card(chosen, stated)) and computed_gib > chosen.memory_gib:
        size = chosen.memory_gib  # it ran there
    if not chosen.is_card and chosen.is_counted:
        size = min(size, _card_of(chosen.memory_gib))
    if not chosen.is_card and chosen.weight >= WEIGHT_OF_MEMORY:
        size = max(size, _card_of(chosen.memory_gib))  # the sum lacks what it does not know of; who measured counted it
    required = max(1, whole_gib(size, chosen.memory_gib) if chosen.is_card else math.ceil(size - 0.05))
    where = chosen.finding.evidence
    named = chosen.finding.value if chosen.is_card else f"{chosen.memory_gib:g} GB"
    return Agreement(required, f"{computed_gib:.3g} GiB computed, and {where} names {named}", where, chosen.finding)


def as_agreed(breakdown: MemoryBreakdown, agreed: Agreement) -> MemoryBreakdown:
    """Return the breakdown with what sum and documentation ask for together; its range holds both."""
    asked = float(agreed.required_gib)
    return replace(breakdown, required_gib=asked, high_gib=max(breakdown.high_gib, asked), low_gib=min(breakdown.low_gib, asked),
                   notes=(*breakdown.notes, agreed.why), computed_gib=breakdown.required_gib, weighed=agreed.finding)  # fmt: skip


def is_amount(finding: Finding) -> bool:
    """Whether it is an amount that more than a remark states."""
    return finding.field.endswith("memory_gb") and finding.confidence >= Confidence.MEDIUM


def _is_of_card(amount: Statement, stated: Sequence[Statement]) -> bool:
    """Whether an amount is that of a card which is named in the same place: "A100 GPUs with 80 GB"."""
    cards = (s for s in stated if s.is_card and s.finding.evidence == amount.finding.evidence)
    return any(_has_amount(card, amount) for card in cards)


def _has_amount(card: Statement, amount: Statement) -> bool:
    return LEAST_OF_SOLD * amount.memory_gib <= card.memory_gib <= amount.memory_gib


def _card_of(memory_gb: float) -> float:
    """Return the whole GiB that a card sold with so many GB offers; of an amount between cards' sizes, itself."""
    sold = [card.memory_gib for card in accelerators().values() if card.marketed_gb == memory_gb and card.is_nvidia]
    return math.floor(max(sold)) if sold and memory_gb in SIZES_GB else memory_gb


def _demand_below(computed_gib: float, stated: Iterable[Statement]) -> Statement | None:
    """Return the largest amount below the sum that documentation demands of this run; None where it demands none."""
    asked = [s for s in stated if not s.is_card and s.rank < 2 and s.finding.confidence is Confidence.HIGH]
    return max((s for s in asked if s.memory_gib < computed_gib), key=lambda s: s.memory_gib, default=None)


def _beside(cards: list[Statement]) -> list[Statement]:
    """Return the used cards that the run's own section names on as many GPUs, where it does and none is demanded: of other commands others tell."""
    is_demanded = any(s.weight >= WEIGHT_OF_DEMANDED_CARD for s in cards)
    beside = [s for s in cards if s.is_counted and s.place == IN_SECTION and s.weight >= WEIGHT_OF_CARD]
    return cards if is_demanded else beside or cards


def _pointing(said: list[Statement]) -> list[Statement]:
    """Return what points at the run's own command where something does: all else is about other commands."""
    return [s for s in said if s.place == AT_COMMAND and s.weight >= WEIGHT_OF_CARD] or said


def _only_demand(stated: Sequence[Statement], least: Confidence) -> Statement | None:
    """Return the one amount that is demanded (at ``least`` so surely) for the run's own purpose, or at its command; None where there are none or several.

    It is about this run however far it lies from the sum: then the sum is of a part, or counts what is done piece by piece.
    What no card holds is about something else: why the work is worth doing.
    """
    asked = [s for s in stated if not s.is_card and s.rank < 2 and s.weight >= WEIGHT_OF_MEMORY]
    asked = [s for s in asked if s.memory_gib <= LARGEST_CARD_GIB]
    only = asked[0] if len({s.memory_gib for s in asked}) == 1 else None
    is_own = only is not None and (only.rank == 0 or only.is_at_command)
    return only if only is not None and is_own and only.finding.confidence >= least else None


def _middle_of_table(asked: Sequence[Statement]) -> Statement | None:
    """Return the middle one of many mentioned amounts of one document: the extremes are the settings of few; else None."""
    least = min((s.rank for s in asked), default=0)
    own = [s for s in asked if s.rank == least and s.finding.confidence is not Confidence.HIGH]
    if len(own) < ROWS_OF_A_TABLE or len({s.finding.evidence.path for s in own}) > 1:
        return None
    return sorted(own, key=lambda s: s.memory_gib)[(len(own) - 1) // 2]


def headline(stated: Iterable[Statement]) -> Statement | None:
    """Return the statement to go by where nothing was computed: what is demanded, then asked for, then the card used most."""
    said = [s for s in stated if s.memory_gib <= LARGEST_CARD_GIB or _is_had(s)]
    said = _pointing([s for s in said if s.rank < 2] or said)
    # "8x A100 80GB" says which card was used, and no more is demanded by its size than by its name; a card that is only named beside an amount is an example.
    cards = [s for s in said if s.is_card and s.weight >= WEIGHT_OF_CARD]
    said = [s for s in said if s.is_card or s.finding.confidence is Confidence.HIGH or not _is_of_card(s, cards)]
    rows = [s for s in said if s.place == IN_ROW and not s.is_card]
    middle = _middle_of_table(rows or [s for s in said if not s.is_card])
    if middle is not None and not any(s.finding.confidence is Confidence.HIGH for s in said if not s.is_card):
        return middle
    amounts = [s for s in said if not s.is_card]
    asked = min(amounts, key=lambda s: (-s.finding.confidence, s.rank, s.place != IN_ROW), default=None)
    ordered = [s for s in said if s.finding.confidence is Confidence.HIGH]  # says more than what is only named
    used = [s for s in said if s.is_card and s.weight >= WEIGHT_OF_CARD]
    is_asked = asked is not None and (asked.weight >= WEIGHT_OF_MEMORY or not used)
    return asked if is_asked else _card_named_most(ordered or used or said)


def _is_had(said: Statement) -> bool:
    """Whether what no usual card holds is no need of several, nor of models that few can have: it is ordered, or said at the run's command."""
    at_command = said.place == AT_COMMAND and said.memory_gib <= max(SIZES_GB)
    return at_command or (said.is_card and said.finding.confidence is Confidence.HIGH)


def _card_named_most(cards: list[Statement], least_gib: float = 0.0) -> Statement | None:
    """Return a statement on the card that is named most; for the run's own purpose a mention counts twice, by a run too.

    Of cards that were used about as often the smallest counts that holds ``least_gib``: the run is said to have fitted there.
    """
    votes: dict[str, int] = {}
    for card in cards:
        votes[card.finding.value] = votes.get(card.finding.value, 0) + (2 - min(card.rank, 1)) * card.finding.confidence
        votes[card.finding.value] += VOTES_FOR_COUNT * card.is_counted
    most = max(cards, key=lambda card: (votes[card.finding.value], card.weight), default=None)
    if most is None or most.weight < WEIGHT_OF_CARD:
        return most
    often = [
        c
        for c in cards
        if c.weight >= WEIGHT_OF_CARD and votes[c.finding.value] * ABOUT_AS_OFTEN >= votes[most.finding.value]
    ]
    return min((c for c in often if c.memory_gib >= least_gib), key=lambda card: card.memory_gib, default=most)


def _without_totals(stated: Iterable[Statement]) -> list[Statement]:
    """Return the statements without amounts that neither a card holds which is said to have run it nor one named with them: several cards' sums.

    What points at the run's own command is of this run; a smaller card ran another.
    """
    said = list(stated)
    largest = max((s.memory_gib for s in said if s.is_card and s.weight >= WEIGHT_OF_CARD), default=math.inf)
    return [
        s for s in said if s.is_card or s.place == AT_COMMAND or s.memory_gib <= largest * 1.1 or _is_of_card(s, said)
    ]


def _is_near(statement: Statement, computed_gib: float, *, is_rough: bool) -> bool:
    factor = statement.memory_gib / computed_gib
    if not statement.is_card:
        furthest = FURTHEST_FROM_ROUGH if is_rough or statement.is_at_command else FURTHEST
        # A guessed model's sum is divided by the count; the amount said with that count is of one of these cards.
        furthest = (
            FURTHEST_CARD_FROM_ROUGH
            if statement.is_counted and (is_rough or statement.finding.confidence is Confidence.HIGH)
            else furthest
        )
        return 1 / furthest <= factor <= furthest
    if statement.is_counted and computed_gib > LARGEST_CARD_GIB:
        return True  # no card holds the sum, and the authors' did: the sum is wrong
    is_used = statement.weight >= WEIGHT_OF_CARD
    if is_used and is_rough and computed_gib > LARGE_CARD_GIB:
        return True  # nor does any that is widely rented hold what was partly guessed
    # Whoever says how many cards a run took, and takes as many, speaks of this run, however empty the sum leaves them.
    furthest = FURTHEST_CARD_FROM_ROUGH if is_used and (is_rough or statement.is_counted) else FURTHEST_CARD
    # A smaller card that is only named somewhere disproves nothing; that which as many were used of, or its script orders, holds the run.
    least = 1 / FURTHEST_CARD if statement.is_counted or statement.is_at_command else 1 / FURTHEST
    return (least if is_used else 1) <= factor <= furthest


def _set_back(statement: Statement, asked: Sequence[Statement]) -> float:
    """Return how much nearer a statement has to be than one for the run's own purpose, in the section of its own command."""
    is_elsewhere = statement.place != IN_SECTION and any(s.place == IN_SECTION for s in asked)
    return RANK_DISTANCE * statement.rank + SECTION_DISTANCE * is_elsewhere


def _distance(statement: Statement, computed_gib: float) -> float:
    return abs(math.log(statement.memory_gib / computed_gib))
