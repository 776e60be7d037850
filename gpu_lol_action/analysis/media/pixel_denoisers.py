"""The side of the pictures that a denoiser of pixels is built for: ``UNet2DModel(sample_size=128)``, diffusers' guide on training one.

Of a denoiser of latents (``UNet2DConditionModel``) the same word is the side of these.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.runs.settings import Scope, as_number
from gpu_lol_action.domain.finding import Finding

LEAST, MOST = 8, 4096


def of_pixels(scope: Scope) -> Iterator[Finding]:
    """Yield the side as a finding of ``media.image_size``, where a run builds such a denoiser with a number."""
    for confidence, settings in scope.tiers:
        for setting in settings:
            side = as_number(setting.text) if setting.path.endswith("UNet2DModel.sample_size") else None
            if side is not None and LEAST <= side <= MOST:
                why = "its denoiser of pixels is built for that side"
                yield Finding("media.image_size", str(side), why, confidence, setting.evidence)
