"""Whether a change brings us to a repository: then it is the first that anybody hears of us."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout

_WORKFLOWS = ".github/workflows/"


def is_installing(head: Checkout, base: Checkout | None) -> bool:
    """Whether this change brings the workflow that calls us."""
    return _calls_us(head) and (base is None or not _calls_us(base))


def _calls_us(checkout: Checkout) -> bool:
    return any("gpu-lol" in source.text for source in checkout.sources if source.path.startswith(_WORKFLOWS))
