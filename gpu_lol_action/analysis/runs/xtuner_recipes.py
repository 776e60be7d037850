"""What XTuner's own recipes say of a step where a command names one that lies in no checkout (``xtuner train llama2_7b_qlora_oasst1_e3``).

Of its 427 recipes for texts 412 take one sample at a time and 390 pack 2048 tokens; those of another length name it (read at commit
b934f462 of August 2026).
"""

from __future__ import annotations

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

TOOL = "xtuner"
_RECIPE = regex(r"[a-z]\w{4,100}_e\d{1,2}(?:_gpu\d{1,2})?")
_SHORT = regex(r"_(512|1024|4096)_")


def detect(run: Run, said: frozenset[str]) -> list[Finding]:
    """Return batch and length of such a recipe; ``said`` are the fields that something says."""
    command = run.command
    if command is None or command.tool != TOOL or run.configs:
        return []
    recipe = next((word for word in command.words[1:3] if _RECIPE.fullmatch(word)), None)
    if recipe is None:
        return []
    named = _SHORT.search(recipe)
    told = {"training.batch_size": "1", "training.sequence_length": named[1] if named is not None else "2048"}
    why = f"XTuner's `{recipe}` takes it unless told otherwise"
    return [
        Finding(field, value, why, Confidence.MEDIUM, run.evidence)
        for field, value in told.items()
        if field not in said
    ]
