"""GitHub's JSON for refs, commits and changed files, built from a real repository."""

from __future__ import annotations

import base64

from gpu_lol_action.rehearsal.github_answers import Call
from gpu_lol_action.rehearsal.github_git_values import Commit, FileChange, Signature
from gpu_lol_action.rehearsal.github_payloads import Json, repository_url, stamp, user


def api_link(call: Call, tail: str) -> str:
    """A link below the repository in the API."""
    return f"{repository_url(call.world, call.repository)}/{tail}"


def web_link(call: Call, tail: str) -> str:
    """A link below the repository on the web."""
    return f"{call.world.web_url}/{call.repository.full_name}/{tail}"


def _signature(subject: Signature) -> Json:
    return {"name": subject.name, "email": subject.email, "date": stamp(subject.when)}


def _unverified() -> Json:
    return {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def git_ref(call: Call, name: str, sha: str) -> Json:
    """`git-ref`."""
    return {
        "ref": name,
        "node_id": "REF_" + base64.urlsafe_b64encode(name.encode()).decode(),
        "url": api_link(call, f"git/{name}"),
        "object": {"sha": sha, "type": "commit", "url": api_link(call, f"git/commits/{sha}")},
    }


def git_commit(call: Call, commit: Commit) -> Json:
    """`git-commit`: git's view."""
    return {
        "sha": commit.sha,
        "node_id": "C_" + commit.sha,
        "url": api_link(call, f"git/commits/{commit.sha}"),
        "html_url": web_link(call, f"commit/{commit.sha}"),
        "author": _signature(commit.author),
        "committer": _signature(commit.committer),
        "tree": {"sha": commit.tree, "url": api_link(call, f"git/trees/{commit.tree}")},
        "message": commit.message,
        "parents": [
            {"sha": sha, "url": api_link(call, f"git/commits/{sha}"), "html_url": web_link(call, f"commit/{sha}")}
            for sha in commit.parents
        ],
        "verification": _unverified(),
    }


def commit(call: Call, sha: str) -> Json:
    """`commit`: the repository's view, with the accounts behind the addresses."""
    found = call.repository.git.read_commit(sha)
    account = call.world.accounts.get(found.author.name.lower())
    person = user(call.world, account) if account else None
    shape = git_commit(call, found)
    return {
        "sha": sha,
        "node_id": shape["node_id"],
        "url": api_link(call, f"commits/{sha}"),
        "html_url": shape["html_url"],
        "comments_url": api_link(call, f"commits/{sha}/comments"),
        "commit": {
            **{key: shape[key] for key in ("author", "committer", "tree", "message", "url", "verification")},
            "comment_count": 0,
        },
        "author": person,
        "committer": person,
        "parents": shape["parents"],
    }


def file_change(call: Call, change: FileChange, sha: str) -> Json:
    """`diff-entry`."""
    shape: Json = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": web_link(call, f"blob/{sha}/{change.path}"),
        "raw_url": web_link(call, f"raw/{sha}/{change.path}"),
        "contents_url": api_link(call, f"contents/{change.path}?ref={sha}"),
    }
    if change.patch is not None:
        shape["patch"] = change.patch
    if change.previous_path is not None:
        shape["previous_filename"] = change.previous_path
    return shape
