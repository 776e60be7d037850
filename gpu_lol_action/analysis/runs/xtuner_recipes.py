"""What XTuner's own recipes say of a step where a command names one that lies in no checkout (``xtuner train llama2_7b_qlora_oasst1_e3``).

Of its 427 recipes for texts 412 take one sample at a time. 390 pack 2048 tokens; 23 of 512 and those of a model for long texts (``_128k_``)
name their length, and all of a model on a data set of one's own is trained with 32,768 (read at commit b934f462 of August 2026).
"""

from __future__ import annotations

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

TOOL = "xtuner"
_RECIPE = regex(r"[a-z]\w{4,100}_e\d{1,2}(?:_gpu\d{1,2})?")
_LENGTH = regex(r"_(512|\d{1,3}k)_")
_WHOLE, _LONG, _USUAL = "_full_finetune_custom_dataset_", "32768", "2048"


def detect(run: Run, said: frozenset[str]) -> list[Finding]:
    """Return batch and length of such a recipe; ``said`` are the fields that something says."""
    command = run.command
    if command is None or command.tool != TOOL or run.configs:
        return []
    recipe = next((word for word in command.words[1:3] if _RECIPE.fullmatch(word)), None)
    if recipe is None:
        return []
    told = {"training.batch_size": "1", "training.sequence_length": _length(recipe)}
    why = f"XTuner's `{recipe}` takes it unless told otherwise"
    return [
        Finding(field, value, why, Confidence.MEDIUM, run.evidence)
        for field, value in told.items()
        if field not in said
    ]


def _length(recipe: str) -> str:
    named = _LENGTH.search(recipe)
    if named is None:
        return _LONG if _WHOLE in recipe else _USUAL
    return str(int(named[1][:-1]) * 1024) if named[1].endswith("k") else named[1]
