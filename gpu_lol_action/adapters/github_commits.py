"""One file committed to a branch through the git data API: compare-and-swap on the branch's head, no checkout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient
from gpu_lol_action.domain.surfaces import FileCommit

_REFUSED = frozenset({403, 404, 409, 422})


@dataclass(frozen=True, slots=True)
class LastChange:
    """The newest commit that touched a file: who wrote it, and what its message says."""

    author: str
    message: str


class GitHubCommits:
    """Commits on a pull request's branch, here or in a fork. Needs `contents: write`."""

    def __init__(self, client: GitHubClient) -> None:
        """Ask nothing yet."""
        self._client = client

    def last_change(self, repository: str, sha: str, path: str | None = None) -> LastChange | None:
        """Return the newest commit up to ``sha`` that touched the file (or any); None where there is none."""
        query: dict[str, str | int] = {"sha": sha, "per_page": 1, **({"path": path} if path else {})}
        found = self._client.ask(Ask("GET", *_in(repository, "commits"), query)).body
        if not found:
            return None
        account = found[0].get("author")
        login = account.get("login") if isinstance(account, dict) else None
        return LastChange(str(login or ""), str(found[0]["commit"]["message"]))

    def commit(self, change: FileCommit) -> str | None:
        """Write the file on top of its parent; None where the branch has moved meanwhile or may not be written.

        The new commit has the parent as its only one and the branch is moved without force: whatever else was pushed
        meanwhile makes that no fast-forward, and GitHub refuses it.
        """
        parent = self._send("GET", change.repository, "git/commits/{sha}", {"sha": change.parent})
        entry = {"path": change.path, "mode": "100644", "type": "blob", "content": change.content}
        tree = self._send(
            "POST", change.repository, "git/trees", body={"base_tree": parent["tree"]["sha"], "tree": [entry]}
        )
        body = {"message": change.message, "tree": tree["sha"], "parents": [change.parent]}
        made = self._send("POST", change.repository, "git/commits", body=body)
        path, values = _in(change.repository, "git/refs/{ref}")
        values["ref"] = f"heads/{change.branch}"
        ask = Ask("PATCH", path, values, body={"sha": made["sha"], "force": False}, is_repeatable=True, allow=_REFUSED)
        reply = self._client.ask(ask)
        return str(made["sha"]) if reply.status < 400 else None

    def _send(
        self, method: str, repository: str, tail: str, more: dict[str, str] | None = None, body: Any = None
    ) -> Any:
        path, values = _in(repository, tail)
        # Objects that nothing points at yet: asking twice does no harm.
        return self._client.ask(Ask(method, path, {**values, **(more or {})}, body=body, is_repeatable=True)).body


def _in(repository: str, tail: str) -> tuple[str, dict[str, str]]:
    owner, _, name = repository.partition("/")
    return f"/repos/{{owner}}/{{repo}}/{tail}", {"owner": owner, "repo": name}
