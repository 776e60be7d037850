"""Where the proposed spec goes besides the comment: a suggestion in the review, or a commit on the branch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.request import Posted, PullRequest, Repository
from gpu_lol_action.domain.spec import SpecDifference
from gpu_lol_action.domain.spec_edit import SpecEdit, edit_spec, replace_lines
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.domain.surfaces import FileCommit, Standing, Suggestion
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.ports_surfaces import LastChange, Surfaces
from gpu_lol_action.handlers.surfaces import attempt
from gpu_lol_action.render.suggestion import fingerprint, is_in_diff, suggestion_prefix, suggestion_text, withdrawn_text

TRAILER = "Proposed-by: gpu-lol"


@dataclass(frozen=True, slots=True)
class Wording:
    """A whole file that is proposed instead of the analysis' values, why, and as what (for the commit's message)."""

    text: str
    reasons: tuple[SpecDifference, ...]
    purpose: str


@dataclass(frozen=True, slots=True)
class Offering:
    """What is proposed, and the file as it stands at the head (None: there is none). ``mode`` is the policy's."""

    repository: Repository
    pull_request: PullRequest
    standing: Standing
    analysis: Analysis
    spec_text: str | None
    mode: str
    wording: Wording | None = None

    @property
    def path(self) -> str:
        """Where the file lies, or belongs."""
        return self.analysis.spec_place

    @property
    def reasons(self) -> tuple[SpecDifference, ...]:
        """What differs from the file, and why."""
        return self.wording.reasons if self.wording is not None else tuple(self.analysis.differences)


@dataclass(frozen=True, slots=True)
class Offered:
    """``notice`` is one sentence for the comment; ``new_head`` the commit that was made."""

    notice: str = ""
    new_head: str | None = None


def offer_spec(context: Context, offering: Offering) -> Offered:
    """Put the spec where the policy wants it; whatever may not be done leaves it in the comment alone."""
    surfaces = context.surfaces
    if surfaces is None or offering.mode == "comment" or not offering.standing.is_open:
        return Offered()
    if offering.spec_text is not None and context.redact(offering.spec_text) != offering.spec_text:
        # The file holds what looks like a secret: it is not for us to spread it, nor to commit a file without it.
        return Offered()
    if offering.mode == "suggest":
        suggest = partial(_suggest, surfaces, offering)
        return attempt(context, "the suggestion", "pull-requests: write", suggest) or Offered()
    commit = partial(_commit, surfaces, offering)
    return attempt(context, "the commit of the spec", "contents: write", commit) or Offered()


def _changes(analysis: Analysis) -> dict[str, str | int]:
    """Return the keys on which file and code disagree, with what the code says."""
    changes: dict[str, str | int] = {}
    for difference in analysis.differences:
        section, _, name = difference.key.partition(".")
        value = getattr(getattr(analysis.proposed, section), name)
        if value is not None:
            changes[difference.key] = value if isinstance(value, int) else str(getattr(value, "value", value))
    return changes


# --- suggestions ------------------------------------------------------------------------------------------
def _suggest(surfaces: Surfaces, offering: Offering) -> Offered:
    """Suggest the differing lines where they are in the diff, once; withdraw what is wanted no more."""
    number = offering.pull_request.number
    edit = _edit(offering)
    patch = surfaces.suggestions.patch_of(number, offering.path) if offering.spec_text else None
    if patch is None:
        # The file is not in the diff: nothing can be suggested there, nor ever was on this pull request.
        return Offered()
    standing = surfaces.suggestions.standing(number, suggestion_prefix(number), offering.standing.me)
    text = suggestion_text(number, edit, offering.reasons) if edit and is_in_diff(patch, edit) else None
    same = [each for each in standing if edit is not None and text and _is_same(each, edit)]
    for outdated in standing:
        if outdated not in same:
            _withdraw(surfaces, number, outdated)
    if edit is None or text is None:
        return Offered()
    if not same:
        place = Suggestion(offering.pull_request.head_sha, offering.path, edit.first_line, edit.last_line, text)
        surfaces.suggestions.suggest(number, place)
    return Offered(f"The review has it as a suggestion at `{offering.path}:{edit.first_line}`.")


def _is_same(posted: Posted, edit: SpecEdit) -> bool:
    return f" sum={fingerprint(edit)} " in posted.body.split("\n", 1)[0]


def _withdraw(surfaces: Surfaces, number: int, outdated: Posted) -> None:
    surfaces.suggestions.edit(outdated.comment_id, withdrawn_text(number))
    surfaces.conversation.hide(outdated.node_id)


# --- commits ----------------------------------------------------------------------------------------------
def _commit(surfaces: Surfaces, offering: Offering) -> Offered:
    """Commit the spec on the pull request's branch, unless a person's hand or our own last commit forbids it."""
    content = _content(offering)
    pull_request = offering.pull_request
    if content is None or content == offering.spec_text or pull_request.head_repository is None:
        return Offered()
    refusal = _refusal(offering) or _hands_off(
        offering,
        surfaces.commits.last_change(pull_request.head_repository, pull_request.head_sha),
        surfaces.commits.last_change(pull_request.head_repository, pull_request.head_sha, offering.path),
    )
    if refusal:
        return Offered(refusal)
    verb = "Update" if offering.spec_text else "Add"
    purpose = offering.wording.purpose if offering.wording else f"for the code at {pull_request.head_sha[:7]}"
    message = f"{verb} {offering.path} {purpose}\n\n{TRAILER}\n"
    made = surfaces.commits.commit(
        FileCommit(
            pull_request.head_repository,
            pull_request.head_ref,
            pull_request.head_sha,
            offering.path,
            content,
            message,
        )
    )
    if made is None:
        return Offered("It was not committed: the branch has moved meanwhile, or may not be written.")
    return Offered(f"It was committed to this branch as `{made[:7]}`.", made)


def _content(offering: Offering) -> str | None:
    """Return the file as it should be: a new one where there is none, else the differing values in place."""
    if offering.wording is not None:
        return offering.wording.text
    if offering.spec_text is None:
        return write_spec(offering.analysis.proposed)
    edit = _edit(offering)
    return edit.text if edit else None


def _edit(offering: Offering) -> SpecEdit | None:
    if not offering.spec_text:
        return None
    if offering.wording is not None:
        return replace_lines(offering.spec_text, offering.wording.text)
    return edit_spec(offering.spec_text, _changes(offering.analysis))


def _refusal(offering: Offering) -> str:
    """Return why this branch is none of ours to write to; empty where it may be written."""
    pull_request = offering.pull_request
    if pull_request.is_fork(offering.repository.full_name):
        return (
            ""
            if offering.standing.may_modify
            else "It was not committed: the fork's author lets no maintainer push to it."
        )
    if pull_request.head_ref == offering.repository.default_branch:
        return "It was not committed: this branch is the default branch."
    return ""


def _hands_off(offering: Offering, newest: LastChange | None, last_edit: LastChange | None) -> str:
    """Return why the file is left as it is: our own commit must lead to no other, and a person's word stands."""
    me = offering.standing.me
    if newest is not None and TRAILER in newest.message.splitlines():
        return "It was not committed: the newest commit is gpu-lol's own."
    if last_edit is not None and not _is_ours(last_edit, me):
        what = "edited" if offering.spec_text is not None else "removed"
        return f"It was not committed: a person {what} `{offering.path}`."
    return ""


def _is_ours(change: LastChange, me: str) -> bool:
    """Whether we made a commit: anybody can write our trailer, but not under our login."""
    return TRAILER in change.message.splitlines() and bool(me) and change.author == me
