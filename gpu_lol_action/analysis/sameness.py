"""Whether a change touches the environment at all: the same files to read, and the same conclusions from them."""

from __future__ import annotations

from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.paths import Role
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.spec_text import without_time

# Documentation is read too, but a corrected typo in it is no reason to speak: only what it says counts (`is_same_need`).
_SPEAKING = (Role.WORKLOAD, Role.PACKAGES)
_WORKFLOWS = ".github/workflows/"


def is_same_code(head: Checkout, base: Checkout) -> bool:
    """Whether every file that speaks for workload or packages is the same, the spec file included."""
    return head.spec_text == base.spec_text and _speaking(head) == _speaking(base)


def is_same_need(head: Analysis, base: Analysis) -> bool:
    """Whether the same was concluded from both; lines may have moved."""
    return _conclusions(head) == _conclusions(base)


def is_installing(head: Checkout, base: Checkout | None) -> bool:
    """Whether this change brings the workflow that calls us: then it is the first that anybody hears of us."""
    return _calls_us(head) and (base is None or not _calls_us(base))


def _speaking(checkout: Checkout) -> dict[str, bytes | str]:
    return {source.path: source.content for source in checkout.sources if source.role in _SPEAKING}


def _conclusions(analysis: Analysis) -> object:
    terms = [(term.name, term.gib) for term in analysis.breakdown.terms] if analysis.breakdown else []
    findings = {(finding.field, finding.value) for finding in analysis.findings}
    differences = [(each.key, each.in_file, each.in_code) for each in analysis.differences]
    return without_time(analysis.spec), without_time(analysis.proposed), terms, findings, differences


def _calls_us(checkout: Checkout) -> bool:
    return any("gpu-lol" in source.text for source in checkout.sources if source.path.startswith(_WORKFLOWS))
