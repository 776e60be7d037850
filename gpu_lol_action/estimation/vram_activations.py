"""Terms that grow with batch and length in language models: activations, logits, and the key-value cache.

Bytes per token and layer at 16 bit, h the hidden size, f the MLP's inner width, k/a the share of key-value heads:

- 18 h + 4 f for a plain MLP: Korthikanti et al. 2022, 34 h at f = 4 h, without the 5 a s / h that fused attention does not keep;
- 22 h + 8 f for a gated one: its four products of width f instead of two, and two norms that save their input at 32 bit (as
  ``LlamaRMSNorm`` computes it);
- less 4 h (1 - k/a) with grouped queries; twice as much at 32 bit;
- less 2 f where the MLP is frozen and has no adapters: its last product saves no input, which only its weight's gradient needs;
- 5 a s more per token where attention is not fused;
- 1.75 times all of it in a graph of TensorFlow 1, which puts GELU, norms and dropout together of plain operations and keeps what
  each gives: the largest batches that BERT's README tells for 12 GB (12 x 384 to 6 x 512 tokens, base) and XLNet's for 16 GB
  (56 x 128 to 24 x 256) leave 1.6 to 2.1 times the bytes of a layer per token.

The stages of a pipeline keep as many samples as there are stages of their own layers: together those of all layers, once.
With gradient checkpointing a layer keeps its input, 2 h, and one layer is recomputed at a time (Chen et al. 2016).
"""

from __future__ import annotations

from gpu_lol_action.domain.memory import MemoryTerm
from gpu_lol_action.estimation.megatron import activation_parts
from gpu_lol_action.estimation.vram_question import GB, Method, VramQuestion
from gpu_lol_action.estimation.vram_shape import LayerShape, layer_shape
from gpu_lol_action.estimation.vram_weights import over, term

COMPOSED, COMPOSED_SHARE = "tensorflow1", 1.75
CHECKPOINT_BYTES = 2  # a layer's input per token and hidden unit
LOGIT_BYTES = 12  # 16-bit logits and their gradient, the 32-bit copy, and the 32-bit softmax that the loss keeps
CHUNKED_LOGIT_SHARE = 1 / 8  # a chunked loss holds one chunk of eight at a time (torchtune's default)
# Engines that compute a long prompt piece by piece, and the tokens of a piece that they start with (their documentation).
CHUNKED_PREFILL = {"vllm": 8192, "sglang": 8192}
WITHOUT_LOGITS = frozenset({"encoder", "embedding", "reranker", "vision", "vision-text", "protein", "dna"})
WITHOUT_CACHE = frozenset({"vision", "vision-text", "encoder", "embedding", "reranker", "protein", "dna"})


def language_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return the terms of a transformer whose shape is known."""
    if question.method is Method.INFERENCE:
        return _inference_terms(question)
    return _training_terms(question)


def layer_bytes(shape: LayerShape, question: VramQuestion) -> float:
    """Return bytes that one layer saves per token for its backward pass."""
    hidden = shape.hidden
    amount = 22.0 * hidden + 8 * shape.inner if shape.is_gated else 18.0 * hidden + 4 * shape.inner
    amount -= 4 * hidden * (1 - shape.kv_share)
    if question.method.has_adapters and not question.is_lora_everywhere:
        amount -= 2 * shape.inner
    if question.is_attention_eager:
        amount += 5 * shape.heads * question.sequence_length
    amount *= COMPOSED_SHARE if question.runtime == COMPOSED else 1.0
    return 2 * amount if question.is_float32 else amount


def _training_terms(question: VramQuestion) -> list[MemoryTerm]:
    shape = layer_shape(question.model)
    tokens = question.batch_size * question.sequence_length
    shown = f"batch {question.batch_size} x {question.sequence_length} tokens"
    per_layer = layer_bytes(shape, question)
    parts = question.layer_parts
    if question.is_checkpointing:
        wide = 2 if question.is_float32 else 1
        held = 0 if question.is_activations_offloaded else CHECKPOINT_BYTES * wide * shape.hidden * shape.layers
        amount = min(held + per_layer, per_layer * shape.layers)
        basis = f"{shown}, gradient checkpointing"
    else:
        amount = per_layer * (2 if question.is_activations_offloaded else shape.layers)
        basis = f"{shown}, no gradient checkpointing"
    kept = amount * tokens / GB / activation_parts(question)
    terms = [term("activations", kept, basis + over(parts))]
    stages = max(question.pipeline_parallel, 1)
    if shape.vocabulary and question.model.kind not in WITHOUT_LOGITS and not question.has_small_head:
        each = LOGIT_BYTES * (CHUNKED_LOGIT_SHARE if question.is_loss_chunked else 1.0)
        basis = f"vocabulary {shape.vocabulary}{', chunked loss' if question.is_loss_chunked else ''}"
        logits = each * tokens * shape.vocabulary / GB / parts
        if stages > 1 and kept >= kept / stages + logits:
            return terms  # the first stage keeps more than the last, which alone has logits
        if stages > 1:
            terms = [term("activations", kept / stages, f"{terms[0].basis}, the last of {stages} stages")]
        terms.append(term("logits", logits, basis + over(parts)))
    return terms


def unchunked_gb(question: VramQuestion) -> float:
    """Return GB of logits that are there besides where a loss in chunks is not sure; 0 where it is, or none are computed."""
    if not (question.may_hold_logits and question.is_loss_chunked) or question.has_small_head:
        return 0.0
    if not question.model.has_shape or question.model.kind in WITHOUT_LOGITS:
        return 0.0
    shape = layer_shape(question.model)
    tokens = question.batch_size * question.sequence_length
    return LOGIT_BYTES * (1 - CHUNKED_LOGIT_SHARE) * tokens * shape.vocabulary / GB / question.layer_parts


def _inference_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return the cache, 2 x layers x h k/a x tokens x 2 bytes, and what one layer computes of the prompt at a time."""
    shape = layer_shape(question.model)
    tokens = question.batch_size * question.sequence_length
    shown = f"batch {question.batch_size} x {question.sequence_length} tokens"
    wide = 4 if question.is_float32 else 2
    parts = question.layer_parts
    at_work = (4.0 * shape.hidden + 2 * shape.inner) * wide
    if question.is_attention_eager:
        at_work += shape.heads * question.sequence_length * (wide + 4)
    terms = []
    if question.model.kind not in WITHOUT_CACHE:
        cache = 2 * shape.layers * shape.hidden * shape.kv_share * tokens * wide / GB
        terms.append(term("KV cache", cache / parts, f"{shown}, {8 * wide} bit{over(parts)}"))
    at_once = tokens
    if question.runtime in CHUNKED_PREFILL and tokens > CHUNKED_PREFILL[question.runtime]:
        at_once = CHUNKED_PREFILL[question.runtime]
        shown = f"{at_once} tokens of the prompt"
    terms.append(term("activations", at_work * at_once / GB / parts, f"one layer at a time, {shown}{over(parts)}"))
    return terms
