"""The network of one step in `chaos.py --real`: GitHub and the provider behind it, which can fail, lose answers, or be gone.

Two reverse proxies on the loopback stand between the step and the stand-ins; what leads back to an origin in an answer leads
to its proxy instead, so that no request finds a way around. A machine's own ports are not behind them: SSH goes on.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import random
import threading
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

SHARE = 0.1
"""Which part of the requests goes wrong while faults or lost answers are the harm."""

_HOP = frozenset({"connection", "host", "keep-alive", "transfer-encoding", "content-length", "accept-encoding"})
_MAX_DELAY_SECONDS = 6.0


@dataclass
class Network:
    """What happens to requests: nothing, ``cut`` (no answer any more), ``faults`` (refused), ``lost`` (done, not answered).

    ``delivered`` counts what was done to requests, by harm.
    """

    dice: random.Random
    harm: str = ""
    delivered: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fate(self) -> str:
        """Return what becomes of the next request: "" for nothing, else the harm, which is counted."""
        with self._lock:
            is_hit = self.harm == "cut" or (self.harm in ("faults", "lost") and self.dice.random() < SHARE)
            self.delivered[self.harm] += is_hit
            return self.harm if is_hit else ""

    def delay(self) -> float:
        """Return for how many seconds an answer that gets lost is on its way: what it was about happens meanwhile."""
        with self._lock:
            return self.dice.uniform(0, _MAX_DELAY_SECONDS)


@contextlib.contextmanager
def between(network: Network, origin: str) -> Iterator[str]:
    """Serve ``origin`` through the network; yield the address that stands for it, with the same path."""
    address = urllib.parse.urlsplit(origin)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.daemon_threads = True
    there = f"{address.hostname}:{address.port}"
    here = f"127.0.0.1:{server.server_address[1]}"
    server.RequestHandlerClass = _handler(network, there, here)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield origin.replace(there, here)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(network: Network, there: str, here: str) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            return

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fate = network.fate()
            if fate == "cut":
                self.close_connection = True
                return
            if fate == "faults":
                self._answer(502, [("Content-Type", "application/json")], b'{"message": "Server Error"}')
                return
            status, headers, answer = self._ask(body)
            if fate == "lost":
                # Nobody waits here: the answer is lost after the deed, and the connection with it.
                threading.Event().wait(network.delay())
                self.close_connection = True
                return
            self._answer(status, headers, answer)

        def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            connection = http.client.HTTPConnection(there, timeout=120)
            try:
                asked = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
                connection.request(self.command, self.path, body or None, {**asked, "Host": there})
                reply = connection.getresponse()
                answer = reply.read()
                kept = [(name, value) for name, value in reply.getheaders() if name.lower() not in _HOP]
            finally:
                connection.close()
            if "json" in (reply.getheader("Content-Type") or ""):
                answer = answer.replace(there.encode(), here.encode())
            return reply.status, [(name, value.replace(there, here)) for name, value in kept], answer

        def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            with contextlib.suppress(OSError):  # who asked may be dead by now
                self.send_response_only(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.pass_on)
    return Handler
