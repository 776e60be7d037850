"""What a server of language models takes beyond the model: a share of the card, whose rest it leaves free."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.serving_engine import builds_engine
from gpu_lol_action.analysis.runs.settings import Scope, look_up
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm

SHARE_FIELD = "serving.memory_share"
# vLLM's own default for `--gpu-memory-utilization`; the rest of the card stays free.
VLLM_SHARE = 0.9
_STARTED = ("vllm.entrypoints", "ts.llm_launcher")
_PACKED = "vllm_engine_config"
_HANDED_ON = ("engine_kwargs.",)
"""Where Ray's server of language models is told what vLLM is told."""


def detect_serving(checkout: Checkout, run: Run, scope: Scope) -> list[Finding]:
    """Return which share of a card a server takes, or an engine that the program builds."""
    if not _is_by_command(run) and not _is_packed(scope) and not builds_engine(checkout, run, "vllm"):
        return []
    told = look_up(scope, ("gpu_memory_utilization",))
    share = _share(told.text) if told is not None else None
    if told is not None and share is not None:
        found = [
            Finding(SHARE_FIELD, f"{share:g}", f"`gpu_memory_utilization` is {share:g}", told.confidence, told.evidence)
        ]
    else:
        why = f"vLLM takes {VLLM_SHARE:g} of a card unless told otherwise"
        found = [Finding(SHARE_FIELD, f"{VLLM_SHARE:g}", why, Confidence.LOW, run.evidence)]
    return found


def _is_by_command(run: Run) -> bool:
    command = run.command
    return command is not None and (command.tool == "vllm" or command.target.startswith(_STARTED))


def _is_packed(scope: Scope) -> bool:
    """Whether a configuration has TorchServe start the engine, or has Ray hand its options on."""
    packed = any(_PACKED in setting.path for _, settings in scope.tiers[1:2] for setting in settings)
    return packed or any(word in s.path for word in _HANDED_ON for _, said in scope.tiers[1:3] for s in said)


def _share(text: str) -> float | None:
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0.3 <= share <= 1 else None


def with_share(breakdown: MemoryBreakdown, share: Finding | None) -> MemoryBreakdown:
    """Return the breakdown of a server with what it leaves free of the card: its own need is only that share of it."""
    if share is None:
        return breakdown
    factor = 1 / float(share.value)
    free = MemoryTerm("left free", round(breakdown.expected_gib * (factor - 1), 2), share.why, share.evidence)
    return replace(
        breakdown,
        terms=(*breakdown.terms, free),
        low_gib=round(breakdown.low_gib * factor, 2),
        expected_gib=round(breakdown.expected_gib * factor, 2),
        high_gib=round(breakdown.high_gib * factor, 2),
        required_gib=float(round(breakdown.required_gib * factor)),
    )
