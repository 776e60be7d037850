"""Who somebody is to this repository, and what they wrote: team memberships and single comments over GitHub's API."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient
from gpu_lol_action.domain.confirmation import WrittenComment
from gpu_lol_action.domain.environment import Requester
from gpu_lol_action.errors import GpuLolError, OperatorError, UserError

EDITED = "query Edited($id: ID!) { node(id: $id) { ... on IssueComment { lastEditedAt } } }"


def is_team_member(client: GitHubClient, organization: str, team: str, login: str) -> bool:
    """Whether GitHub says that the membership is active; a pending one, and any refusal, is none.

    An outage raises TransientError. A workflow's own token may not read members: then nobody is one.
    """
    path = "/orgs/{organization}/teams/{team}/memberships/{login}"
    try:
        raw = client.get(path, {"organization": organization, "team": team, "login": login})
    except (UserError, OperatorError):
        return False
    return isinstance(raw, dict) and raw.get("state") == "active"


def read_comment(client: GitHubClient, comment_id: int) -> WrittenComment | None:
    """Return a comment as it stands now; None where there is none, or where its shape is not GitHub's."""
    ask = Ask("GET", "issues/comments/{comment_id}", {"comment_id": comment_id}, allow=frozenset({404, 410}))
    reply = client.ask(ask)
    if reply.status != 200:
        return None
    try:
        written = _written(reply.body)
        return replace(written, is_edited=written.is_edited and _was_edited(client, reply.body["node_id"]))
    except (KeyError, TypeError, ValueError):
        return None


def _was_edited(client: GitHubClient, node_id: str) -> bool:
    """Whether a comment that was touched after it was made was edited; GitHub touches some a second late by itself.

    True where it is not told.
    """
    try:
        return client.graphql(EDITED, {"id": str(node_id)})["node"]["lastEditedAt"] is not None
    except (GpuLolError, KeyError, TypeError):
        return True


def _written(raw: Any) -> WrittenComment:
    user = raw["user"]
    is_person = user["type"] == "User" and not raw.get("performed_via_github_app")
    return WrittenComment(
        comment_id=int(raw["id"]),
        # The address of the issue is the one place that says where a comment stands.
        pull_request_number=int(str(raw["issue_url"]).rpartition("/")[2]),
        author=Requester(str(user["login"]), int(user["id"])),
        author_is_bot=not is_person,
        body=str(raw["body"]),
        created_at=datetime.fromisoformat(str(raw["created_at"]).replace("Z", "+00:00")),
        is_edited=raw["updated_at"] != raw["created_at"],
    )
