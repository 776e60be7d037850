"""A repository's code as GitHub's API shows it: commits, branches, comparisons, contents, archives."""

from __future__ import annotations

import base64
import posixpath
import secrets
from typing import Any

from gpu_lol_action.rehearsal import github_changes as changes
from gpu_lol_action.rehearsal.github_answers import Answer, Call, Route, not_found, page, paged, refuse
from gpu_lol_action.rehearsal.github_git_values import TreeEntry
from gpu_lol_action.rehearsal.github_payloads import Json
from gpu_lol_action.rehearsal.github_payloads_git import api_link, commit, file_change, git_commit, web_link

_R = "/repos/{owner}/{repo}"


def _resolve(call: Call, name: str) -> str:
    sha = call.repository.git.resolve(name)
    if sha is None:
        raise refuse(422, f"No commit found for SHA: {name}", [])
    return sha


# --- commits, branches, comparison -----------------------------------------------------------------------
def _list_commits(call: Call) -> Answer:
    start = _resolve(call, call.query.get("sha", call.repository.default_branch))
    shown, headers = page(call, call.repository.git.history(start, path=call.query.get("path", "")))
    return Answer(200, [commit(call, sha) for sha in shown], headers)


def _get_commit(call: Call) -> Answer:
    sha = _resolve(call, call.path["ref"])
    parents = call.repository.git.read_commit(sha).parents
    found = call.repository.git.changes(parents[0], sha) if parents else []
    added, removed = sum(each.additions for each in found), sum(each.deletions for each in found)
    return Answer(
        200,
        {
            **commit(call, sha),
            "stats": {"total": added + removed, "additions": added, "deletions": removed},
            "files": [file_change(call, each, sha) for each in found],
        },
    )


def _compare(call: Call) -> Answer:
    base_name, dots, head_name = call.path["basehead"].partition("...")
    git = call.repository.git
    base, head = git.resolve(base_name), git.resolve(head_name.rpartition(":")[2])
    fork_point = git.merge_base(base, head) if dots and base and head else None
    if not base or not head or not fork_point:
        raise not_found()
    ahead, behind = git.history(head, stop=base), git.history(base, stop=head)
    word = {(False, False): "identical", (True, False): "ahead", (False, True): "behind", (True, True): "diverged"}
    web = web_link(call, f"compare/{base_name}...{head_name}")
    shown, headers = page(call, list(reversed(ahead)))
    body: dict[str, Any] = {
        "url": api_link(call, f"compare/{base_name}...{head_name}"),
        "html_url": web,
        "permalink_url": web,
        "diff_url": f"{web}.diff",
        "patch_url": f"{web}.patch",
        "base_commit": commit(call, base),
        "merge_base_commit": commit(call, fork_point),
        "status": word[bool(ahead), bool(behind)],
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [commit(call, sha) for sha in shown],
        "files": [file_change(call, each, head) for each in git.changes(fork_point, head)[:300]],
    }
    return Answer(200, body, headers)


def _list_branches(call: Call) -> Answer:
    refs = sorted(call.repository.git.refs("refs/heads/").items())
    return paged(call, [_short_branch(call, name.removeprefix("refs/heads/"), sha) for name, sha in refs])


def _short_branch(call: Call, name: str, sha: str) -> Json:
    return {"name": name, "commit": {"sha": sha, "url": api_link(call, f"commits/{sha}")}, "protected": False}


def _get_branch(call: Call) -> Answer:
    name = call.path["branch"]
    sha = call.repository.git.ref(f"refs/heads/{name}")
    if sha is None:
        raise refuse(404, "Branch not found")
    protection = {
        "enabled": False,
        "required_status_checks": {"enforcement_level": "off", "contexts": [], "checks": []},
    }
    return Answer(
        200,
        {
            "name": name,
            "commit": commit(call, sha),
            "_links": {"self": api_link(call, f"branches/{name}"), "html": web_link(call, f"tree/{name}")},
            "protected": False,
            "protection": protection,
            "protection_url": api_link(call, f"branches/{name}/protection"),
        },
    )


# --- contents --------------------------------------------------------------------------------------------
def _get_contents(call: Call) -> Answer:
    """A file, or a folder's listing; over 1 MiB the text is left out, as GitHub does."""
    git, path = call.repository.git, call.path["path"].strip("/")
    ref = call.query.get("ref", call.repository.default_branch)
    tip = git.resolve(ref)
    if tip is None:
        raise refuse(404, f"No commit found for the ref {ref}")
    listing = git.read_tree(tip, recursive=True)
    entry = next((each for each in listing if each.path == path), None)
    if entry is None:
        raise not_found()
    if entry.kind == "tree":
        inside = git.read_tree(entry.sha)
        return Answer(200, [_content(call, f"{path}/{each.path}", each, ref) for each in inside])
    if entry.mode == "120000":
        target = git.read_blob(entry.sha).decode("utf-8", "replace")
        inner = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        aim = next((each for each in listing if each.path == inner and each.kind == "blob"), None)
        if aim is None or aim.mode == "120000":
            return Answer(200, {**_content(call, path, entry, ref), "target": target})
        # GitHub follows a link inside the repository and answers with the file it points at.
        entry, path = aim, inner
    shape = _content(call, path, entry, ref)
    raw = git.read_blob(entry.sha)
    is_large = len(raw) > 1024 * 1024
    shape["encoding"] = "none" if is_large else "base64"
    shape["content"] = "" if is_large else base64.encodebytes(raw).decode()
    return Answer(200, shape)


def _put_contents(call: Call) -> Answer:
    git, path, body = call.repository.git, call.path["path"], call.body
    branch = body.get("branch", call.repository.default_branch)
    tip = git.ref(f"refs/heads/{branch}")
    if tip is None:
        raise refuse(404, f"Branch {branch} not found")
    old = next((each.sha for each in git.read_tree(tip, recursive=True) if each.path == path), None)
    if old and not body.get("sha"):
        raise refuse(422, 'Invalid request.\n\n"sha" wasn\'t supplied.', [])
    if old != body.get("sha"):
        raise refuse(409, f"{path} does not match {body.get('sha')}")
    content = base64.b64decode(body["content"])
    sha = changes.commit_files(
        call.world, call.repository, changes.Push(branch, {path: content}, body["message"], call.actor)
    )
    made = next(each for each in git.read_tree(sha, recursive=True) if each.path == path)
    shape = {"content": _content(call, path, made, branch), "commit": git_commit(call, git.read_commit(sha))}
    return Answer(200 if old else 201, shape)


def _content(call: Call, path: str, entry: TreeEntry, ref: str) -> Json:
    url = api_link(call, f"contents/{path}?ref={ref}")
    web = web_link(call, f"{'tree' if entry.kind == 'tree' else 'blob'}/{ref}/{path}")
    kinds = {"tree": "dir", "commit": "submodule"}
    kind = "symlink" if entry.mode == "120000" else kinds.get(entry.kind, "file")
    git_url = api_link(call, f"git/{'trees' if entry.kind == 'tree' else 'blobs'}/{entry.sha}")
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": entry.sha,
        "size": entry.size or 0,
        "url": url,
        "html_url": web,
        "git_url": git_url,
        "download_url": None if kind in ("dir", "submodule") else web_link(call, f"raw/{ref}/{path}"),
        "type": kind,
        "_links": {"self": url, "git": git_url, "html": web},
    }


# --- archive ---------------------------------------------------------------------------------------------
def _tarball(call: Call) -> Answer:
    """302 to another host with a ticket: the token must not travel there."""
    sha = call.repository.git.resolve(call.path["ref"])
    if sha is None:
        raise not_found()
    ticket = secrets.token_urlsafe(16)
    call.world.archive_tickets[ticket] = (call.repository, sha)
    where = f"{call.world.archive_url}/{call.repository.full_name}/legacy.tar.gz/{call.path['ref']}?token={ticket}"
    return Answer(302, None, {"Location": where})


CODE_ROUTES = {
    f"GET {_R}/branches": Route(_list_branches, ("contents",)),
    f"GET {_R}/branches/{{branch}}": Route(_get_branch, ("contents",)),
    f"GET {_R}/commits": Route(_list_commits, ("contents",)),
    f"GET {_R}/commits/{{ref}}": Route(_get_commit, ("contents",)),
    f"GET {_R}/compare/{{basehead}}": Route(_compare, ("contents",)),
    f"GET {_R}/tarball/{{ref}}": Route(_tarball, ("contents",)),
    f"GET {_R}/contents/{{path}}": Route(_get_contents, ("contents",)),
    f"PUT {_R}/contents/{{path}}": Route(_put_contents, ("contents",)),
}
