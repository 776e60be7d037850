"""The conversation of a story as a page: what the GitHub stand-in keeps, with what happened beside it in between."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.rehearsal.github import Hub
from gpu_lol_action.rehearsal.page import Conversation, PageEntry

NOTE = "Played by real SkyPilot on a loopback cloud: GPU, driver and torch on its machines are stand-ins."


def transcribe(hub: Hub, number: int, beside: Sequence[PageEntry]) -> Conversation:
    """Return the pull request as it stands now; ``beside`` are events and terminals, put in by their time."""
    comments = [
        PageEntry(
            kind="comment",
            author=comment.author.login,
            at=comment.created_at,
            body=comment.body,
            reactions=tuple(hub.reactions(comment.comment_id)),
            edits=comment.edits,
            is_bot=comment.author.kind == "Bot",
        )
        for comment in hub.comments(number)
    ]
    issue = hub.issue(number)
    pull = issue.pull
    return Conversation(
        repository=hub.setting.full_name,
        number=number,
        title=issue.title,
        author=issue.author.login,
        base_ref=pull.base_ref if pull else "",
        head_ref=pull.head_ref if pull else "",
        state=issue.state,
        note=NOTE,
        entries=tuple(sorted([*comments, *beside], key=lambda entry: entry.at)),
    )
