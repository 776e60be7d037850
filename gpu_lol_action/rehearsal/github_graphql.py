"""The GraphQL questions that the bot asks: who am I, what do these commits hold, and (github_graphql_pulls) how does a
pull request stand.

A question of any other shape is an unknown route: a story fails on it instead of getting a made-up answer.
"""

from __future__ import annotations

import re
from typing import Any

from gpu_lol_action.rehearsal import github_graphql_pulls
from gpu_lol_action.rehearsal.github_git import BareRepository, GitError
from gpu_lol_action.rehearsal.github_state import Token, World

_VIEWER = re.compile(r"query \{ viewer \{ login \} \}")
_FILES = re.compile(r'query \{ repository\(owner: "(?P<owner>[^"]+)", name: "(?P<name>[^"]+)"\) \{ (?P<parts>.+) \} \}')
_PART = re.compile(
    r'(?P<alias>\w+): object\(oid: "(?P<oid>[0-9a-f]{40})"\) \{ \.\.\. on Commit \{ '
    r'file\(path: "(?P<path>[^"]+)"\) \{ object \{ \.\.\. on Blob \{ text isTruncated \} \} \} \} \}'
)
# GitHub cuts a blob's text at half a megabyte.
_TEXT_LIMIT = 512 * 1024


def answer(world: World, token: Token, query: str) -> dict[str, Any] | None:
    """The `data` of an answer, or None where the stand-in does not know the question."""
    if _VIEWER.fullmatch(query):
        return {"viewer": {"login": token.account.login}}
    asked = _FILES.fullmatch(query)
    if asked is None:
        return github_graphql_pulls.answer(world, token, query)
    parts = list(_PART.finditer(asked["parts"]))
    if " ".join(part.group() for part in parts) != asked["parts"]:
        return None
    home = world.repositories.get(f"{asked['owner']}/{asked['name']}".lower())
    if home is None or (home.role_of(token.account) == "none" and token.permissions is None):
        return {"repository": None}
    return {"repository": {part["alias"]: _commit_file(home.git, part["oid"], part["path"]) for part in parts}}


def _commit_file(git: BareRepository, commit: str, path: str) -> dict[str, Any] | None:
    if git.kind(commit) != "commit":
        return None
    try:
        raw = git.git("cat-file", "blob", f"{commit}:{path}")
    except GitError:
        return {"file": None}
    try:
        text: str | None = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    is_truncated = len(raw) > _TEXT_LIMIT
    return {"file": {"object": {"text": text[:_TEXT_LIMIT] if text else text, "isTruncated": is_truncated}}}
