"""The proposal: read head and base as data, look at the pull request, price both, keep one sticky comment up to date.

The trees are read before anything is asked about the pull request: between the one look and the write lies only what is
computed, so that no newer commit's proposal can come between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gpu_lol_action.analysis.answer.installing import is_installing
from gpu_lol_action.domain.ledger import Survey
from gpu_lol_action.domain.measured import MeasuredRun
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import Outcome, PullRequest, Repository
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.errors import SpecError
from gpu_lol_action.handlers.askable import Lookups, may_ask_llm
from gpu_lol_action.handlers.chosen_project import Choice, fetch, fetched_in_folder
from gpu_lol_action.handlers.concluding import Compared, Fetched, Reading, conclude_change
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.kept_model import keep_answers, remembering
from gpu_lol_action.handlers.measured import measured_runs
from gpu_lol_action.handlers.notes import read_note
from gpu_lol_action.handlers.propose_cheaper import Cheaper, suggest_cheaper
from gpu_lol_action.handlers.propose_projects import Others, Several, other_projects
from gpu_lol_action.handlers.propose_smoke import smoke_cost
from gpu_lol_action.handlers.propose_spec import Offering, offer_spec
from gpu_lol_action.handlers.propose_sticky import Look, Sticky, put_sticky, try_look
from gpu_lol_action.handlers.reading import fetch_base
from gpu_lol_action.handlers.surfaces import report_check
from gpu_lol_action.handlers.teardown import month_usd
from gpu_lol_action.handlers.untouched import is_untouched
from gpu_lol_action.render import comments
from gpu_lol_action.render.check_report import proposal_report, spec_error_report
from gpu_lol_action.render.marker import parse_marker
from gpu_lol_action.render.views_proposal import ProposalCase


@dataclass(frozen=True, slots=True)
class Occasion:
    """Why a proposal is made. ``is_asked``: by a person, so drafts, bots' PRs, mutes and small changes count too.

    ``is_edit``: it is only said anew where it stands already.
    """

    repository: Repository
    pull_request: PullRequest
    load_policy: Callable[[], Policy]
    is_asked: bool = False
    is_edit: bool = False


@dataclass(frozen=True, slots=True)
class _Trees:
    head: Fetched
    base: Fetched | None


@dataclass(frozen=True, slots=True)
class _Scene:
    """Everything that is known before the analysis is concluded."""

    occasion: Occasion
    trees: _Trees
    seen: Look
    policy: Policy
    note: ProposalNote
    lookups: Lookups
    measured: Sequence[MeasuredRun]
    several: Several

    @property
    def pull_request(self) -> PullRequest:
        """The pull request, at the commit that was read."""
        return self.occasion.pull_request

    @property
    def is_installing(self) -> bool:
        """Whether this pull request brings us to the repository."""
        base = self.trees.base
        return is_installing(self.trees.head.checkout, base.checkout if base else None)


def handle_propose(context: Context, occasion: Occasion) -> Outcome:
    """Refresh the proposal of a pull request, or say why it stays as it is."""
    quiet = _quiet_before_reading(occasion)
    if quiet is not None:
        return quiet
    scene = _gather(context, occasion)
    quiet = _quiet_after_looking(scene)
    return quiet if quiet is not None else _propose(context, scene)


def _quiet_before_reading(occasion: Occasion) -> Outcome | None:
    if occasion.is_asked:
        return None
    if occasion.pull_request.is_draft:
        return Outcome("ignored", "draft")
    return Outcome("ignored", "author_is_bot") if occasion.pull_request.author_is_bot else None


def _gather(context: Context, occasion: Occasion) -> _Scene:
    head = Fetched(occasion.pull_request.head_sha, fetch(context, occasion.pull_request.head_sha, Policy()))
    trees = _Trees(head, fetch_base(context, occasion.pull_request, Policy(), head.checkout))
    seen = try_look(context, occasion.pull_request, is_final=not occasion.is_asked)
    # The look may have answered the policy and the note already.
    whole, note = occasion.load_policy(), read_note(context, occasion.pull_request.number)
    subject = Choice(context, occasion.pull_request, whole, head.checkout).subject(note)
    policy, note = subject.policy, subject.note
    is_fork = occasion.pull_request.is_fork(occasion.repository.full_name)
    kept = note.answers.at(head.sha)
    asked = context.lookups.allowed(policy, is_fork=is_fork)
    lookups = remembering(asked, kept, is_allowed=may_ask_llm(policy, is_fork=is_fork), is_proposing=True)
    measured = measured_runs(context)
    several = Several(occasion.pull_request, whole, subject, trees.head, trees.base, asked, measured)
    return _Scene(occasion, _in_folder(context, trees, policy), seen, policy, note, lookups, measured, several)


def _in_folder(context: Context, trees: _Trees, policy: Policy) -> _Trees:
    """Return the trees with the project where the policy says that it is."""
    if not policy.project_folder:
        return trees
    head = fetched_in_folder(context, trees.head, policy)
    base = fetched_in_folder(context, trees.base, policy, head.checkout) if trees.base is not None else None
    return _Trees(head, base)


def _quiet_after_looking(scene: _Scene) -> Outcome | None:
    """Return why nothing is said; None where there is something to say."""
    standing = scene.seen.standing
    if standing.head_sha != scene.pull_request.head_sha:
        # A newer run is on its way: an older one never writes over it.
        return Outcome("ignored", "head_moved")
    if scene.occasion.is_edit and not standing.comments:
        return Outcome("done", "proposal_unchanged")
    if scene.occasion.is_asked:
        return None
    if not scene.policy.is_enabled:
        return Outcome("ignored", "disabled")
    if standing.is_draft:
        return Outcome("ignored", "draft")
    return Outcome("ignored", "muted") if scene.note.muted_by else None


def _propose(context: Context, scene: _Scene) -> Outcome:
    try:
        compared = _conclude(context, scene)
    except SpecError as error:
        _tell_spec_error(context, scene, error)
        raise
    head = compared.head
    others = other_projects(context, scene.several, head.analysis)
    is_new = scene.seen.problem is None and not scene.seen.standing.comments
    if is_new and not scene.occasion.is_asked and _is_untouched(scene, compared, others):
        return Outcome("ignored", "environment_untouched")
    case, seen = _case(context, scene, compared, others), scene.seen
    if not case.is_installing:
        offered = offer_spec(context, _offering(scene, head))
        if offered.new_head is not None:
            # What moved the head is our own commit: no newer run's word is to be waited for.
            seen = replace(seen, standing=replace(seen.standing, head_sha=offered.new_head))
        case = replace(case, spec_notice=offered.notice)
        cheaper = Cheaper(scene.pull_request, scene.seen.standing, head.what_ifs, scene.policy.proposal_mode)
        suggest_cheaper(context, cheaper)
    body = comments.proposal(case)
    became = put_sticky(context, seen, body)
    if became is Sticky.OVERTAKEN:
        return Outcome("ignored", "head_moved")
    keep_answers(context, scene.pull_request.number, seen.standing.head_sha, scene.lookups, scene.note.answers)
    report = proposal_report(case, context.settings.run_url)
    is_shown = report_check(context, replace(report, is_first=_is_first_word(scene)))
    annotations = () if is_shown else report.annotations
    reason_code = "proposal_unchanged" if became is Sticky.UNCHANGED else "proposed"
    return Outcome("done", reason_code, text=body, annotations=annotations)


def _conclude(context: Context, scene: _Scene) -> Compared:
    trees, policy, corrections = scene.trees, scene.policy, scene.note.corrections
    compared = conclude_change(trees.head, trees.base, policy, scene.lookups, corrections, scene.measured)
    if compared.problem:
        context.progress.line(f"no comparison with the base: {compared.problem}")
    return compared


def _is_untouched(scene: _Scene, compared: Compared, others: Others) -> bool:
    """Whether this change is none of our business: nobody is told about what stays as it is, in this project and in others."""
    trees = scene.trees
    is_same = is_untouched(trees.head, trees.base, compared, scene.policy)
    return is_same and not scene.is_installing and not others.are_touched


def _case(context: Context, scene: _Scene, compared: Compared, others: Others) -> ProposalCase:
    head, base = compared.head, compared.base
    survey, now = context.ledger.survey(), context.clock.now()
    running = [record for record in survey.open_records if record.pull_request == scene.pull_request.number]
    return comments.proposal_case(
        pull_request=scene.pull_request,
        repository=scene.occasion.repository,
        server_url=context.settings.server_url,
        analysis=head.analysis,
        ladder=head.ladder,
        base_sha=base.sha if base else None,
        base_analysis=base.analysis if base else None,
        base_ladder=base.ladder if base else None,
        policy=scene.policy,
        month_usd=month_usd(survey, now),
        environment=running[0] if running else None,
        now=now,
        spec_yaml=write_spec(head.analysis.proposed),
        is_installing=scene.is_installing,
        is_level_one=not context.settings.clouds and not _has_bot(survey),
        note=scene.note,
        run=run_label(context),
        change=compared.change,
        base_problem=compared.problem,
        what_ifs=head.what_ifs,
        spot=head.spot,
        smoke=smoke_cost(compared, scene.policy, scene.lookups, now, context.settings.smoke_cron),
        projects=others.case,
        beside=tuple(running[1:]),
    )


def _offering(scene: _Scene, head: Reading) -> Offering:
    return Offering(
        repository=scene.occasion.repository,
        pull_request=scene.pull_request,
        standing=scene.seen.standing,
        analysis=head.analysis,
        spec_text=scene.trees.head.checkout.spec_text,
        mode=scene.policy.proposal_mode,
    )


def run_label(context: Context) -> str:
    """Return what orders this run's words among other runs': ids grow, attempts count up."""
    settings = context.settings
    return f"{settings.run_id}.{settings.run_attempt}" if settings.run_id.isdigit() else ""


def _is_first_word(scene: _Scene) -> bool:
    """Whether no run has said anything about this commit; seen from our comments, so it may only be asked where they were."""
    if scene.seen.problem is not None:
        return False
    markers = (parse_marker(each.body) for each in scene.seen.standing.comments)
    heads = {marker.values.get("head", "") for marker in markers if marker is not None}
    return scene.pull_request.head_sha[:7] not in heads


def _tell_spec_error(context: Context, scene: _Scene, error: SpecError) -> None:
    body = comments.spec_error(
        error=error, pull_request=scene.pull_request, now=context.clock.now(), run=run_label(context)
    )
    put_sticky(context, scene.seen, body)
    report = spec_error_report(error, scene.pull_request.head_sha, body, context.settings.run_url)
    report_check(context, replace(report, is_first=_is_first_word(scene)))
    error.is_told = True


def _has_bot(survey: Survey) -> bool:
    """Whether commands work here: this job may hold no cloud secret while the bot's has one, and then it has swept."""
    return bool(survey.entries) or survey.swept_at is not None
