"""Models that a run's own labels name where its model is left to the reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
PROGRAM = "import sys\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained(sys.argv[1])\nloss.backward()\noptimizer.step()\n"


def models(checkout: Build, command: str, script: str = "run.sh") -> list[str]:
    files = {
        "train.py": PROGRAM,
        script: f"MODEL_PATH=/YOUR_MODELPATH\npython train.py {command}\n",
        "README.md": f"```\nbash {script}\n```\n",
        "requirements.txt": "torch\ntransformers\n",
    }
    findings = analyze(checkout(files)).findings
    return [finding.value for finding in findings if finding.field == "model.id"]


@pytest.mark.parametrize(
    ("command", "model"),
    [
        ("--model_path $MODEL_PATH --project_name Qwen2.5-7B", "qwen2.5-7b"),
        ("model.path=$MODEL_PATH trainer.experiment_name=grpo_qwen3_8b_math", "qwen3-8b"),
        ("--output_dir out/llama-2-13b-sft", "llama-2-13b"),
    ],
)
def test_a_label_names_the_model_that_is_left_open(checkout: Build, command: str, model: str) -> None:
    assert models(checkout, command) == [model]


def test_a_launch_script_s_name_is_a_label(checkout: Build) -> None:
    assert models(checkout, "--lr 1e-5", "run_qwen2.5_7b.sh") == ["qwen2.5-7b"]


@pytest.mark.parametrize(
    "command",
    [
        "--project_name my-qwen-project",  # no size
        "--project_name run-7b",  # no family
        "--data_path data/qwen2.5-7b-answers.json",  # of what its data are made with
    ],
)
def test_what_names_no_family_with_a_size_is_no_label(checkout: Build, command: str) -> None:
    assert models(checkout, command) == []


def test_a_model_that_is_named_goes_before_any_label(checkout: Build) -> None:
    found = models(checkout, "--model_name_or_path Qwen/Qwen2.5-1.5B --project_name Qwen2.5-7B")
    assert found == ["Qwen/Qwen2.5-1.5B"]
