"""GitHub's git data API, answered from a real repository: refs, blobs, trees, commits."""

from __future__ import annotations

import base64

from gpu_lol_action.rehearsal import github_changes as changes
from gpu_lol_action.rehearsal.github_answers import Answer, Call, Route, not_found, refuse
from gpu_lol_action.rehearsal.github_git import GitError
from gpu_lol_action.rehearsal.github_payloads import Json
from gpu_lol_action.rehearsal.github_payloads_git import api_link, git_commit, git_ref

_R = "/repos/{owner}/{repo}"


# --- refs ------------------------------------------------------------------------------------------------
def _create_ref(call: Call) -> Answer:
    git, name, sha = call.repository.git, call.body["ref"], call.body["sha"]
    if not name.startswith("refs/") or name.count("/") < 2 or not git.is_ref_name(name):
        raise refuse(422, "Reference name is not valid", [])
    _refuse_custom(call, name)
    if git.ref(name) is not None:
        raise refuse(422, "Reference already exists", [])
    if git.kind(sha) != "commit":
        raise refuse(422, "Object does not exist", [])
    if not git.refs("refs/heads/"):
        raise refuse(409, "Git Repository is empty.")
    try:
        git.update_ref(name, sha, None)
    except GitError:
        # A ref that is a folder of another one: git's own refusal, GitHub's words.
        raise refuse(422, "Reference update failed", []) from None
    return Answer(201, git_ref(call, name, sha), {"Location": api_link(call, f"git/{name}")})


def _get_ref(call: Call) -> Answer:
    name = f"refs/{call.path['ref']}"
    sha = call.repository.git.ref(name)
    if sha is None:
        raise not_found()
    return Answer(200, git_ref(call, name, sha))


def _update_ref(call: Call) -> Answer:
    git, name, sha = call.repository.git, f"refs/{call.path['ref']}", call.body["sha"]
    old = git.ref(name)
    if old is None:
        raise refuse(422, "Reference does not exist", [])
    _refuse_custom(call, name)
    if git.kind(sha) != "commit":
        raise refuse(422, "Object does not exist", [])
    if not call.body.get("force") and not git.is_ancestor(old, sha):
        raise refuse(422, "Update is not a fast forward", [])
    git.update_ref(name, sha, old)
    if name.startswith("refs/heads/"):
        changes.follow_branch(call.world, call.repository, name.removeprefix("refs/heads/"))
    return Answer(200, git_ref(call, name, sha))


def _delete_ref(call: Call) -> Answer:
    name = f"refs/{call.path['ref']}"
    if call.repository.git.ref(name) is None:
        raise refuse(422, "Reference does not exist", [])
    call.repository.git.delete_ref(name)
    return Answer(204)


def _matching_refs(call: Call) -> Answer:
    # GitHub matches the start of the name, not whole segments, and never pages this list.
    found = call.repository.git.refs(f"refs/{call.path['ref']}")
    return Answer(200, [git_ref(call, name, sha) for name, sha in sorted(found.items())])


def _refuse_custom(call: Call, name: str) -> None:
    is_usual = name.startswith(("refs/heads/", "refs/tags/"))
    if call.repository.refuses_custom_refs and not is_usual:
        raise refuse(422, "Reference name is not valid", [])


# --- objects ---------------------------------------------------------------------------------------------
def _create_blob(call: Call) -> Answer:
    text = call.body["content"]
    content = base64.b64decode(text) if call.body.get("encoding") == "base64" else text.encode()
    sha = call.repository.git.write_blob(content)
    return Answer(201, {"sha": sha, "url": api_link(call, f"git/blobs/{sha}")})


def _get_blob(call: Call) -> Answer:
    sha = call.path["file_sha"]
    if call.repository.git.kind(sha) != "blob":
        raise not_found()
    content = call.repository.git.read_blob(sha)
    return Answer(
        200,
        {
            "sha": sha,
            "node_id": "B_" + sha,
            "size": len(content),
            "url": api_link(call, f"git/blobs/{sha}"),
            "content": base64.encodebytes(content).decode(),
            "encoding": "base64",
        },
    )


def _create_tree(call: Call) -> Answer:
    git = call.repository.git
    base = call.body.get("base_tree")
    entries: dict[str, tuple[str, str] | None] = {}
    for entry in call.body["tree"]:
        sha = git.write_blob(entry["content"].encode()) if "content" in entry else entry.get("sha")
        entries[entry["path"]] = (entry.get("mode", "100644"), sha) if sha else None
    try:
        tree = git.write_tree(entries, base)
    except GitError as error:
        raise refuse(422, f"tree.sha {error} is not a valid tree", []) from None
    return Answer(201, _tree(call, tree, recursive=False))


def _get_tree(call: Call) -> Answer:
    tree = call.repository.git.resolve(call.path["tree_sha"], "tree")
    if tree is None:
        raise not_found()
    return Answer(200, _tree(call, tree, recursive="recursive" in call.query))


def _tree(call: Call, tree: str, *, recursive: bool) -> Json:
    listing = []
    for entry in call.repository.git.read_tree(tree, recursive=recursive):
        shape: Json = {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
        if entry.size is not None:
            shape["size"] = entry.size
        if entry.kind != "commit":
            shape["url"] = api_link(call, f"git/{entry.kind}s/{entry.sha}")
        listing.append(shape)
    return {"sha": tree, "url": api_link(call, f"git/trees/{tree}"), "tree": listing, "truncated": False}


def _create_commit(call: Call) -> Answer:
    git = call.repository.git
    if git.kind(call.body["tree"]) != "tree":
        raise refuse(422, "Tree SHA does not exist", [])
    for parent in call.body.get("parents", []):
        if git.kind(parent) != "commit":
            raise refuse(422, "Parent SHA does not exist or is not a commit object", [])
    author = changes.signature(call.world, call.actor)
    sha = git.write_commit(call.body["tree"], call.body.get("parents", []), call.body["message"], author)
    return Answer(201, git_commit(call, git.read_commit(sha)))


def _get_git_commit(call: Call) -> Answer:
    sha = call.path["commit_sha"]
    if call.repository.git.kind(sha) != "commit":
        raise not_found()
    return Answer(200, git_commit(call, call.repository.git.read_commit(sha)))


GIT_ROUTES = {
    f"POST {_R}/git/blobs": Route(_create_blob, ("contents",)),
    f"GET {_R}/git/blobs/{{file_sha}}": Route(_get_blob, ("contents",)),
    f"POST {_R}/git/trees": Route(_create_tree, ("contents",)),
    f"GET {_R}/git/trees/{{tree_sha}}": Route(_get_tree, ("contents",)),
    f"POST {_R}/git/commits": Route(_create_commit, ("contents",)),
    f"GET {_R}/git/commits/{{commit_sha}}": Route(_get_git_commit, ("contents",)),
    f"POST {_R}/git/refs": Route(_create_ref, ("contents",)),
    f"GET {_R}/git/ref/{{ref}}": Route(_get_ref, ("contents",)),
    f"PATCH {_R}/git/refs/{{ref}}": Route(_update_ref, ("contents",)),
    f"DELETE {_R}/git/refs/{{ref}}": Route(_delete_ref, ("contents",)),
    f"GET {_R}/git/matching-refs/{{ref}}": Route(_matching_refs, ("contents",)),
}
