"""The pull request's code on the machine: a git checkout of exactly one commit, proven by its tree id.

The archive holds every tracked file, whatever ``.gitignore`` says. With the commit's own bytes (see
``launch/commit_object.py``) HEAD there is the commit itself, shallow: status, diff, commit and push work.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpu_lol_action.launch.remote_scripts import build_script, check_nonce, marked_lines

KEPT = frozenset({"changed", "commits", "untracked", "branch", "no_checkout"})
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = re.compile(r"(?!-)[^\x00-\x20\x7f~^:?*\[\\]{1,200}")
_ORIGIN = re.compile(r"(?:https://|ssh://(?:git@)?|git@)[A-Za-z0-9.-]+(?::[0-9]+)?[:/][A-Za-z0-9._/-]+")


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """One commit to put on a machine. ``tree_id`` empty: not known, then it is reported but cannot be compared.

    ``strip_components`` is how many leading folders the archive's names have (GitHub's own archives: 1).
    ``gitlinks`` maps a submodule's path to the commit it stands at. ``origin_url`` never holds a token.
    ``commit_object`` is the commit's content without git's header. ``may_fetch``: the machine may ask the origin
    for the commit where its bytes are not known (a public repository). ``push_url``: where `git push` goes, with the
    keys of whoever is logged in.
    """

    repository: str
    sha: str
    tree_id: str
    branch: str
    origin_url: str
    commit_object: bytes = b""
    gitlinks: Mapping[str, str] = field(default_factory=dict)
    strip_components: int = 0
    may_fetch: bool = False
    push_url: str = ""


@dataclass(frozen=True, slots=True)
class CodeShipped:
    """What the machine holds now. ``is_exact_commit``: HEAD is the pinned commit itself, not one of ours with its tree."""

    folder: str
    tree_id: str
    head: str
    branch: str
    dropped_links: int
    is_exact_commit: bool


@dataclass(frozen=True, slots=True)
class CodeNotShipped:
    """Why the code did not arrive as it should."""

    why: str


@dataclass(frozen=True, slots=True)
class CodeKept:
    """A checkout that was left as it is, because of ``count`` of these.

    ``of``: ``changed`` files, local ``commits``, ``untracked`` files in the way, no ``branch``, or ``no_checkout``.
    """

    of: str
    count: int


def parse_sync_output(output: str, request: CodeRequest, nonce: str) -> CodeShipped | CodeKept | CodeNotShipped:
    """Read what the machine said of moving on; the tree id is compared here, as for a new machine."""
    for line in marked_lines(output, "code", nonce):
        word, of, count = (*line.split(" "), "", "")[:3]
        if word == "kept" and of in KEPT:
            return CodeKept(of, int(count) if re.fullmatch(r"[0-9]{1,9}", count) else 0)
    return parse_code_output(output, request, nonce)


def folder_name(repository: str) -> str:
    """Return the folder under the home folder for ``owner/name``: letters, digits, ``._-``, no dot in front."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", repository.rpartition("/")[2])[:100].lstrip(".-")
    return name.removesuffix(".git") or "code"


def build_origin_url(server_url: str, repository: str) -> str:
    """Return the HTTPS address of a repository on github.com or GitHub Enterprise, without user or token."""
    host = re.sub(r"^[a-z]+://(?:[^/@]*@)?", "", server_url).strip("/")
    return f"https://{host}/{repository}.git"


def build_push_url(server_url: str, repository: str) -> str:
    """Return the SSH address of a repository: a push takes the forwarded agent of whoever is logged in, and no token."""
    host = re.sub(r"^[a-z]+://(?:[^/@]*@)?", "", server_url).strip("/")
    return f"ssh://git@{host.partition(':')[0]}/{repository}.git"


def build_code_script(request: CodeRequest, nonce: str) -> str:
    """Return the script that makes the checkout; its standard input is the archive (tar.gz). Values are data there.

    Raises ValueError where an id is none: those come from GitHub's API, not from a person.
    """
    return build_script("apt", "code", "code_place", values=_values(request, nonce))


def build_sync_script(request: CodeRequest, before: str, nonce: str) -> str:
    """Return the script that moves a checkout on from the commit ``before``, where no work is touched by that."""
    if not _OBJECT_ID.fullmatch(before):
        raise ValueError(f"{before[:80]!r} is no git object id")
    return build_script("apt", "code", "code_sync", values={**_values(request, nonce), "before": before})


def _values(request: CodeRequest, nonce: str) -> dict[str, str]:
    for value in (request.sha, *([request.tree_id] if request.tree_id else []), *request.gitlinks.values()):
        if not _OBJECT_ID.fullmatch(value):
            raise ValueError(f"{value[:80]!r} is no git object id")
    if any(url and not _ORIGIN.fullmatch(url) for url in (request.origin_url, request.push_url)):
        raise ValueError("the origin is no plain https or ssh address of a repository")
    for path in request.gitlinks:
        if path.startswith("/") or ".." in path.split("/") or ".git" in path.lower().split("/") or "\n" in path:
            raise ValueError(f"{path[:80]!r} is no path of a submodule")
    return {
        "nonce": check_nonce(nonce),
        "folder": folder_name(request.repository),
        "sha": request.sha,
        "tree": request.tree_id,
        "strip": str(request.strip_components),
        "origin": request.origin_url,
        "push_url": request.push_url,
        "branch": request.branch if _BRANCH.fullmatch(request.branch) else "gpu-lol",
        "commit_base64": base64.b64encode(request.commit_object).decode("ascii"),
        "gitlinks": "\n".join(f"{sha}\t{path}" for path, sha in sorted(request.gitlinks.items())),
        "may_fetch": "yes" if request.may_fetch else "no",
    }


def parse_code_output(output: str, request: CodeRequest, nonce: str) -> CodeShipped | CodeNotShipped:
    """Read what the script said; the tree id is compared here again, as the machine's word on equality proves nothing."""
    said: dict[str, str] = {}
    for line in marked_lines(output, "code", nonce):
        key, _, value = line.partition(" ")
        said.setdefault(key, value)
    if "done" not in said:
        return CodeNotShipped(said.get("failed", "The script ended before the code was in place.")[:300])
    tree_id, head = said.get("tree", ""), said.get("head", "")
    if not (_OBJECT_ID.fullmatch(tree_id) and _OBJECT_ID.fullmatch(head)):
        return CodeNotShipped("The machine did not say which tree arrived.")
    if request.tree_id and tree_id != request.tree_id:
        return CodeNotShipped(f"Tree {tree_id} arrived, the commit has {request.tree_id}.")
    links = said.get("links", "0")
    return CodeShipped(
        folder=folder_name(request.repository),
        tree_id=tree_id,
        head=head,
        branch=said.get("branch", "")[:200],
        dropped_links=int(links) if re.fullmatch(r"[0-9]{1,9}", links) else 0,
        is_exact_commit=head == request.sha,
    )
