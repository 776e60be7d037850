"""The Hugging Face Hub, read: one page about one model, in a time box that counts for a whole run, and kept on disk.

Shapes of the API: ``/api/models/ID?expand[]=safetensors`` holds ``safetensors.parameters`` (a count for each dtype);
``?blobs=true`` adds sizes to ``siblings``. ``/ID/resolve/main/config.json`` redirects below ``/api/resolve-cache/`` of the
same host. The Hub answers 401 for a model that does not exist as for one that is private; its header ``X-Error-Code``
tells those behind a gate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote, urlsplit

from gpu_lol_action.adapters.boxed_http import Ask, Reply, address_problem, as_json, exchange
from gpu_lol_action.adapters.hub_cache import HubCache, Kept
from gpu_lol_action.domain.lookup import HubFields, HubPage, Unanswered
from gpu_lol_action.estimation.hub_model import is_hub_id

HUB = "https://huggingface.co"
BOX = timedelta(seconds=12)
"""For everything that one run asks: a proposal does not wait longer for a better figure."""

_EXPANDED = ("safetensors", "config", "gguf", "library_name", "pipeline_tag")
_PATHS: Mapping[HubPage, str] = {
    HubPage.INFO: "/api/models/{id}?" + "&".join(f"expand[]={name}" for name in _EXPANDED),
    HubPage.CONFIG: "/{id}/resolve/main/config.json",
    HubPage.ADAPTER: "/{id}/resolve/main/adapter_config.json",
    HubPage.FILES: "/api/models/{id}?blobs=true",
}
# Hosts that belong together: the Hub sends from one to the other.
_FAMILY = ("huggingface.co", "hf.co")


@dataclass(frozen=True, slots=True)
class HubSettings:
    """Where the Hub is, as whom it is asked, and where answers are kept (None: nowhere)."""

    endpoint: str = HUB
    token: str = field(default="", repr=False)
    cache_folder: Path | None = None
    box: timedelta = BOX


@dataclass(slots=True)
class HubClient:
    """Fulfils the ``ModelHub`` port. Time that was spent is spent, whatever page it went to."""

    settings: HubSettings
    now: Callable[[], datetime]
    _spent: timedelta = timedelta(0)
    _seen: dict[tuple[str, ...], HubFields | Unanswered] = field(default_factory=dict)

    def anonymous(self) -> HubClient:
        """Return the Hub as a stranger sees it: whoever picks the ids must not learn what only the token's owner may."""
        return HubClient(replace(self.settings, token=""), self.now)  # the very absence of one  # nosec B106

    def read(self, model_id: str, page: HubPage) -> HubFields | Unanswered:
        """Return the JSON object of a page, or why there is none."""
        settings = self.settings
        if not is_hub_id(model_id):
            return Unanswered("this is no id of the Hub", is_final=True)
        problem = address_problem(settings.endpoint, is_secret_sent=bool(settings.token))
        if problem is not None:
            return Unanswered(problem)
        # What a token may read is kept apart from what everybody may.
        owner = hashlib.sha256(settings.token.encode()).hexdigest() if settings.token else ""
        key = (settings.endpoint, owner, model_id, page.name)
        if key not in self._seen:
            self._seen[key] = self._through_cache(key, model_id, page)
        return self._seen[key]

    def _through_cache(self, key: tuple[str, ...], model_id: str, page: HubPage) -> HubFields | Unanswered:
        cache = HubCache(self.settings.cache_folder)
        kept = cache.read(key)
        if kept is not None and kept.is_fresh(self.now()):
            return kept.fields
        reply = self._ask(model_id, page, kept.entity_tag if kept else "")
        if isinstance(reply, Unanswered):
            return reply if kept is None or reply.is_final else kept.fields
        if reply.status == 304 and kept is not None:
            cache.write(key, replace(kept, at=self.now()))
            return kept.fields
        fields = as_json(reply.body)
        if not isinstance(fields, dict):
            return kept.fields if kept else Unanswered("its answer is no JSON object")
        cache.write(key, Kept(fields, reply.headers.get("etag", ""), self.now()))
        return fields

    def _ask(self, model_id: str, page: HubPage, entity_tag: str) -> Reply | Unanswered:
        """Return 200 or 304, or why there is neither."""
        settings = self.settings
        left = settings.box - self._spent
        if left <= timedelta(0):
            return Unanswered(f"the {settings.box.total_seconds():.0f} s for look-ups are over")
        begun = self.now()
        ask = Ask(
            "GET",
            settings.endpoint.rstrip("/") + _PATHS[page].format(id=quote(model_id, safe="/")),
            headers={"Accept": "application/json", **({"If-None-Match": entity_tag} if entity_tag else {})},
            secret_headers={"Authorization": f"Bearer {settings.token}"} if settings.token else {},
            may_visit=self._may_visit,
        )
        reply = exchange(ask, left, self.now)
        self._spent += max(self.now() - begun, timedelta(0))
        if isinstance(reply, Unanswered) or reply.status in (200, 304):
            return reply
        return _refusal(reply)

    def _may_visit(self, url: str) -> bool:
        """Whether a redirect leads to the same host, or from one of the Hub's hosts to another, and stays encrypted."""
        home, there = urlsplit(self.settings.endpoint), urlsplit(url)
        if there.scheme != home.scheme or there.username is not None:
            return False
        return there.netloc == home.netloc or (_is_family(home.hostname) and _is_family(there.hostname))


def _is_family(host: str | None) -> bool:
    return any(host == name or (host or "").endswith(f".{name}") for name in _FAMILY)


def _refusal(reply: Reply) -> Unanswered:
    code = reply.headers.get("x-error-code", "")
    if reply.status in (401, 403):
        if code == "GatedRepo":
            return Unanswered("it lies behind a gate", is_final=True)
        return Unanswered("there is no such model, or it is private", is_final=True)
    if reply.status == 404:
        return Unanswered("there is no such page", is_final=True)
    if reply.status == 429:
        return Unanswered("it takes no more requests from here for now")
    return Unanswered(f"it answered with status {reply.status}")
