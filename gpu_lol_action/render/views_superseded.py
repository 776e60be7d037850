"""What is left of a second proposal comment: where the first one is."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_lol_action.render.markdown import Safe, link
from gpu_lol_action.render.marker import build_marker
from gpu_lol_action.render.views import BillingView


@dataclass(frozen=True, slots=True)
class SupersededView:
    """What ``superseded.md.j2`` shows."""

    marker: Safe
    where: Safe
    billing: BillingView


def superseded_view(pull_request: int, url: str) -> SupersededView:
    """Return where the one proposal stands; its marker is of another kind, so that it is never found as one."""
    where = link(Safe("another comment"), url)
    return SupersededView(build_marker("superseded", pr=pull_request), where, BillingView("elsewhere"))
