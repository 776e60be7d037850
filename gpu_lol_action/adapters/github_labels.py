"""Labels over GitHub's API: who set one and when, beside the last push to where the head lies; and taking one off."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient
from gpu_lol_action.domain.label import LabelWord
from gpu_lol_action.errors import GpuLolError, TransientError

QUERY = (
    "query LabelWord($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { "
    "pullRequest(number: $number) { headRepository { pushedAt } "
    "timelineItems(last: 100, itemTypes: [LABELED_EVENT]) { nodes { ... on LabeledEvent "
    "{ createdAt actor { __typename login } label { name } } } } } } }"
)


class GitHubLabels:
    """The port ``Labels`` on one repository."""

    def __init__(self, client: GitHubClient) -> None:
        """Ask nothing yet."""
        self._client = client

    def word(self, number: int, label: str, login: str) -> LabelWord:
        """Return what GitHub itself says, in one question; nothing where it refuses. Raises TransientError for an outage.

        The event names who set the label, but not when; and what its payload says of the fork was so when it was sent.
        """
        owner, name = self._client.connection.full_name.split("/")
        try:
            found = self._client.graphql(QUERY, {"owner": owner, "name": name, "number": number})
            pull = found["repository"]["pullRequest"]
            home, nodes = pull["headRepository"], pull["timelineItems"]["nodes"]
            times = [_time(node["createdAt"]) for node in nodes if _is_of(node, label, login)]
            pushed_at = _time(home["pushedAt"]) if home and home["pushedAt"] else None
        except TransientError:
            raise
        except (GpuLolError, KeyError, TypeError, ValueError):
            return LabelWord()
        return LabelWord(max(times, default=None), pushed_at)

    def take_off(self, number: int, label: str) -> None:
        """Take a label off; one that is not there is no error. Raises OperatorError where the token may not."""
        ask = Ask(
            "DELETE",
            "issues/{number}/labels/{label}",
            {"number": number, "label": label},
            is_repeatable=True,
            allow=frozenset({404}),
        )
        self._client.ask(ask)


def _is_of(node: Any, label: str, login: str) -> bool:
    """Whether this person set this label; GitHub tells no case apart in either."""
    actor = node["actor"]
    return (
        bool(actor)
        and actor["__typename"] == "User"
        and str(actor["login"]).lower() == login.lower()
        and str(node["label"]["name"]).lower() == label.lower()
    )


def _time(text: Any) -> datetime:
    at = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    if at.tzinfo is None:
        raise ValueError("a time has no zone")
    return at
