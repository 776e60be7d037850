"""What stands beside a price: where it comes from and how old that is, and which machine is cheapest per unit of work."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from gpu_lol_action.domain.offer import Candidate, Ladder, PriceSource
from gpu_lol_action.domain.records import record
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import machines_label

# Prices of yesterday are prices of today; of last week they may not be.
MENTIONED_FROM_DAYS = 2


@record(frozen=True, slots=True)
class ValueView:
    """The machine that is cheapest per unit of work; ``is_cheapest``: it is the cheapest per hour as well.

    ``against`` compares it with that one: so much faster at so much the price; ``measure`` is the published figure.
    """

    machine: Safe
    cloud: str
    price: Safe
    against: Safe
    measure: str
    is_cheapest: bool


def value_view(ladder: Ladder, limit_usd_per_hour: Decimal | None = None, machines: int = 1) -> ValueView | None:
    """Return the cheapest per unit of work within the limit (of one machine, $/h), as often as it is asked for; None where speeds are not published."""
    best, value = ladder.best, ladder.best_value(limit_usd_per_hour)
    if best is None or value is None:
        return None
    return ValueView(
        machine=machines_label(value.offer.accelerator, value.offer.accelerator_count, machines),
        cloud=formats.cloud_name(value.offer.cloud),
        price=formats.usd_per_hour(value.price_usd_per_hour * machines),
        against=_against(value, best),
        measure=ladder.compared_by,
        is_cheapest=value == best,
    )


def source_view(ladder: Ladder, today: date) -> tuple[str, Safe]:
    """Return where the shown prices come from, and of which day with its age."""
    source = source_of(ladder)
    return source.name, Safe(f"{formats.day(source.as_of)}{age_text(source, today)}")


def source_of(ladder: Ladder) -> PriceSource:
    """Return where the price of the cheapest comes from; of all where nothing fits."""
    return ladder.source.of(ladder.best.offer.cloud) if ladder.best else ladder.source


def age_text(source: PriceSource, today: date) -> str:
    """Return ``, 80 days old``; nothing for what is fresh."""
    days = (today - source.as_of).days
    return f", {days} days old" if days >= MENTIONED_FROM_DAYS else ""


def asked_text(source: PriceSource, now: datetime) -> str:
    """Return when the publisher was asked, or why he was not, as the end of a sentence."""
    if source.asked_at is None:
        return f"bundled prices of {formats.day(source.as_of)}{age_text(source, now.date())}" + (
            f" ({source.why})" if source.why else ""
        )
    return f"asked {formats.duration(now - source.asked_at)} ago" if now > source.asked_at else "asked just now"


def _against(value: Candidate, best: Candidate) -> Safe:
    price = value.price_usd_per_hour / best.price_usd_per_hour
    return Safe(f"{value.relative_speed or 1:.1f} × the speed at {price:.1f} × the price")
