"""What is asked of the memory model: which model, how it is run, and over how many cards."""

from __future__ import annotations

import enum

from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.known_models import ModelFacts

GB = 1e9
GIB = 2**30


class Method(enum.Enum):
    """How the model is used."""

    INFERENCE = "inference"
    LORA = "lora"
    QLORA = "qlora"
    FULL = "full"
    PRETRAIN = "pretrain"

    @property
    def trains(self) -> bool:
        """Whether gradients are kept."""
        return self is not Method.INFERENCE

    @property
    def trains_everything(self) -> bool:
        """Whether every parameter of the model has a gradient."""
        return self in {Method.FULL, Method.PRETRAIN}

    @property
    def has_adapters(self) -> bool:
        """Whether the model itself is frozen and small matrices beside it are trained."""
        return self in {Method.LORA, Method.QLORA}


class Sharding(enum.Enum):
    """What is divided among the cards: nothing, optimizer state, also gradients, also weights, layers' width, or layers."""

    NONE = "none"
    ZERO1 = "zero-1"
    ZERO2 = "zero-2"
    ZERO3 = "zero-3"
    FSDP = "fsdp"
    TENSOR = "tensor parallel"
    PIPELINE = "pipeline parallel"

    @property
    def divides_state(self) -> bool:
        """Whether each card keeps its share of the optimizer's state only."""
        return self in {Sharding.ZERO1, Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP, *_MODEL_PARALLEL}

    @property
    def divides_gradients(self) -> bool:
        """Whether each card keeps its share of the gradients only."""
        return self in {Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP, *_MODEL_PARALLEL}

    @property
    def divides_weights(self) -> bool:
        """Whether each card keeps its share of the weights only."""
        return self in {Sharding.ZERO3, Sharding.FSDP, *_MODEL_PARALLEL}

    @property
    def divides_activations(self) -> bool:
        """Whether a card computes a share of each layer, or of the layers, and so keeps its share of activations and cache."""
        return self in _MODEL_PARALLEL


_MODEL_PARALLEL = (Sharding.TENSOR, Sharding.PIPELINE)


@record(frozen=True, slots=True)
class VramQuestion:
    """What is run; sizes are per card.

    ``precision`` is the one of the arithmetic: bf16, fp16, fp32. ``weight_bits`` (2, 3, 4, 8, 16 or 32) is how frozen weights lie
    in memory, ``quantization`` which scheme did it where that is known (``nf4``, ``nf4-dq``, ``int8``, ``gptq``, ...).
    ``is_pure_low_precision``: trained at 16 bit throughout, without 32-bit copies. ``batch_size`` 0 asks for the model's
    states alone: no activations, no buffers, no context. ``is_attention_eager`` and ``is_attention_fused`` are what is known of
    attention; neither, and networks that run both ways have the scores in ``high``.

    ``optimizer_rank``: the rank of the subspace in which GaLore and its kin keep their moments, 0 where nothing says it.
    ``tensor_parallel``, ``pipeline_parallel``, ``expert_parallel``: how many ways each layer, the layers and a mixture's experts are
    divided; ``is_sequence_parallel``: tensor parallelism divides all of a layer's activations, also what norms keep.
    ``adapted_b``: parameters in billions of the part of a pipeline that has the adapters, 0 where that is all of the model.
    ``saved_embeddings``: how many of embeddings and head are trained whole beside adapters (peft's ``modules_to_save``).
    ``is_loss_chunked``: logits are never held whole; ``may_hold_logits``: an older release of what trains would, which counts in ``high`` alone.
    ``has_small_head``: a class, a score or a vector is trained for each sample, and no logits over the vocabulary.
    ``has_reference``: a frozen copy of a fully trained model is kept beside it, at the precision of the arithmetic (DPO).

    Pictures, video and sound (0: the model's usual size): ``image_height`` and ``image_width`` in pixels, ``frames`` of a clip,
    ``audio_seconds`` of a sample. ``trained_part`` is what is trained beside a frozen diffusion model (``controlnet``,
    ``t2i-adapter``, any other ``adapter``, ``textual inversion``, or the ``scene`` that it guides); ``is_one_part_at_a_time`` that parts wait in main memory, ``is_text_encoder_elsewhere`` that the
    text encoder never comes to the card, ``is_denoiser_quantized_alone`` that of a pipeline which infers the other parts lie at 16 bit, ``are_latents_cached`` that pictures and texts were encoded before; ``runtime`` a library with
    habits of its own (``openai-whisper``, ``keras``); ``sample_elements`` what a network of one's own keeps per sample, in numbers, and
    ``sample_at_work`` the most that it has at work at once; ``output_classes`` per pixel
    of a segmentation. ``is_copied``: of several cards that infer each holds the whole model.
    """

    model: ModelFacts
    method: Method
    precision: str = "bf16"
    weight_bits: int = 16
    optimizer: str = "adamw"
    batch_size: int = 1
    sequence_length: int = 2048
    is_checkpointing: bool = False
    sharding: Sharding = Sharding.NONE
    gpu_count: int = 1
    lora_rank: int = 16
    adapted_b: float = 0.0
    is_lora_everywhere: bool = False
    saved_embeddings: int = 0
    is_pure_low_precision: bool = False
    is_loss_chunked: bool = False
    may_hold_logits: bool = False
    has_small_head: bool = False
    quantization: str = ""
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    expert_parallel: int = 1
    is_sequence_parallel: bool = True
    is_optimizer_offloaded: bool = False
    is_parameters_offloaded: bool = False
    is_activations_offloaded: bool = False
    is_attention_eager: bool = False
    is_attention_fused: bool = False
    is_gradient_freed: bool = False
    optimizer_rank: int = 0
    has_reference: bool = False
    image_height: int = 0
    image_width: int = 0
    frames: int = 0
    audio_seconds: float = 0.0
    trained_part: str = ""
    is_one_part_at_a_time: bool = False
    is_text_encoder_elsewhere: bool = False
    is_denoiser_quantized_alone: bool = False
    are_latents_cached: bool = False
    runtime: str = ""
    sample_elements: float = 0.0
    sample_at_work: float = 0.0
    output_classes: int = 0
    is_copied: bool = False

    @property
    def is_states_only(self) -> bool:
        """Whether only weights, gradients and optimizer state are asked for, as papers tabulate them."""
        return self.batch_size == 0

    @property
    def is_float32(self) -> bool:
        """Whether the arithmetic is 32-bit throughout."""
        return self.precision == "fp32"

    @property
    def is_mixed(self) -> bool:
        """Whether 16-bit arithmetic goes with 32-bit copies of the trained weights."""
        return not self.is_float32 and not self.is_pure_low_precision

    @property
    def layer_parts(self) -> int:
        """Over how many cards each layer's work, or the layers, are divided; stages of a pipeline keep more samples instead."""
        return max(self.gpu_count if self.sharding.divides_activations else 1, self.tensor_parallel, 1)

    def parts(self, *, is_divided: bool) -> int:
        """Return over how many cards a thing lies: all where sharding divides it, else those that share one copy of the model.

        A world is a multiple of all the ways in which the model is divided, however few cards a machine has; a mixture's
        experts lie over its replicas, and over tensor parallelism only in larger worlds.
        """
        stages = max(self.pipeline_parallel, 1)
        copy = max(self.tensor_parallel, 1) * stages
        return max(self.gpu_count, copy, max(self.expert_parallel, 1) * stages) if is_divided else copy
