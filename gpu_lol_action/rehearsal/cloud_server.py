"""The loopback cloud's HTTP: GraphQL for clients, ``/_lab`` for tests and people."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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


def run_graphql(account: Account, house: PodHouse, caller: str, text: str, variables: Mapping[str, object]) -> dict[str, object]:
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
            "pods": lambda: [{**show_pod(pod), "dockerArgs": None, "createdAt": pod.created_at} for pod in account.pods.values()],
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
                account.faults.append(Fault(**body))  # type: ignore[arg-type] -- a test's own JSON; a wrong key raises TypeError
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


def build_handler(account: Account, house: PodHouse) -> type[BaseHTTPRequestHandler]:
    """Return the request handler for this account."""
    lab = Lab(account, house)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it so
            """Say nothing on stderr; calls are kept in the account."""

        def _reply(self, status: int, answer: object) -> None:
            body = json.dumps(answer, default=str).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _body(self) -> bytes:
            size = int(self.headers.get("Content-Length") or 0)
            return self.rfile.read(min(size, _MAX_BODY))

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path.startswith("/_lab/"):
                try:
                    self._reply(200, lab.get(path.removeprefix("/_lab/")))
                except KeyError:
                    self._reply(404, {"error": f"no such page: {path}"})
                return
            account.note_unexpected(f"GET {path}")
            self._reply(404, {"error": "not served by the loopback cloud"})

        def do_POST(self) -> None:
            raw, path = self._body(), self.path.partition("?")[0]
            if path.startswith("/_lab/"):
                try:
                    self._reply(200, lab.post(path.removeprefix("/_lab/"), json.loads(raw or b"{}")))
                except (KeyError, TypeError, ValueError) as problem:
                    self._reply(400, {"error": repr(problem)})
            elif path == "/graphql":
                self._graphql(raw)
            else:
                account.note_unexpected(f"POST {path}")
                self._reply(404, {"error": "not served by the loopback cloud"})

        def _graphql(self, raw: bytes) -> None:
            began = time.monotonic()
            caller = account.owner_of((self.headers.get("Authorization") or "").removeprefix("Bearer ").strip())
            if caller is None:
                account.log({"op": "unauthorized", "at": datetime.now(timezone.utc), "from": self.client_address[0]})
                self._reply(401, {"errors": [{"message": "Unauthorized"}]})
                return
            status, text = 200, ""
            try:
                document = json.loads(raw)
                text = str(document["query"])
                answer: dict[str, object] = {"data": run_graphql(account, house, caller, text, document.get("variables") or {})}
            except (Unexpected, GraphqlError, KeyError, ValueError, TypeError) as problem:
                account.note_unexpected(f"{problem}: {' '.join(text.split())[:300]}")
                answer = {"errors": [{"message": str(problem)}], "data": None}
            except Refused as problem:
                status = getattr(problem, "status", 200)
                answer = {"errors": [{"message": str(problem)}], "data": None}
            account.log(
                {
                    "op": _first_field(text),
                    "at": datetime.now(timezone.utc),
                    "from": self.client_address[0],
                    "caller": caller,
                    "milliseconds": round((time.monotonic() - began) * 1000),
                    "query": " ".join(text.split())[:1500],
                    "answer": json.dumps(answer, default=str)[:600],
                }
            )
            self._reply(status, answer)

    return Handler


def _first_field(text: str) -> str:
    try:
        return parse_operation(text).fields[0].name
    except GraphqlError:
        return "unreadable"


def open_servers(account: Account, house_of: Callable[[int], PodHouse], hosts: tuple[str, ...], port: int) -> list[ThreadingHTTPServer]:
    """Listen on each host at one port (0: a free one) and return the servers; ``house_of`` is told the port."""
    first = ThreadingHTTPServer((hosts[0], port), BaseHTTPRequestHandler)
    chosen = int(first.server_address[1])
    handler = build_handler(account, house_of(chosen))
    first.RequestHandlerClass = handler
    return [first, *(ThreadingHTTPServer((host, chosen), handler) for host in hosts[1:])]
