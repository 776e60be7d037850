"""A look at GitHub before anything is set up: with a token where there is one, else as anybody may look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gpu_lol_action.adapters.boxed_http import Ask, Reply, as_json, exchange
from gpu_lol_action.domain.installation import SOURCE, Pin

BOX = timedelta(seconds=8)


@dataclass(frozen=True, slots=True)
class PublicGitHub:
    """Looks, and says nothing where it cannot see: a missing answer is never taken for one."""

    now: Callable[[], datetime]
    api_url: str = "https://api.github.com"
    token: str = field(default="", repr=False)

    def visibility(self, full_name: str) -> tuple[bool | None, bool | None]:
        """Return whether a repository is public and whether it has forks; None where that cannot be told."""
        found = self._get(f"repos/{full_name}")
        if not isinstance(found, dict) or not isinstance(found.get("private"), bool):
            return None, None
        forks = found.get("forks_count")
        return not found["private"], forks > 0 if isinstance(forks, int) else None

    def pin(self, version: str) -> Pin:
        """Return the commit of gpu-lol's release, of its main branch where there is none; else the release's tag."""
        for ref, words in ((f"v{version}", f"v{version}"), ("main", "main")):
            found = self._get(f"repos/{SOURCE}/commits/{ref}")
            if isinstance(found, dict) and isinstance(found.get("sha"), str) and len(found["sha"]) == 40:
                return Pin(found["sha"], words)
        return Pin(f"v{version}")

    def _get(self, path: str) -> Any:
        secret = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers = {"Accept": "application/vnd.github+json"}
        reply = exchange(Ask("GET", f"{self.api_url.rstrip('/')}/{path}", headers, secret), BOX, self.now)
        return as_json(reply.body) if isinstance(reply, Reply) and reply.status == 200 else None
