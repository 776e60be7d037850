"""What is said of a folder on disk, in the words of a proposal; apart from those of pull requests, for a person waits."""

from __future__ import annotations

from datetime import datetime

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.priced_change import PricedChange
from gpu_lol_action.domain.what_if import WhatIf
from gpu_lol_action.pricing.smoke_cost import SmokeCost
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.marker import build_marker
from gpu_lol_action.render.templating import render_comment
from gpu_lol_action.render.views import NOTHING_LAUNCHED
from gpu_lol_action.render.views_evidence import CodePlace
from gpu_lol_action.render.views_projects import NO_PROJECTS, ProjectsCase
from gpu_lol_action.render.views_proposal import ProposalCase, proposal_view


def analysis_case(  # noqa: PLR0913 - keyword-only: a proposal is made from all of these
    *,
    analysis: Analysis,
    ladder: Ladder,
    policy: Policy,
    spec_yaml: str,
    sha: str,
    now: datetime,
    base_analysis: Analysis | None = None,
    base_ladder: Ladder | None = None,
    base_sha: str | None = None,
    change: PricedChange | None = None,
    base_problem: str = "",
    what_ifs: tuple[WhatIf, ...] = (),
    spot: Candidate | None = None,
    smoke: SmokeCost | None = None,
    projects: ProjectsCase = NO_PROJECTS,
) -> ProposalCase:
    """Return what is said of a folder on disk, compared with a commit where one is given: no pull request, no links."""
    return ProposalCase(
        marker=build_marker("analysis", head=sha[:7]),
        subject=Safe("code"),
        place=CodePlace("", "", sha),
        analysis=analysis,
        ladder=ladder,
        base_sha=base_sha,
        base_analysis=base_analysis,
        base_ladder=base_ladder,
        policy=policy,
        month_usd=None,
        environment=None,
        spec_yaml=spec_yaml,
        now=now,
        idle=NOTHING_LAUNCHED,
        change=change,
        base_problem=base_problem,
        what_ifs=what_ifs,
        spot=spot,
        smoke=smoke,
        projects=projects,
    )


def analysis_report(case: ProposalCase) -> str:
    """Return the proposal for a folder on disk as Markdown."""
    return render_comment("proposal", proposal_view(case))
