"""One look at a pull request: its head, our comments on it, the policy and the records, in one request.

A proposal has to know all of these right before it writes. Asked one by one they would be eight requests; GraphQL
gives them at once. What the look has learned of policy and records answers the next questions of this run
(`FirstLook.hand_over`). Where GraphQL is refused, the caller asks one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpu_lol_action.adapters.github import GitHubClient
from gpu_lol_action.adapters.github_first_look import POLICY_FIELDS, POLICY_VARIABLES, FirstLook
from gpu_lol_action.adapters.our_refs import FIELDS, FRAGMENT, VARIABLES
from gpu_lol_action.domain.request import Posted
from gpu_lol_action.domain.surfaces import Standing
from gpu_lol_action.errors import OperatorError, TransientError

MAX_PAGES = 20
"""Of 100 comments each: a conversation that long has its proposal near the top."""


_PULL_REQUEST = (
    "viewer { login } repository(owner: $owner, name: $name) { pullRequest(number: $number) { "
    "headRefOid isDraft state maintainerCanModify comments(first: 100, after: $after) { "
    "pageInfo { hasNextPage endCursor } nodes { id fullDatabaseId body url viewerDidAuthor author { login } } } }"
)
_HEAD = "$owner: String!, $name: String!, $number: Int!, $after: String"
LOOK = f"query Look({_HEAD}) {{ {_PULL_REQUEST} }} }}"
LOOK_AT_ALL = (
    f"query LookAtAll({_HEAD}, {POLICY_VARIABLES}, {VARIABLES}) "
    f"{{ {_PULL_REQUEST} {POLICY_FIELDS} {FIELDS} }} }} {FRAGMENT}"
)
HIDE = (
    "mutation Hide($node: ID!) { minimizeComment(input: {subjectId: $node, classifier: OUTDATED}) "
    "{ minimizedComment { isMinimized } } }"
)


class GitHubLook:
    """How a conversation stands, and tidying it up."""

    def __init__(self, client: GitHubClient, first_look: FirstLook) -> None:
        """Ask nothing yet."""
        self._client = client
        self._first_look = first_look

    def standing(self, number: int, marker_prefix: str, *, is_final: bool) -> Standing | None:
        """Return how the pull request stands, with our own comments that start with the marker, oldest first.

        None where this token has no GraphQL. ``is_final``: this run writes neither policy nor records, so that what is
        seen of them here need not be asked again.
        """
        try:
            found = self._ask(number, is_all=is_final)
            if is_final and self._first_look.focus is not None:
                self._first_look.hand_over(found)
        except (OperatorError, KeyError, AttributeError, TypeError):
            return None
        pull = found.get("pullRequest")
        if not isinstance(pull, dict):
            raise TransientError("github_answer_not_understood", f"GitHub's answer about #{number} lacks it")
        nodes = list(self._nodes(number, pull["comments"]))
        ours = [node for node in nodes if node["viewerDidAuthor"] and str(node["body"]).startswith(marker_prefix)]
        return Standing(
            head_sha=str(pull["headRefOid"]),
            is_draft=bool(pull["isDraft"]),
            is_open=pull["state"] == "OPEN",
            may_modify=bool(pull["maintainerCanModify"]),
            me=str(found["me"]),
            comments=tuple(_posted(node) for node in ours),
        )

    def hide(self, node_id: str) -> None:
        """Fold a comment away as outdated; doing it twice is the same."""
        self._client.graphql(HIDE, {"node": node_id})

    # --- underneath ---------------------------------------------------------------------------------------
    def _ask(self, number: int, *, is_all: bool = False, after: str | None = None) -> dict[str, Any]:
        owner, name = self._client.connection.full_name.split("/")
        variables: Mapping[str, Any] = {"owner": owner, "name": name, "number": number, "after": after}
        focus = self._first_look.focus
        if is_all and focus is not None:
            variables = {**variables, **focus.policy_variables, "custom": None, "branches": None}
        answer = self._client.graphql(LOOK_AT_ALL if is_all and focus is not None else LOOK, variables)
        found = answer["repository"]
        if not isinstance(found, dict):
            raise OperatorError("github_refused", "GitHub shows this token no repository in GraphQL")
        return {**found, "me": answer["viewer"]["login"]}

    def _nodes(self, number: int, comments: Any) -> Iterable[Any]:
        for _ in range(MAX_PAGES):
            yield from comments["nodes"]
            if not comments["pageInfo"]["hasNextPage"]:
                return
            cursor = str(comments["pageInfo"]["endCursor"])
            comments = self._ask(number, after=cursor)["pullRequest"]["comments"]


def _posted(node: Any) -> Posted:
    author = node.get("author")
    login = str(author["login"]) if isinstance(author, dict) else ""
    return Posted(int(node["fullDatabaseId"]), str(node["body"]), login, str(node["url"]), str(node["id"]))
