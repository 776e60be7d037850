"""SkyPilot's published price catalogs, read: one file per cloud, side by side, in one time box, and kept on disk.

They lie where SkyPilot itself looks for them: ``catalogs/v8/CLOUD/vms.csv`` of skypilot-org/skypilot-catalog. GitHub
answers ``If-None-Match`` with 304, and packs two megabytes to some sixty kilobytes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from gpu_lol_action.adapters.boxed_http import Ask, Reply, address_problem, exchange
from gpu_lol_action.adapters.hub_cache import HubCache, Kept
from gpu_lol_action.domain.lookup import Catalog, Unanswered

CATALOGS = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8"
BOX = timedelta(seconds=3)
"""For all clouds together, from the moment they are asked for: reading the code takes about as long."""
FRESH = timedelta(hours=3)
MAX_BYTES = 8 * 1024 * 1024
# In the cache a catalog is a text within JSON: quotes and line ends take two characters there.
_MAX_KEPT_BYTES = 2 * MAX_BYTES


@dataclass(frozen=True, slots=True)
class CatalogSettings:
    """Where the catalogs lie, and where answers are kept (None: nowhere)."""

    endpoint: str = CATALOGS
    cache_folder: Path | None = None
    box: timedelta = BOX


@dataclass(slots=True)
class CatalogClient:
    """Fulfils the ``Catalogs`` port. What was asked for once is not asked for again in a run."""

    settings: CatalogSettings
    now: Callable[[], datetime]
    _answers: dict[str, Catalog | Unanswered] = field(default_factory=dict)
    _threads: dict[str, threading.Thread] = field(default_factory=dict)
    _until: datetime | None = None

    def begin(self, clouds: Iterable[str]) -> None:
        """Start asking, in the background."""
        if self._until is None:
            self._until = self.now() + self.settings.box
        for cloud in clouds:
            if cloud not in self._threads:
                # A daemon: a thread that hangs in the resolver must not keep the interpreter from ending.
                thread = threading.Thread(target=self._fetch, args=(cloud,), name=f"gpu-lol-{cloud}", daemon=True)
                self._threads[cloud] = thread
                thread.start()

    def read(self, clouds: Iterable[str]) -> Mapping[str, Catalog | Unanswered]:
        """Return each cloud's catalog, or why there is none; waits for what is left of the time box."""
        wanted = tuple(clouds)
        self.begin(wanted)
        until = self._until if self._until is not None else self.now()
        for cloud in wanted:
            self._threads[cloud].join(max((until - self.now()).total_seconds(), 0))
        late = Unanswered(f"it did not answer within {self.settings.box.total_seconds():.0f} s")
        return {cloud: self._answers.get(cloud, late) for cloud in wanted}

    def _fetch(self, cloud: str) -> None:
        cache = HubCache(self.settings.cache_folder, _MAX_KEPT_BYTES)
        key = ("catalog", self.settings.endpoint, cloud)
        kept = cache.read(key)
        if kept is not None and timedelta(0) <= self.now() - kept.at < FRESH:
            self._answers[cloud] = _catalog(kept)
            return
        answer = self._ask(cloud, kept)
        if isinstance(answer, Kept):
            cache.write(key, answer)
            self._answers[cloud] = _catalog(answer)
        else:
            # Of some days ago is nearer to the truth than the table that we carry; its age is shown.
            self._answers[cloud] = _catalog(kept) if kept is not None else answer

    def _ask(self, cloud: str, kept: Kept | None) -> Kept | Unanswered:
        endpoint = self.settings.endpoint.rstrip("/")
        problem = address_problem(endpoint, is_secret_sent=False)
        if problem is not None:
            return Unanswered(problem)
        headers = {
            "Accept": "text/csv, text/plain",
            **({"If-None-Match": kept.entity_tag} if kept and kept.entity_tag else {}),
        }
        ask = Ask("GET", f"{endpoint}/{cloud}/vms.csv", headers, max_bytes=MAX_BYTES, is_packed_taken=True)
        asked_at = self.now()
        reply = exchange(ask, max((self._until or asked_at) - asked_at, timedelta(0)), self.now)
        if isinstance(reply, Unanswered):
            return reply
        if reply.status == 304 and kept is not None:
            return Kept(kept.fields, kept.entity_tag, asked_at)
        return _kept(reply, asked_at)


def _kept(reply: Reply, asked_at: datetime) -> Kept | Unanswered:
    if reply.status != 200:
        return Unanswered(f"it answered {reply.status}")
    try:
        text = reply.body.decode("utf-8")
    except UnicodeDecodeError:
        return Unanswered("its answer is no text")
    return Kept({"text": text}, reply.headers.get("etag", ""), asked_at)


def _catalog(kept: Kept) -> Catalog:
    text = kept.fields.get("text")
    return Catalog(text if isinstance(text, str) else "", kept.at)
