"""The experts of a mixture that the run's own configuration describes: most of its parameters, which layers and width do not tell.

Findings ``model.experts`` (routed and shared ones together), ``model.experts_used`` (of each token), ``model.feed_forward``
(the inner width of one), ``model.kv_heads``, ``model.is_gated``: what DeepSeek's, Mixtral's and Qwen's configurations and those
made after them call by these words, where their experts are gated (SwiGLU, Shazeer 2020) without exception.
"""

from __future__ import annotations

from gpu_lol_action.analysis.runs.settings import Scope, look_up_number
from gpu_lol_action.domain.finding import Confidence, Finding

_EXPERTS = ("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts", "num_moe_experts")
_SHARED = ("n_shared_experts", "num_shared_experts")
_USED = ("n_activated_experts", "num_experts_per_tok", "num_experts_per_token", "moe_top_k", "moe_router_topk")
_INNER = ("moe_inter_dim", "moe_intermediate_size", "expert_intermediate_size", "moe_ffn_hidden_size")
_ANY_INNER = ("intermediate_size", "inter_dim", "ffn_hidden_size")
_KV_HEADS = ("num_key_value_heads", "n_kv_heads", "num_kv_heads")
MOST_EXPERTS, WIDEST = 1024, 65_536


def detect(scope: Scope, layers: Finding) -> list[Finding]:
    """Return the experts that stand in the file of ``layers``, if the run surely reads it and says how wide they are; else nothing."""
    own = Scope(
        tuple(
            (confidence, tuple(setting for setting in settings if setting.evidence.path == layers.evidence.path))
            for confidence, settings in scope.tiers
        ),
        scope.is_anothers,
    )
    experts = look_up_number(own, _EXPERTS, 2, MOST_EXPERTS)
    inner = look_up_number(own, _INNER, 16, WIDEST) or look_up_number(own, _ANY_INNER, 16, WIDEST)
    if layers.confidence is not Confidence.HIGH or experts is None or inner is None:
        return []
    shared = look_up_number(own, _SHARED, 1, MOST_EXPERTS)
    whole = int(float(experts.text)) + (int(float(shared.text)) if shared is not None else 0)
    why = f"`{experts.setting.key}` is {experts.text}" + (f", and {shared.text} for all" if shared is not None else "")
    found = [
        Finding("model.experts", str(whole), why, Confidence.HIGH, experts.evidence),
        Finding("model.feed_forward", inner.text, f"`{inner.setting.key}` is {inner.text}", Confidence.HIGH, inner.evidence),
        Finding("model.is_gated", "yes", "experts are gated", Confidence.MEDIUM, experts.evidence),
    ]  # fmt: skip
    for field, keys in (("model.experts_used", _USED), ("model.kv_heads", _KV_HEADS)):
        number = look_up_number(own, keys, 1, MOST_EXPERTS)
        if number is not None:
            why = f"`{number.setting.key}` is {number.text}"
            found.append(Finding(field, number.text, why, Confidence.HIGH, number.evidence))
    return found
