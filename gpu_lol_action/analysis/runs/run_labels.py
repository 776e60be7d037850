"""What a run calls itself, where its model is left to whoever starts it: ``project_name='Qwen2.5-7B'`` beside ``MODEL_PATH=/your/model``.

Only a family's name with a size behind it is taken: such a label is written for the model that was trained.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model

MAX_LABEL = 200
_KEYS = frozenset({
    "project_name", "experiment_name", "exp_name", "run_name", "wandb_name", "wandb_run_name", "wandb_project", "job_name", "name",
    "output_dir", "output_path", "save_dir", "save_path", "default_local_dir", "logging_dir", "log_dir",
})  # fmt: skip
_LABEL = regex(
    r"(?<![a-z])(?:(?:code)?llama|qwen|mistral|gemma|phi|deepseek|internlm|baichuan|vicuna|yi|pythia|opt|olmo|smollm|llava)"
    r"[-_.]?(?:v?\d(?:\.\d)?[-_]?)?(?:(?:vl|math|coder|base|instruct|it|chat|distill|r1|llama|qwen)[-_]?){0,3}"
    r"\d{1,3}(?:\.\d)?[-_]?b(?![a-z0-9])"
)


def labelled_model(run: Run | None) -> Iterator[Finding]:
    """Yield the model that a started run's labels name, at most one: those of its command, then its launch script's own name."""
    if run is None or run.command is None:
        return
    labels = [value for key, value in run.options.items() if key.rpartition(".")[2].lower() in _KEYS]
    if run.evidence.path.endswith((".sh", ".slurm", ".sbatch", ".bash")):
        labels.append(run.evidence.path.rpartition("/")[2].rpartition(".")[0])
    for label in labels:
        found = _LABEL.search(label[:MAX_LABEL].lower())
        if found is None:
            continue
        name = found[0].replace("_", "-")
        if find_model(name) is not None:
            why = f"the run is called `{label[:60]}`, and its model is left open"
            yield Finding("model.id", name, why, Confidence.MEDIUM, run.evidence)
            return
