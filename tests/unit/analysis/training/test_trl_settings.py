"""What TRL's configuration is given is told by its own call: not by others' words, nor by one of several calls."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.finding import Confidence, Finding
from tests.unit.analysis.conftest import Build

TRAIN = 'GRPOTrainer(model="Qwen/Qwen2.5-1.5B-Instruct", args={args}, reward_funcs=[len], train_dataset=data).train()\n'
PROGRAM = f"from trl import GRPOConfig, GRPOTrainer\n{{before}}\nconfig = GRPOConfig(output_dir='out', {{said}})\n{TRAIN.format(args='config')}"
PARSED = f"from trl import GRPOConfig, GRPOTrainer, TrlParser\nconfig, = TrlParser((GRPOConfig,)).parse_args_and_config()\n{TRAIN.format(args='config')}"
OPTION = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--beta', type=float, default=0.3)\na = p.parse_args()"


def told(checkout: Build, **files: str) -> dict[str, Finding]:
    named = {name.replace("_", "."): text for name, text in files.items()}
    return {f.field: f for f in analyze(checkout({"requirements.txt": "trl\n", **named})).findings}


@pytest.mark.parametrize(
    ("before", "said", "more"),
    [
        ("beta = 0.9", "bf16=True", {}),
        ("beta = 0.9", "beta=0.0", {}),
        (OPTION, "beta=0.0", {"run_sh": "python grpo.py --beta 0.5\n"}),
        (OPTION, "bf16=True", {"run_sh": "python grpo.py --beta 0.5\n"}),
        ("import yaml\ncfg = yaml.safe_load(open('config.yaml'))", "beta=cfg['kl']", {"config_yaml": "kl: 0.0\nbeta: 0.95\n"}),
    ],
)  # fmt: skip
def test_a_word_of_something_else_tells_no_penalty(
    checkout: Build, before: str, said: str, more: dict[str, str]
) -> None:
    found = told(checkout, grpo_py=PROGRAM.format(before=before, said=said), **more)
    assert "training.reference_model" not in found


@pytest.mark.parametrize(
    "files",
    [
        {"grpo_py": PROGRAM.format(before="beta = 0.0", said="\n    bf16=True,\n    beta=0.04,\n")},
        {"grpo_py": PROGRAM.format(before=OPTION, said="beta=a.beta"), "run_sh": "python grpo.py --beta 0.5\n"},
        {"grpo_py": PARSED, "run_sh": "python grpo.py --beta 0.04\n"},
    ],
)
def test_its_own_penalty_is_told(checkout: Build, files: dict[str, str]) -> None:
    assert "training.reference_model" in told(checkout, **files)


BESIDE = "def beside():\n    return GRPOConfig(output_dir='out', use_vllm=True, vllm_mode='colocate', num_generations=4, beta=0.1)\n"
ALONE = "\n\ndef alone():\n    return GRPOConfig(output_dir='out', num_generations=16)\n"


def test_of_several_calls_that_differ_none_is_taken(checkout: Build) -> None:
    configs = f"from trl import GRPOConfig\n\n\n{BESIDE}{ALONE}"
    choice = "beside() if os.environ.get('FAST') else alone()"
    main = f"import os\nfrom trl import GRPOTrainer\nfrom configs import alone, beside\n\n{TRAIN.format(args=choice)}"
    found = told(checkout, configs_py=configs, grpo_py=main)
    assert "rl.engine" not in found
    assert "training.reference_model" not in found


def test_what_another_module_gives_is_told_as_surely_as_that(checkout: Build) -> None:
    configs = f"from trl import GRPOConfig\n\n\n{BESIDE}{ALONE}"
    main = f"from trl import GRPOTrainer\nfrom configs import beside\n\n{TRAIN.format(args='beside()')}"
    found = told(checkout, configs_py=configs, grpo_py=main)
    assert (found["rl.engine"].value, found["rl.engine"].confidence) == ("colocated", Confidence.MEDIUM)
    assert found["rl.group"].value == "4"


def test_of_the_scripts_own_calls_that_differ_one_is_told_with_less_trust(checkout: Build) -> None:
    quick = "def build(quick=False):\n    if quick:\n        return GRPOConfig(output_dir='out', max_completion_length=64)\n"
    main = f"from trl import GRPOConfig, GRPOTrainer\n\n\n{quick}{BESIDE.partition(':')[2]}\n\n{TRAIN.format(args='build()')}"
    found = told(checkout, grpo_py=main)
    assert (found["rl.engine"].value, found["rl.engine"].confidence) == ("colocated", Confidence.MEDIUM)
    assert "training.reference_model" not in found
