"""The other projects that a pull request changes: what each needs before and after, beside the one that its proposal is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpu_lol_action.analysis.files.changed_folders import changed_projects
from gpu_lol_action.analysis.files.project_folder import project_folder
from gpu_lol_action.analysis.files.surroundings import is_built_on
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.folders import folder_of, is_word
from gpu_lol_action.domain.measured import MeasuredRun
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import PullRequest
from gpu_lol_action.errors import GpuLolError, SpecError
from gpu_lol_action.handlers.askable import Lookups
from gpu_lol_action.handlers.chosen_project import Subject, changed_by, fetched_in_folder
from gpu_lol_action.handlers.concluding import Compared, Fetched, conclude_change
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.untouched import is_untouched
from gpu_lol_action.render.views_projects import OtherProject, ProjectsCase

MAX_READ = 4
"""Each takes about as long as a proposal of its own."""


@dataclass(frozen=True, slots=True)
class Several:
    """A repository of several projects: the whole trees of ``head`` and ``base``, and ``subject``, which the proposal is about.

    ``policy`` names them all; ``lookups`` are what may be asked about them.
    """

    pull_request: PullRequest
    policy: Policy
    subject: Subject
    head: Fetched
    base: Fetched | None
    lookups: Lookups
    measured: Sequence[MeasuredRun]


@dataclass(frozen=True, slots=True)
class Others:
    """What is said of them, and whether anything of it is news."""

    case: ProjectsCase
    are_touched: bool = False


def other_projects(context: Context, several: Several, analysis: Analysis) -> Others:
    """Return the other named projects that the pull request changes, or that are built on what it changes; four are looked into.

    Where none is named, folders with packages of their own in which it changes something are told by their names, but not the one
    in which what ``analysis`` is about lies.
    """
    named, subject = several.policy.project_folders, several.subject
    if not named and not subject.project:
        return Others(ProjectsCase(apart=_apart(context, several, analysis), gone=subject.gone))
    others = [each for each in named if each != subject.policy.project_folder and _has(several.head, each)]
    changed = changed_by(context, several.pull_request) if others else ()
    owners = {folder_of(path, named) for path in changed}
    folders = [each for each in others if each in owners or _is_built_on(several.head, each, changed)]
    found = [_read(context, several, folder) for folder in folders[:MAX_READ]]
    case = ProjectsCase(
        subject.project,
        named,
        tuple(other for other, _ in found),
        unread=tuple(folders[MAX_READ:]),
        another=next(filter(is_word, others), ""),
        gone=subject.gone,
    )
    return Others(case, bool(case.unread) or any(is_touched for _, is_touched in found))


def _apart(context: Context, several: Several, analysis: Analysis) -> tuple[str, ...]:
    checkout, run = several.head.checkout, analysis.first
    folders = changed_projects(checkout, changed_by(context, several.pull_request)) if several.base is not None else ()
    about, program = project_folder(checkout), run.program if run is not None else ""
    return tuple(each for each in folders if each != about and not program.startswith(f"{each}/"))


def _is_built_on(head: Fetched, folder: str, changed: Sequence[str]) -> bool:
    return bool(changed) and is_built_on(head.checkout, folder, changed)


def _has(tree: Fetched, folder: str) -> bool:
    return any(path.startswith(f"{folder}/") for path in tree.checkout.by_path)


def _read(context: Context, several: Several, folder: str) -> tuple[OtherProject, bool]:
    policy = several.policy.about(folder)
    # A language model is asked about what a proposal is about, and about nothing else.
    lookups = replace(several.lookups, llm=None)
    try:
        head = fetched_in_folder(context, several.head, policy)
        base = fetched_in_folder(context, several.base, policy, head.checkout) if several.base is not None else None
    except GpuLolError as error:
        return OtherProject(folder, problem=error.explanation.what), False
    try:
        compared = conclude_change(head, base, policy, lookups, measured=several.measured)
    except SpecError as error:
        is_news = base is not None and base.checkout.spec_text != head.checkout.spec_text
        return OtherProject(folder, problem=error.explanation.what, is_invalid=is_news), is_news
    except GpuLolError as error:
        return OtherProject(folder, problem=error.explanation.what), False
    is_new = base is not None and not _has(base, folder)
    return _told(folder, compared, is_new=is_new), not is_untouched(head, base, compared, policy)


def _told(folder: str, compared: Compared, *, is_new: bool) -> OtherProject:
    head, base = compared.head, None if is_new else compared.base
    return OtherProject(
        folder,
        head.analysis,
        head.ladder,
        base.analysis if base is not None else None,
        base.ladder if base is not None else None,
        is_new=is_new,
    )
