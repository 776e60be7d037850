"""What stands behind a proposal: findings with their places, the memory chart, offers taken and rejected."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.domain.analysis import Analysis, Profile
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.offer import Candidate, Ladder, Rejected
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, code, link, permalink, visible
from gpu_lol_action.render.telling import package_line, telling_findings
from gpu_lol_action.render.views import accelerator_label

_BAR_WIDTH = 20
_PLACE_COLUMNS = 24
"""With both a line has 112 characters where it is longest: so many a comment on GitHub shows without scrolling."""
_WORDS = {Confidence.HIGH: "high", Confidence.MEDIUM: "medium", Confidence.LOW: "low"}
# What a shell is told before the command itself.
_VARIABLES = re.compile(r"^(?:\w+=\S+\s+)+(?=\S)")

# The offers that a reader compares; all of them are what `gpu-lol analyze --verbose` is for.
MAX_FITTING = 5
MAX_MISSES = 3
MAX_MISSES_WITHOUT_OFFER = 8


@record(frozen=True, slots=True)
class CodePlace:
    """Where lines of code can be linked to; an empty server makes plain text of them (terminal)."""

    server_url: str
    repository: str
    sha: str

    def link(self, evidence: Evidence) -> Safe:
        """Return ``path:line``, linked to that line at this commit."""
        if not evidence.path:
            return Safe("–")
        address = permalink(self.server_url, self.repository, self.sha, evidence.path, evidence.line)
        return link(code(str(evidence)), address)


@record(frozen=True, slots=True)
class FindingView:
    """One row of the evidence."""

    what: str
    value: str
    where: Safe
    confidence: Safe


@record(frozen=True, slots=True)
class ProfileView:
    """One other run of the tree: ``needs`` is ``2 × 24 GiB`` or that it needs no GPU."""

    name: str
    command: str
    workload: Safe
    needs: Safe
    where: Safe


@record(frozen=True, slots=True)
class OfferView:
    """One other offer, or one that was rejected with its reason."""

    machine: Safe
    cloud: str
    price: Safe
    session: Safe
    note: str


def memory_chart(breakdown: MemoryBreakdown, basis_columns: int = 44) -> str:
    """Return the terms as bars of text, one line each: name, bar, GiB, basis, place in the code."""
    largest = max((term.gib for term in breakdown.terms), default=0.0) or 1.0
    names = min(max((len(term.name) for term in breakdown.terms), default=0), 16)
    basis = min(max((len(term.basis) for term in breakdown.terms), default=0), basis_columns)
    lines = [
        f"{_cut(term.name, names):<{names}}  {formats.bar(term.gib / largest, _BAR_WIDTH):<{_BAR_WIDTH}} {term.gib:>6.1f}  "
        f"{_cut(term.basis, basis):<{basis}}  {_cut_left(str(term.evidence), _PLACE_COLUMNS) if term.evidence else ''}".rstrip()
        for term in breakdown.terms
    ]
    return "\n".join(lines)


def evidence_view(analysis: Analysis, place: CodePlace) -> tuple[tuple[FindingView, ...], Safe]:
    """Return the findings that tell most, packages as one row, and how many others there are (empty: none)."""
    telling = telling_findings(analysis.told)
    rows = [finding_view(each.finding, place) for each in telling]
    packages = package_line(analysis.findings)
    if packages is not None:
        files = f" in {packages.other_files + 1} files" if packages.other_files else ""
        what = f"{formats.plural(len(packages.names), 'package')} to install{files}"
        confidence = Safe(_WORDS[packages.confidence])
        rows.append(FindingView(what, ", ".join(packages.names), place.link(packages.evidence), confidence))
    hidden = len(analysis.findings) - len(telling) - (len(packages.names) if packages else 0)
    return tuple(rows), formats.plural(hidden, "more finding") if hidden > 0 else Safe("")


def no_gpu_view(analysis: Analysis, place: CodePlace) -> FindingView | None:
    """Return why the code needs no GPU; None where it needs one, or a person's word is all that says none."""
    found = best(analysis.findings, "workload")
    is_cpu_only = analysis.proposed.meta.workload_type is WorkloadType.CPU_ONLY
    return finding_view(found, place) if found is not None and is_cpu_only else None


def finding_view(finding: Finding, place: CodePlace) -> FindingView:
    """Return one row of the evidence, linked to its line."""
    return FindingView(finding.why, finding.value, place.link(finding.evidence), Safe(_WORDS[finding.confidence]))


def profile_view(profile: Profile, place: CodePlace) -> ProfileView:
    """Return one row of what else can be started."""
    needs = Safe("no GPU")
    if profile.gpu_count:
        size = f"{profile.vram_required_gb} GB" if profile.vram_required_gb else "unknown memory"
        needs = Safe(f"{profile.gpu_count} × {size}")
    command = _VARIABLES.sub("", profile.command)
    return ProfileView(profile.name, command, Safe(profile.workload.value), needs, place.link(profile.evidence))


def offer_view(candidate: Candidate) -> OfferView:
    """Return an offer that fits, with its speed where that is known."""
    offer = candidate.offer
    note = candidate.why
    if candidate.relative_speed is not None:
        speed = f"about {candidate.relative_speed:.1f} × the speed"
        note = f"{note}, {speed}" if note else speed
    return OfferView(
        machine=accelerator_label(offer.accelerator, offer.accelerator_count),
        cloud=formats.cloud_name(offer.cloud),
        price=formats.usd_per_hour(candidate.price_usd_per_hour),
        session=formats.usd(candidate.lease_usd),
        note=note,
    )


def rejected_view(rejected: Rejected, lease: timedelta) -> OfferView:
    """Return an offer that does not fit, with the reason and what the lease would cost all the same."""
    offer, price = rejected.offer, rejected.offer.price_usd_per_hour
    return OfferView(
        machine=accelerator_label(offer.accelerator, offer.accelerator_count),
        cloud=formats.cloud_name(offer.cloud),
        price=formats.known_usd_per_hour(offer.price_usd_per_hour),
        session=formats.usd(price * Decimal(int(lease.total_seconds())) / 3600) if price > 0 else Safe("unknown"),
        note=rejected.reason,
    )


def near_misses(ladder: Ladder) -> tuple[Rejected, ...]:
    """Return why not something cheaper: one rejected offer per card, with cards enough, the largest memory first."""
    need = max(ladder.requirement.gpu_count, 1)
    limit = ladder.best.price_usd_per_hour if ladder.best else None
    nearest: dict[str, Rejected] = {}
    taken = {candidate.offer.accelerator for candidate in ladder.candidates}
    for each in sorted(ladder.rejected, key=lambda rejected: _rank(rejected, need)):
        offer = each.offer
        is_cheaper = limit is None or Decimal(0) < offer.price_usd_per_hour < limit
        if offer.accelerator_count >= need and is_cheaper and offer.accelerator not in taken:
            nearest.setdefault(offer.accelerator, each)
    return tuple(nearest.values())[: MAX_MISSES if ladder.best else MAX_MISSES_WITHOUT_OFFER]


def _rank(rejected: Rejected, need: int) -> tuple[bool, float, Decimal, str, str]:
    offer = rejected.offer
    is_larger = offer.accelerator_count > need
    return is_larger, -offer.memory_gib_per_gpu, offer.price_usd_per_hour, offer.cloud, offer.instance_type


def _cut(text: str, width: int) -> str:
    return visible(text, max(width, 1))


def _cut_left(text: str, width: int) -> str:
    text = visible(text)
    return text if len(text) <= width else "…" + text[1 - width :]
