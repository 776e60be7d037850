"""What kind of repository a story plays in, and what the bot's token may there."""

from __future__ import annotations

from dataclasses import dataclass

BOT = "github-actions[bot]"
# What bot.yml asks for; a stand-in token that may more would hide a missing permission.
BOT_PERMISSIONS = {
    "actions": "read",
    "checks": "write",
    "contents": "write",
    "deployments": "write",
    "issues": "write",
    "pull_requests": "write",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What kind of repository the story plays in. `prefix` is `/api/v3` on GitHub Enterprise Server."""

    full_name: str = "acme/llm-lab"
    owner_kind: str = "Organization"
    is_private: bool = False
    prefix: str = ""
    port: int = 0
