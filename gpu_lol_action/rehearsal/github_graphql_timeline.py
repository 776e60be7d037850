"""A pull request's timeline in the stand-in's GraphQL, as far as the bot asks: who set which label when."""

from __future__ import annotations

from typing import Any

from gpu_lol_action.rehearsal.github_payloads import node_id, stamp
from gpu_lol_action.rehearsal.github_state import Issue, Labeling

TIMELINE_SCHEMA = """
type Label { name: String! }
type LabeledEvent implements Node { id: ID! actor: Actor createdAt: DateTime! label: Label! }
union PullRequestTimelineItems = LabeledEvent
enum PullRequestTimelineItemsItemType { LABELED_EVENT }
type PullRequestTimelineItemsConnection { nodes: [PullRequestTimelineItems] totalCount: Int! }
extend type PullRequest {
  timelineItems(first: Int, last: Int, itemTypes: [PullRequestTimelineItemsItemType!]): PullRequestTimelineItemsConnection!
}
"""
_MOST = 100


def labelings(
    issue: Issue,
    _info: object,
    first: int | None = None,
    last: int | None = None,
    itemTypes: list[str] | None = None,  # noqa: N803 - GraphQL's argument
) -> dict[str, Any]:
    """The timeline's labels, oldest first; as on GitHub a question has to say how many it wants, and from which end."""
    most = first if first is not None else last
    if (first is None) == (last is None) or not 0 < (most or 0) <= _MOST or itemTypes != ["LABELED_EVENT"]:
        raise LookupError("of a timeline only the labels are known, a hundred at most, from one end")
    count = len(issue.labelings)
    places = range(count)[:most] if first is not None else range(max(count - (most or 0), 0), count)
    nodes = [_labeled(issue, place, issue.labelings[place]) for place in places]
    return {"nodes": nodes, "totalCount": count}


def _labeled(issue: Issue, place: int, labeling: Labeling) -> dict[str, Any]:
    """GraphQL writes a bot's login without `[bot]`."""
    actor = labeling.actor
    return {
        "__typename": "LabeledEvent",
        "id": node_id("LE", issue.issue_id * 1000 + place),
        "actor": {"__typename": actor.kind, "login": actor.login.removesuffix("[bot]"), "url": f"/{actor.login}"},
        "createdAt": stamp(labeling.at),
        "label": {"name": labeling.name},
    }
