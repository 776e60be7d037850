"""Which project of a repository that names several a pull request is about, and its tree as data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, read_checkout
from gpu_lol_action.analysis.files.located import in_folder, read_in_folder
from gpu_lol_action.analysis.files.surroundings import is_built_on
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import PullRequest
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.concluding import Fetched
from gpu_lol_action.handlers.context import Context


def narrowed(context: Context, pull_request: PullRequest, policy: Policy, whole: Checkout) -> Policy:
    """Return the policy with one project alone: the first that a pull request changes.

    Else the first that is built on what it changes; where there is none either, or it is not told what was changed, the first that
    is named, as without a pull request. ``whole`` is the tree at the pull request's head.
    """
    changed = _changed(context, pull_request, policy)
    folder = _touched(policy, changed) or _built_on(policy, changed, whole)
    return replace(policy, project_folders=(folder,)) if folder else _first(policy)


def fetch_project(context: Context, pull_request: PullRequest, policy: Policy) -> tuple[Policy, Checkout]:
    """Return the policy with the one project that a pull request is about, and the tree at its head with it; the tree is asked for once."""
    changed = _changed(context, pull_request, policy)
    _begin_prices(context)
    with context.forge.tree(pull_request.head_sha) as root:
        folder = _touched(policy, changed)
        if not folder and changed:
            folder = _built_on(policy, changed, read_checkout(root))
        one = replace(policy, project_folders=(folder,)) if folder else _first(policy)
        return one, read_in_folder(root, one.project_folder)


def fetch(context: Context, sha: str, policy: Policy, like: Checkout | None = None) -> Checkout:
    """Return the tree of exactly that commit as data; meanwhile prices are asked for, which takes about as long.

    ``policy`` may say which folder the project is in. ``like`` is another commit, whose equal files are not read again.
    """
    _begin_prices(context)
    with context.forge.tree(sha) as folder:
        return read_in_folder(folder, policy.project_folder, like)


def fetched_in_folder(context: Context, fetched: Fetched, policy: Policy, like: Checkout | None = None) -> Fetched:
    """Return a tree that was read without a policy as it is read with one; where its bytes do not do for that it is read anew."""
    checkout = in_folder(fetched.checkout, policy.project_folder, like)
    return Fetched(fetched.sha, checkout if checkout is not None else fetch(context, fetched.sha, policy, like))


def _begin_prices(context: Context) -> None:
    if context.lookups.prices is not None:
        context.lookups.prices().begin(Policy().clouds)


def _changed(context: Context, pull_request: PullRequest, policy: Policy) -> Collection[str]:
    """Return the paths that a pull request changes, as far as they decide between projects."""
    if len(policy.project_folders) < 2 or not pull_request.number:
        return ()
    try:
        return sorted(context.forge.changed_paths(pull_request.base_sha, pull_request.head_sha))
    except GpuLolError as error:
        context.progress.line(f"what it changes could not be told: {error.explanation.what}")
        return ()


def _touched(policy: Policy, changed: Collection[str]) -> str:
    named = policy.project_folders
    return next((folder for folder in named if any(path.startswith(f"{folder}/") for path in changed)), "")


def _built_on(policy: Policy, changed: Collection[str], whole: Checkout) -> str:
    return next((f for f in policy.project_folders if changed and is_built_on(whole, f, changed)), "")


def _first(policy: Policy) -> Policy:
    return replace(policy, project_folders=policy.project_folders[:1]) if len(policy.project_folders) > 1 else policy
