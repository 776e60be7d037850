"""On which machines a smoke test runs side by side, as the spec names them."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.gpus import UnknownAccelerator, parse_accelerator
from gpu_lol_action.domain.smoke import SmokeCell
from gpu_lol_action.domain.spec import Smoke


def matrix(smoke: Smoke | None) -> tuple[SmokeCell, ...]:
    """Return every card of the spec's test in every image of it, in its order; one cell of the spec's own without."""
    gpus: Sequence[str | None] = smoke.gpus if smoke is not None and smoke.gpus else (None,)
    images: Sequence[str | None] = smoke.images if smoke is not None and smoke.images else (None,)
    return tuple(dict.fromkeys(_cell(gpu, image) for gpu in gpus for image in images))


def _cell(gpu: str | None, image: str | None) -> SmokeCell:
    found = parse_accelerator(gpu) if gpu is not None else None
    if found is None or isinstance(found, UnknownAccelerator):
        return SmokeCell(image=image)
    return SmokeCell(found.accelerator.name, found.count, image)
