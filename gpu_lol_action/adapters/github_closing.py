"""The last word on a command at once: the answer, the reaction at the command, and the last edit of the status comment.

Three requests of the hour as one GraphQL question. GraphQL carries out the parts in their order and refuses each by
itself; what it did not do, or may not have done, is done one by one over REST by whoever asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_lol_action.adapters.github import GitHubClient
from gpu_lol_action.domain.request import Closing, Posted
from gpu_lol_action.errors import GpuLolError

CLOSE = (
    "mutation Close($pull: ID!, $body: String!, $command: ID!, $reaction: ReactionContent!, $status: ID!, $last: String!) { "
    "posted: addComment(input: {subjectId: $pull, body: $body}) "
    "{ commentEdge { node { id fullDatabaseId url author { login } } } } "
    "reacted: addReaction(input: {subjectId: $command, content: $reaction}) { reaction { content } } "
    "edited: updateIssueComment(input: {id: $status, body: $last}) { issueComment { id } } }"
)
_REACTIONS = {"rocket": "ROCKET", "+1": "THUMBS_UP", "confused": "CONFUSED"}


@dataclass(frozen=True, slots=True)
class Done:
    """Which parts GitHub says it has done. ``is_doubtful``: the answer may stand all the same, and has to be looked for."""

    posted: Posted | None = None
    has_reacted: bool = False
    has_edited: bool = False
    is_doubtful: bool = False


def close_at_once(client: GitHubClient, pull_node: str, nodes: Mapping[int, str], closing: Closing) -> Done:
    """Ask for all three; nothing is asked, and nothing done, where GraphQL's name of one of them is not known."""
    command, status = nodes.get(closing.command_id, ""), nodes.get(closing.status_id, "")
    if not (pull_node and command and status):
        return Done()
    variables = {
        "pull": pull_node,
        "body": closing.body,
        "command": command,
        "reaction": _REACTIONS[closing.reaction],
        "status": status,
        "last": closing.last_status,
    }
    try:
        data, refused = client.mutate(CLOSE, variables)
    except GpuLolError:
        return Done(is_doubtful=True)
    return Done(
        _posted(data.get("posted"), closing.body),
        has_reacted=bool(data.get("reacted")),
        has_edited=bool(data.get("edited")),
        is_doubtful="posted" not in refused,
    )


def _posted(payload: Any, body: str) -> Posted | None:
    try:
        node = payload["commentEdge"]["node"]
        author = node["author"]
        login = str(author["login"]) if author else ""
        return Posted(int(node["fullDatabaseId"]), body, login, str(node["url"]), str(node["id"]))
    except (KeyError, TypeError, ValueError):
        return None
