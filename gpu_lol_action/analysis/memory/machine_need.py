"""What a run needs of a machine: the memory of each card, over how many, and what that rests on."""

from __future__ import annotations

from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.vram import VramQuestion


@record(frozen=True, slots=True)
class Saved:
    """A run that fits a smaller card only with what is assumed: the question without that, and the GiB per card that would do with it."""

    unsaved: VramQuestion
    required_gib: float


@record(frozen=True, slots=True)
class MemoryNeed:
    """What a card must offer, over how many, and how it was found. ``breakdown`` None: nothing was recognized.

    ``question`` is what the memory model was asked, on one card where only its size divides it; ``is_relaxed``: what nothing says was assumed so that it fits a card.
    ``written_batch``: samples at a time per card as something says, 0 where nothing does; the question's are fewer where no card holds them.
    ``saved``: more is asked for than the sum with that comes to; None where it is not.
    """

    required_gib: int
    gpu_count: int
    breakdown: MemoryBreakdown | None
    model: ModelFacts | None
    finding: Finding
    not_understood: tuple[str, ...] = ()
    question: VramQuestion | None = None
    is_relaxed: bool = False
    machines: int = 1
    saved: Saved | None = None
    written_batch: int = 0
