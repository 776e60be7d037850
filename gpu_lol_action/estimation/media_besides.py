"""What some trainers of diffusion models keep besides the sum, and others do not: it counts in ``high``.

- Attention scores. A U-Net of Stable Diffusion 1 or 2 also runs where attention is not fused: PyTorch before 2, or a trainer
  that sets the plain processor. Each layer then saves its softmax, heads x tokens x keys, quadratic in the picture's size.
  Denoisers from SDXL on came after PyTorch 2; diffusers' processors for the transformers among them refuse to run without it.
  A run that is started today has PyTorch 2, so that what is required of a card leaves them out.
- A moving average of the trained weights (EMA, as in Ho et al. 2020), 4 bytes each; or a text encoder trained with the
  denoiser (DreamBooth, Ruiz et al. 2023). diffusers' trainers offer the one or the other, so the larger counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.sums import added
from gpu_lol_action.estimation.media_facts import Pipeline
from gpu_lol_action.estimation.vram_question import GB, VramQuestion
from gpu_lol_action.estimation.vram_states import trained_bytes

IN_FLIGHT = 1.1  # of what is saved, as for other networks (``media``)
PIXELS_PER_LATENT = 8 * 8
TEXT_TOKENS = 77  # CLIP's context, the keys of cross attention
# Attention layers at the latents' size, a half, a quarter, an eighth of it: two going down and three coming up, one in the middle.
_LAYERS = (5, 5, 5, 1)
# Heads at these sizes: 1 has 8 everywhere, 2 a head for each 64 channels (their configurations).
_HEADS: Mapping[str, tuple[int, int, int, int]] = {"sd15-unet": (8, 8, 8, 8), "sd21-unet": (5, 10, 20, 20)}
EMA_BYTES = 4


@record(frozen=True, slots=True)
class Pictures:
    """What a training step denoises on one card: so many pictures (or latent frames) of a size in pixels."""

    count: float
    height: int
    width: int


def kept_gb(question: VramQuestion, pipeline: Pipeline) -> float:
    """Return GB of an average of the trained weights, or of a trained text encoder; 0 where neither is usual."""
    if not question.method.trains_everything or question.trained_part or question.is_states_only:
        return 0.0
    parts = question.parts(is_divided=question.sharding.divides_weights)
    return max(pipeline.denoiser_m * EMA_BYTES, _text_mb(question, pipeline)) / 1000 / parts


def unfused_gb(question: VramQuestion, pipeline: Pipeline, pictures: Pictures) -> float:
    """Return GB of attention scores where attention is not fused; 0 for denoisers that always fuse it.

    The softmax is saved, under autocast at 32 bit and as its 16-bit copy; scores and their gradient, or two gradients, are there
    once more while the largest layer works. With gradient checkpointing one layer's are there at a time.
    """
    heads = _HEADS.get(pipeline.network.name)
    if heads is None:
        return 0.0
    tokens = [pictures.height * pictures.width / PIXELS_PER_LATENT / 4.0**level for level in range(len(_LAYERS))]
    each = [number * token * (token + TEXT_TOKENS) for number, token in zip(heads, tokens, strict=True)]
    largest = heads[0] * tokens[0] ** 2
    saved = largest if question.is_checkpointing else added(a * b for a, b in zip(_LAYERS, each, strict=True))
    width = 4 if question.is_float32 else 6
    return pictures.count * (saved * width * IN_FLIGHT + 2 * largest * 4) / GB


def _text_mb(question: VramQuestion, pipeline: Pipeline) -> float:
    """Return MB that training the text encoder adds to its frozen weights."""
    if question.are_latents_cached or question.is_text_encoder_elsewhere:
        return 0.0
    return pipeline.text_m * (added(trained_bytes(question)) - (4 if question.is_float32 else 2))
