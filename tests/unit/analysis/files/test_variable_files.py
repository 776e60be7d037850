"""A trainer that is configured by a file of shell variables is understood by it; other such files are of no run."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

# The words of SimpleTuner's `config/config.env.example`.
TUNED = """# mine
export MODEL_TYPE='lora'
export MODEL_NAME="black-forest-labs/FLUX.1-dev"
export MODEL_FAMILY=flux
export RESOLUTION=1024
export TRAIN_BATCH_SIZE=2  # per card
export LEARNING_RATE=1e-4
export OPTIMIZER="adamw_bf16"
export MIXED_PRECISION="bf16"
export USE_GRADIENT_CHECKPOINTING="true"
export TRAINER_EXTRA_ARGS="--lora_rank=32"
export WANDB_API_KEY=abcdefghijkl
"""


@pytest.mark.parametrize("path", ["config/config.env", "config.env", "config/flux/config.env"])
@pytest.mark.parametrize("text", [TUNED, TUNED.replace("export ", "")], ids=["exported", "set"])
def test_a_training_in_a_file_of_variables_trains(checkout: Build, path: str, text: str) -> None:
    found = analyze(checkout({path: text}))
    assert value_of_best(found.findings, "workload") == "training"
    told = {
        field: value_of_best(found.findings, field)
        for field in ("model.id", "training.batch_size", "training.lora_rank")
    }
    assert told == {"model.id": "black-forest-labs/FLUX.1-dev", "training.batch_size": "2", "training.lora_rank": "32"}
    assert "abcdefghijkl" not in str(analysis_json(found))


@pytest.mark.parametrize(
    "files",
    [
        {".env": "OPENAI_API_KEY=sk-abcdefghijk\nMODEL_NAME=gpt-4o\nPORT=80\n"},
        {"server.env": "DB=a\nMAX_STEPS=3\nRESOLUTION=1024\n"},
        {
            "config.env": TUNED,
            "app.py": "from dotenv import load_dotenv\nfrom flask import Flask\nload_dotenv('config.env')\napp = Flask(__name__)\napp.run()\n",
        },
    ],
    ids=["a client's", "a service's", "read by a program"],
)
def test_a_file_of_other_variables_is_no_run(checkout: Build, files: dict[str, str]) -> None:
    assert value_of_best(analyze(checkout(files)).findings, "workload") != "training"
