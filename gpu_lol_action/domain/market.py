"""What a cloud's own interface says beyond its list of prices: what is in stock, and which templates an account has."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from decimal import Decimal

from gpu_lol_action.domain.lookup import Unanswered
from gpu_lol_action.domain.records import record


class StockLevel(enum.Enum):
    """How much of a machine there is at this moment, in the cloud's own words."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    SOME = "yes"
    """There is some; the cloud does not say how much."""


@record(frozen=True, slots=True)
class Stock:
    """What a cloud says of one machine now. ``price_usd_per_hour`` is what it would cost now, ``regions`` where it is."""

    level: StockLevel
    price_usd_per_hour: Decimal | None = None
    regions: tuple[str, ...] = ()


Stocks = Mapping[tuple[str, int], Stock]
"""By SkyPilot's name of the card on that cloud, and the count."""

StockAnswers = Mapping[str, Stocks | Unanswered]
"""By cloud. A cloud that is not in it has nothing to ask: its prices are a list, and nothing more."""


@record(frozen=True, slots=True)
class Template:
    """A RunPod template: a name over an image that RunPod's hosts may hold already. ``is_private``: it needs a registry login."""

    template_id: str
    name: str
    image: str
    disk_gb: int | None = None
    is_private: bool = False

    @property
    def is_official(self) -> bool:
        """Whether RunPod made it for PyTorch: its own ids begin so, and its images are under its own name."""
        return self.template_id.startswith("runpod-torch") and self.image.startswith("runpod/pytorch:")
