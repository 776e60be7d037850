"""Whether a transformer of the program's own computes its attention step by step, and so keeps every score for the backward pass."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_calls import called_at
from gpu_lol_action.analysis.runs.settings import Scope, is_on, look_up, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.vram_activations import COMPOSED

FIELD = "training.attention"
KEPT = "kept"
"""Scores are kept whichever model it is: its library has no kernel without them."""
# One kernel that keeps no scores: Dao et al. 2022 and what PyTorch 2 and xformers make of it.
_FUSED = ("scaled_dot_product_attention", "flash_attn_func", "flash_attn_qkvpacked_func", "flash_attn_varlen_func", "flash_attention",
          "memory_efficient_attention", "flex_attention", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer",
          "Transformer", "FlashAttention", "FlashSelfAttention", "MHA")  # fmt: skip
# A causal mask is put into the scores by hand only where the softmax is taken by hand as well.
_MASKS = ("masked_fill", "masked_fill_", "make_causal_mask", "combine_masks")


MAX_MODULES = 20
_FUSING = frozenset({"torch", "jax", "flax"})
_GRAPH = regex(r"\btf\.(?:contrib\b|placeholder\b|Session\b|get_variable\b|train\.\w{2,20}Optimizer\b|estimator\.)")
_CHOICES = ("attn_impl", "attn_implementation", "attention_impl", "attn_backend", "attention_backend", "attention_type")
_SWITCHES = ("use_flash_attn", "flash_attn", "use_flash_attention", "flash_attention", "use_flash")
_KERNELS = regex(r"flash|sdpa|triton|xformers|flex|cudnn|fused|sparse|sliding|linear", re.IGNORECASE)


def _is_told_to_fuse(scope: Scope) -> bool:
    """Whether the run's options or configuration name a fused kernel, or attention to a part of the text: neither keeps all scores."""
    choice, switch = look_up(scope, _CHOICES), look_up(scope, _SWITCHES)
    is_chosen = choice is not None and choice.confidence is Confidence.HIGH and bool(_KERNELS.search(choice.text))
    return is_chosen or (switch is not None and switch.confidence is Confidence.HIGH and is_on(switch))


def _graph(checkout: Checkout, script: Source) -> Finding | None:
    """Return that the run builds a graph of TensorFlow 1, which has no fused operations to speak of."""
    for source in import_closure(checkout, script)[:MAX_MODULES]:
        found = _GRAPH.search(source.text) if "tensorflow" in source.text else None
        if found is not None:
            where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
            return Finding(
                FIELD,
                COMPOSED,
                f"`{found[0]}` is of TensorFlow 1, which keeps what each operation gives",
                Confidence.MEDIUM,
                where,
            )
    return None


def _of_tensorflow(checkout: Checkout, script: Source) -> Finding | None:
    """Return that the run trains with TensorFlow alone, whose attention is made of single operations on every card."""
    if script.code is None or "tensorflow" not in script.code.imported():
        return None
    closure = import_closure(checkout, script)[:MAX_MODULES]
    if any(source.code is not None and source.code.imported() & _FUSING for source in closure):
        return None
    return Finding(FIELD, KEPT, "TensorFlow computes attention step by step", Confidence.MEDIUM, Evidence(script.path))


def detect(checkout: Checkout, run: Run) -> Finding | None:
    """Return that the run's attention keeps its scores; None where a fused kernel stands in the program, or nothing tells."""
    if run.behavior is not Behavior.TRAINS or run.script is None:
        return None
    if _is_told_to_fuse(scope_of(checkout, run)):
        return None
    if (graph := _graph(checkout, run.script)) is not None:
        return graph
    if (kept := _of_tensorflow(checkout, run.script)) is not None:
        return kept
    if called_at(checkout, run, *_FUSED) is not None:
        return None
    masked = called_at(checkout, run, *_MASKS)
    scores = called_at(checkout, run, "softmax", "MultiHeadDotProductAttention")
    if masked is None or scores is None:
        return None
    return Finding(FIELD, "eager", "the program computes its attention step by step", Confidence.MEDIUM, scores)
