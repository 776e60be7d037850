"""The model of a run whose command leaves it to its user: what is named beside the run stands for it, as a guess."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

QUANTIZE = (
    "import argparse\nfrom transformers import AutoModelForCausalLM\n"
    "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--model', default='{}')\n    args = parser.parse_args()\n"
    "    model = AutoModelForCausalLM.from_pretrained(args.model).cuda()\n    model.generate(x)\n"
)
LOADS = "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('{}').cuda()\nmodel.generate(x)\n"


def families(checkout: Checkout) -> list[tuple[str, str, int]]:
    found = analyze(checkout).findings
    return [(f.value, f.evidence.path, f.evidence.line) for f in found if f.field == "model.family"]


def test_default_of_an_option_stands_for_a_path_of_the_users(checkout: Build) -> None:
    files = {
        "README.md": "```\npython quantize.py --model /base_model\n```\n",
        "quantize.py": QUANTIZE.format("01-ai/Yi-6B"),
    }
    tree = checkout(files)
    assert families(tree) == [("01-ai/Yi-6B", "quantize.py", 7)]
    result = analyze(tree)
    assert result.breakdown is not None
    assert any(
        "left to whoever starts it; 01-ai/Yi-6B was assumed (quantize.py:7)" in gap for gap in result.not_understood
    )


@pytest.mark.parametrize("default", ["facebook/opt-350m", "google-bert/bert-base-uncased", "owner/unknown"])
def test_default_that_is_no_users_model_stands_for_none(checkout: Build, default: str) -> None:
    files = {
        "README.md": "```\npython quantize.py --model /base_model\n```\n",
        "quantize.py": QUANTIZE.format(default),
    }
    assert default not in [value for value, _, _ in families(checkout(files))]


def test_a_model_that_the_command_names_is_no_guess(checkout: Build) -> None:
    files = {
        "README.md": "```\npython quantize.py --model mistralai/Mistral-7B-v0.1\n```\n",
        "quantize.py": QUANTIZE.format("01-ai/Yi-6B"),
    }
    assert "01-ai/Yi-6B" not in [value for value, _, _ in families(checkout(files))]


def test_notebooks_stand_for_one_that_is_not_here(checkout: Build) -> None:
    files = {
        "README.md": "```\ntorchrun --nproc_per_node=2 finetune.py --data_path d.json --learning_rate 1e-5\n```\n",
        "fetch.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": LOADS.format("Qwen/Qwen2.5-7B")}]}),
    }
    assert families(checkout(files)) == [("Qwen/Qwen2.5-7B", "fetch.ipynb", 1)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('model_name_or_path=${4:-"allenai/tulu-2-70b"}\n', "allenai/tulu-2-70b"),
        ("export MODEL='mistralai/Mistral-7B-v0.1'\n", "mistralai/Mistral-7B-v0.1"),
        ('REWARD_MODEL="mistralai/Mistral-7B-v0.1"\n', None),
        ('DATA="allenai/tulu-2-70b"\n', None),
        ('MODEL="$HOME/models/mine"\n', None),
    ],
)
def test_variables_of_scripts_stand_for_one_that_is_not_here(checkout: Build, line: str, found: str | None) -> None:
    files = {
        "finetune.sh": "accelerate launch --num_processes 8 spin/run.py configs/c.yaml --num_train_epochs=3\n",
        "generate.sh": f"set -x\n{line}python other.py --data x\n",
    }
    assert families(checkout(files)) == ([(found, "generate.sh", 2)] if found else [])


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("scripts/run_sft_Yi_6b.sh", "Yi-6b"),
        ("scripts/run_all_6b.sh", None),
        ("scripts/part-2b.sh", None),
        ("scripts/run.sh", None),
    ],
)
def test_the_scripts_path_says_family_and_size(checkout: Build, script: str, found: str | None) -> None:
    command = "deepspeed main.py --model_name_or_path /base_model --per_device_train_batch_size 1 --max_seq_len 512\n"
    program = (
        "import argparse, torch\nfrom transformers import AutoModel\nif __name__ == '__main__':\n    p = argparse.ArgumentParser()\n"
        "    p.add_argument('--model_name_or_path', required=True)\n    args = p.parse_args()\n"
        "    model = AutoModel.from_pretrained(args.model_name_or_path)\n    loss.backward()\n"
    )
    tree = checkout({script: command, "main.py": program})
    assert [value for value, _, _ in families(tree)] == ([found] if found else [])
