"""The loopback cloud's HTTP: GraphQL for clients, ``/_lab`` for tests and people."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gpu_lol_action.rehearsal.cloud_account import Account, Fault
from gpu_lol_action.rehearsal.cloud_answers import MUTATIONS, QUERIES, Call, Refused, Unexpected, show_pod
from gpu_lol_action.rehearsal.cloud_graphql import GraphqlError, Operation, parse_operation, project
from gpu_lol_action.rehearsal.cloud_pods import PodHouse

ABOUT = {
    "what": "a loopback RunPod for rehearsals: real HTTP, real machines as sandboxes of this host, no account, no money",
    "only_a_real_cloud_has": [
        "GPUs: nvidia-smi and torch in a pod are stand-ins that say so",
        "capacity that runs out by itself, quotas and balances: faults are queued by POST /_lab/fault",
        "RunPod's exact validation of inputs, and its words for most refusals",
        "prices of today: they are the bundled snapshot; spot costs what on-demand costs, and is never taken away",
        "a network between clouds, public addresses: pods are reached on ports of 127.0.0.1",
        "the container image that was asked for: every pod runs one Debian or Ubuntu image with SkyPilot's runtime in it",
        "the exact scope of the key that RunPod gives a pod: here it sees and ends that pod only",
        "registries, network volumes, stop with resume, the REST API",
    ],
}
_MAX_BODY = 4 * 1024 * 1024


def run_graphql(
    account: Account, house: PodHouse, caller: str, text: str, variables: Mapping[str, object]
) -> dict[str, object]:
    """Answer a GraphQL document; raises Refused, Unexpected or GraphqlError."""
    operation = parse_operation(text, variables)
    data: dict[str, object] = {}
    for field in operation.fields:
        call = Call(account, house, caller, field)
        answer = _answer(operation, call)
        data[field.alias] = project(answer, field.selection, field.name)
    return data


def _answer(operation: Operation, call: Call) -> object:
    table = MUTATIONS if operation.kind == "mutation" else QUERIES
    name = call.field.name
    if name not in table:
        raise Unexpected(f'Cannot query field "{name}" on type "{operation.kind.title()}".')
    fault = call.account.take_fault(name, call.input)
    if fault is not None:
        time.sleep(fault.delay_seconds)
        if fault.message:
            raise _Faulted(fault)
    return table[name](call)


class _Faulted(Refused):
    """A queued fault, with its HTTP status."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.status = fault.status


def read_fault(body: Mapping[str, Any]) -> Fault:
    """Return the fault that a test asks for; raises TypeError for a key that a fault does not have."""
    return Fault(**body)


class Lab:
    """The control side: what tests and people ask and do."""

    def __init__(self, account: Account, house: PodHouse) -> None:
        """Keep what is controlled."""
        self._account, self._house = account, house

    def get(self, path: str) -> object:
        """Answer ``GET /_lab/<path>``; raises KeyError for a page that is not there."""
        account = self._account
        pages: dict[str, Callable[[], object]] = {
            "about": lambda: ABOUT,
            "health": lambda: {"ok": True},
            "pods": lambda: [
                {**show_pod(pod), "dockerArgs": None, "createdAt": pod.created_at} for pod in account.pods.values()
            ],
            "bills": lambda: [dataclasses.asdict(bill) for bill in account.bills],
            "calls": lambda: list(account.calls),
            "faults": lambda: [dataclasses.asdict(fault) for fault in account.faults],
            "unexpected": lambda: list(account.unexpected),
        }
        page = pages[path]
        with account.lock:
            return page()

    def post(self, path: str, body: dict[str, object]) -> object:
        """Act on ``POST /_lab/<path>``; raises KeyError for an action or a pod that is not there, TypeError for a bad body."""
        account = self._account
        if path == "fault":
            with account.lock:
                account.faults.append(read_fault(body))
            return {"queued": len(account.faults)}
        if path == "clear":
            with account.lock:
                account.faults.clear()
                account.stand_in.clear()
            return {}
        if path == "stand_in":
            with account.lock:
                account.stand_in.update(body)
            return account.stand_in
        pod = account.pods[str(body["id"])]
        if path == "kill":
            self._house.end(pod, "lost by its host")
        elif path == "stop":
            self._house.stop(pod)
        else:
            raise KeyError(path)
        return {}


class Front:
    """Turns a request into a status and an answer; knows the account and no socket."""

    def __init__(self, account: Account, house: PodHouse) -> None:
        """Keep whom requests are about."""
        self._account, self._house, self._lab = account, house, Lab(account, house)

    def get(self, path: str) -> tuple[int, object]:
        """Answer a GET."""
        if not path.startswith("/_lab/"):
            self._account.note_unexpected(f"GET {path}")
            return 404, {"error": "not served by the loopback cloud"}
        try:
            return 200, self._lab.get(path.removeprefix("/_lab/"))
        except KeyError:
            return 404, {"error": f"no such page: {path}"}

    def post(self, path: str, raw: bytes, key: str, sender: str) -> tuple[int, object]:
        """Answer a POST that came with this API key from this address."""
        if path == "/graphql":
            return self._graphql(raw, key, sender)
        if not path.startswith("/_lab/"):
            self._account.note_unexpected(f"POST {path}")
            return 404, {"error": "not served by the loopback cloud"}
        try:
            return 200, self._lab.post(path.removeprefix("/_lab/"), json.loads(raw or b"{}"))
        except (KeyError, TypeError, ValueError) as problem:
            return 400, {"error": repr(problem)}

    def _graphql(self, raw: bytes, key: str, sender: str) -> tuple[int, object]:
        began = time.monotonic()
        entry: dict[str, object] = {"at": datetime.now(timezone.utc), "from": sender}
        caller = self._account.owner_of(key)
        if caller is None:
            self._account.log({**entry, "op": "unauthorized"})
            return 401, {"errors": [{"message": "Unauthorized"}]}
        status, text, answer = self._run(raw, caller)
        self._account.log(
            {
                **entry,
                "op": _first_field(text),
                "caller": caller,
                "milliseconds": round((time.monotonic() - began) * 1000),
                "query": " ".join(text.split())[:1500],
                "answer": json.dumps(answer, default=str)[:600],
            }
        )
        return status, answer

    def _run(self, raw: bytes, caller: str) -> tuple[int, str, dict[str, object]]:
        text = ""
        try:
            document = json.loads(raw)
            text = str(document["query"])
            return (
                200,
                text,
                {"data": run_graphql(self._account, self._house, caller, text, document.get("variables") or {})},
            )
        except _Faulted as problem:
            return problem.status, text, _errors(problem)
        except (Unexpected, GraphqlError, KeyError, ValueError, TypeError) as problem:
            self._account.note_unexpected(f"{problem}: {' '.join(text.split())[:300]}")
            return 200, text, _errors(problem)
        except Refused as problem:
            return 200, text, _errors(problem)


def _errors(problem: Exception) -> dict[str, object]:
    return {"errors": [{"message": str(problem)}], "data": None}


def build_handler(account: Account, house: PodHouse) -> type[BaseHTTPRequestHandler]:
    """Return the request handler for this account."""
    front = Front(account, house)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it so
            """Say nothing on stderr; calls are kept in the account."""

        def _reply(self, status: int, answer: object) -> None:
            body = json.dumps(answer, default=str).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self._reply(*front.get(self.path.partition("?")[0]))

        def do_POST(self) -> None:
            raw = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MAX_BODY))
            key = (self.headers.get("Authorization") or "").removeprefix("Bearer ").strip()
            self._reply(*front.post(self.path.partition("?")[0], raw, key, str(self.client_address[0])))

    return Handler


def _first_field(text: str) -> str:
    try:
        return parse_operation(text).fields[0].name
    except GraphqlError:
        return "unreadable"


def open_servers(
    account: Account, house_of: Callable[[int], PodHouse], hosts: tuple[str, ...], port: int
) -> list[ThreadingHTTPServer]:
    """Listen on each host at one port (0: a free one) and return the servers; ``house_of`` is told the port."""
    first = ThreadingHTTPServer((hosts[0], port), BaseHTTPRequestHandler)
    chosen = int(first.server_address[1])
    handler = build_handler(account, house_of(chosen))
    first.RequestHandlerClass = handler
    return [first, *(ThreadingHTTPServer((host, chosen), handler) for host in hosts[1:])]
