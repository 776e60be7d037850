"""Whether what was run is what was estimated: a test of a minute says nothing of the memory that a training needs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from gpu_lol_action.analysis.answer.profiles import shown_command
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import all_runs, primary_run
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

# They take most of a card when they start, whatever the model needs: JAX 75 % (docs.jax.dev, "GPU memory allocation"),
# TensorFlow nearly all (tensorflow.org, "Use a GPU"), vLLM 90 % (docs.vllm.ai, `gpu_memory_utilization`), SGLang likewise.
TAKES_ALL = frozenset({"jax", "jaxlib", "flax", "tensorflow", "vllm", "sglang", "lmdeploy"})
# Options that say how long, where to and how loud, and nothing of what lies on the card.
_NEUTRAL = frozenset({
    "max-steps", "max-train-steps", "max-iters", "steps", "num-train-epochs", "num-epochs", "max-epochs", "epochs",
    "output-dir", "out-dir", "logging-steps", "log-interval", "save-steps", "seed", "report-to", "run-name", "wandb-log",
})  # fmt: skip
# What may stand before the run without touching the card.
_BEFORE = frozenset({"pip", "pip3", "uv", "mkdir", "echo", "true", "ls", "nvidia-smi"})
_NAME = regex(r"[^A-Za-z0-9_.-].*", re.DOTALL)


@record(frozen=True, slots=True)
class Estimated:
    """The estimate that a command's memory can be held against, and the run it is of. ``is_first``: the one provisioned for."""

    breakdown: MemoryBreakdown
    command: str
    is_first: bool


def estimated_for(command: str, checkout: Checkout, analysis: Analysis) -> Estimated | str:
    """Return the estimate of exactly what was run, or in a sentence why there is none to hold it against."""
    taking = takes_all(analysis)
    if taking:
        return f"`{taking}` takes the card's memory in advance, so that what is measured is not what is needed"
    asked = _words_of(command)
    runs = all_runs(checkout)
    for run in runs:
        if asked is None or _words_of(shown_command(run)) != asked:
            continue
        is_first = run == primary_run(checkout)
        beside = next((each.breakdown for each in analysis.profiles if each.name == run.name), None)
        breakdown = analysis.breakdown if is_first else beside
        if breakdown is not None and breakdown.workload is not None:
            return Estimated(breakdown, shown_command(run), is_first)
    if analysis.breakdown is None or not runs:
        return "nothing was estimated"
    return f"the estimate of {analysis.breakdown.expected_gib:.1f} GiB is of `{shown_command(runs[0])[:120]}`, which this was not"


def takes_all(analysis: Analysis) -> str:
    """Return the library that takes the card's memory in advance; nothing where there is none."""
    names = (_NAME.sub("", line).lower() for line in analysis.spec.dependencies.requirements)
    return next((name for name in names if name in TAKES_ALL), "")


def _words_of(command: str) -> tuple[str, ...] | None:
    """Return a command as words that can be compared; None for one that does more than one thing, or is none."""
    parts = []
    for part in regex(r"&&|;|\n").split(command):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            return None
        if words and words[0].rsplit("/", 1)[-1] not in _BEFORE:
            parts.append(words)
    if len(parts) != 1 or any(word in {"|", "||", "&", ">", ">>", "<"} for word in parts[0]):
        return None
    words = [regex(r"^\./").sub("", word) for word in parts[0]]
    if words[0] == "python3":
        words[0] = "python"
    return _without_neutral(words)


def _without_neutral(words: Sequence[str]) -> tuple[str, ...]:
    kept: list[str] = []
    is_value = False
    for word in words:
        name, has_value, _ = word.partition("=")
        is_option = word.startswith("--")
        if is_value and not is_option:
            is_value = False
        elif is_option and name[2:].replace("_", "-") in _NEUTRAL:
            is_value = not has_value
        else:
            is_value = False
            kept.append(word)
    return tuple(kept)
