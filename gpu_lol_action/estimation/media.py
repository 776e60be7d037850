"""Terms of networks for pictures, video and sound, and of small networks of one's own.

- Activations in training: what the layers save for the backward pass, counted per sample at a reference size
  (``media_facts``), times the batch, scaled by pixels and frames (or seconds): convolutions and token-wise layers save in
  proportion to positions, and fused attention (Dao et al. 2022) saves nothing quadratic. Beside them lie the gradients in
  flight, which are as large as what the forward pass has at work at once, and a tenth for what the allocator cannot reuse.
- Vision transformers that were not counted: tokens (height x width / patch squared) x 34 bytes x hidden x layers at 16 bit
  (Korthikanti et al. 2022), plus the 32-bit norms of autocast.
- Inference: what is at work at once, half of it at 16 bit, and cuDNN's workspaces.
- Diffusion (Rombach et al. 2022): the parts stay on the card; the peak is the larger of a denoising step (with
  classifier-free guidance two samples, Ho and Salimans 2022) and of decoding the latents to pixels.
"""

from __future__ import annotations

import math

from gpu_lol_action.domain.memory import MemoryTerm
from gpu_lol_action.estimation.media_facts import Network, Pipeline, find_network
from gpu_lol_action.estimation.media_pipelines import pipeline_activations, pipeline_of
from gpu_lol_action.estimation.vram_question import GB, VramQuestion
from gpu_lol_action.estimation.vram_weights import term

IN_FLIGHT = 1.1  # of what is saved: blocks of the allocator that a next layer of another size cannot reuse
WORKSPACE_GB = 0.2  # cuDNN's and cuBLAS's workspaces
DEFAULT_PATCH = 16
BYTES_PER_UNIT = 38  # per token, hidden unit and layer with autocast: 34, and the norms' 32-bit inputs
PICTURE_KINDS = frozenset({"vision", "vision-text", "detection", "segmentation", "depth", "video", "ocr", "document"})
SOUND_KINDS = frozenset({"asr", "audio", "tts", "speech", "audio-gen"})
OWN = "own"
KERAS = "keras"
FROZEN_SHARE = 15.4 / 21.0
DEFAULT_SIZES = {"detection": 640, "segmentation": 512, "depth": 518}
DEFAULT_SIZE = 224
DEFAULT_CLASSES = 2
DEFAULT_SECONDS = {"asr": 30.0}
SECONDS = 10.0
# Encoder steps per second of sound: wav2vec 2.0 and its kin 50 (a stride of 320 at 16 kHz), Whisper 50.
STEPS_PER_SECOND = 50
# wav2vec 2.0's seven convolutions of 512 channels at 3200, 1600, ... 50 steps per second: 3.25 M outputs; output, norm, GELU.
WAVE_ENCODER_MB_PER_SECOND = 3.25 * 2.3 * 4


def activation_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return activations of a network for pictures, video or sound, or of one's own; none where the language terms serve."""
    pipeline = pipeline_of(question)
    if pipeline is not None:
        return pipeline_activations(question, pipeline)
    if question.model.kind == OWN:
        return [_own_term(question)]
    network = find_network(question.model.name)
    if network is not None:
        return [_counted_term(question, network)]
    if question.model.kind in PICTURE_KINDS:
        return [_picture_term(question)]
    if question.model.kind in SOUND_KINDS:
        return [_sound_term(question)]
    if question.model.kind.startswith("diffusion"):
        return [_denoiser_term(question)]
    return []


def is_counted(question: VramQuestion) -> bool:
    """Whether the sum rests on counted layers, as surely as on a language model's shape."""
    return bool(question.model.kind == OWN or pipeline_of(question) or find_network(question.model.name))


def scale_of(network: Network, question: VramQuestion) -> float:
    """Return how many times a sample of the run has the positions of the network's reference sample."""
    if network.seconds:
        return (question.audio_seconds or network.seconds) / network.seconds
    height = question.image_height or network.height
    width = question.image_width or round(network.width * height / network.height)
    frames = question.frames or (height if network.is_volume else network.frames)
    return height * width / (network.height * network.width) * frames / network.frames


def _counted_term(question: VramQuestion, network: Network) -> MemoryTerm:
    scale = scale_of(network, question)
    samples = question.batch_size * scale
    shown = f"{question.batch_size} x {_shown_size(question, network)}"
    at_work = network.inference_fp32_mb * samples * _width(question) / 1000
    if not question.method.trains:
        return term("activations", at_work + WORKSPACE_GB, f"{network.name}, {shown}")
    saved = network.training_fp32_mb if question.is_float32 else network.training_mixed_mb
    if question.is_checkpointing:
        kept, block = network.checkpoint_kept_mb, network.checkpoint_block_mb
        # A network of n blocks keeps their inputs and recomputes one: with the best division 2 / sqrt(n), n about 16.
        saved = kept + block if kept else saved / 2
    if question.runtime == KERAS:
        saved += _frozen_mb(network)
    amount = saved * samples / 1000 * IN_FLIGHT + at_work + WORKSPACE_GB + _score_gb(question, network)
    basis = f"{network.name}, {shown}, {saved * scale:.3g} MB saved per sample"
    return term("activations", amount, basis)


def _frozen_mb(network: Network) -> float:
    """Return what a detector's backbone saves besides where Keras trains all of it, in MB per reference sample, at 32 bit.

    The counted detectors are torchvision's, whose stem, first stage and norms are frozen. Of the 21 M outputs of a ResNet-50
    per picture of 224 pixels (He et al. 2016, table 1) these are 15.4 M: 9.8 M of stem and first stage, 5.6 M into later norms.
    """
    depth = network.name.partition("_")[2].partition("_")[0]
    backbone = find_network(depth) if network.family == "detection" else None
    if backbone is None:
        return 0.0
    pixels = network.height * network.width / (backbone.height * backbone.width)
    return FROZEN_SHARE * backbone.training_fp32_mb * pixels


def _score_gb(question: VramQuestion, network: Network) -> float:
    """Return GB of a segmentation's scores in training: enlarged to the picture's size, their softmax and gradient, at 32 bit."""
    if network.family != "segmentation":
        return 0.0
    height = question.image_height or network.height
    width = question.image_width or round(network.width * height / network.height)
    return 3 * 4 * (question.output_classes or DEFAULT_CLASSES) * question.batch_size * height * width / GB


def _picture_term(question: VramQuestion) -> MemoryTerm:
    """Return activations of a vision transformer by its shape, else of a network that saves like a ResNet-50."""
    model = question.model
    size = question.image_height or DEFAULT_SIZES.get(model.kind, DEFAULT_SIZE)
    width = question.image_width or size
    frames = max(question.frames, 1)
    samples = question.batch_size * frames
    if not model.has_shape:
        resnet = find_network("resnet50")
        share = _counted_gb(resnet, question) if resnet is not None else 0.0
        return term(
            "activations", share * samples * size * width / 224**2 + WORKSPACE_GB, "rough: as much as a ResNet-50"
        )
    tokens = samples * (size / DEFAULT_PATCH) * (width / DEFAULT_PATCH)
    shown = f"{samples} x {size} x {width} pixels, patches of {DEFAULT_PATCH}"
    return term("activations", _transformer_gb(question, tokens) + WORKSPACE_GB, shown)


def _counted_gb(network: Network, question: VramQuestion) -> float:
    """Return GB per reference sample."""
    at_work = network.inference_fp32_mb * _width(question)
    if not question.method.trains:
        return at_work / 1000
    saved = network.training_fp32_mb if question.is_float32 else network.training_mixed_mb
    return (saved * IN_FLIGHT + at_work) / 1000


def _sound_term(question: VramQuestion) -> MemoryTerm:
    """Return activations of an encoder of sound by its shape and 50 steps per second, and of its convolutions on the wave."""
    model = question.model
    seconds = question.audio_seconds or DEFAULT_SECONDS.get(model.kind, SECONDS)
    shown = f"{question.batch_size} x {seconds:g} s of sound"
    if not model.has_shape:
        return term("activations", 0.1 * question.batch_size * seconds / 10 + WORKSPACE_GB, f"rough: {shown}")
    tokens = question.batch_size * seconds * STEPS_PER_SECOND
    amount = _transformer_gb(question, tokens)
    if model.kind in {"audio", "asr"} and "whisper" not in model.name.lower():
        share = 1.0 if question.method.trains else 0.3
        amount += WAVE_ENCODER_MB_PER_SECOND * question.batch_size * seconds * _width(question) * share / 1000
    return term("activations", amount + WORKSPACE_GB, f"{shown}, {STEPS_PER_SECOND} steps per second")


def _transformer_gb(question: VramQuestion, tokens: float) -> float:
    """Return GB that a transformer of the model's shape saves (or has at work) for so many tokens."""
    model = question.model
    wide = 2.0 if question.is_float32 else 1.0
    if not question.method.trains:
        return (
            12 * wide * 2 * tokens * model.hidden_size / GB
        )  # one block: residual, norm, queries to values, inner layer
    layers = 1.0 + 2 / BYTES_PER_UNIT * model.layers if question.is_checkpointing else float(model.layers)
    return BYTES_PER_UNIT * wide * 0.9 * tokens * model.hidden_size * layers * IN_FLIGHT / GB


def _denoiser_term(question: VramQuestion) -> MemoryTerm:
    """Return activations of a denoiser that is not in the table, by its parameters.

    The counted transformers (PixArt, SD3, Flux, CogVideoX, Wan, HunyuanVideo) save 1.0 to 1.5 MB per latent token and billion
    parameters with autocast, 0.2 MB x sqrt(billions) with checkpointing, and have 0.04 to 0.1 MB per token at work.
    """
    size = question.image_height or (1024 if question.model.kind == "diffusion-image" else 480)
    width = question.image_width or size
    latents = 1 if question.frames <= 1 else 1 + (question.frames - 1) / 4
    tokens = question.batch_size * latents * size * width / 16**2
    billions = question.model.parameters_b
    if not question.method.trains:
        decode = 768 * 2 * size * width / GB
        return term(
            "activations", max(tokens * 0.08 / 1000, decode) + WORKSPACE_GB, f"rough: {tokens:.0f} latent tokens"
        )
    each = 0.2 * math.sqrt(billions) + 0.1 if question.is_checkpointing else 1.2 * billions
    return term("activations", each * tokens / 1000 * _width(question) * 2, f"rough: {tokens:.0f} latent tokens")


def _own_term(question: VramQuestion) -> MemoryTerm:
    """Return activations of a network of one's own: what its layers keep, in flight as for counted ones; without gradients what is at work."""
    wide = 4 * _width(question)
    at_work = (question.sample_at_work or question.sample_elements / 4) * wide
    each = question.sample_elements * wide * IN_FLIGHT + at_work if question.method.trains else at_work
    amount = each * question.batch_size * max(question.frames, 1) / GB
    shown = f"batch {question.batch_size}, {question.sample_elements:.3g} numbers kept per sample"
    return term("activations", amount + WORKSPACE_GB, shown)


def _width(question: VramQuestion) -> float:
    """Return the share of 32 bit that a number takes."""
    if question.method.trains:
        return 1.0 if question.is_float32 else 0.5
    return 1.0 if question.weight_bits == 32 or question.is_float32 else 0.5


def _shown_size(question: VramQuestion, network: Network) -> str:
    if network.seconds:
        return f"{question.audio_seconds or network.seconds:g} s"
    height = question.image_height or network.height
    width = question.image_width or round(network.width * height / network.height)
    frames = question.frames or network.frames
    if network.is_volume:
        return f"{height} x {width} x {question.frames or height} voxels"
    return f"{height} x {width} pixels" + (f" x {frames} frames" if frames > 1 else "")


__all__ = ["KERAS", "OWN", "PICTURE_KINDS", "SOUND_KINDS", "Pipeline", "activation_terms", "is_counted", "scale_of"]
