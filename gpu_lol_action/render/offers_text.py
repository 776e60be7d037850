"""The few offers that matter to a reader: the cheapest that fit, and the near misses that cost less."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.render.markdown import visible
from gpu_lol_action.render.screen import Column, Screen, table
from gpu_lol_action.render.views_evidence import MAX_FITTING, OfferView, near_misses, offer_view, rejected_view
from gpu_lol_action.render.views_proposal import ProposalCase

_COLUMNS = (
    Column(turn=3, least=12),
    Column("dim", turn=2, least=6, is_optional=True),
    Column(is_right=True),
    Column("dim", turn=1, least=14),
)


def offer_lines(case: ProposalCase, screen: Screen, *, is_verbose: bool) -> list[str]:
    """Return the offers as lines; ``is_verbose``: all of them."""
    ladder = case.ladder
    if not ladder.candidates and not ladder.rejected:
        return []
    fitting = ladder.candidates if is_verbose else ladder.candidates[:MAX_FITTING]
    misses = ladder.rejected if is_verbose else near_misses(ladder)
    rows = [_row(offer_view(each), _fit(each)) for each in fitting]
    rows += [_row(rejected_view(each, case.policy.lease), f"❌ {visible(each.reason, 200)}") for each in misses]
    each = "; prices of one machine each" if case.analysis.spec.hardware.num_nodes > 1 else ""
    note = (
        f"{len(ladder.candidates)} fit, {len(ladder.rejected)} do not{each}{'' if is_verbose else '; all: --verbose'}"
    )
    return [screen.title("Offers", note), *table(rows, _COLUMNS, screen)]


def _fit(candidate: Candidate) -> str:
    """Return what an offer has; what is needed stands above already."""
    rest = candidate.why.partition("; ")[2]
    has = f"{candidate.offer.memory_gib_per_gpu:.1f} GiB usable"
    return f"{has}; {visible(rest, 160)}" if rest else has


def _row(view: OfferView, note: str) -> Sequence[str]:
    return str(view.machine), visible(view.cloud, 30), str(view.price), note
