"""The proposal as a view model: verdict, comparison with the base, memory chart, evidence, offers."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.priced_change import PricedChange
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec import SpecDifference
from gpu_lol_action.domain.what_if import WhatIf
from gpu_lol_action.pricing.smoke_cost import SmokeCost
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.telling import is_assumption, is_set_aside
from gpu_lol_action.render.verdicts import verdict
from gpu_lol_action.render.views import EMPTY, NOTHING_RUNNING, BillingView, short_sha, total_billing_view
from gpu_lol_action.render.views_change import ChangeView, change_view
from gpu_lol_action.render.views_documented import DocumentedView, documented_view, notes_beside
from gpu_lol_action.render.views_evidence import (
    MAX_FITTING,
    CodePlace,
    FindingView,
    OfferView,
    ProfileView,
    evidence_view,
    memory_chart,
    near_misses,
    no_gpu_view,
    offer_view,
    profile_view,
    rejected_view,
)
from gpu_lol_action.render.views_money import month_text, spot_text
from gpu_lol_action.render.views_need import NeedView, largest_term, need_view, price_of_all, required_text, size_text
from gpu_lol_action.render.views_price import ValueView, source_view, value_view
from gpu_lol_action.render.views_projects import NO_PROJECTS, ProjectsCase, ProjectsView, projects_view
from gpu_lol_action.render.views_smoke_money import SmokeMonthView, smoke_month, smoke_text
from gpu_lol_action.render.views_what_ifs import WhatIfsView, what_ifs_view

NO_NOTE = ProposalNote()


@record(frozen=True, slots=True)
class ProposalCase:
    """Everything a proposal is made from.

    ``note`` is what people corrected; ``spec_notice`` one sentence on where the spec was put besides here. ``subject`` is the word for what was read (``PR``, ``code``); ``base_*`` is None where there is
    nothing to compare with, and ``base_problem`` says why where there should have been; ``spot`` is a machine that may be taken
    away and costs less; ``idle`` is the last line where no machine runs. ``projects`` are those of a repository of several,
    and ``beside`` machines that run for this pull request as well as ``environment``.
    """

    marker: Safe
    subject: Safe
    place: CodePlace
    analysis: Analysis
    ladder: Ladder
    base_sha: str | None
    base_analysis: Analysis | None
    base_ladder: Ladder | None
    policy: Policy
    month_usd: Decimal | None
    environment: EnvironmentRecord | None
    spec_yaml: str
    now: datetime
    is_installing: bool = False
    is_level_one: bool = False
    idle: BillingView = NOTHING_RUNNING
    note: ProposalNote = NO_NOTE
    spec_notice: str = ""
    change: PricedChange | None = None
    base_problem: str = ""
    what_ifs: tuple[WhatIf, ...] = ()
    spot: Candidate | None = None
    smoke: SmokeCost | None = None
    projects: ProjectsCase = NO_PROJECTS
    beside: tuple[EnvironmentRecord, ...] = ()


@record(frozen=True, slots=True)
class DifferenceView:
    """One key on which the repository's file and the code disagree."""

    key: str
    in_file: str
    in_code: str
    why: str


@record(frozen=True, slots=True)
class OverrideView:
    """What a language model's word changed, and its own claim about it."""

    model: str
    claim: str
    changes: tuple[tuple[str, str, str], ...]


@record(frozen=True, slots=True)
class ProposalView:
    """What ``proposal.md.j2`` shows. ``verdict`` chooses the heading."""

    marker: Safe
    subject: Safe
    verdict: str
    base: NeedView | None
    head: NeedView
    price_difference: Safe
    percent_difference: Safe
    change: ChangeView
    base_problem: str
    what_ifs: WhatIfsView
    projects: ProjectsView
    needed: Safe
    asked: Safe
    required: Safe
    spec_path: str
    largest: str
    chart: str
    memory_notes: tuple[str, ...]
    method: str
    documented: DocumentedView | None
    differences: tuple[DifferenceView, ...]
    override: OverrideView | None
    corrections: tuple[tuple[str, str], ...]
    taken_back: str
    example: Safe
    is_memory_corrected: bool
    is_measured: bool
    muted_by: str
    spec_notice: str
    session: Safe
    month: Safe
    smoke: Safe
    smoke_month: SmokeMonthView | None
    spot: Safe
    source: str
    as_of: Safe
    value: ValueView | None
    spec_yaml: str
    spec_name: str
    why_no_gpu: FindingView | None
    findings: tuple[FindingView, ...]
    findings_count: Safe
    findings_hidden: Safe
    set_aside: tuple[str, ...]
    assumed: tuple[str, ...]
    assumed_count: Safe
    not_understood_count: Safe
    others: tuple[OfferView, ...]
    others_count: Safe
    rejected: tuple[OfferView, ...]
    rejected_count: Safe
    profiles: tuple[ProfileView, ...]
    profiles_count: Safe
    not_understood: tuple[str, ...]
    running: EnvironmentRecord | None
    running_sha: Safe
    is_installing: bool
    is_level_one: bool
    files: Safe
    billing: BillingView


def verdict_of(case: ProposalCase) -> str:
    """Return which heading a proposal has: the word by which a check run is concluded too."""
    return proposal_view(case).verdict


def proposal_view(case: ProposalCase) -> ProposalView:
    """Return what the proposal says."""
    analysis, ladder = case.analysis, case.ladder
    is_memory_corrected = case.note.corrections.vram_gib is not None
    head = need_view(case.place.sha, analysis, ladder, is_corrected=is_memory_corrected)
    base = None
    if case.base_analysis is not None and case.base_ladder is not None:
        base = need_view(case.base_sha or "", case.base_analysis, case.base_ladder)
    old, new = price_of_all(case.base_ladder, case.base_analysis), price_of_all(ladder, analysis)
    change = change_view(case.change, case.place, case.base_sha, case.policy.least_change_percent)
    is_running = case.environment is not None and case.environment.is_open
    breakdown = analysis.breakdown
    findings, hidden = evidence_view(analysis, case.place)
    set_aside = tuple(gap for gap in analysis.not_understood if is_set_aside(gap))
    assumed = tuple(gap for gap in analysis.not_understood if is_assumption(gap) and gap not in set_aside)
    gaps = tuple(gap for gap in analysis.not_understood if not is_assumption(gap))
    source, as_of = source_view(ladder, case.now.date())
    return ProposalView(
        marker=case.marker,
        subject=case.subject,
        verdict=verdict(case, base, head, change),
        base=base,
        head=head,
        price_difference=formats.usd_per_hour_difference(new - old),
        percent_difference=formats.percent_difference(old, new) if head.has_offer and old != new else EMPTY,
        change=change,
        base_problem=case.base_problem,
        what_ifs=what_ifs_view(case.what_ifs, case.place, has_offer=head.has_offer),
        projects=projects_view(case.projects),
        needed=size_text(analysis.proposed.hardware.vram_required_gb),
        asked=size_text(analysis.spec.hardware.vram_required_gb),
        required=required_text(ladder),
        spec_path=analysis.spec_path or "",
        largest=largest_term(breakdown),
        chart=memory_chart(breakdown) if breakdown else "",
        memory_notes=notes_beside(breakdown) if breakdown else (),
        method=breakdown.method if breakdown else "",
        # What a person said takes the place of what the documentation says.
        documented=None if is_memory_corrected else documented_view(analysis, case.place),
        differences=tuple(map(_difference, analysis.differences)),
        override=_override(analysis),
        corrections=case.note.words,
        taken_back=" ".join(["/gpu-lol set", *(f"{word.partition('=')[0]}=auto" for word, _ in case.note.words)]),
        example=Safe("vram=24") if head.is_cpu_only else Safe("vram=48"),
        is_memory_corrected=is_memory_corrected,
        is_measured=breakdown is not None and breakdown.unmeasured is not None,
        muted_by=case.note.muted_by,
        spec_notice=case.spec_notice,
        session=formats.hours_label(case.policy.lease),
        month=month_text(case.month_usd, ladder, case.policy),
        smoke=smoke_text(case.smoke),
        smoke_month=smoke_month(case.smoke, case.month_usd, ladder, case.policy),
        spot=spot_text(case.spot, ladder),
        source=source,
        as_of=as_of,
        value=value_view(ladder, case.policy.max_price_usd_per_hour, analysis.spec.hardware.num_nodes),
        spec_yaml=case.spec_yaml,
        spec_name=analysis.spec_place,
        why_no_gpu=no_gpu_view(analysis, case.place),
        findings=findings,
        findings_count=Safe(str(len(analysis.findings))),
        findings_hidden=hidden,
        set_aside=set_aside,
        assumed=assumed,
        assumed_count=Safe(str(len(assumed))),
        not_understood_count=Safe(str(len(gaps))),
        others=tuple(offer_view(each) for each in ladder.candidates[1 : MAX_FITTING + 1]),
        others_count=Safe(str(max(len(ladder.candidates) - 1, 0))),
        rejected=tuple(rejected_view(each, case.policy.lease) for each in near_misses(ladder)),
        rejected_count=Safe(str(len(ladder.rejected))),
        profiles=tuple(profile_view(each, case.place) for each in analysis.profiles),
        profiles_count=Safe(str(len(analysis.profiles))),
        not_understood=gaps,
        running=case.environment if is_running else None,
        running_sha=short_sha(case.environment.sha) if case.environment else Safe(""),
        is_installing=case.is_installing,
        is_level_one=case.is_level_one,
        files=formats.plural(analysis.files_read, "file"),
        billing=total_billing_view([case.environment, *case.beside], case.now)
        if case.environment and is_running
        else case.idle,
    )


def _override(analysis: Analysis) -> OverrideView | None:
    override = analysis.override
    return None if override is None else OverrideView(override.model, override.reason, override.changes)


def _difference(difference: SpecDifference) -> DifferenceView:
    return DifferenceView(difference.key, difference.in_file, difference.in_code, difference.why)
