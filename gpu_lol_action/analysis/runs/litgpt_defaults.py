"""What LitGPT's own commands start with where neither the command nor its configuration says it.

A card takes one sample at a time in fine-tuning and four in pretraining; the numbers are mixed, so the weights lie at 32 bit.
"""

from __future__ import annotations

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding

TOOL = "litgpt"
_AT_ONCE = (("finetune", "1"), ("pretrain", "4"))


def detect(run: Run, said: frozenset[str]) -> list[Finding]:
    """Return the batch, numbers and width of a LitGPT command; ``said`` are the fields that something says."""
    command = run.command
    if command is None or command.tool != TOOL or run.configs:
        return []
    verb = next((word for word in (*command.words, command.target) if word.startswith(("finetune", "pretrain"))), "")
    at_once = next((number for name, number in _AT_ONCE if verb.startswith(name)), "")
    if not at_once:
        return []
    found = []
    if "training.batch_size" not in said:
        found.append(("training.batch_size", at_once, f"LitGPT's `{verb}` takes {at_once} at a time"))
    if "training.precision" not in said:
        found.append(("training.precision", "bf16", "LitGPT's own `precision` is bf16-mixed"))
        if "model.weight_bits" not in said and "training.weights" not in said:
            found.append(("model.weight_bits", "32", "LitGPT's mixed numbers keep the weights at 32 bit"))
    return [Finding(field, value, why, Confidence.MEDIUM, run.evidence) for field, value, why in found]
