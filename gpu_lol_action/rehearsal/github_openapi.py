"""Checks requests and answers against GitHub's own OpenAPI description, trimmed (see data/).

A request that GitHub's description refuses is a bug of ours. An answer that it refuses is a bug of the
stand-in, but for the few places where GitHub's real answers break GitHub's schema (`loosen`).
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from openapi_core import Config, OpenAPI
from openapi_core.testing import MockRequest, MockResponse

_HOST = "https://api.github.com"
# The only parameters that may hold slashes: `git/ref/heads/main`, `contents/docs/a.md`.
_GREEDY = {"path", "ref", "basehead"}
_PORT = re.compile(rb"(?<=127\.0\.0\.1):\d+")
_MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of GitHub's REST API, as its description names it."""

    method: str
    template: str
    operation_id: str

    @property
    def key(self) -> str:
        """`GET /repos/{owner}/{repo}`: the name under which routes and counts are kept."""
        return f"{self.method} {self.template}"


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, as far as GitHub's description speaks of it."""

    operation: Operation
    path_parameters: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes


def loosen(node: Any) -> Any:
    """The schema with the rules dropped that GitHub's own real answers break, or that this validator cannot read.

    - OpenAPI 3.0 wants null listed in a nullable enum; GitHub leaves it out and sends null (a check run's
      `conclusion`, an issue's `state_reason`).
    - Where a body fits two branches of `oneOf` (an error that is also a rule violation), any will do;
      `discriminator` is dropped because a folder's listing is an array and has no field to look at.
    """
    if isinstance(node, list):
        return [loosen(item) for item in node]
    if not isinstance(node, dict):
        return node
    looser = {
        "anyOf" if key == "oneOf" else key: loosen(value) for key, value in node.items() if key != "discriminator"
    }
    choices = looser.get("enum")
    if looser.get("nullable") and isinstance(choices, list) and None not in choices:
        looser["enum"] = [*choices, None]
    return looser


def _allow_deleted_forks(document: dict[str, Any]) -> None:
    """GitHub sends `head.repo: null` once a fork is gone; its description does not know."""
    for name in ("pull-request", "pull-request-simple"):
        ends = document["components"]["schemas"][name]["properties"]
        ends["head"]["properties"]["repo"] = {"$ref": "#/components/schemas/nullable-repository"}


class Description:
    """GitHub's description, loaded once and asked about each request and answer."""

    def __init__(self) -> None:
        packed = resources.files("gpu_lol_action.rehearsal").joinpath("data/openapi_trimmed.json.gz").read_bytes()
        document: dict[str, Any] = loosen(json.loads(gzip.decompress(packed)))
        _allow_deleted_forks(document)
        document["servers"] = [{"url": _HOST}]
        # The description is GitHub's and cut by our script: validating it again would cost a second a start.
        self._openapi = OpenAPI.from_dict(document, config=Config(spec_validator_cls=None))
        self._judged: dict[bytes, list[str]] = {}
        self._statuses: dict[str, frozenset[str]] = {}
        self._patterns: list[tuple[re.Pattern[str], Operation]] = []
        for template, item in document["paths"].items():
            for verb, details in item.items():
                if verb == "parameters":
                    continue
                operation = Operation(verb.upper(), template, details["operationId"])
                self._statuses[operation.key] = frozenset(details["responses"])
                self._patterns.append((_pattern(template), operation))
        # Literal segments win over parameters: `issues/comments` is no issue number.
        self._patterns.sort(key=lambda entry: (entry[1].template.count("{"), -len(entry[1].template)))

    @property
    def operations(self) -> list[Operation]:
        """Every operation that the trimmed description holds."""
        return [operation for _, operation in self._patterns]

    def match(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        """The operation and its path parameters, percent-decoded; None where GitHub has none that we kept."""
        for pattern, operation in self._patterns:
            found = pattern.fullmatch(path) if operation.method == method else None
            if found:
                return operation, {name: urllib.parse.unquote(value) for name, value in found.groupdict().items()}
        return None

    def request_problems(self, request: Request) -> list[str]:
        """What GitHub's description has against the request; empty where nothing."""
        return self._once(_key(request), lambda: self._openapi.validate_request(_mock_request(request)))

    def response_problems(self, request: Request, status: int, body: bytes) -> list[str]:
        """What GitHub's description has against the answer; empty where nothing, or where it has no such body."""
        if str(status) not in self._statuses[request.operation.key]:
            # GitHub refuses any operation in these ways, whether or not the operation lists them.
            is_usual = status >= 500 or status in (304, 401, 403, 404, 429)
            return [] if is_usual else [f"status {status} is not in GitHub's description"]
        if not body:
            return []
        answer = MockResponse(data=body, status_code=status, content_type="application/json")
        key = _key(request, status, body)
        return self._once(key, lambda: self._openapi.validate_response(_mock_request(request), answer))

    def _once(self, key: bytes, validate: Callable[[], object]) -> list[str]:
        """Judge each text once: most of what the stand-in costs is this, and stories repeat each other."""
        if key not in self._judged:
            if len(self._judged) >= _MOST_KEPT:
                self._judged.clear()
            try:
                validate()
            except Exception as error:  # noqa: BLE001 - openapi-core raises many unrelated classes for one answer
                self._judged[key] = _explain(error)
            else:
                self._judged[key] = []
        return self._judged[key]


@functools.cache
def load_description() -> Description:
    """The one description of this process; loading takes about a third of a second."""
    return Description()


def _key(request: Request, status: int = 0, answer: bytes = b"") -> bytes:
    """Return what tells one text from another; on which port of this machine a stand-in listens makes none."""
    facts = (request.operation.key, sorted(request.path_parameters.items()), sorted(request.query.items()), status)
    text = b"\0".join((repr(facts).encode(), request.body, answer))
    return hashlib.sha256(_PORT.sub(b"", text)).digest()


def _pattern(template: str) -> re.Pattern[str]:
    def group(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>{'.+' if found[1] in _GREEDY else '[^/]+'})"

    return re.compile(re.sub(r"\\\{(\w+)\\\}", group, re.escape(template)))


def _mock_request(request: Request) -> MockRequest:
    path = request.operation.template
    for name, value in request.path_parameters.items():
        # openapi-core matches a parameter to one segment: a slash inside it has to be escaped.
        path = path.replace("{" + name + "}", urllib.parse.quote(value, safe=""))
    return MockRequest(
        _HOST,
        request.operation.method.lower(),
        path,
        args=dict(request.query),
        data=request.body or None,
        content_type="application/json",
    )


def _explain(error: BaseException) -> list[str]:
    cause = error.__cause__ or error
    schema_errors = getattr(cause, "schema_errors", None)
    if not schema_errors:
        return [f"{type(cause).__name__}: {cause}"[:300]]
    return [f"{'/'.join(map(str, found.absolute_path)) or '.'}: {found.message[:200]}" for found in schema_errors]
