"""One HTTP exchange in a box: so many seconds altogether, so many bytes, and no host that was not agreed on.

httpx's own timeouts are per read: a server that sends a byte now and then, or a resolver that does not answer, is
waited for without end. So the exchange runs in a thread of its own, which is left behind when the time is over.
"""

from __future__ import annotations

import ipaddress
import json
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gpu_lol_action.domain.lookup import Unanswered

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 1024 * 1024
MAX_REDIRECTS = 4
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. ``secret_headers`` go to the host of ``url`` alone; ``may_visit`` judges where a redirect leads.

    ``max_bytes`` bounds what is received and, with ``is_packed_taken``, what gzip makes of it.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    secret_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = None
    may_visit: Callable[[str], bool] = field(default=lambda _url: False)
    max_bytes: int = MAX_BYTES
    is_packed_taken: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, whatever its status; header names are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange(ask: Ask, box: timedelta, now: Callable[[], datetime]) -> Reply | Unanswered:
    """Return what the far side says within the box; afterwards nothing of it is waited for."""
    until = now() + box
    results: list[Reply | Unanswered] = []

    def work() -> None:
        results.append(_converse(ask, until, now))

    # A daemon: a thread that hangs in the resolver must not keep the interpreter from ending.
    thread = threading.Thread(target=work, name="gpu-lol-exchange", daemon=True)
    thread.start()
    thread.join(max(box.total_seconds(), 0))
    return results[0] if results else _late(box)


def as_json(body: bytes) -> Any:
    """Return the value that JSON writes; None where it is none, or nested so deep that reading it would not end well."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def is_loopback(url: str) -> bool:
    """Whether a URL names this very machine: what is sent there crosses no network."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_problem(url: str, *, is_secret_sent: bool) -> str | None:
    """Return what is wrong with an address that a setting names, without repeating it; None where it will do."""
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return "its address is none"
    if parts.scheme not in {"http", "https"} or not parts.hostname or not has_port or not url.isprintable():
        return "its address is no http or https URL"
    if parts.username is not None or parts.password is not None:
        return "its address holds a name or password, which would turn up in logs"
    if is_secret_sent and parts.scheme == "http" and not is_loopback(url):
        return "its key would cross the network unencrypted: the address needs https"
    return None


def _late(box: timedelta) -> Unanswered:
    return Unanswered(f"it did not answer within {box.total_seconds():.0f} s")


def _converse(ask: Ask, until: datetime, now: Callable[[], datetime]) -> Reply | Unanswered:
    import httpx

    box = until - now()
    seconds = max(box.total_seconds(), 0.05)
    try:
        # One client for all hops; httpx unpacks nothing on the way, or its size could not be bounded. The environment's
        # proxy is used, but not for this machine: a key for it may be sent in the clear, and would leave it.
        headers = {"Accept-Encoding": "gzip" if ask.is_packed_taken else "identity", "User-Agent": "gpu-lol"}
        with httpx.Client(timeout=seconds, headers=headers, trust_env=not is_loopback(ask.url)) as client:
            url = httpx.URL(ask.url)
            for _ in range(MAX_REDIRECTS + 1):
                answer = _one(client, ask, url, until, now)
                if isinstance(answer, Unanswered):
                    return answer
                target = _target(answer, url)
                if target is None:
                    return answer
                if not ask.may_visit(str(target)):
                    return Unanswered("it redirects to another host, which is not asked")
                url = target
            return Unanswered("it redirects in a circle")
    except httpx.TimeoutException:
        return _late(box)
    except httpx.HTTPError as error:
        return Unanswered(_why(error))
    except (httpx.InvalidURL, ValueError, OSError, UnicodeError):
        return Unanswered("its address cannot be asked")


def _one(
    client: httpx.Client, ask: Ask, url: httpx.URL, until: datetime, now: Callable[[], datetime]
) -> Reply | Unanswered:
    """One hop. The secret stays at home: another host, port or scheme does not see it."""
    import httpx

    home = httpx.URL(ask.url)
    is_home = (url.scheme, url.host, url.port) == (home.scheme, home.host, home.port)
    headers = {**ask.headers, **(ask.secret_headers if is_home else {})}
    with client.stream(ask.method, url, headers=headers, content=ask.body) as answer:
        received = bytearray()
        for chunk in answer.iter_raw(_CHUNK):
            received += chunk
            if len(received) > ask.max_bytes:
                return _too_long(ask)
            if now() > until:
                return Unanswered("its answer did not come to an end in time")
        known = {name.lower(): value for name, value in answer.headers.items()}
        packing = known.get("content-encoding", "identity")
        if packing == "gzip" and ask.is_packed_taken:
            body = _unpacked(bytes(received), ask)
            return body if isinstance(body, Unanswered) else Reply(answer.status_code, known, body)
        if packing != "identity":
            return Unanswered("its answer is packed though that was not asked for")
        return Reply(answer.status_code, known, bytes(received))


def _unpacked(packed: bytes, ask: Ask) -> bytes | Unanswered:
    """Return what gzip packed, as far as it may go: a few bytes can unpack to more than fits into memory."""
    unpacking = zlib.decompressobj(wbits=31)  # gzip's own header and checksum
    try:
        body = unpacking.decompress(packed, ask.max_bytes + 1)
    except zlib.error:
        return Unanswered("its answer cannot be unpacked")
    if len(body) > ask.max_bytes:
        return _too_long(ask)
    return body if unpacking.eof else Unanswered("its answer breaks off")


def _too_long(ask: Ask) -> Unanswered:
    return Unanswered(f"its answer is longer than {ask.max_bytes // 1024} KB")


def _target(answer: Reply, url: httpx.URL) -> httpx.URL | None:
    place = answer.headers.get("location")
    if answer.status not in _REDIRECTS or not place:
        return None
    return url.join(place)


def _why(error: Exception) -> str:
    """Return the kind of a failure; a library's own words may hold the address, and with it what was put there."""
    import ssl

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return "its certificate or encryption could not be trusted"
        cause = cause.__cause__ or cause.__context__
    return "it could not be reached"
