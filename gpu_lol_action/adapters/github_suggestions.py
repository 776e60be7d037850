"""Review suggestions: what a pull request changes in a file, and our comments at its lines."""

from __future__ import annotations

from gpu_lol_action.adapters.github import Ask, GitHubClient
from gpu_lol_action.domain.request import Posted
from gpu_lol_action.domain.surfaces import Suggestion


class GitHubSuggestions:
    """Review comments with a suggestion in them. Needs `pull-requests: write`."""

    def __init__(self, client: GitHubClient) -> None:
        """Ask nothing yet."""
        self._client = client

    def patch_of(self, number: int, path: str) -> str | None:
        """Return the diff of one file in this pull request; None where it is not in the diff, or too large for one."""
        for entry in self._client.pages("pulls/{number}/files", {"number": number}):
            if entry["filename"] == path:
                patch = entry.get("patch")
                return str(patch) if patch else None
        return None

    def standing(self, number: int, marker_prefix: str, author: str) -> tuple[Posted, ...]:
        """Return our review comments that start with the marker, oldest first."""
        listed = self._client.pages("pulls/{number}/comments", {"number": number})
        return tuple(
            Posted(int(each["id"]), str(each["body"]), author, str(each["html_url"]), str(each["node_id"]))
            for each in listed
            if str(each.get("body") or "").startswith(marker_prefix) and (each.get("user") or {}).get("login") == author
        )

    def suggest(self, number: int, suggestion: Suggestion) -> None:
        """Post a suggestion at its lines; GitHub refuses lines that are not in the diff."""
        body: dict[str, object] = {
            "body": suggestion.body,
            "commit_id": suggestion.sha,
            "path": suggestion.path,
            "line": suggestion.end_line,
            "side": "RIGHT",
        }
        if suggestion.start_line < suggestion.end_line:
            body |= {"start_line": suggestion.start_line, "start_side": "RIGHT"}
        self._client.ask(Ask("POST", "pulls/{number}/comments", {"number": number}, body=body))

    def edit(self, comment_id: int, body: str) -> None:
        """Replace a review comment's text."""
        path, values = "pulls/comments/{comment_id}", {"comment_id": comment_id}
        self._client.ask(Ask("PATCH", path, values, body={"body": body}, is_repeatable=True))
