"""The sticky comment of a pull request: its proposal, or what stands in the proposal's place."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.priced_change import PricedChange
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import PullRequest, Repository
from gpu_lol_action.domain.what_if import WhatIf
from gpu_lol_action.errors import SpecError
from gpu_lol_action.pricing.smoke_cost import SmokeCost
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.marker import build_marker
from gpu_lol_action.render.templating import render_comment
from gpu_lol_action.render.views import billing_view
from gpu_lol_action.render.views_answers import message_view
from gpu_lol_action.render.views_evidence import CodePlace
from gpu_lol_action.render.views_projects import NO_PROJECTS, ProjectsCase
from gpu_lol_action.render.views_proposal import NO_NOTE, ProposalCase, proposal_view
from gpu_lol_action.render.views_superseded import superseded_view


def proposal(case: ProposalCase) -> str:
    """Return the sticky proposal of a pull request: what this head needs, what it costs, and what changed."""
    return render_comment("proposal", proposal_view(case))


def proposal_case(  # noqa: PLR0913 - keyword-only: a proposal is made from all of these
    *,
    pull_request: PullRequest,
    repository: Repository,
    server_url: str,
    analysis: Analysis,
    ladder: Ladder,
    base_sha: str | None,
    base_analysis: Analysis | None,
    base_ladder: Ladder | None,
    policy: Policy,
    month_usd: Decimal,
    environment: EnvironmentRecord | None,
    spec_yaml: str,
    now: datetime,
    is_installing: bool = False,
    is_level_one: bool = False,
    note: ProposalNote = NO_NOTE,
    run: str = "",
    spec_notice: str = "",
    change: PricedChange | None = None,
    base_problem: str = "",
    what_ifs: tuple[WhatIf, ...] = (),
    spot: Candidate | None = None,
    smoke: SmokeCost | None = None,
    projects: ProjectsCase = NO_PROJECTS,
    beside: tuple[EnvironmentRecord, ...] = (),
) -> ProposalCase:
    """Return what the sticky proposal of a pull request is made from; ``run`` orders it among other runs' words."""
    place = CodePlace(server_url, pull_request.head_repository or repository.full_name, pull_request.head_sha)
    return ProposalCase(
        marker=_proposal_marker(pull_request, run),
        subject=Safe("PR"),
        place=place,
        analysis=analysis,
        ladder=ladder,
        base_sha=base_sha,
        base_analysis=base_analysis,
        base_ladder=base_ladder,
        policy=policy,
        month_usd=month_usd,
        environment=environment,
        spec_yaml=spec_yaml,
        now=now,
        is_installing=is_installing,
        is_level_one=is_level_one,
        note=note,
        spec_notice=spec_notice,
        change=change,
        base_problem=base_problem,
        what_ifs=what_ifs,
        spot=spot,
        smoke=smoke,
        projects=projects,
        beside=beside,
    )


def spec_error(
    *,
    error: SpecError,
    pull_request: PullRequest,
    now: datetime,
    record: EnvironmentRecord | None = None,
    run: str = "",
) -> str:
    """Return the sticky comment where a file of the pull request is wrong at a line: it takes the proposal's place."""
    view = message_view(
        marker=_proposal_marker(pull_request, run),
        what=error.explanation.what,
        is_sentence=False,
        why=error.explanation.why,
        fix=error.explanation.fix,
        place=f"{error.path}:{error.line}" if error.line else error.path,
        reason_code=error.reason_code,
        billing=billing_view(record, now),
    )
    return render_comment("spec_error", view)


def superseded(*, pull_request: int, url: str) -> str:
    """Return what stands in a second proposal comment once there is a first one: where that is."""
    return render_comment("superseded", superseded_view(pull_request, url))


def _proposal_marker(pull_request: PullRequest, run: str = "") -> Safe:
    return build_marker("proposal", pr=pull_request.number, head=pull_request.head_sha[:7], run=run)
