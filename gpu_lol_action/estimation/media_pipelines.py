"""Terms of a diffusion pipeline: its parts as they lie on the card, a denoising step, decoding, and training one part.

Only the denoiser is trained (Rombach et al. 2022); text encoders and autoencoder are frozen and lie there at the precision of
the run. ControlNet (Zhang et al. 2023) trains a copy of the denoiser's first half, a T2I-Adapter (Mou et al. 2023) a small
network beside it, textual inversion (Gal et al. 2022) one embedding: in all of them gradients still pass through the frozen
denoiser, so it saves its activations.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.domain.memory import MemoryTerm
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.media_besides import Pictures, kept_gb, unfused_gb
from gpu_lol_action.estimation.media_facts import Pipeline, find_pipeline
from gpu_lol_action.estimation.shown_size import parameters
from gpu_lol_action.estimation.vram_question import GB, VramQuestion
from gpu_lol_action.estimation.vram_states import stored_gb, trained_bytes
from gpu_lol_action.estimation.vram_weights import term, weight_terms

# Shares of the denoiser's parameters and activations: a ControlNet of SD 1.5 has 361 M of 860 M parameters and saves 526 MB
# beside the decoder half's 0.65 of 1252 MB; an SDXL T2I-Adapter has 79 M of 2567 M.
CONTROLNET_PARAMETERS, CONTROLNET_ACTIVATIONS = 0.42, 1.05
ADAPTER_PARAMETERS, ADAPTER_ACTIVATIONS = 0.03, 1.02
# A scene that a frozen model guides. What is kept per point: 16 levels of two features, two networks of 64 hidden units and
# their outputs (Mueller et al. 2022, section 5.4: density of 16 numbers, color of two layers, 4 numbers).
SCENE, NUMBERS_PER_POINT = "scene", 32 + 64 + 16 + 32 + 2 * 64 + 4
# Frames that one position of a counted network stands for, where it is not four: Stable Video Diffusion encodes each by itself.
COUNTED_FRAMES_PER_LATENT = {"ltx": 8, "svd": 1}
ENCODE_ELEMENTS = 640  # numbers that a picture's encoder has at work per pixel, counted for Stable Diffusion's
HALF_BITS = 16
IN_FLIGHT, WORKSPACE_GB = 1.1, 0.2  # as for other networks (``media``)
OFFLOADED_GB = 0.6  # of parts that go to the card layer by layer


def pipeline_of(question: VramQuestion) -> Pipeline | None:
    """Return the pipeline that the question's model is; none for models that only sound like one."""
    kind = question.model.kind
    if not kind.startswith("diffusion") and kind not in {"controlnet", "adapter", "audio-gen"}:
        return None
    return find_pipeline(question.model.name)


@record(frozen=True, slots=True)
class _Stage:
    """A stage of making a picture: the parts at work in millions of parameters, the denoiser's share, and GB of what they have at work."""

    name: str
    parameters_m: float
    gb: float
    denoiser_m: float = 0.0


def state_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return weights, gradients and optimizer of a pipeline, part by part; none for a model that is no pipeline."""
    # Who hears with it for a language model loads that one otherwise.
    if question.runtime == "openai-whisper" and question.model.kind == "asr" and not question.method.trains:
        return [_whisper_term(question)]
    pipeline = pipeline_of(question)
    if pipeline is None:
        return []
    pipeline = _on_the_card(question, pipeline)
    if question.method.trains and (question.trained_part or question.method.trains_everything):
        return _trained_terms(question, pipeline)
    whole = pipeline.parameters_m
    if question.method.trains:
        whole -= pipeline.other_m  # trainers of adapters leave the safety checker out
    elif question.is_parameters_offloaded:
        return [term("weights", OFFLOADED_GB, f"{question.model.name}, layer by layer from main memory")]
    elif question.is_denoiser_quantized_alone and question.weight_bits < HALF_BITS:
        return [_mixed_term(question, pipeline)]
    elif question.is_one_part_at_a_time:
        whole = _largest_stage(question, pipeline).parameters_m
    return weight_terms(replace(question, model=replace(question.model, parameters_b=whole / 1000)))


def with_adapted_part(question: VramQuestion) -> VramQuestion:
    """Return the question with the part of a pipeline that adapters are put on, its denoiser; any other model's as it is."""
    pipeline = pipeline_of(question) if question.method.has_adapters else None
    return question if pipeline is None else replace(question, adapted_b=pipeline.denoiser_m / 1000)


def possible_gb(question: VramQuestion) -> float:
    """Return GB that some trainers of a pipeline keep besides the terms and others do not; 0 for a model that is no pipeline."""
    pipeline = pipeline_of(question)
    return kept_gb(question, pipeline) if pipeline is not None else 0.0


def scores_gb(question: VramQuestion) -> float:
    """Return GB of attention scores that training a pipeline keeps where attention is not fused, if nothing says which it is."""
    pipeline = pipeline_of(question)
    is_known = question.is_attention_eager or question.is_attention_fused
    if pipeline is None or is_known or not question.method.trains:
        return 0.0
    return unfused_gb(question, pipeline, _pictures(question, pipeline))


def pipeline_activations(question: VramQuestion, pipeline: Pipeline) -> list[MemoryTerm]:
    """Return a denoising step or the decoder, whichever is larger; in training what the denoiser saves."""
    shown = _shown(question, pipeline)
    if question.trained_part == SCENE:
        return [_guided_term(question, pipeline)]
    if question.method.trains:
        return [_training_term(question, pipeline, shown)]
    if question.is_one_part_at_a_time:
        stage = _largest_stage(question, _on_the_card(question, pipeline))
    else:
        stage = max(_stages(question, pipeline)[1:], key=lambda each: each.gb)
    return [term("activations", stage.gb + WORKSPACE_GB, f"{stage.name}, {shown}")]


def _on_the_card(question: VramQuestion, pipeline: Pipeline) -> Pipeline:
    """Return the pipeline less what is never on the card."""
    if question.are_latents_cached and question.method.trains:
        return replace(pipeline, text_m=0.0, decoder_m=0.0)
    return replace(pipeline, text_m=0.0) if question.is_text_encoder_elsewhere else pipeline


def _largest_stage(question: VramQuestion, pipeline: Pipeline) -> _Stage:
    """Return the stage that needs most where each part is on the card only while it works."""
    return max(_stages(question, pipeline), key=lambda stage: _weights_gb(question, stage) + stage.gb)


def _weights_gb(question: VramQuestion, stage: _Stage) -> float:
    """Return GB of a stage's weights: all of the run's width, or those beside a quantized denoiser at 16 bit."""
    each = question.weight_bits / 8 / 1000
    if not question.is_denoiser_quantized_alone or question.weight_bits >= HALF_BITS:
        return stage.parameters_m * each
    denoiser = replace(question, model=replace(question.model, parameters_b=stage.denoiser_m / 1000))
    return stored_gb(denoiser) + (stage.parameters_m - stage.denoiser_m) * HALF_BITS / 8 / 1000


def _mixed_term(question: VramQuestion, pipeline: Pipeline) -> MemoryTerm:
    """Return the weights of a pipeline whose denoiser alone is quantized: all of them, or those of the stage that needs most."""
    whole = _Stage("all parts", pipeline.parameters_m, 0.0, pipeline.denoiser_m)
    stage = _largest_stage(question, pipeline) if question.is_one_part_at_a_time else whole
    size = parameters(pipeline.denoiser_m / 1000)
    shown = f"{question.model.name}, {stage.name}: its denoiser ({size}) at {question.weight_bits} bit, the rest at 16"
    return term("weights", _weights_gb(question, stage), shown)


def _stages(question: VramQuestion, pipeline: Pipeline) -> tuple[_Stage, ...]:
    """Return encoding the text, a denoising step, and decoding the latents."""
    height, width, frames = _size(question, pipeline)
    scale = _latent_scale(pipeline, height, width, frames) * question.batch_size
    wide = 1.0 if question.weight_bits == 32 else 0.5
    step = pipeline.network.inference_fp32_mb / 1000 * pipeline.guidance * scale * wide * _growth(pipeline)
    bits = max(pipeline.decode_bits, 32 if question.weight_bits == 32 else 16)
    decode = pipeline.decode_elements * question.batch_size * height * width * frames * bits / 8 / GB
    # An autoencoder that decodes at 32 bit lies there at 32 bit.
    decoder_m = pipeline.decoder_m * bits / max(question.weight_bits, 16)
    beside_m = pipeline.denoiser_m if frames == 1 else 0.0
    return (
        _Stage("encoding the text", pipeline.text_m, 0.1),
        _Stage("a denoising step", pipeline.denoiser_m, step, pipeline.denoiser_m),
        # diffusers moves a picture's denoiser away only with the next call, so that it is there while the latents are decoded.
        _Stage("decoding", decoder_m + beside_m, decode, beside_m),
    )


def _size(question: VramQuestion, pipeline: Pipeline) -> tuple[int, int, int]:
    height = question.image_height or pipeline.height
    width = question.image_width or round(pipeline.width * height / pipeline.height)
    return height, width, question.frames or pipeline.frames


def _pictures(question: VramQuestion, pipeline: Pipeline) -> Pictures:
    height, width, frames = _size(question, pipeline)
    return Pictures(question.batch_size * _latents(pipeline, frames), height, width)


def _shown(question: VramQuestion, pipeline: Pipeline) -> str:
    height, width, frames = _size(question, pipeline)
    return f"{question.batch_size} x {height} x {width} pixels" + (f" x {frames} frames" if frames > 1 else "")


def _growth(pipeline: Pipeline) -> float:
    """Return how much more a denoiser has at work than the counted relative of another size: width grows with the square root."""
    grown = (pipeline.denoiser_m / pipeline.network.parameters_m) ** 0.5
    return grown if not 0.85 < grown < 1.15 else 1.0


def _training_term(question: VramQuestion, pipeline: Pipeline, shown: str) -> MemoryTerm:
    """Return what is saved, or what the encoder of the pictures has at work before it, whichever is larger."""
    height, width, frames = _size(question, pipeline)
    scale = _latent_scale(pipeline, height, width, frames) * question.batch_size
    network = pipeline.network
    saved = network.training_fp32_mb if question.is_float32 else network.training_mixed_mb
    if question.is_checkpointing:
        wide = 2.0 if question.is_float32 else 1.0
        saved = (network.checkpoint_kept_mb + network.checkpoint_block_mb) * wide
    share = {"controlnet": CONTROLNET_ACTIVATIONS, "t2i-adapter": ADAPTER_ACTIVATIONS}.get(question.trained_part, 1.0)
    # Depth and width both grow: what is saved goes with parameters to the power of three quarters.
    at_work = network.inference_fp32_mb * scale / 1000 * (1.0 if question.is_float32 else 0.5) * _growth(pipeline)
    amount = IN_FLIGHT * saved * share * scale / 1000 * _growth(pipeline) ** 1.5 + at_work
    if question.is_attention_eager:
        amount += unfused_gb(question, pipeline, _pictures(question, pipeline))
    encode = 0.0
    if pipeline.decoder_m and frames == 1 and not question.are_latents_cached:
        wide_bytes = 4 if pipeline.decode_bits == 32 or question.is_float32 else 2
        encode = ENCODE_ELEMENTS * question.batch_size * height * width * wide_bytes / GB
    how = "gradient checkpointing" if question.is_checkpointing else "no gradient checkpointing"
    stage = how if amount >= encode else "encoding the pictures"
    return term("activations", max(amount, encode) + WORKSPACE_GB, f"{shown}, {stage}")


def _guided_term(question: VramQuestion, pipeline: Pipeline) -> MemoryTerm:
    """Return a denoising step without gradients, the picture's encoding, which has them, and what rendering the scene keeps."""
    height, width, _ = _size(question, pipeline)
    step = max(stage.gb for stage in _stages(replace(question, weight_bits=16), pipeline)[1:2])
    wide = 4 if question.is_float32 else 2
    encode = ENCODE_ELEMENTS * question.batch_size * height * width * wide / GB if pipeline.decoder_m else 0.0
    rendered = question.sample_elements * wide * IN_FLIGHT / GB
    shown = f"guided by {pipeline.name}, {question.sample_elements:.3g} numbers kept of the scene"
    return term("activations", step + encode + rendered + WORKSPACE_GB, shown)


def _latent_scale(pipeline: Pipeline, height: int, width: int, frames: int) -> float:
    """Return how many times the latent positions of the counted network a sample has."""
    network = pipeline.network
    positions = height * width * _latents(pipeline, frames)
    per_latent = COUNTED_FRAMES_PER_LATENT.get(network.name, 4)
    counted = network.height * network.width * (1 + (network.frames - 1) / per_latent if network.frames > 1 else 1.0)
    return positions / counted


def _latents(pipeline: Pipeline, frames: int) -> float:
    """Return how many latents a clip of so many frames has; a picture has one."""
    return 1 + (frames - 1) / pipeline.frames_per_latent if frames > 1 else 1.0


def _trained_terms(question: VramQuestion, pipeline: Pipeline) -> list[MemoryTerm]:
    """Return the states of the part that is trained, and the frozen parts at the run's precision."""
    shares = {
        "controlnet": CONTROLNET_PARAMETERS,
        "t2i-adapter": ADAPTER_PARAMETERS,
        "adapter": ADAPTER_PARAMETERS,
        "textual inversion": 0.0,
        SCENE: 0.0,
    }
    share = shares.get(question.trained_part, 1.0)
    trained_b = pipeline.denoiser_m * share / 1000
    frozen_b = (pipeline.parameters_m - pipeline.other_m - (pipeline.denoiser_m if share == 1.0 else 0.0)) / 1000
    wide = 4 if question.is_float32 else 2
    shown = question.trained_part or "denoiser"
    over = question.parts(is_divided=question.sharding.divides_weights)
    weights, gradients, state = trained_bytes(question)
    parts = question.parts(is_divided=question.sharding.divides_state)
    terms = [
        term("weights", trained_b * weights / over, f"{shown}, {parameters(trained_b)} trained"),
        term(
            "frozen parts",
            frozen_b * wide / over,
            f"{question.model.name}, {parameters(frozen_b)}, {wide * 8} bit",
        ),
        term("gradients", trained_b * gradients / over, f"{gradients:g} bytes per parameter"),
    ]
    if not question.is_optimizer_offloaded:
        terms.append(
            term("optimizer", trained_b * state / parts, f"{question.optimizer}, {state:g} bytes per parameter")
        )
    return terms


def _whisper_term(question: VramQuestion) -> MemoryTerm:
    """Return weights as OpenAI's package loads them: at 32 bit, and the 16-bit checkpoint beside them while loading.

    It explains the memory that its own table asks for: 1, 1, 2, 5, 10 and 6 GB from tiny to large and turbo.
    """
    size = question.model.parameters_b
    return term("weights", size * 6, f"{question.model.name}, {parameters(size)} at 32 bit and the checkpoint")
