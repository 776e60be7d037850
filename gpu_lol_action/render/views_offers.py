"""The answer to ``offers``: one row per machine, what is in stock, where prices come from, and the two cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gpu_lol_action.domain.lookup import Unanswered
from gpu_lol_action.domain.market import Stock, StockAnswers, StockLevel
from gpu_lol_action.domain.offer import Candidate, Ladder, Offer, Requirement
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import BillingView, accelerator_label, up_command
from gpu_lol_action.render.views_evidence import near_misses
from gpu_lol_action.render.views_need import memory_asked
from gpu_lol_action.render.views_price import ValueView, asked_text, value_view

MAX_ROWS = 12
MAX_REASONS = 8
LIST_PRICE = "list price only"


@dataclass(frozen=True, slots=True)
class OffersCase:
    """What was asked for and found. ``subject`` names code that was read; ``stock`` is None where it was not asked for.

    ``project`` is the one whose code was read, where the repository leaves a choice.
    """

    subject: str
    ladder: Ladder
    stock: StockAnswers | None
    policy: Policy
    command: Command
    now: datetime
    project: str = ""


@dataclass(frozen=True, slots=True)
class OfferRow:
    """One machine; ``now`` is what its cloud says of its stock."""

    machine: Safe
    usable: Safe
    cloud: str
    price: Safe
    session: Safe
    speed: Safe
    now: Safe


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """A machine that does not fit, and why."""

    machine: Safe
    cloud: str
    price: Safe
    reason: str


@dataclass(frozen=True, slots=True)
class OffersView:
    """What ``offers.md.j2`` shows."""

    marker: Safe
    asked: str
    session: Safe
    rows: tuple[OfferRow, ...]
    more: Safe
    is_stock_asked: bool
    has_speeds: bool
    measure: str
    value: ValueView | None
    best: Safe
    best_cloud: str
    best_price: Safe
    in_stock: Safe
    up: str
    sources: tuple[tuple[str, str], ...]
    stock_notes: tuple[tuple[str, str], ...]
    reasons: tuple[ReasonRow, ...]
    billing: BillingView


def offers_view(case: OffersCase, marker: Safe, billing: BillingView) -> OffersView:
    """Return the view; the cheapest first, so many of them."""
    ladder, best = case.ladder, case.ladder.best
    shown = ladder.candidates if case.command.is_verbose else ladder.candidates[:MAX_ROWS]
    hidden = len(ladder.candidates) - len(shown)
    lease = case.command.lease or case.policy.lease
    first = next((each for each in ladder.candidates if _is_there(case.stock, each.offer)), None)
    return OffersView(
        marker=marker,
        asked=asked_words(case),
        session=formats.hours_label(lease),
        rows=tuple(_row(each, case.stock) for each in shown),
        more=formats.plural(hidden, "dearer one") if hidden else Safe(""),
        is_stock_asked=case.stock is not None,
        has_speeds=any(each.relative_speed is not None for each in shown),
        measure=ladder.compared_by,
        value=value_view(ladder, case.policy.max_price_usd_per_hour),
        best=accelerator_label(best.offer.accelerator, best.offer.accelerator_count) if best else Safe("–"),
        best_cloud=formats.cloud_name(best.offer.cloud) if best else "",
        best_price=formats.usd_per_hour(best.price_usd_per_hour) if best else Safe("unknown"),
        in_stock=_in_stock(case.stock, first) if case.stock else Safe(""),
        up=_up(first or best, case.project),
        sources=_sources(case),
        stock_notes=_stock_notes(case),
        reasons=tuple(_reasons(case)),
        billing=billing,
    )


def asked_words(case: OffersCase) -> str:
    """Return the requirement in words: ``1 × A40``, ``2 × 24 GB``, ``this code: 1 × 22 GiB``, ``every card``."""
    wanted = case.ladder.requirement
    where = f" on {formats.cloud_name(case.command.cloud)}" if case.command.cloud else ""
    where += f" in {case.command.region}" if case.command.region else ""
    where += ", spot" if wanted.use_spot else ""
    if case.command.topic is not None:
        return f"every card{where}"
    words = f"{wanted.gpu_count} × {_size(wanted)}{where}"
    return f"{case.subject}: {words}" if case.subject else words


def _size(wanted: Requirement) -> str:
    if wanted.accelerator is not None:
        return wanted.accelerator
    if not wanted.memory_gib_per_gpu:
        return "any card"
    return memory_asked(wanted)


def _row(candidate: Candidate, stock: StockAnswers | None) -> OfferRow:
    offer = candidate.offer
    return OfferRow(
        machine=accelerator_label(offer.accelerator, offer.accelerator_count),
        usable=formats.gib(offer.memory_gib_per_gpu),
        cloud=formats.cloud_name(offer.cloud),
        price=formats.usd_per_hour(candidate.price_usd_per_hour),
        session=formats.usd(candidate.lease_usd),
        speed=Safe(f"{candidate.relative_speed:.1f} ×") if candidate.relative_speed is not None else Safe("unknown"),
        now=_now(stock, candidate),
    )


def _now(stock: StockAnswers | None, candidate: Candidate) -> Safe:
    if stock is None:
        return Safe("")
    found = stock_of(stock, candidate.offer)
    if found is None:
        return Safe(LIST_PRICE)
    price = found.price_usd_per_hour
    dearer = (
        f", {formats.usd_per_hour(price)} now" if price is not None and price != candidate.price_usd_per_hour else ""
    )
    return Safe(f"{'❌ none' if found.level is StockLevel.NONE else found.level.value}{dearer}")


def stock_of(stock: StockAnswers, offer: Offer) -> Stock | None:
    """Return what an offer's cloud says of its stock; None where it says nothing."""
    answer = stock.get(offer.cloud)
    if answer is None or isinstance(answer, Unanswered):
        return None
    return answer.get((offer.accelerator, offer.accelerator_count))


def _is_there(stock: StockAnswers | None, offer: Offer) -> bool:
    found = stock_of(stock, offer) if stock else None
    return found is not None and found.level is not StockLevel.NONE


def _in_stock(stock: StockAnswers, first: Candidate | None) -> Safe:
    if first is None:
        return Safe("none that is known of")
    offer, found = first.offer, stock_of(stock, first.offer)
    price = found.price_usd_per_hour if found is not None and found.price_usd_per_hour else first.price_usd_per_hour
    return Safe(f"{accelerator_label(offer.accelerator, offer.accelerator_count)}, {formats.usd_per_hour(price)}")


def _up(candidate: Candidate | None, project: str) -> str:
    """Return the command that rents that card."""
    if candidate is None:
        return ""
    offer = candidate.offer
    count = f":{offer.accelerator_count}" if offer.accelerator_count > 1 else ""
    return f"{up_command(project)} --gpu {offer.accelerator}{count}"


def _clouds(case: OffersCase) -> Sequence[str]:
    return tuple(dict.fromkeys(case.ladder.requirement.clouds))


def _sources(case: OffersCase) -> tuple[tuple[str, str], ...]:
    """Return, for each cloud, when its prices were asked for, or of which day the bundled ones are and why they serve."""
    source = case.ladder.source
    return tuple((formats.cloud_name(cloud), asked_text(source.of(cloud), case.now)) for cloud in _clouds(case))


def _stock_notes(case: OffersCase) -> tuple[tuple[str, str], ...]:
    """Return the clouds whose prices are a list and nothing more, with why."""
    if case.stock is None:
        return ()
    notes = []
    for cloud in _clouds(case):
        answer = case.stock.get(cloud)
        if isinstance(answer, Unanswered):
            notes.append((formats.cloud_name(cloud), answer.what))
        elif answer is None:
            notes.append((formats.cloud_name(cloud), "it has nothing that could be asked"))
    return tuple(notes)


def _reasons(case: OffersCase) -> Sequence[ReasonRow]:
    misses = case.ladder.rejected if case.command.is_verbose else near_misses(case.ladder)[:MAX_REASONS]
    if not case.command.is_verbose and case.ladder.candidates:
        return ()
    return tuple(
        ReasonRow(
            accelerator_label(each.offer.accelerator, each.offer.accelerator_count),
            formats.cloud_name(each.offer.cloud),
            formats.known_usd_per_hour(each.offer.price_usd_per_hour),
            each.reason,
        )
        for each in misses
    )
