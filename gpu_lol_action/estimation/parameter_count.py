"""How many parameters a transformer of a given shape has: its matrices summed, for models whose weights nobody counted.

Norms, biases and position tables are left out: they are under one percent. Sources: Vaswani et al. 2017 for the
matrices, Shazeer 2020 for gated feed-forward parts, Jiang et al. 2024 (Mixtral) for experts, DeepSeek-AI 2024 (V2) for
latent attention.
"""

from __future__ import annotations

from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class Shape:
    """A transformer as config.json describes it; 0 where a field is not said."""

    layers: int
    hidden: int
    vocabulary: int
    heads: int = 0
    kv_heads: int = 0
    head_size: int = 0
    ffn: int = 0
    experts: int = 0
    expert_ffn: int = 0
    shared_experts: int = 0
    shared_ffn: int = 0
    dense_layers: int = 0
    encoder_layers: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    rope_size: int = 0
    nope_size: int = 0
    value_size: int = 0
    is_gated: bool = True
    is_tied: bool = False
    is_encoder_decoder: bool = False


def count_parameters(shape: Shape) -> float:
    """Return the parameters of all matrices of a transformer."""
    attention = _latent_attention(shape) if shape.kv_rank else _attention(shape)
    dense = _feed_forward(shape, shape.ffn or 4 * shape.hidden)
    if shape.experts > 1:
        dense_layers = min(shape.dense_layers, shape.layers)
        feed_forward = dense_layers * dense + (shape.layers - dense_layers) * _experts(shape)
    else:
        feed_forward = shape.layers * dense
    body = shape.layers * attention + feed_forward
    if shape.is_encoder_decoder:
        # The decoder attends twice, to itself and to the encoder.
        body += shape.layers * attention + (shape.encoder_layers or shape.layers) * (attention + dense)
    embeddings = shape.vocabulary * shape.hidden * (1 if shape.is_tied else 2)
    return float(body + embeddings)


def _attention(shape: Shape) -> int:
    heads = shape.heads or max(shape.hidden // 64, 1)
    size = shape.head_size or shape.hidden // heads
    kv_heads = shape.kv_heads or heads
    return 2 * shape.hidden * size * (heads + kv_heads)


def _latent_attention(shape: Shape) -> int:
    """Return the matrices of multi-head latent attention: queries, keys and values go through a narrow waist."""
    query = shape.heads * (shape.nope_size + shape.rope_size)
    queries = shape.q_rank * (shape.hidden + query) if shape.q_rank else shape.hidden * query
    keys = shape.hidden * (shape.kv_rank + shape.rope_size)
    values = shape.kv_rank * shape.heads * (shape.nope_size + shape.value_size)
    return queries + keys + values + shape.heads * shape.value_size * shape.hidden


def _feed_forward(shape: Shape, width: int) -> int:
    return (3 if shape.is_gated else 2) * shape.hidden * width


def _experts(shape: Shape) -> int:
    """Return one layer of experts with its router and the experts that all tokens share."""
    width = shape.expert_ffn or shape.ffn or 4 * shape.hidden
    shared = shape.shared_ffn or shape.shared_experts * width
    router = shape.hidden * shape.experts
    return shape.experts * _feed_forward(shape, width) + (_feed_forward(shape, shared) if shared else 0) + router
