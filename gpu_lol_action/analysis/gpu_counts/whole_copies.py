"""Whether each card of a run that infers holds a whole model: its ranks share the rows among them, or each part has its card, and none is divided."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.gpu_counts.placed_devices import placed_over
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "serving.copies"
_LAUNCHERS = frozenset({"torchrun", "accelerate"})
_SHARES_ROWS = ("DistributedDataParallel", "DistributedSampler", "split_between_processes", "DDP(", "Accelerator(")
# A sampler of one's own that gives each rank its part, as a class that knows how many ranks there are.
_OWN_SAMPLER = regex(r"class \w{1,60}\([\w.]{0,60}\bSampler\)")
_COUNTS_RANKS = ("get_world_size", "WORLD_SIZE")
# One of these words anywhere, and the model may be divided after all.
_DIVIDES = regex(
    r"fsdp|fully_?shard|tensor_?parallel|model_?parallel|pipeline_?parallel|init_inference|ColumnParallel|parallelize_module|"
    r"pippy|zero_?3|shard_model",
    re.IGNORECASE,
)
# What spreads a model of one process over all cards; where each of eight processes does, every card holds eight eighths.
_SPREADS = regex(r"device_map|dispatch_model")


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return ``serving.copies``: whole, where a launcher starts several processes and the program only hands out rows to them.

    So it is where the program itself puts one model on the first card and the other on the second.
    """
    if run is None or run.behavior is not Behavior.INFERS or run.script is None:
        return []
    if (placed := placed_over(run.script)) is not None and not _is_divided(run.script.text):
        why = f"the program puts parts of its work on {placed[0]} cards by their numbers, and divides none of them"
        return [Finding(FIELD, "whole", why, Confidence.MEDIUM, Evidence(run.script.path, placed[1]))]
    if run.command is None:
        return []
    if run.command.tool not in _LAUNCHERS or (run.command.processes or 1) < 2:
        return []
    closure = import_closure(checkout, run.script)
    shares = next((word for word in _SHARES_ROWS if any(source.mentions(word) for source in closure)), None)
    shares = shares or next((name for source in closure if (name := _own_sampler(source))), None)
    if shares is None or any(_DIVIDES.search(text) for text in (run.command.text, *(s.text for s in closure))):
        return []
    why = f"`{shares.rstrip('(')}` shares the rows among the processes, each of which holds the whole model"
    return [Finding(FIELD, "whole", why, Confidence.MEDIUM, run.evidence)]


def _is_divided(text: str) -> bool:
    return _DIVIDES.search(text) is not None or _SPREADS.search(text) is not None


def _own_sampler(source: Source) -> str:
    """Return the name of a sampler that a program defines and that shares rows among ranks; empty without one."""
    if not source.mentions("Sampler)") or not any(map(source.mentions, _COUNTS_RANKS)):
        return ""
    found = _OWN_SAMPLER.search(source.text)
    return found[0].removeprefix("class ").partition("(")[0] if found is not None else ""
