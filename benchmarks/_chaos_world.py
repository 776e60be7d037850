"""The world around the processes that `chaos.py` kills: a provider whose machines come late, comments, and who is cut off.

It lives in a process of its own, so that nothing that is killed takes it along, and answers JSON over HTTP on the loopback.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

FAULTS = 0.04
"""Which part of the requests is refused, or done and not answered, while that is the harm of a round."""

MISSED_CANCELS = 0.3
"""How often a request that is cancelled, or whose asker is gone, has reached the provider already: its machine comes late."""


@dataclass
class Order:
    """A machine that was asked for and is not there yet."""

    name: str
    run_id: str
    due: float
    jumped: float
    is_late: bool = False


@dataclass
class World:
    """All state; every operation holds the lock."""

    random: random.Random
    scale: float
    lock: threading.RLock = field(default_factory=threading.RLock)
    machines: dict[str, dict[str, Any]] = field(default_factory=dict)
    orders: list[Order] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    harms: dict[str, str] = field(default_factory=dict)
    harmed: Counter[str] = field(default_factory=Counter)
    protected: set[str] = field(default_factory=set)
    doubles: list[str] = field(default_factory=list)
    live_killed: list[str] = field(default_factory=list)
    late: int = 0
    calls: int = 0
    serial: int = 0

    def ask(self, op: str, run_id: str, given: dict[str, Any]) -> Any:
        """Do one operation, or fail before or after it."""
        with self.lock:
            self.calls += 1
            self._grant()
            harm = self.harms.get(run_id, "")
            if harm != "cut" and self.random.random() >= FAULTS:
                harm = ""
            self.harmed[harm] += 1
            if harm == "cut":
                raise ConnectionError("the network is cut")
            if harm == "faults":
                raise ConnectionError("no answer, and nothing happened")
            answer = getattr(self, f"_{op}")(run_id, **given)
            if harm == "lost":
                raise ConnectionError("it happened, and the answer is lost")
            return answer

    # --- the provider ---------------------------------------------------------------------------------------
    def _grant(self) -> None:
        now = time.monotonic()
        for order in [order for order in self.orders if order.due <= now]:
            self.orders.remove(order)
            self.late += order.is_late
            if order.name in self.machines:
                self.doubles.append(order.name)
            self.serial += 1
            created = {"created": time.time(), "jumped": order.jumped}
            self.machines[order.name] = {"id": self.serial, "run_id": order.run_id, **created}

    def _order(self, run_id: str, name: str, boot_seconds: float, jumped: float) -> None:
        self.orders.append(Order(name, run_id, time.monotonic() + boot_seconds / self.scale, jumped))

    def _arrived(self, run_id: str, name: str) -> bool:
        return name in self.machines and all(order.name != name for order in self.orders)

    def _cancel(self, run_id: str) -> None:
        for order in [order for order in self.orders if order.run_id == run_id and not order.is_late]:
            if self.random.random() < MISSED_CANCELS:
                order.is_late = True
                order.due = time.monotonic() + self.random.uniform(1, 240) / self.scale
            else:
                self.orders.remove(order)

    def _teardown(self, run_id: str, name: str) -> None:
        gone = self.machines.pop(name, None)
        if gone is not None and name in self.protected:
            self.live_killed.append(name)

    def _machines(self, run_id: str, prefix: str) -> list[dict[str, Any]]:
        return [{"name": name, **machine} for name, machine in self.machines.items() if name.startswith(prefix)]

    # --- GitHub ---------------------------------------------------------------------------------------------
    def _post(self, run_id: str, number: int, body: str) -> int:
        same = next((c for c in self.comments if c["number"] == number and c["body"] == body), None)
        if same is None:
            same = {"id": len(self.comments) + 1, "number": number, "body": body}
            self.comments.append(same)
        return int(same["id"])

    def _edit(self, run_id: str, comment_id: int, body: str) -> None:
        self.comments[comment_id - 1]["body"] = body

    def _find(self, run_id: str, number: int) -> list[dict[str, Any]]:
        return [comment for comment in self.comments if comment["number"] == number]

    # --- chaos ----------------------------------------------------------------------------------------------
    def _harm(self, run_id: str, victim: str, harm: str) -> None:
        self.harms[victim] = harm

    def _protect(self, run_id: str, name: str) -> None:
        self.protected.add(name)

    def _state(self, run_id: str) -> dict[str, Any]:
        return {
            "machines": sorted(self.machines),
            "orders": len(self.orders),
            "doubles": self.doubles,
            "live_killed": self.live_killed,
            "late": self.late,
            "calls": self.calls,
            "harmed": {harm: count for harm, count in sorted(self.harmed.items()) if harm},
            "comments": self.comments,
        }


def serve(pipe: Connection, seed: int, scale: float) -> None:
    """Serve a world; the port goes through the pipe."""
    world = World(random.Random(seed), scale)  # repeatable dice  # nosec B311

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                status, answer = 200, world.ask(asked["op"], asked["run_id"], asked["given"])
            except ConnectionError as error:
                status, answer = 503, str(error)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            return

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing: who asked was killed."""

    server = Server(("127.0.0.1", 0), Handler)
    pipe.send(server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with contextlib.suppress(EOFError):
        pipe.recv()  # nothing comes; it ends with who started it, however that went


@dataclass(frozen=True, slots=True)
class Line:
    """How one process asks the world; raises ConnectionError where it does not answer."""

    port: int
    run_id: str

    def ask(self, op: str, **given: Any) -> Any:
        """Return the answer of one operation."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", "/", json.dumps({"op": op, "run_id": self.run_id, "given": given}))
            reply = connection.getresponse()
            answer = json.loads(reply.read())
        except OSError as error:
            raise ConnectionError(str(error)) from None
        finally:
            connection.close()
        if reply.status != 200:
            raise ConnectionError(str(answer))
        return answer
