"""One GraphQL question for what nearly every run asks first: policy, pull request, and all refs that are ours.

A workflow's token has 1,000 requests an hour for all runs of a repository together; asked one by one these cost
four and more. Each answer is handed out once: who asks again wants to know what is so now. Whatever looks odd is not handed out
at all, and REST is asked, whose words the rest of the adapters are written for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_lol_action.adapters.github import GitHubClient
from gpu_lol_action.adapters.github_commit_facts import COMMIT_FIELDS, graphql_commit
from gpu_lol_action.adapters.our_refs import FIELDS, FRAGMENT, VARIABLES, OurRefs
from gpu_lol_action.domain.request import PullRequest
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.launch.commit_object import CommitFacts

_PULL_REQUEST = (
    "id number title state isDraft merged url author { login __typename } headRefOid headRefName "
    "headRepository { nameWithOwner } baseRefOid baseRefName"
)
POLICY_FIELDS = (
    "branch: object(expression: $branch) { oid } "
    "policy: object(expression: $policy) { ... on Blob { text isTruncated isBinary } }"
)
POLICY_VARIABLES = "$branch: String!, $policy: String!"
QUERY = (
    f"query FirstLook($owner: String!, $name: String!, $number: Int!, $withPull: Boolean!, {POLICY_VARIABLES}, "
    f"$commit: GitObjectID, $withCommit: Boolean!, {VARIABLES}) "
    f"{{ repository(owner: $owner, name: $name) {{ {POLICY_FIELDS} "
    f"pullRequest(number: $number) @include(if: $withPull) {{ {_PULL_REQUEST} }} "
    f"commit: object(oid: $commit) @include(if: $withCommit) {{ {COMMIT_FIELDS} }} "
    f"{FIELDS} }} }} {FRAGMENT}"
)


@dataclass(frozen=True, slots=True)
class Focus:
    """What a run is about: a pull request (0: none), at a commit where an earlier step pinned one.

    ``is_at_once`` False: it looks later, and hands over what it saw. ``nodes``: comments' names in GraphQL, from the event.
    """

    number: int
    policy_path: str
    default_branch: str
    is_at_once: bool = True
    commit: str = ""
    nodes: Mapping[int, str] = field(default_factory=dict)

    @property
    def policy_variables(self) -> dict[str, str]:
        """What the question about the policy wants to know."""
        return {"branch": self.default_branch, "policy": f"{self.default_branch}:{self.policy_path}"}


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy file as it stands; ``text`` None where there is none."""

    text: str | None


class FirstLook:
    """The answers of that one question, each until it is taken."""

    def __init__(self, client: GitHubClient, focus: Focus | None, refs: OurRefs) -> None:
        """Ask nothing yet."""
        self._client = client
        self._refs = refs
        self.focus = focus
        self.pull_node = ""
        self._is_asked = False
        self._found: dict[str, Any] = {}

    def policy(self, path: str, ref: str) -> Policy | None:
        """Return the policy file; None where REST has to be asked. This is the question that asks all."""
        focus = self.focus
        if focus is None or (path, ref) != (focus.policy_path, focus.default_branch):
            return None
        if focus.is_at_once and not self._is_asked:
            self._is_asked = True
            self._ask(focus)
        found = self._found.pop("policy", None)
        return found if isinstance(found, Policy) else None

    def pull_request(self, number: int) -> PullRequest | None:
        """Return the pull request as it was a moment ago, once."""
        found = self._found.pop("pull_request", None)
        return found if isinstance(found, PullRequest) and found.number == number else None

    def commit(self, sha: str) -> CommitFacts | None:
        """Return what GitHub says of the pinned commit, once; None for any other. It never changes, so age is no matter."""
        found = self._found.pop("commit", None)
        return found if isinstance(found, CommitFacts) and found.sha == sha else None

    def hand_over(self, repository: Mapping[str, Any]) -> None:
        """Take policy and refs from the answer to a later, larger question. Raises KeyError or TypeError for none."""
        self._found["policy"] = _policy(repository)
        self._refs.hand_over(repository)

    def _ask(self, focus: Focus) -> None:
        owner, name = self._client.connection.full_name.split("/")
        variables = {
            "owner": owner,
            "name": name,
            "number": focus.number,
            "withPull": focus.number > 0,
            "commit": focus.commit or None,
            "withCommit": bool(focus.commit),
            "custom": None,
            "branches": None,
            **focus.policy_variables,
        }
        # GraphQL refuses, is down, or answers what nobody expects: everything is asked one by one.
        with contextlib.suppress(GpuLolError, KeyError, TypeError, AttributeError, ValueError):
            repository = self._client.graphql(QUERY, variables)["repository"]
            pull = repository.get("pullRequest")
            self._found["pull_request"] = _pull_request(pull)
            self.pull_node = str(pull["id"]) if pull else ""
            self.hand_over(repository)
            # Last, and by itself: where it lacks something, what came with it is good all the same.
            self._found["commit"] = graphql_commit(repository.get("commit"))


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
