"""What stands behind a proposal: findings with their places, the memory chart, offers taken and rejected."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.offer import Candidate, Rejected
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, code, link, permalink, visible
from gpu_lol_action.render.views import accelerator_label

_BAR_WIDTH = 24


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class FindingView:
    """One row of the evidence."""

    what: str
    value: str
    where: Safe
    confidence: Safe


@dataclass(frozen=True, slots=True)
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
        f"{_cut(term.basis, basis):<{basis}}  {_cut_left(str(term.evidence), 36) if term.evidence else ''}".rstrip()
        for term in breakdown.terms
    ]
    return "\n".join(lines)


def finding_view(finding: Finding, place: CodePlace) -> FindingView:
    """Return one row of the evidence, linked to its line."""
    words = {Confidence.HIGH: "high", Confidence.MEDIUM: "medium", Confidence.LOW: "low"}
    return FindingView(finding.why, finding.value, place.link(finding.evidence), Safe(words[finding.confidence]))


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
    offer = rejected.offer
    return OfferView(
        machine=accelerator_label(offer.accelerator, offer.accelerator_count),
        cloud=formats.cloud_name(offer.cloud),
        price=formats.usd_per_hour(offer.price_usd_per_hour),
        session=formats.usd(offer.price_usd_per_hour * Decimal(int(lease.total_seconds())) / 3600),
        note=rejected.reason,
    )


def _cut(text: str, width: int) -> str:
    return visible(text, max(width, 1))


def _cut_left(text: str, width: int) -> str:
    text = visible(text)
    return text if len(text) <= width else "…" + text[1 - width :]
