"""The first reaction to a command, posted before anything heavy is imported.

PyGithub takes a few tenths of a second to import, which is most of the half second in which a person
should see that the bot has heard. The standard library is enough for this one request.
"""

from __future__ import annotations

import http.client
import json
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

from gpu_lol_action.adapters.github import Connection, expand


@dataclass(frozen=True, slots=True)
class Reacted:
    """Under which login a reaction stands (empty: GitHub did not say), and the answer's headers, in lower case."""

    login: str
    headers: Mapping[str, str]


def post_reaction(connection: Connection, comment_id: int, content: str) -> Reacted | None:
    """Post a reaction; return who we are, or None where it could not be posted."""
    path = expand("issues/comments/{comment_id}/reactions", {"comment_id": comment_id}, connection.full_name)
    address = connection.api_url.rstrip("/") + path
    if not address.startswith(("https://", "http://")):
        return None
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
        address,
        data=json.dumps({"content": content}).encode(),
        method="POST",
        headers={
            "Authorization": f"token {connection.token}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "User-Agent": "gpu-lol-action",
        },
    )
    try:
        # The opener follows proxies as the environment sets them, as requests and httpx do.
        with urllib.request.urlopen(request, timeout=connection.timeout.total_seconds()) as answer:  # noqa: S310 - the URL is GITHUB_API_URL's, which the runner sets  # nosec B310
            headers = {name.lower(): value for name, value in answer.headers.items()}
            user = json.load(answer).get("user")
    except (OSError, ValueError, http.client.HTTPException, AttributeError):
        return None
    login = user.get("login") if isinstance(user, dict) else None
    return Reacted(login if isinstance(login, str) else "", headers)
