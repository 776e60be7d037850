"""Requests that change nothing, or whose change is undone at once, to see what a token may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient
from gpu_lol_action.domain.checkup import Probed, RefPlace
from gpu_lol_action.errors import GpuLolError

# What an answer to a probe may be: each of them tells something.
_TELLING = frozenset({400, 401, 403, 404, 409, 410, 422})
_NOTHING = "0" * 40  # git's own name for no object
_REF = "gpu-lol/doctor"


@dataclass(frozen=True, slots=True)
class GitHubProbe:
    """Asks on behalf of one token about one repository."""

    client: GitHubClient

    def repository(self) -> Probed:
        """Return GitHub's answer about the repository."""
        return self._ask(Ask("GET", "", allow=_TELLING))

    def permissions(self) -> Mapping[str, Probed]:
        """Return the answer to one probe for each permission. GitHub judges permission first: 403 says it lacks.

        Each write names something that does not exist: comment, pull request, check and commit zero.
        """
        asks = {
            "actions": Ask("GET", "actions/runs/{id}", {"id": 0}, allow=_TELLING),
            "contents": Ask(
                "POST", "git/refs", body={"ref": f"refs/{_REF}", "sha": _NOTHING}, is_repeatable=True, allow=_TELLING
            ),
            "issues": Ask(
                "POST",
                "issues/comments/{id}/reactions",
                {"id": 0},
                body={"content": "eyes"},
                is_repeatable=True,
                allow=_TELLING,
            ),
            "pull-requests": Ask("PATCH", "pulls/{id}", {"id": 0}, body={}, is_repeatable=True, allow=_TELLING),
            "checks": Ask("PATCH", "check-runs/{id}", {"id": 0}, body={}, is_repeatable=True, allow=_TELLING),
            "deployments": Ask(
                "POST",
                "deployments",
                body={"ref": _NOTHING, "auto_merge": False, "required_contexts": [], "environment": "gpu-lol"},
                is_repeatable=True,
                allow=_TELLING,
            ),
        }
        return {name: self._ask(ask) for name, ask in asks.items()}

    def refs(self, default_branch: str) -> tuple[RefPlace | None, str]:
        """Return where a ref can be made, by making one and deleting it; None where that could not be seen."""
        head = self._ask(Ask("GET", "git/ref/{ref}", {"ref": f"heads/{default_branch}"}, allow=_TELLING))
        found = head.body if isinstance(head.body, dict) else {}
        sha = found.get("object", {}).get("sha") if head.status == 200 else None
        if not isinstance(sha, str):
            return None, f"The head of {default_branch} could not be read ({head.message or 'no answer'})."
        why = ""
        for ref, place in ((_REF, RefPlace.CUSTOM), (f"heads/{_REF}", RefPlace.BRANCHES)):
            made = self._ask(Ask("POST", "git/refs", body={"ref": f"refs/{ref}", "sha": sha}, allow=_TELLING))
            if not made.is_answered:
                return None, "GitHub did not say whether a ref can be made."
            is_there = made.status == 422 and "already exists" in made.message.lower()
            if made.status == 201 or is_there or made.status == 200:
                self._ask(Ask("DELETE", "git/refs/{ref}", {"ref": ref}, is_repeatable=True, allow=_TELLING))
                return place, ""
            why = made.message
        return RefPlace.NOWHERE, why

    def secret_names(self) -> frozenset[str] | None:
        """Return the names of the repository's secrets; None where this token may not list them."""
        answer = self._ask(Ask("GET", "actions/secrets", query={"per_page": 100}, allow=_TELLING))
        listed = answer.body.get("secrets") if answer.status == 200 and isinstance(answer.body, dict) else None
        if not isinstance(listed, list):
            return None
        return frozenset(str(entry.get("name")) for entry in listed if isinstance(entry, dict))

    def _ask(self, ask: Ask) -> Probed:
        try:
            reply = self.client.ask(ask)
        except GpuLolError as error:
            return Probed(None, error.explanation.what)
        needs: Any = reply.headers.get("x-accepted-github-permissions", "")
        return Probed(reply.status, reply.message, needs, reply.body, self.client.budget.left)
