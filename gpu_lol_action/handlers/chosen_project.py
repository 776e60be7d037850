"""Which project of a repository an order or a proposal is about: the one that somebody names, else one that the pull request changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpu_lol_action.analysis.files.checkout import Checkout, read_checkout
from gpu_lol_action.analysis.files.located import has_folder, in_folder, read_in_folder
from gpu_lol_action.analysis.files.surroundings import is_built_on
from gpu_lol_action.domain.corrections import Corrections
from gpu_lol_action.domain.folders import folder_meant, folder_of, unknown_project
from gpu_lol_action.domain.names import environment_name, machine_label
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import PullRequest
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.concluding import Fetched
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.notes import read_note


@dataclass(frozen=True, slots=True)
class Subject:
    """The one project that a pull request is about.

    ``policy`` names no other, ``note`` has what people have set for it, and ``project`` is its folder where the repository
    leaves a choice; else it is empty.
    """

    policy: Policy
    note: ProposalNote
    project: str = ""


def settled(context: Context, order: Order) -> Order:
    """Return an order that is about one project. Raises UserError where it names a folder that is not there."""
    if order.note is not None:
        return order
    note = read_note(context, order.pull_request.number)
    subject = subject_of(context, order.pull_request, order.policy, note, order.command.project)
    return replace(order, policy=subject.policy, note=subject.note, project=subject.project)


def machine_name(order: Order, profile: str) -> str:
    """Return the name of the environment that a settled order means with this profile."""
    label = machine_label(order.project, profile)
    return environment_name(order.repository.repository_id, order.pull_request_number, label, order.requester.login)


def subject_of(
    context: Context,
    pull_request: PullRequest,
    policy: Policy,
    note: ProposalNote,
    asked: str = "",
    whole: Checkout | None = None,
) -> Subject:
    """Return the project in the folder that is ``asked`` for, else the one that was set for the pull request, else its first one.

    The first is the first named one that it changes; else the first that is built on what it changes; else, as without a pull
    request, the first that is named. ``whole`` is the tree at its head, where that was read. Raises UserError where there is no such folder as is asked for.
    """
    tree = _Tree(context, pull_request.head_sha, whole)
    note = _without_gone(context, note, tree)
    chosen = note.corrections.project or ""
    if not asked:
        return _subject(policy, note, chosen or _first_meant(context, pull_request, policy, tree))
    folder = folder_meant(asked, policy.project_folders)
    if not tree.has(folder):
        raise unknown_project(folder, policy.project_folders)
    if not note.corrections.is_empty and folder != (chosen or _first_meant(context, pull_request, policy, tree)):
        # What people said of one project's machine they did not say of another's.
        note = replace(note, corrections=Corrections())
    return _subject(policy, note, folder)


def is_in(context: Context, sha: str, folder: str) -> bool:
    """Whether a commit has that folder."""
    return _Tree(context, sha).has(folder)


def fetch(context: Context, sha: str, policy: Policy, like: Checkout | None = None) -> Checkout:
    """Return the tree of exactly that commit as data; meanwhile prices are asked for, which takes about as long.

    ``policy`` may say which folder the project is in. ``like`` is another commit, whose equal files are not read again.
    """
    if context.lookups.prices is not None:
        context.lookups.prices().begin(Policy().clouds)
    with context.forge.tree(sha) as folder:
        return read_in_folder(folder, policy.project_folder, like)


def fetched_in_folder(context: Context, fetched: Fetched, policy: Policy, like: Checkout | None = None) -> Fetched:
    """Return a tree that was read without a policy as it is read with one; where its bytes do not do for that it is read anew."""
    checkout = in_folder(fetched.checkout, policy.project_folder, like)
    return Fetched(fetched.sha, checkout if checkout is not None else fetch(context, fetched.sha, policy, like))


@dataclass(slots=True)
class _Tree:
    """The tree of a commit, asked for where something of it has to be known."""

    context: Context
    sha: str
    whole: Checkout | None = None

    def has(self, folder: str) -> bool:
        if self.whole is not None and any(path.startswith(f"{folder}/") for path in self.whole.by_path):
            return True
        # What is read of a tree leaves folders of some names out.
        with self.context.forge.tree(self.sha) as root:
            return has_folder(root, folder)

    def read(self) -> Checkout:
        if self.whole is None:
            with self.context.forge.tree(self.sha) as root:
                self.whole = read_checkout(root)
        return self.whole


def _subject(policy: Policy, note: ProposalNote, folder: str) -> Subject:
    is_choice = bool(folder) and policy.project_folders != (folder,)
    return Subject(policy.about(folder), note, folder if is_choice else "")


def _without_gone(context: Context, note: ProposalNote, tree: _Tree) -> ProposalNote:
    """Return what was set for the pull request; of a project whose folder is gone nothing is left, and that is said."""
    folder = note.corrections.project
    if folder is None or tree.has(folder):
        return note
    context.progress.note(f"Left out: what was set for `{folder}`, because that folder is gone.")
    return replace(note, corrections=Corrections())


def _first_meant(context: Context, pull_request: PullRequest, policy: Policy, tree: _Tree) -> str:
    named = policy.project_folders
    changed = changed_by(context, pull_request) if len(named) > 1 else ()
    owners = {folder_of(path, named) for path in changed}
    touched = next((folder for folder in named if folder in owners), "")
    if touched or not changed:
        return touched or next(iter(named), "")
    return next((folder for folder in named if is_built_on(tree.read(), folder, changed)), named[0])


def changed_by(context: Context, pull_request: PullRequest) -> Sequence[str]:
    """Return the paths that a pull request changes, as far as that is told; of none is nothing."""
    if not pull_request.number:
        return ()
    try:
        return sorted(context.forge.changed_paths(pull_request.base_sha, pull_request.head_sha))
    except GpuLolError as error:
        context.progress.line(f"what it changes could not be told: {error.explanation.what}")
        return ()
