"""The engine that Unsloth starts within the trainer: ``FastLanguageModel.from_pretrained(..., fast_inference=True)``.

It is vLLM in the trainer's own process, on the trainer's card, and both read the same weights there (``unsloth/models/llama.py`` and
``loader.py``: ``gpu_memory_utilization`` is 0.5 unless told; ``UNSLOTH_VLLM_STANDBY`` has it give its cache back while the trainer steps).
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import scope_of
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_LOADERS = regex(r"(?:\w+\.)*Fast\w*Model\.from_pretrained")
_DEFAULT_SHARE = "0.5"
_GENERATES = ("GRPOTrainer", "RLOOTrainer", "OnlineDPOTrainer")
_STANDBY = "UNSLOTH_VLLM_STANDBY"


@record(frozen=True, slots=True)
class InnerEngine:
    """Unsloth's engine: its share of the card as text, and whether it gives its cache back while the trainer steps."""

    share: str
    sleeps: bool


def inner_engine(checkout: Checkout, run: Run) -> InnerEngine | None:
    """Return the engine that the run's programs start with Unsloth's model to train from its answers; None where none is told."""
    if run.script is None:
        return None
    closure = (run.script, *import_closure(checkout, run.script))
    near = [source for source in closure if source.mentions("fast_inference") and source.code is not None]
    if not near or not any(s.code.calls_named(*_GENERATES) for s in closure if s.code is not None):
        return None
    tiers = scope_of(checkout, run).tiers
    follower = Follower(tiers[0][1], tiers[1][1], closure)
    for source in near:
        for call in source.code.calls_named("from_pretrained") if source.code is not None else ():
            if not _LOADERS.fullmatch(call.name):
                continue

            def told(name: str, call: Call = call, source: Source = source) -> str:
                value = call.keyword(name)
                return (follower.text(source, value, call.owner) or "").strip() if value is not None else ""

            if told("fast_inference").lower() in {"true", "1"}:
                is_told = call.keyword("gpu_memory_utilization") is not None
                share = told("gpu_memory_utilization") if is_told else _DEFAULT_SHARE
                return InnerEngine(share, any(each.mentions(_STANDBY) for each in closure))
    return None
