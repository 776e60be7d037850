"""The proposal as a view model: verdict, comparison with the base, memory chart, evidence, offers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import SPEC_PATH, Policy
from gpu_lol_action.domain.spec import SpecDifference
from gpu_lol_action.render import formats
from gpu_lol_action.render.cause import select_cause
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import EMPTY, NOTHING_RUNNING, BillingView, accelerator_label, billing_view, short_sha
from gpu_lol_action.render.views_evidence import (
    CodePlace,
    FindingView,
    OfferView,
    finding_view,
    memory_chart,
    offer_view,
    rejected_view,
)

_MAX_OFFERS = 14
_MAX_REJECTED = 20


@dataclass(frozen=True, slots=True)
class ProposalCase:
    """Everything a proposal is made from.

    ``subject`` is the word for what was read (``PR``, ``code``); ``base_*`` is None where there is
    nothing to compare with; ``idle`` is the last line where no machine runs.
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


@dataclass(frozen=True, slots=True)
class NeedView:
    """One side of the comparison: what that commit needs and what it costs; dashes where nothing fits."""

    sha: Safe
    is_cpu_only: bool
    memory: Safe
    memory_range: Safe
    machine: Safe
    price: Safe
    session: Safe
    cloud: str
    why: str
    has_offer: bool


@dataclass(frozen=True, slots=True)
class CauseView:
    """The change behind the difference: ``name old → new`` at its line."""

    name: str
    old: str | None
    new: str
    why: str
    where: Safe


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """One key on which the repository's file and the code disagree."""

    key: str
    in_file: str
    in_code: str
    why: str


@dataclass(frozen=True, slots=True)
class OverrideView:
    """What a language model's word changed, and its own claim about it."""

    model: str
    claim: str
    changes: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class ProposalView:
    """What ``proposal.md.j2`` shows. ``verdict`` chooses the heading."""

    marker: Safe
    subject: Safe
    verdict: str
    base: NeedView | None
    head: NeedView
    price_difference: Safe
    percent_difference: Safe
    cause: CauseView | None
    needed: Safe
    asked: Safe
    required: Safe
    spec_path: str
    largest: str
    chart: str
    memory_notes: tuple[str, ...]
    method: str
    differences: tuple[DifferenceView, ...]
    override: OverrideView | None
    session: Safe
    month: Safe | None
    source: str
    as_of: Safe
    spec_yaml: str
    spec_name: str
    findings: tuple[FindingView, ...]
    findings_count: Safe
    not_understood_count: Safe
    others: tuple[OfferView, ...]
    others_count: Safe
    rejected: tuple[OfferView, ...]
    rejected_count: Safe
    rejected_hidden: Safe | None
    not_understood: tuple[str, ...]
    running: EnvironmentRecord | None
    running_sha: Safe
    is_installing: bool
    is_level_one: bool
    files: Safe
    billing: BillingView


def proposal_view(case: ProposalCase) -> ProposalView:
    """Return what the proposal says."""
    analysis, ladder = case.analysis, case.ladder
    head = _need(case.place.sha, analysis, ladder)
    base = None
    if case.base_analysis is not None and case.base_ladder is not None:
        base = _need(case.base_sha or "", case.base_analysis, case.base_ladder)
    old, new = _price(case.base_ladder), _price(ladder)
    is_running = case.environment is not None and case.environment.is_open
    breakdown = analysis.breakdown
    return ProposalView(
        marker=case.marker,
        subject=case.subject,
        verdict=_verdict(case, base, head),
        base=base,
        head=head,
        price_difference=formats.usd_per_hour_difference(new - old),
        percent_difference=formats.percent_difference(old, new) if head.has_offer else EMPTY,
        cause=_cause(case),
        needed=_gb(analysis.proposed.hardware.vram_required_gb),
        asked=_gb(analysis.spec.hardware.vram_required_gb),
        required=_required(ladder),
        spec_path=analysis.spec_path or "",
        largest=_largest_term(breakdown),
        chart=memory_chart(breakdown) if breakdown else "",
        memory_notes=breakdown.notes if breakdown else (),
        method=breakdown.method if breakdown else "",
        differences=tuple(map(_difference, analysis.differences)),
        override=_override(analysis),
        session=formats.hours_label(case.policy.lease),
        month=None
        if case.month_usd is None
        else Safe(f"{formats.usd(case.month_usd)} of {formats.usd(case.policy.month_usd)}"),
        source=ladder.source.name,
        as_of=formats.day(ladder.source.as_of),
        spec_yaml=case.spec_yaml,
        spec_name=analysis.spec_path or SPEC_PATH,
        findings=tuple(finding_view(each, case.place) for each in analysis.findings),
        findings_count=Safe(str(len(analysis.findings))),
        not_understood_count=Safe(str(len(analysis.not_understood))),
        others=tuple(offer_view(each) for each in ladder.candidates[1 : _MAX_OFFERS + 1]),
        others_count=Safe(str(max(len(ladder.candidates) - 1, 0))),
        rejected=tuple(rejected_view(each, case.policy.lease) for each in ladder.rejected[:_MAX_REJECTED]),
        rejected_count=Safe(str(len(ladder.rejected))),
        rejected_hidden=_hidden(len(ladder.rejected) - _MAX_REJECTED),
        not_understood=analysis.not_understood,
        running=case.environment if is_running else None,
        running_sha=short_sha(case.environment.sha) if case.environment else Safe(""),
        is_installing=case.is_installing,
        is_level_one=case.is_level_one,
        files=formats.plural(analysis.files_read, "file"),
        billing=billing_view(case.environment, case.now) if is_running else case.idle,
    )


def _verdict(case: ProposalCase, base: NeedView | None, head: NeedView) -> str:
    """Return which heading fits: what would be paid for decides, and the base is what it is held against."""
    if head.is_cpu_only:
        return "cpu_only_now" if base is not None and not base.is_cpu_only else "cpu_only"
    if not head.has_offer:
        return "no_fit"
    asked = case.analysis.spec.hardware.vram_required_gb
    needed = case.analysis.proposed.hardware.vram_required_gb
    # A language model's claim is no reason to doubt the repository's own file.
    is_doubtful = case.analysis.is_from_file and case.analysis.override is None
    if is_doubtful and asked is not None and needed is not None and asked < needed:
        return "file_asks_too_little"
    if base is None:
        return "first" if case.analysis.breakdown or asked else "unrecognized"
    return _verdict_against(base, _price(case.ladder) - _price(case.base_ladder))


def _verdict_against(base: NeedView, price_difference: Decimal) -> str:
    if base.is_cpu_only:
        return "gpu_now"
    if not base.has_offer:
        return "fits_now"
    if price_difference > 0:
        return "dearer"
    return "cheaper" if price_difference < 0 else "same"


def _price(ladder: Ladder | None) -> Decimal:
    best = ladder.best if ladder else None
    return best.price_usd_per_hour if best else Decimal(0)


def _need(sha: str, analysis: Analysis, ladder: Ladder) -> NeedView:
    best = ladder.best
    none = Safe("–")
    memory, spread = _memory(analysis)
    return NeedView(
        sha=short_sha(sha),
        is_cpu_only=not analysis.spec.needs_gpu,
        memory=memory,
        memory_range=spread,
        machine=accelerator_label(best.offer.accelerator, best.offer.accelerator_count) if best else none,
        price=formats.usd_per_hour(best.price_usd_per_hour) if best else none,
        session=formats.usd(best.lease_usd) if best else none,
        cloud=formats.cloud_name(best.offer.cloud) if best else "",
        why=best.why if best else "",
        has_offer=best is not None,
    )


def _memory(analysis: Analysis) -> tuple[Safe, Safe]:
    """Return the figure that decides and its range: the estimate's, else what the spec asks for."""
    breakdown = analysis.breakdown
    if not analysis.spec.needs_gpu:
        return Safe("none"), Safe("")
    if breakdown is not None and _is_memory_claimed(analysis):
        computed = Safe(f"computed: {formats.gib(breakdown.expected_gib)}")
        return _gb(analysis.spec.hardware.vram_required_gb), computed
    if breakdown is not None:
        return formats.gib(breakdown.expected_gib), formats.gib_range(breakdown.low_gib, breakdown.high_gib)
    return _gb(analysis.spec.hardware.vram_required_gb), Safe("")


def _is_memory_claimed(analysis: Analysis) -> bool:
    """Whether a language model's word took the place of the computed figure."""
    override = analysis.override
    return override is not None and any(key == "hardware.vram_required_gb" for key, _, _ in override.changes)


def _override(analysis: Analysis) -> OverrideView | None:
    override = analysis.override
    return None if override is None else OverrideView(override.model, override.reason, override.changes)


def _required(ladder: Ladder) -> Safe:
    count, size = ladder.requirement.gpu_count, formats.gib(ladder.requirement.memory_gib_per_gpu)
    return Safe(f"{formats.plural(count, 'GPU')} with {size}{' each' if count > 1 else ''}")


def _gb(size: int | None) -> Safe:
    return Safe("unknown") if size is None else Safe(f"{size} GiB")


def _cause(case: ProposalCase) -> CauseView | None:
    cause = select_cause(case.base_analysis, case.analysis) if case.base_analysis else None
    if cause is None:
        return None
    return CauseView(
        name=cause.finding.field.rpartition(".")[2],
        old=cause.old_value,
        new=cause.finding.value,
        why=cause.finding.why,
        where=case.place.link(cause.finding.evidence),
    )


def _largest_term(breakdown: MemoryBreakdown | None) -> str:
    if breakdown is None or not breakdown.terms:
        return ""
    term = max(breakdown.terms, key=lambda each: each.gib)
    return f"{term.name} {term.gib:.1f} GiB: {term.basis}"


def _difference(difference: SpecDifference) -> DifferenceView:
    return DifferenceView(difference.key, difference.in_file, difference.in_code, difference.why)


def _hidden(count: int) -> Safe | None:
    return Safe(str(count)) if count > 0 else None
