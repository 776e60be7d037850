"""The batch that Hugging Face's arguments start with where a program makes them and gives none: eight samples on each card."""

from __future__ import annotations

from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

_ARGUMENTS = ("TrainingArguments", "Seq2SeqTrainingArguments", "SentenceTransformerTrainingArguments", "SFTConfig", "DPOConfig", "GRPOConfig",
              "KTOConfig", "RewardConfig", "RLOOConfig", "ORPOConfig", "CPOConfig")  # fmt: skip
_GIVEN = ("per_device_train_batch_size", "per_gpu_train_batch_size", "auto_find_batch_size")
BATCH = "8"


def started_with(run: Run) -> Finding | None:
    """Return those eight samples, at the call; None where the program hands on words that may say otherwise."""
    script = run.script
    if script is None or script.code is None or run.behavior is not Behavior.TRAINS:
        return None
    calls = script.code.calls_named(*_ARGUMENTS)
    if len(calls) != 1 or calls[0].keyword(*_GIVEN) is not None or "**" in script.text:
        return None
    call = calls[0]
    why = f"`{call.last}` starts with {BATCH} samples at a time"
    return Finding("training.batch_size", BATCH, why, Confidence.MEDIUM, Evidence(script.path, call.line))
