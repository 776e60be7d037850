"""One GraphQL question for what nearly every run asks first: policy, pull request, its comments, and the ledger.

A workflow's token has 1,000 requests an hour for all runs of a repository together; asked one by one these four cost
five. Each answer is handed out once: who asks again wants to know what is so now. Whatever looks odd is not handed out
at all, and REST is asked, whose words the rest of the adapters are written for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_lol_action.adapters.github import GitHubClient
from gpu_lol_action.adapters.ledger_listing import LEDGER_FIELDS, LEDGER_FRAGMENTS, Listing, parse_listing
from gpu_lol_action.domain.request import Posted, PullRequest
from gpu_lol_action.errors import GpuLolError

_PULL_REQUEST = (
    "number title state isDraft merged url author { login __typename } headRefOid headRefName "
    "headRepository { nameWithOwner } baseRefOid baseRefName "
    "comments(first: 100) @include(if: $withComments) { pageInfo { hasNextPage } "
    "nodes { fullDatabaseId body url viewerDidAuthor author { login __typename } } }"
)
QUERY = (
    "query FirstLook($owner: String!, $name: String!, $number: Int!, $withPull: Boolean!, $withComments: Boolean!, "
    "$branch: String!, $policy: String!, $after: String) { repository(owner: $owner, name: $name) { "
    "branch: object(expression: $branch) { oid } "
    "policy: object(expression: $policy) { ... on Blob { text isTruncated isBinary } } "
    f"pullRequest(number: $number) @include(if: $withPull) {{ {_PULL_REQUEST} }} {LEDGER_FIELDS} }} }} {LEDGER_FRAGMENTS}"
)


@dataclass(frozen=True, slots=True)
class Focus:
    """What a run is about: a pull request (0: none), and whether it will look for its own comments there."""

    number: int
    policy_path: str
    default_branch: str
    with_comments: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy file as it stands; ``text`` None where there is none."""

    text: str | None


class FirstLook:
    """The answers of that one question, each until it is taken."""

    def __init__(self, client: GitHubClient, focus: Focus | None) -> None:
        """Ask nothing yet."""
        self._client = client
        self._focus = focus
        self._is_asked = False
        self._found: dict[str, Any] = {}

    def policy(self, path: str, ref: str) -> Policy | None:
        """Return the policy file; None where REST has to be asked. This is the question that asks all."""
        focus = self._focus
        if focus is None or (path, ref) != (focus.policy_path, focus.default_branch):
            return None
        if not self._is_asked:
            self._is_asked = True
            self._ask(focus)
        found = self._found.pop("policy", None)
        return found if isinstance(found, Policy) else None

    def pull_request(self, number: int) -> PullRequest | None:
        """Return the pull request as it was a moment ago, once."""
        found = self._found.pop("pull_request", None)
        return found if isinstance(found, PullRequest) and found.number == number else None

    def comments(self, number: int) -> Sequence[tuple[Posted, bool]] | None:
        """Return the comments there, each with whether it is ours, once; None where there are more than were seen."""
        is_meant = self._focus is not None and self._focus.number == number
        found = self._found.pop("comments", None)
        return found if is_meant and isinstance(found, list) else None

    def ledger(self) -> Listing | None:
        """Return what the ledger's refs hold, once; None where there is more than a page."""
        found = self._found.pop("ledger", None)
        return found if isinstance(found, Listing) else None

    def _ask(self, focus: Focus) -> None:
        owner, name = self._client.connection.full_name.split("/")
        variables = {
            "owner": owner,
            "name": name,
            "number": focus.number,
            "withPull": focus.number > 0,
            "withComments": focus.with_comments and focus.number > 0,
            "branch": focus.default_branch,
            "policy": f"{focus.default_branch}:{focus.policy_path}",
            "after": None,
        }
        try:
            repository = self._client.graphql(QUERY, variables)["repository"]
            self._found = {
                "policy": _policy(repository),
                "pull_request": _pull_request(repository.get("pullRequest")),
                "comments": _comments(repository.get("pullRequest")),
                "ledger": _whole(parse_listing(repository)),
            }
        except (GpuLolError, KeyError, TypeError, AttributeError, ValueError):
            # GraphQL refuses, is down, or answers what nobody expects: everything is asked one by one.
            self._found = {}


def _policy(repository: Mapping[str, Any]) -> Policy | None:
    if not repository["branch"]:
        return None  # what cannot be seen at all says nothing about a file in it
    blob = repository["policy"]
    if blob is None:
        return Policy(None)
    is_text = isinstance(blob.get("text"), str) and not blob["isTruncated"] and not blob["isBinary"]
    return Policy(blob["text"]) if is_text else None


def _pull_request(raw: Mapping[str, Any] | None) -> PullRequest | None:
    if not raw:
        return None
    author, is_bot = _author(raw["author"])
    head = raw["headRepository"]
    return PullRequest(
        number=int(raw["number"]),
        title=str(raw["title"]),
        # REST has two words where GraphQL has three: merged is closed.
        state="open" if raw["state"] == "OPEN" else "closed",
        is_draft=bool(raw["isDraft"]),
        is_merged=bool(raw["merged"]),
        author=author,
        author_is_bot=is_bot,
        head_sha=str(raw["headRefOid"]),
        head_ref=str(raw["headRefName"]),
        head_repository=str(head["nameWithOwner"]) if head else None,
        base_sha=str(raw["baseRefOid"]),
        base_ref=str(raw["baseRefName"]),
        html_url=str(raw["url"]),
    )


def _author(raw: Mapping[str, Any] | None) -> tuple[str, bool]:
    """Login as REST writes it, and whether it is a bot: GraphQL leaves `[bot]` away, and deleted users are @ghost."""
    if raw is None:
        return "ghost", False
    is_bot = raw["__typename"] == "Bot"
    login = str(raw["login"])
    return (f"{login}[bot]" if is_bot and not login.endswith("[bot]") else login), is_bot


def _comments(pull: Mapping[str, Any] | None) -> list[tuple[Posted, bool]] | None:
    page = pull.get("comments") if pull else None
    if page is None or page["pageInfo"]["hasNextPage"]:
        return None
    return [
        (
            Posted(int(node["fullDatabaseId"]), str(node["body"]), _author(node["author"])[0], str(node["url"])),
            bool(node["viewerDidAuthor"]),
        )
        for node in page["nodes"]
    ]


def _whole(listing: Listing) -> Listing | None:
    return listing if listing.after is None else None
