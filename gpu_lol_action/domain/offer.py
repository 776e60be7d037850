"""Offers and candidates: what a cloud rents, for how much, and why we would or would not take it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from datetime import date, datetime
from decimal import Decimal

from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class PriceSource:
    """Where prices come from and of which day; shown beside every price. All prices are US dollars per hour.

    ``asked_at`` is when the publisher was asked for them, None for a table that we carry; ``why`` says in one clause why
    it was not asked, or could not answer. ``per_cloud`` holds the clouds whose prices come from elsewhere.
    """

    name: str
    as_of: date
    asked_at: datetime | None = None
    why: str = ""
    per_cloud: Mapping[str, PriceSource] = field(default_factory=dict)

    def of(self, cloud: str) -> PriceSource:
        """Return where this cloud's prices come from."""
        return self.per_cloud.get(cloud, self)

    @property
    def is_live(self) -> bool:
        """Whether the publisher was asked, as against a table that we carry."""
        return self.asked_at is not None


@record(frozen=True, slots=True)
class Offer:
    """One instance type on one cloud. ``accelerator`` is SkyPilot's name there; prices are for the whole instance.

    ``regions`` keeps the catalog's order; ``memory_gib_per_gpu`` is what programs can allocate.
    """

    cloud: str
    accelerator: str
    accelerator_count: int
    instance_type: str
    price_usd_per_hour: Decimal
    spot_price_usd_per_hour: Decimal | None
    memory_gib_per_gpu: float
    vcpus: float | None
    memory_gib: float | None
    regions: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """``A100-80GB:2`` as SkyPilot writes it."""
        return f"{self.accelerator}:{self.accelerator_count}"


@record(frozen=True, slots=True)
class Requirement:
    """What the spec (with the command's options applied) asks of a machine."""

    memory_gib_per_gpu: float
    gpu_count: int
    accelerator: str | None = None
    clouds: tuple[str, ...] = ()
    region: str | None = None
    use_spot: bool = False
    min_disk_gb: int | None = None
    cpus: int | None = None
    memory_gib: float | None = None
    base_image: str | None = None
    alternatives: tuple[str, ...] = ()
    is_memory_as_sold: bool = False
    """Whether ``memory_gib_per_gpu`` is compared with the size that a card is sold with, not with what is usable of it."""
    least_usable_gib: float = 0.0
    """What a card must offer to programs, where that was computed: it counts instead, for the cards of one size differ in it."""
    precision: str = ""
    """In which numbers the code computes, as the analysis found it (``bf16``, ``fp8``); empty: nothing says."""


@record(frozen=True, slots=True)
class Candidate:
    """An offer that fits, with what it costs for the lease, and one sentence why it is where it is.

    ``relative_speed`` is how much faster than the cheapest it is by the published peaks; None where they are not known.
    """

    offer: Offer
    price_usd_per_hour: Decimal
    lease_usd: Decimal
    why: str
    relative_speed: float | None = None


class Lack(enum.Enum):
    """What an offer fails at first: the later, the nearer it is to being taken."""

    OTHER = 0
    CARD = 1
    COUNT = 2
    HOST = 3
    MEMORY = 4
    PRICE = 5


@record(frozen=True, slots=True)
class Rejected:
    """An offer that does not fit, with the reason; ``kind`` is what it fails at."""

    offer: Offer
    reason: str
    kind: Lack = Lack.OTHER


@record(frozen=True, slots=True)
class Ladder:
    """Candidates, cheapest first, and what was rejected, with the source of the prices.

    ``compared_by`` says which published figure the candidates' speeds are of.
    """

    requirement: Requirement
    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejected, ...]
    source: PriceSource
    compared_by: str = ""

    @property
    def best(self) -> Candidate | None:
        """The cheapest that fits, or None."""
        return self.candidates[0] if self.candidates else None

    @property
    def nearest(self) -> Rejected | None:
        """The offer that lacks least where none fits: only its price, else only memory and of that the least, else the host."""
        best = max(self.rejected, key=_nearness, default=None)
        return best if best is not None and best.kind.value > Lack.COUNT.value else None

    def best_value(self, limit_usd_per_hour: Decimal | None = None) -> Candidate | None:
        """Return the cheapest per unit of work, of those within the limit; None where the cheapest one's speed is unknown."""
        best = self.best
        if best is None or best.relative_speed is None:
            return None
        within = [
            each
            for each in self.candidates
            if limit_usd_per_hour is None or each.price_usd_per_hour <= limit_usd_per_hour
        ]
        known = [(each, each.relative_speed) for each in within or (best,) if each.relative_speed]
        return min(known, key=lambda pair: pair[0].price_usd_per_hour / Decimal(str(pair[1])), default=(best, 1.0))[0]


OfferTable = Mapping[str, tuple[Offer, ...]]
"""Offers per cloud, in the catalog's order."""


@record(frozen=True, slots=True)
class PriceList:
    """What the clouds rent, with where each cloud's prices come from."""

    offers: OfferTable
    source: PriceSource


def _nearness(rejected: Rejected) -> tuple[int, float, Decimal]:
    offer = rejected.offer
    memory = offer.memory_gib_per_gpu if rejected.kind is Lack.MEMORY else 0.0
    return rejected.kind.value, memory, -offer.price_usd_per_hour
