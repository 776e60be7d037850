"""Models that a program only names to somebody's service: none of them lies on the machine.

A request names its model beside its messages (``client.chat.completions.create(model=..., messages=...)``), a client's
configuration beside the service's address or key (``{"model": ..., "base_url": ...}``). A service on the machine itself is
another matter: there the model does lie on it.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.domain.patterns import regex

MODEL_WORDS = frozenset({"model", "model_name", "model_id"})
_ADDRESSES = frozenset({"base_url", "api_base", "api_type", "api_key", "api_version", "azure_endpoint"})
_REQUEST = regex(r"(?:completions?|responses|embeddings)\.(?:create|parse|stream)$|(?:^|\.)a?completion$")
# A server on the run's own machine, or in its own network, serves what the run's cards hold.
_HERE = regex(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|//10\.\d{1,3}|//192\.168)\b")
NEAR = 8
"""Lines between a model's name and the address of its service in one dictionary."""

# What sends a request by hand: `requests.post(url, json={"model": ..., "messages": ...})`, a cloud's own client.
_SENDERS = (
    "requests.post",
    "requests.request",
    "session.post",
    "httpx",
    "aiohttp",
    "urllib",
    "http.client",
    "cloud.common",
)
_PAYLOAD = regex(r"[\"'][Mm]essages[\"']\s{0,4}:")
_FAR = "https://"


@remembered
def asks_elsewhere(source: Source) -> bool:
    """Whether a program may ask a service, and names none on the machine itself: a look at its text."""
    is_client = any(source.mentions(word) for word in ("completion", "responses", "embeddings", *sorted(_ADDRESSES)))
    return is_client and _HERE.search(source.text) is None


def is_request(call: Call) -> bool:
    """Whether a call names its model to a service: it is one's request, or it is given the service's address or key."""
    return _REQUEST.search(call.name) is not None or any(key in _ADDRESSES for key, _ in call.keywords)


@remembered
def lines_of_services(source: Source) -> frozenset[int]:
    """Return the lines around entries that say a service's address, or hold what is sent to one: a model's name there is the service's."""
    said: set[int] = set()
    if source.code is not None and asks_elsewhere(source):
        said |= {item.line for item in source.code.defaults if item.name in _ADDRESSES}
    if _may_send(source) and not _HERE.search(source.text):
        said |= {number for number, line in enumerate(source.text.split("\n"), 1) if _PAYLOAD.search(line)}
    return frozenset(line for start in said for line in range(start - NEAR, start + NEAR + 1))


def _may_send(source: Source) -> bool:
    """Whether a program may send messages by hand: a first look at its text."""
    return source.mentions("essages") and any(source.mentions(word) for word in _SENDERS)


@remembered
def sends_by_hand(source: Source) -> bool:
    """Whether a program writes its messages to an address elsewhere with a plain client (``requests.post("https://…", json={"messages": …})``)."""
    if not (_may_send(source) and source.mentions(_FAR)) or source.code is None:
        return False
    return _PAYLOAD.search(source.text) is not None and not _HERE.search(source.text)
