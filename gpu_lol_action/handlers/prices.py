"""The prices of a run: what the publisher says where he answers in time, else the snapshot that we carry, cloud by cloud."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gpu_lol_action.domain.lookup import Catalog, Unanswered
from gpu_lol_action.domain.offer import Offer, OfferTable, PriceList, PriceSource
from gpu_lol_action.handlers.ports_lookups import Catalogs
from gpu_lol_action.pricing.catalogs import READABLE_CLOUDS, CatalogError, read_catalog
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers

PUBLISHED = "SkyPilot's published catalogs"
TOO_LARGE = "its catalog is too large to be asked for"

_Answer = tuple[tuple[Offer, ...], PriceSource]


@dataclass(slots=True)
class LivePrices:
    """Asks once for each cloud in a run, and reads each answer once."""

    catalogs: Catalogs
    _known: dict[str, _Answer] = field(default_factory=dict)

    def begin(self, clouds: Iterable[str]) -> None:
        """Start asking, so that the answers are there when the code has been read."""
        self.catalogs.begin(cloud for cloud in clouds if cloud in READABLE_CLOUDS)

    def of(self, clouds: Iterable[str]) -> PriceList:
        """Return the prices of these clouds; whatever is not answered comes from the snapshot, and says why."""
        wanted = tuple(clouds)
        asked = tuple(cloud for cloud in wanted if cloud in READABLE_CLOUDS and cloud not in self._known)
        for cloud, answer in self.catalogs.read(asked).items() if asked else ():
            self._known[cloud] = _judged(cloud, answer)
        found = {cloud: self._known.get(cloud) or _carried(cloud, TOO_LARGE) for cloud in wanted}
        offers: OfferTable = {cloud: offers for cloud, (offers, _source) in found.items()}
        sources = {cloud: source for cloud, (_offers, source) in found.items()}
        # Of all together the newest speaks; each cloud's own stands beside it.
        newest = max(sources.values(), key=lambda source: (source.is_live, source.as_of), default=SNAPSHOT)
        return PriceList(offers, replace(newest, per_cloud=sources))


def _judged(cloud: str, answer: Catalog | Unanswered) -> _Answer:
    if isinstance(answer, Unanswered):
        return _carried(cloud, answer.what)
    day = answer.asked_at.date()
    if day < SNAPSHOT.of(cloud).as_of:
        return _carried(cloud, "what is kept of its catalog is older than the snapshot")
    try:
        return read_catalog(cloud, answer.text), PriceSource(PUBLISHED, day, answer.asked_at)
    except CatalogError as error:
        return _carried(cloud, f"its catalog cannot be read: {error}")


def _carried(cloud: str, why: str) -> _Answer:
    return bundled_offers().get(cloud, ()), replace(SNAPSHOT.of(cloud), why=why)
