"""What the stand-in answers: GitHub's API on one port, its archive host on another.

Two ports, because to a client they are two hosts: a token sent to the second one is recorded as a leak.
"""

from __future__ import annotations

import email.utils
import hashlib
import json
import traceback
import urllib.parse
from collections.abc import Callable, Mapping
from datetime import timezone

from gpu_lol_action.rehearsal import github_graphql
from gpu_lol_action.rehearsal.github_answers import Answer, Call, Refusal, Route, not_found, refuse
from gpu_lol_action.rehearsal.github_http import Incoming
from gpu_lol_action.rehearsal.github_log import Journal, Seen
from gpu_lol_action.rehearsal.github_openapi import Description, Operation, Request, load_description
from gpu_lol_action.rehearsal.github_routes_checks import CHECK_ROUTES
from gpu_lol_action.rehearsal.github_routes_code import CODE_ROUTES
from gpu_lol_action.rehearsal.github_routes_git import GIT_ROUTES
from gpu_lol_action.rehearsal.github_routes_issues import ISSUE_ROUTES
from gpu_lol_action.rehearsal.github_routes_orgs import ORG_ROUTES
from gpu_lol_action.rehearsal.github_routes_pulls import PULL_ROUTES
from gpu_lol_action.rehearsal.github_routes_reviews import REVIEW_ROUTES
from gpu_lol_action.rehearsal.github_routes_runs import RUN_ROUTES
from gpu_lol_action.rehearsal.github_stale import Replica
from gpu_lol_action.rehearsal.github_state import Repository, Token, World

ROUTES: Mapping[str, Route] = {
    **PULL_ROUTES,
    **REVIEW_ROUTES,
    **ISSUE_ROUTES,
    **GIT_ROUTES,
    **CODE_ROUTES,
    **CHECK_ROUTES,
    **RUN_ROUTES,
    **ORG_ROUTES,
}
ARCHIVE = Operation("GET", "/archive", "archive")
"""The other host's one answer, as faults name it; it is no request to the API and is not counted as one."""


class Api:
    """Answers API requests: who asks, what for, is it allowed, is it well-formed, then the route."""

    def __init__(self, world: World, journal: Journal, prefix: str) -> None:
        self._world = world
        self._journal = journal
        self._prefix = prefix
        self._description: Description = load_description()
        self.replica = Replica(world)

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
            query = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
            request = Request(operation, parameters, query, incoming.body)
            is_read = operation.method == "GET"
            answer = self._faulted(operation, lambda: self._checked(incoming, path, request, token), is_read=is_read)
            return self._seen(incoming, path, operation.key, login, answer)

    def _graphql(self, incoming: Incoming) -> Answer | None:
        """GraphQL is not in the OpenAPI description: github_graphql.py knows the few questions."""
        token = self._world.tokens.get(incoming.authorization.partition(" ")[2])
        operation = Operation("POST", "/graphql", "graphql")
        login = token.account.login if token else ""
        is_read = not _is_change(incoming)
        answer = self._faulted(operation, lambda: self._graphql_answer(incoming, token), is_read=is_read)
        return self._seen(incoming, "/graphql", operation.key, login, answer)

    def _graphql_answer(self, incoming: Incoming, token: Token | None) -> Answer:
        try:
            asked = json.loads(incoming.body)
            query, variables = asked["query"], asked.get("variables") or {}
            admitted = self._admitted(incoming, token)
            if self._world.refuses_graphql:
                error = {"type": "FORBIDDEN", "message": "Resource not accessible by integration"}
                return Answer(200, {"data": None, "errors": [error]})
            body = github_graphql.answer(self._world, admitted, query, variables)
        except Refusal as refusal:
            return refusal.answer
        if body is None:
            self._journal.unknown_routes.append(f"unknown GraphQL question: {query[:200]}")
            return Answer(200, {"errors": [{"message": "The stand-in does not know this question"}]})
        # GraphQL's budget is another one than REST's: its headers must not be taken for REST's.
        headers = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4999", "X-RateLimit-Resource": "graphql"}
        return Answer(200, body, headers)

    def _faulted(self, operation: Operation, carry_out: Callable[[], Answer], *, is_read: bool) -> Answer:
        """The right answer, or what a queued fault makes of it."""
        fault = self._journal.take_fault(operation)
        if fault is not None and fault.mode == "before":
            return fault.answer(None, operation, self._world.now())
        if fault is not None and fault.mode == "stale":
            return self.replica.behind(carry_out) if is_read else carry_out()
        if not is_read and self._journal.has_stale:
            self.replica.keep()
        answer = carry_out()
        return answer if fault is None else fault.answer(answer, operation, self._world.now())

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
            # By the story's clock as all else: how long a limit lasts is told against it.
            "Date": email.utils.format_datetime(world.now().astimezone(timezone.utc), usegmt=True),
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
        return answer if answer.status or answer.delivery != "whole" else None


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
            fault = self._journal.take_fault(ARCHIVE)
            if fault is not None and (fault.kind.mode == "before" or fault.kind.delivery != "cut"):
                return fault.answer(None, ARCHIVE, self._world.now())
            if incoming.authorization:
                self._journal.bad_requests.append("the token was sent to the archive host")
            found = self._world.archive_tickets.pop(ticket, None)
            if found is None or "/legacy.tar.gz/" not in split.path:
                return Answer(404, b"404: Not Found")
            repository, sha = found
            prefix = f"{repository.owner.login}-{repository.name}-{sha[:7]}"
            content = repository.git.archive(sha, prefix)
        disposition = {"Content-Disposition": f"attachment; filename={prefix}.tar.gz"}
        answer = Answer(200, content, disposition)
        return answer if fault is None else fault.answer(answer, ARCHIVE, self._world.now())


def _is_change(incoming: Incoming) -> bool:
    """Whether a question to GraphQL changes anything: then what was before is what a stale read may still show."""
    try:
        return str(json.loads(incoming.body)["query"]).lstrip().startswith("mutation")
    except (ValueError, KeyError, TypeError):
        return False
