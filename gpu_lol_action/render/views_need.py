"""One side of a proposal: what a commit needs, what it costs, and the words for its figures."""

from __future__ import annotations

from decimal import Decimal

from gpu_lol_action.analysis.stated.ordinary_cards import stands_for_silence
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.offer import Candidate, Ladder, Requirement
from gpu_lol_action.domain.records import record
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import EMPTY, machines_label, short_sha


@record(frozen=True, slots=True)
class NeedView:
    """One side of the comparison: what that commit needs and what it costs; dashes where nothing fits.

    ``is_several``: it asks for several machines at once, of which `up` rents one.
    """

    sha: Safe
    is_cpu_only: bool
    memory: Safe
    memory_range: Safe
    machine: Safe
    name: Safe
    price: Safe
    session: Safe
    cloud: str
    why: str
    has_offer: bool
    is_several: bool


def need_view(sha: str, analysis: Analysis, ladder: Ladder, *, is_corrected: bool = False) -> NeedView:
    """Return what a commit needs, at a glance; ``is_corrected``: a person gave the memory."""
    best = ladder.best
    none = Safe("–")
    memory, spread = _memory(analysis, is_corrected=is_corrected)
    machines = analysis.spec.hardware.num_nodes
    return NeedView(
        sha=short_sha(sha) if sha else EMPTY,
        is_cpu_only=not analysis.spec.needs_gpu,
        memory=memory,
        memory_range=spread,
        machine=_machines(best, machines) if best else none,
        name=_name(best, machines) if best else none,
        price=formats.usd_per_hour(price_of_all(ladder, analysis)) if best else none,
        session=formats.usd(best.lease_usd * machines) if best else none,
        cloud=formats.cloud_name(best.offer.cloud) if best else "",
        why=best.why if best else "",
        has_offer=best is not None,
        is_several=machines > 1,
    )


def price_of_all(ladder: Ladder | None, analysis: Analysis | None) -> Decimal:
    """Return what the cheapest machine that fits costs in an hour, as often as it is asked for; 0 where none fits."""
    best = ladder.best if ladder else None
    return best.price_usd_per_hour * (analysis.spec.hardware.num_nodes if analysis else 1) if best else Decimal(0)


def _machines(best: Candidate, machines: int) -> Safe:
    return machines_label(best.offer.accelerator, best.offer.accelerator_count, machines)


def _name(best: Candidate, machines: int) -> Safe:
    """Return the machine as a heading names it: one card without its number."""
    label = _machines(best, machines)
    return Safe(label.removeprefix("1 × ")) if best.offer.accelerator_count == 1 and machines == 1 else label


def _memory(analysis: Analysis, *, is_corrected: bool) -> tuple[Safe, Safe]:
    """Return the figure that decides and its range: the estimate's, else what the spec asks for."""
    breakdown = analysis.breakdown
    if not analysis.spec.needs_gpu:
        return Safe("none"), Safe("")
    if breakdown is not None and (is_corrected or _is_memory_claimed(analysis) or stands_for_silence(breakdown)):
        computed = Safe(f"computed: {formats.gib(breakdown.expected_gib)}")
        return size_text(analysis.spec.hardware.vram_required_gb), computed
    if breakdown is not None:
        return formats.gib(breakdown.expected_gib), formats.gib_range(breakdown.low_gib, breakdown.high_gib)
    return size_text(analysis.spec.hardware.vram_required_gb), Safe("")


def _is_memory_claimed(analysis: Analysis) -> bool:
    """Whether a language model's word took the place of the computed figure."""
    override = analysis.override
    return override is not None and any(key == "hardware.vram_required_gb" for key, _, _ in override.changes)


def required_text(ladder: Ladder) -> Safe:
    """Return the requirement in words: count and memory of each."""
    wanted = ladder.requirement
    count, size = wanted.gpu_count, memory_asked(wanted)
    return Safe(f"{formats.plural(count, 'GPU')} with {size}{' each' if count > 1 else ''}")


def memory_asked(wanted: Requirement) -> Safe:
    """Return the memory that is asked of each card, in the unit in which it is compared."""
    return Safe(f"{wanted.memory_gib_per_gpu:g} {'GB' if wanted.is_memory_as_sold else 'GiB'}")


def size_text(size: int | None) -> Safe:
    """Return a size of memory as cards are sold; unknown where there is none."""
    return Safe("unknown") if size is None else Safe(f"{size} GB")


def largest_term(breakdown: MemoryBreakdown | None) -> str:
    """Return the largest term of the memory in words; empty without one."""
    if breakdown is None or not breakdown.terms:
        return ""
    term = max(breakdown.terms, key=lambda each: each.gib)
    return f"{term.name} {term.gib:.1f} GiB: {term.basis}"
