"""Which project of a repository an order or a proposal is about: the one that somebody names, else one that the pull request changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from gpu_lol_action.analysis.files.checkout import Checkout, read_checkout
from gpu_lol_action.analysis.files.located import holds_project, in_folder, read_in_folder
from gpu_lol_action.analysis.files.surroundings import is_built_on
from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.folders import folder_meant, folder_of, unknown_project
from gpu_lol_action.domain.names import environment_name, machine_key
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import PullRequest
from gpu_lol_action.errors import GpuLolError, TransientError
from gpu_lol_action.handlers.concluding import Fetched
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.notes import read_note


@dataclass(frozen=True, slots=True)
class Subject:
    """The one project that a pull request is about.

    ``policy`` names no other, ``note`` has what people have set for it, and ``project`` is its folder where the repository
    leaves a choice; else it is empty. ``gone`` is one that was set and is no more.
    """

    policy: Policy
    note: ProposalNote
    project: str = ""
    gone: str = ""


def settled(context: Context, order: Order) -> Order:
    """Return an order that is about one project. Raises UserError where it names a folder that holds nothing.

    Of one that spends GpuLolError is raised wherever it cannot be told for sure which project is meant.
    """
    if order.note is not None:
        return order
    spec, pull_request = find_command(order.command.name), order.pull_request
    is_spending = spec is not None and spec.is_spending and not order.command.is_dry_run
    note = read_note(context, pull_request.number, is_needed=is_spending)
    subject = Choice(context, pull_request, order.policy, is_sure=is_spending).subject(note, order.command.project)
    return replace(order, policy=subject.policy, note=subject.note, project=subject.project)


def machine_name(order: Order, profile: str) -> str:
    """Return the name of the environment that a settled order means with this profile."""
    key = machine_key(order.project, profile)
    return environment_name(order.repository.repository_id, order.pull_request_number, key, order.requester.login)


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
class Choice:
    """Which project of a repository a pull request is about.

    ``whole`` is the tree at its head, where that was read. ``is_sure``: what cannot be told is raised, and nothing is guessed.
    """

    context: Context
    pull_request: PullRequest
    policy: Policy
    whole: Checkout | None = None
    is_sure: bool = False

    def subject(self, note: ProposalNote, asked: str = "") -> Subject:
        """Return the project in the folder that is ``asked`` for, else the one that was set for the pull request, else its first one.

        Raises UserError where the folder that is asked for, or has to be, holds nothing that is read.
        """
        named, gone = self.policy.project_folders, ""
        folder = folder_meant(asked, named) or note.corrections.project or ""
        if folder and not self.has(folder):
            if asked or self.is_sure:
                raise unknown_project(folder, named, is_set=not asked)
            folder, gone = "", folder
        folder = folder or self.first()
        is_choice = bool(folder) and named != (folder,)
        project = folder if is_choice else ""
        return Subject(self.policy.about(folder), self.noted(note, folder), project, gone)

    def noted(self, note: ProposalNote, folder: str) -> ProposalNote:
        """Return what was set for the project in a folder; before there was more than one it was said of the only one."""
        is_only_one = not note.about and self.policy.project_folders == (folder,)
        return replace(note, about=folder) if is_only_one else note.on(folder)

    def first(self) -> str:
        """Return the first named project that the pull request changes, else the first that is built on what it changes.

        Else, as without a pull request, the first that is named; of several the first that the head has.
        """
        named = self.policy.project_folders
        if len(named) < 2:
            return next(iter(named), "")
        changed = changed_by(self.context, self.pull_request, is_needed=self.is_sure)
        owners = {folder_of(path, named) for path in changed}
        touched = (folder for folder in named if folder in owners and self.has(folder))
        built = (folder for folder in named if changed and is_built_on(self.read(), folder, changed))
        there = (folder for folder in named if self.has(folder))
        first = next(chain(touched, built, there), "")
        if not first and self.is_sure:
            raise unknown_project(named[0], named)
        return first or named[0]

    def has(self, folder: str) -> bool:
        """Whether the head has something in a folder that is read."""
        if any(path.startswith(f"{folder}/") for path in self.read().by_path):
            return True
        # What is read of a whole tree leaves folders of some names out.
        with self.context.forge.tree(self.pull_request.head_sha) as root:
            return holds_project(root, folder)

    def read(self) -> Checkout:
        """Return the tree at the head."""
        if self.whole is None:
            with self.context.forge.tree(self.pull_request.head_sha) as root:
                self.whole = read_checkout(root)
        return self.whole


def changed_by(context: Context, pull_request: PullRequest, *, is_needed: bool = False) -> Sequence[str]:
    """Return the paths that a pull request changes; where that is not told none, or it is raised where it ``is_needed``."""
    if not pull_request.number:
        return ()
    try:
        return sorted(context.forge.changed_paths(pull_request.base_sha, pull_request.head_sha))
    except GpuLolError as error:
        if is_needed and isinstance(error, TransientError):
            why = "Which project a pull request is about is told by what it changes."
            fix = "Name it (`--project FOLDER`, or `/gpu-lol set project=FOLDER`), or try again."
            raise TransientError(error.reason_code, error.explanation.what, why=why, fix=fix) from error
        if is_needed:
            raise
        context.progress.line(f"what it changes could not be told: {error.explanation.what}")
        return ()
