"""The stand-in over real HTTP: GitHub's API on one port, its archive host on another.

Two ports, because to a client they are two hosts: a token sent to the second one is recorded as a leak.
"""

from __future__ import annotations

import hashlib
import http.server
import json
import socket
import threading
import traceback
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpu_lol_action.rehearsal import github_graphql
from gpu_lol_action.rehearsal.github_answers import Answer, Call, Refusal, Route, not_found, refuse
from gpu_lol_action.rehearsal.github_log import Fault, Journal, Seen
from gpu_lol_action.rehearsal.github_openapi import Description, Operation, Request, load_description
from gpu_lol_action.rehearsal.github_routes_checks import CHECK_ROUTES
from gpu_lol_action.rehearsal.github_routes_code import CODE_ROUTES
from gpu_lol_action.rehearsal.github_routes_git import GIT_ROUTES
from gpu_lol_action.rehearsal.github_routes_issues import ISSUE_ROUTES
from gpu_lol_action.rehearsal.github_routes_pulls import PULL_ROUTES
from gpu_lol_action.rehearsal.github_routes_reviews import REVIEW_ROUTES
from gpu_lol_action.rehearsal.github_routes_runs import RUN_ROUTES
from gpu_lol_action.rehearsal.github_state import Repository, Token, World

ROUTES: Mapping[str, Route] = {
    **PULL_ROUTES,
    **REVIEW_ROUTES,
    **ISSUE_ROUTES,
    **GIT_ROUTES,
    **CODE_ROUTES,
    **CHECK_ROUTES,
    **RUN_ROUTES,
}
_MAX_BODY = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as it came off the wire."""

    method: str
    target: str
    authorization: str
    if_none_match: str
    body: bytes


class Api:
    """Answers API requests: who asks, what for, is it allowed, is it well-formed, then the route."""

    def __init__(self, world: World, journal: Journal, prefix: str) -> None:
        self._world = world
        self._journal = journal
        self._prefix = prefix
        self._description: Description = load_description()

    def answer(self, incoming: Incoming) -> Answer | None:
        """The answer, or None where a queued fault closes the connection instead."""
        split = urllib.parse.urlsplit(incoming.target)
        with self._world.lock:
            if split.path == self._prefix.removesuffix("/v3") + "/graphql":
                return self._graphql(incoming)
            path = self._canonical(split.path.removeprefix(self._prefix))
            found = self._description.match(incoming.method, path)
            if found is None:
                self._journal.unknown_routes.append(f"unknown route: {incoming.method} {split.path}")
                return self._seen(incoming, path, "unknown", "", refuse(501, "The stand-in has no such route").answer)
            operation, parameters = found
            token = self._world.tokens.get(incoming.authorization.partition(" ")[2])
            login = token.account.login if token else ""
            fault = self._journal.take_fault(operation)
            if fault is not None and fault.mode == "before":
                return self._seen(incoming, path, operation.key, login, _faulty(fault))
            query = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
            request = Request(operation, parameters, query, incoming.body)
            answer = self._checked(incoming, path, request, token)
            if fault is not None:
                answer = _faulty(fault)
            return self._seen(incoming, path, operation.key, login, answer)

    def _graphql(self, incoming: Incoming) -> Answer | None:
        """GraphQL is not in the OpenAPI description: github_graphql.py knows the few questions."""
        token = self._world.tokens.get(incoming.authorization.partition(" ")[2])
        operation = Operation("POST", "/graphql", "graphql")
        login = token.account.login if token else ""
        fault = self._journal.take_fault(operation)
        if fault is not None:
            return self._seen(incoming, "/graphql", operation.key, login, _faulty(fault))
        try:
            query = json.loads(incoming.body)["query"]
            data = github_graphql.answer(self._world, self._admitted(incoming, token), query)
        except Refusal as refusal:
            return self._seen(incoming, "/graphql", operation.key, login, refusal.answer)
        if data is None:
            self._journal.unknown_routes.append(f"unknown GraphQL question: {query[:200]}")
            data = {"errors": [{"message": "The stand-in does not know this question"}]}
            return self._seen(incoming, "/graphql", operation.key, login, Answer(200, data))
        return self._seen(incoming, "/graphql", operation.key, login, Answer(200, {"data": data}))

    def _canonical(self, path: str) -> str:
        """GitHub's own links name repositories by id: /repositories/740583231/issues."""
        head, _, rest = path.removeprefix("/repositories/").partition("/")
        if path.startswith("/repositories/") and head.isdigit():
            home = self._world.repository_by_id(int(head))
            return f"/repos/{home.full_name}/{rest}" if home else path
        return path

    def _checked(self, incoming: Incoming, path: str, request: Request, token: Token | None) -> Answer:
        try:
            answer = self._routed(path, request, self._admitted(incoming, token))
        except Refusal as refusal:
            answer = refusal.answer
        except Exception:  # noqa: BLE001 - a fault of the stand-in must show in the story, not only in a thread
            self._journal.bad_responses.append(f"{request.operation.key} crashed: {traceback.format_exc()}")
            answer = refuse(500, "The stand-in crashed").answer
        raw = b"" if answer.body is None else json.dumps(answer.body).encode()
        for problem in self._description.response_problems(request, answer.status, raw):
            self._journal.bad_responses.append(f"bad answer to {request.operation.key}: {answer.status}: {problem}")
        if token is not None:
            answer = self._with_limits(incoming, token, answer, raw)
        return answer

    def _admitted(self, incoming: Incoming, token: Token | None) -> Token:
        if not incoming.authorization:
            raise refuse(401, "Requires authentication")
        if token is None:
            raise refuse(401, "Bad credentials")
        if self._world.requests_left(token) == 0 and not incoming.target.endswith("/rate_limit"):
            raise refuse(403, f"API rate limit exceeded for user ID {token.account.account_id}.")
        return token

    def _routed(self, path: str, request: Request, token: Token) -> Answer:
        operation = request.operation
        route = ROUTES[operation.key]
        home = self._home(request.path_parameters, token)
        _check_permission(route, operation, token, home)
        problems = self._description.request_problems(request)
        # Its schema takes only an object, its prose (and PyGithub) a bare list: GitHub takes both.
        if operation.operation_id == "issues/add-labels" and request.body.startswith(b"["):
            problems = []
        if problems:
            self._journal.bad_requests.extend(f"bad request {operation.key}: {problem}" for problem in problems)
            raise refuse(422, "Invalid request.\n\n" + "; ".join(problems), [])
        call = Call(
            world=self._world,
            token=token,
            path=request.path_parameters,
            query=request.query,
            body=json.loads(request.body) if request.body else {},
            url=path,
            home=home,
        )
        return route.handler(call)

    def _home(self, parameters: Mapping[str, str], token: Token) -> Repository | None:
        if "repo" not in parameters:
            return None
        home = self._world.repositories.get(f"{parameters['owner']}/{parameters['repo']}".lower())
        # A private repository does not exist for those who may not read it.
        if home is None or (token.permissions is None and home.role_of(token.account) == "none"):
            raise not_found()
        return home

    def _with_limits(self, incoming: Incoming, token: Token, answer: Answer, raw: bytes) -> Answer:
        world = self._world
        etag = f'W/"{hashlib.sha256(raw).hexdigest()}"'
        is_fresh = incoming.method == "GET" and answer.status == 200 and incoming.if_none_match == etag
        if not is_fresh and not incoming.target.endswith("/rate_limit"):
            used = world.requests_used.get(token.account.login, 0)
            world.requests_used[token.account.login] = min(used + 1, world.request_limit(token))
        limit, left = world.request_limit(token), world.requests_left(token)
        headers = {
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Used": str(limit - left),
            "X-RateLimit-Reset": str(int(world.now().timestamp()) + 3600),
            "X-RateLimit-Resource": "core",
            **answer.headers,
        }
        if incoming.method == "GET" and answer.status == 200:
            headers["ETag"] = etag
        return Answer(304, None, headers) if is_fresh else Answer(answer.status, answer.body, headers)

    def _seen(self, incoming: Incoming, path: str, operation: str, login: str, answer: Answer) -> Answer | None:
        self._journal.requests.append(Seen(incoming.method, path, operation, login, answer.status))
        return answer if answer.status else None


def _check_permission(route: Route, operation: Operation, token: Token, home: Repository | None) -> None:
    """A workflow's token is refused what its `permissions:` do not name; a person, what the role does not allow."""
    is_write = operation.method not in ("GET", "HEAD")
    if home is None or "metadata" in route.needs:
        return
    if token.permissions is not None:
        granted = {token.permissions.get(name, "none") for name in route.needs}
        # Without any permission a token still reads what everybody may read.
        if "write" in granted or (not is_write and ("read" in granted or not home.is_private)):
            return
        raise refuse(403, "Resource not accessible by integration")
    role = home.role_of(token.account)
    is_conversation = "issues" in route.needs
    if is_write and role in ("none", "read", "triage") and not is_conversation:
        raise not_found()


def _faulty(fault: Fault) -> Answer:
    words = {502: "Server Error", 503: "Service unavailable", 500: "Server Error"}
    body = fault.body if fault.body is not None else {"message": words.get(fault.status, "Queued fault")}
    return Answer(fault.status, body, dict(fault.headers))


class ArchiveHost:
    """The other host that serves archives: it wants a ticket and must never see a token."""

    def __init__(self, world: World, journal: Journal) -> None:
        self._world = world
        self._journal = journal

    def answer(self, incoming: Incoming) -> Answer | None:
        """The archive for a ticket, once."""
        split = urllib.parse.urlsplit(incoming.target)
        ticket = dict(urllib.parse.parse_qsl(split.query)).get("token", "")
        with self._world.lock:
            if incoming.authorization:
                self._journal.bad_requests.append("the token was sent to the archive host")
            found = self._world.archive_tickets.pop(ticket, None)
            if found is None or "/legacy.tar.gz/" not in split.path:
                return Answer(404, b"404: Not Found")
            repository, sha = found
            prefix = f"{repository.owner.login}-{repository.name}-{sha[:7]}"
            content = repository.git.archive(sha, prefix)
        disposition = {"Content-Disposition": f"attachment; filename={prefix}.tar.gz"}
        return Answer(200, content, disposition)


def serve(answer: Callable[[Incoming], Answer | None], port: int = 0) -> http.server.ThreadingHTTPServer:
    """Start a loopback server in a thread of its own; the port is in `server_address`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Unbuffered writes and Nagle's algorithm together make every kept-alive answer take 44 ms.
        wbufsize = 65536
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing on stderr: the journal has it all."""

        def answer_any(self) -> None:
            """Answer any verb."""
            length = min(int(self.headers.get("Content-Length") or 0), _MAX_BODY)
            incoming = Incoming(
                method=self.command,
                target=self.path,
                authorization=self.headers.get("Authorization", ""),
                if_none_match=self.headers.get("If-None-Match", ""),
                body=self.rfile.read(length),
            )
            given = answer(incoming)
            if given is None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self._send(given)

        def _send(self, given: Answer) -> None:
            is_raw = isinstance(given.body, bytes)
            raw = given.body if is_raw else b"" if given.body is None else json.dumps(given.body).encode()
            self.send_response(given.status)
            if given.body is not None:
                kind = "application/x-gzip" if is_raw else "application/json; charset=utf-8"
                self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(raw)))
            for name, value in given.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)
            self.wfile.flush()

    for verb in ("GET", "POST", "PATCH", "PUT", "DELETE"):
        setattr(Handler, f"do_{verb}", Handler.answer_any)

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that went away is its own business; what a route raises is recorded by Api."""

    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server
