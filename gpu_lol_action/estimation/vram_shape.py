"""A transformer layer's widths as far as they matter for memory, derived where a model's description leaves them out.

A layer holds 2 h² + 2 h² k/a parameters of attention (h hidden size, a query heads, k key-value heads) and two matrices
of h x f (plain MLP: GPT, BERT, Falcon) or three (gated: Llama, Qwen, T5 1.1). With all numbers known, parameters per layer
say which of the two it is; where the inner width f is unknown, they give it.
"""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.known_models import ModelFacts

# Families whose MLP has two matrices and whose norms are LayerNorm (their papers' and configurations' words).
_PLAIN = regex(
    r"gpt|opt-|bloom|pythia|falcon|neox|phi-[12]|stablelm-alpha|stablelm-base|bert|starcoder|mpt-|dolly|cerebras|santacoder|"
    r"whisper|wav2vec|\bvit|clip|esm",
    re.IGNORECASE,
)
_PLAIN_KINDS = frozenset({"encoder", "embedding", "reranker", "protein", "dna", "vision", "vision-text", "asr"})
HEAD_SIZE = 128  # Llama 2 7B, 13B and 70B, Qwen, Mistral: hidden size over heads
TYPICAL_VOCABULARY = 32_000
BY_SIZE = "size"  # the source of a model of which only the size is known


@record(frozen=True, slots=True)
class LayerShape:
    """Widths of one layer. ``inner`` is the MLP's width that one token uses: of all its experts in a mixture."""

    hidden: int
    layers: int
    heads: int
    kv_share: float
    inner: float
    is_gated: bool
    vocabulary: int

    @property
    def attention_parameters(self) -> float:
        """Parameters of query, key, value and output in one layer."""
        return 2 * self.hidden**2 * (1 + self.kv_share)

    @property
    def mlp_matrices(self) -> int:
        """Matrices of the MLP."""
        return 3 if self.is_gated else 2


def layer_shape(model: ModelFacts) -> LayerShape:
    """Return the widths of a model whose hidden size and layers are known; what is missing comes from the parameter count."""
    hidden, layers = model.hidden_size, model.layers
    heads = model.attention_heads or max(1, hidden // HEAD_SIZE)
    kv_share = min(1.0, (model.kv_heads or heads) / heads)
    attention = 2 * hidden * _query_width(hidden, heads) * (1 + kv_share)
    used = (model.active_parameters_b or model.parameters_b) * 1e9
    # With tied embeddings the vocabulary counts once, else twice; half-way misses either by little where layers are many.
    times = 1.0 if model.kind in _PLAIN_KINDS else 1.5
    mlp = max((used - times * model.vocabulary * hidden) / layers - attention, hidden**2)
    if model.source == BY_SIZE:
        return LayerShape(hidden, layers, heads, kv_share, float(model.feed_forward), True, model.vocabulary)
    is_plain = _is_plain_by_name(model)
    if model.feed_forward and not model.active_parameters_b:
        matrices = mlp / (hidden * model.feed_forward)
        if matrices < 4.5:  # more are the experts of a mixture
            is_gated = matrices > 2.5
            return LayerShape(hidden, layers, heads, kv_share, float(model.feed_forward), is_gated, model.vocabulary)
        # A token goes through two wide experts (Jiang et al. 2024: Mixtral) or eight narrow ones (Dai et al. 2024: DeepSeekMoE).
        experts = 2 if model.feed_forward >= hidden else 8
        mlp = min(mlp, 3 * experts * hidden * model.feed_forward)
    return LayerShape(
        hidden, layers, heads, kv_share, mlp / (hidden * (2 if is_plain else 3)), not is_plain, model.vocabulary
    )


def _query_width(hidden: int, heads: int) -> int:
    """Return heads x head size, which is the hidden size but for T5's 3B and 11B: 32 and 128 heads of 128 on 1024."""
    is_narrow = hidden >= 1024 and hidden // heads < 64
    return heads * HEAD_SIZE if is_narrow else hidden


def typical_model(name: str, parameters_b: float, kind: str = "llm") -> ModelFacts:
    """Return a language model of that many billions of parameters in the usual proportions.

    Parameters are 12 x layers x hidden² (Kaplan et al. 2020), and hidden is 128 x layers, as in Llama 2 7B (4096, 32) and
    13B (5120, 40); the MLP is gated and 8/3 as wide.
    """
    layers = max(1, round((parameters_b * 1e9 / 12 / HEAD_SIZE**2) ** (1 / 3)))
    return ModelFacts(
        name, kind, parameters_b, HEAD_SIZE * layers, layers, layers, layers, TYPICAL_VOCABULARY, BY_SIZE,
        feed_forward=HEAD_SIZE * layers * 8 // 3,
    )  # fmt: skip


def model_of_shape(name: str, hidden: int, layers: int, vocabulary: int, feed_forward: int) -> ModelFacts:
    """Return a language model of that shape: 12 x layers x hidden² parameters, or with the MLP's width three matrices of it."""
    per_layer = 4 * hidden**2 + (3 * hidden * feed_forward if feed_forward else 8 * hidden**2)
    parameters = (layers * per_layer + (vocabulary or TYPICAL_VOCABULARY) * hidden) / 1e9
    return ModelFacts(name, "llm", parameters, hidden, layers, 0, 0, vocabulary, "given", feed_forward=feed_forward)


def _is_plain_by_name(model: ModelFacts) -> bool:
    if model.kind in _PLAIN_KINDS:
        return True
    if "gpt-oss" in model.name.lower() or "chatglm" in model.name.lower():
        return False
    return model.source == "shape" or bool(_PLAIN.search(model.name))
