"""Terms for what a model is made of: weights, gradients, optimizer state, adapters, and what sharding keeps besides.

Sources: Rajbhandari et al. 2020 (ZeRO: what each stage divides; 7.5 B parameters on 64 cards: 120, 31.4, 16.6, 1.9 GB);
Hu et al. 2021 (LoRA); DeepSpeed's documentation of its memory and configuration; transformers' "Model training anatomy"
(18 bytes per parameter with autocast); peft's ``prepare_model_for_kbit_training``.
"""

from __future__ import annotations

from gpu_lol_action.domain.memory import MemoryTerm
from gpu_lol_action.estimation.adapters import trainable_b
from gpu_lol_action.estimation.megatron import MEGATRON, share_on_rank
from gpu_lol_action.estimation.shown_size import parameters
from gpu_lol_action.estimation.vram_question import GB, GIB, Method, Sharding, VramQuestion
from gpu_lol_action.estimation.vram_shape import layer_shape
from gpu_lol_action.estimation.vram_states import (
    adapter_bytes,
    is_gradient_freed,
    is_paged,
    keeps_16_bit_copies,
    largest_gradient_b,
    moment_bytes,
    moment_width,
    moments_gb,
    scheme_of,
    stored_gb,
    trained_at_once_b,
    trained_bytes,
)

LIVE_PARAMETERS_B = 1.0  # DeepSpeed's stage3_max_live_parameters: 1e9 gathered at 16 bit at a time
REDUCE_BUCKET_B = 0.5  # DeepSpeed's reduce_bucket_size: 5e8, twice where communication overlaps


def weight_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return everything that does not depend on batch and length."""
    terms = _trained_terms(question) if question.method.trains_everything else _frozen_terms(question)
    return terms if question.is_states_only else [*terms, *_buffer_terms(question)]


def term(name: str, gb: float, basis: str) -> MemoryTerm:
    """Return a term of so many GB, in GiB."""
    return MemoryTerm(name, round(gb * GB / GIB, 3), basis)


def over(parts: int) -> str:
    """Return the words for a share."""
    return f", over {parts} cards" if parts > 1 else ""


def _frozen_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return stored weights and, with LoRA, the adapters: 16 bytes per trainable parameter with Adam."""
    model = question.model
    size = stored_gb(question) * share_on_rank(question)
    scheme = scheme_of(question)
    shown = f"{question.weight_bits} bit{f' ({scheme})' if question.quantization else ''}"
    parts = question.parts(is_divided=question.sharding.divides_weights)
    basis = f"{model.name}, {parameters(model.parameters_b)}, {shown}{over(parts)}"
    terms = [
        _largest_layer_term(question) if question.is_parameters_offloaded else term("weights", size / parts, basis)
    ]
    if question.method.has_adapters:
        trainable = trainable_b(question)
        each = 4.0 if question.is_optimizer_offloaded else adapter_bytes(question)
        saved = question.saved_embeddings * model.vocabulary * model.hidden_size / 1e9
        trainable += saved  # copies of their own: the frozen ones stay where they are
        basis = f"rank {question.lora_rank}{' and embeddings' if saved else ''}, {trainable * 1000:.3g} M trainable parameters, {question.optimizer}{over(parts)}"
        terms.append(term("adapters", trainable * each / parts, basis))
    return terms


def _trained_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return weights, gradients and optimizer state of a model whose every parameter is trained.

    Offloading the optimizer takes its state and the gradients with it (ZeRO-Offload, Ren et al. 2021); offloading parameters
    leaves what is gathered for the layer at work.
    """
    model, stage = question.model, question.sharding
    weights, gradients, state = trained_bytes(question)
    size, on_rank = model.parameters_b, share_on_rank(question)
    trained = trained_at_once_b(question)
    over_weights = question.parts(is_divided=stage.divides_weights)
    over_gradients = question.parts(is_divided=stage.divides_gradients)
    over_state = question.parts(is_divided=stage.divides_state)
    freed = min(largest_gradient_b(question), trained) if is_gradient_freed(question) else trained
    basis = f"{model.name}, {parameters(size)}, {question.precision}{over(over_weights)}"
    terms = [term("weights", size * on_rank * weights / over_weights, basis)]
    if question.is_parameters_offloaded:
        terms = [_largest_layer_term(question)]
    elif question.has_reference:
        each = 4 if question.is_float32 else 2
        terms.append(
            term("reference model", size * on_rank * each / over_weights, f"a frozen copy{over(over_weights)}")
        )
    if not question.is_optimizer_offloaded or question.runtime == MEGATRON:  # whose gradients stay where they arise
        basis = f"{gradients:g} bytes per parameter{over(over_gradients)}"
        terms.append(
            term("gradients", freed * (1.0 if stage.divides_gradients else on_rank) * gradients / over_gradients, basis)
        )
    if not question.is_optimizer_offloaded:
        basis = f"{question.optimizer}, {state:.3g} bytes per parameter{over(over_state)}"
        terms.append(term("optimizer", trained * (1.0 if stage.divides_state else on_rank) * state / over_state, basis))
    if keeps_16_bit_copies(question) and not question.is_parameters_offloaded:
        parts = question.layer_parts
        terms.append(term("casts", size * 2 / parts, f"16-bit copies that autocast keeps{over(parts)}"))
    return terms


def possible_gb(question: VramQuestion) -> float:
    """Return what some libraries keep besides the terms and others do not, in GB.

    QLoRA: peft's ``prepare_model_for_kbit_training`` turns what is not quantized, embeddings and head, to 32 bit; Unsloth,
    torchtune and litgpt do not. A paged optimizer's moments lie on the card while there is room.
    """
    model, held = question.model, 0.0
    if question.is_states_only:
        return held
    if question.method is Method.QLORA:
        held += model.embedding_b * 2
    if is_paged(question):
        moments = moments_gb(question)
        if question.method.has_adapters:
            moments = trainable_b(question) * moment_bytes(question.optimizer, moment_width(question))
        held += moments / question.parts(is_divided=question.sharding.divides_state)
    return held


def _largest_layer_term(question: VramQuestion) -> MemoryTerm:
    """Return what is on the card of offloaded weights: the largest layer, at 4 bytes (DeepSpeed's rule), never more than all.

    FSDP's gathered units count among the buffers.
    """
    model = question.model
    layer = max(model.vocabulary * model.hidden_size / GB, model.parameters_b / max(model.layers, 1) / 4)
    if question.sharding is Sharding.FSDP:
        layer = 0.0
    size = min(layer * 4, stored_gb(question)) / question.layer_parts
    return term("weights", size, "in main memory; the largest layer on its way")


def _buffer_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return what is held for a moment: gathered weights, buckets, 32-bit gradients; and one matrix that is dequantized."""
    model = question.model
    held, words = _sharding_buffers(question)
    if scheme_of(question) and model.has_shape and not question.method.trains_everything:
        shape = layer_shape(model)
        held += shape.hidden * max(shape.inner, shape.hidden) * 2 / GB / question.layer_parts
        words.append("one matrix dequantized")
    return [term("buffers", held, ", ".join(words))] if words else []


def _sharding_buffers(question: VramQuestion) -> tuple[float, list[str]]:
    """Return what ZeRO and FSDP hold besides their shares, in GB, and the words for it.

    Stage 3 gathers up to ``stage3_max_live_parameters``; FSDP two blocks, the one at work and the next, and the outermost unit:
    embeddings and head. DeepSpeed's rule of 18
    bytes in stage 3 counts gradients at 32 bit while the optimizer steps. With several cards a part lies there already as the
    card's own share, so that dividing a state never costs more than it saves.
    """
    stage, whole = question.sharding, question.model.parameters_b
    cards, tensor = question.parts(is_divided=True), max(question.tensor_parallel, 1)
    size = whole / tensor
    others = 1 - tensor / cards if cards > 1 else 1.0
    each = 4.0 if question.is_float32 else 2.0
    if not question.method.trains_everything:  # frozen weights travel as they lie, quantized ones too
        each = stored_gb(question) / whole
    held, words = 0.0, []
    if stage is Sharding.FSDP:
        units = 2 * size / max(question.model.layers, 1) + question.model.embedding_b / tensor
        held += min(size * others, units) * each
        words.append("gathered weights")
    if stage is Sharding.ZERO3:
        held += min(size * others, LIVE_PARAMETERS_B) * each
        words.append("gathered weights")
    is_deepspeeds = question.method.trains_everything and question.runtime != MEGATRON
    if is_deepspeeds and stage in {Sharding.ZERO1, Sharding.ZERO2, Sharding.ZERO3}:
        is_kept = not question.is_optimizer_offloaded and not is_gradient_freed(question)
        held += min(size * others, 2 * REDUCE_BUCKET_B) * each if is_kept else 0.0
        words.append("reduction buckets")
        if question.is_mixed and is_kept:
            held += whole * 2 / cards
            words.append("32-bit gradients")
    return held, words
