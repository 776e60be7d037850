"""A trainer's own checkout: its quick start is what the tool does with that configuration, whatever its library could do besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
PROJECT = '[project]\nname = "llamafactory"\nversion = "1"\ndependencies = ["torch", "transformers"]\n[project.scripts]\n{command} = "{package}.cli:main"\n'
CLI = "from {package}.dpo import run\n\ndef main():\n    run()\n"
DPO = "import torch\nfrom trl import DPOTrainer\n\ndef run(gradient_checkpointing=False):\n    trainer = DPOTrainer(ref_model=load())\n    trainer.train()\n"
RECIPE = "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: {stage}\nfinetuning_type: lora\nper_device_train_batch_size: 1\ncutoff_len: 2048\nbf16: true\n"
README = "# Trainer\n\n## Quick start\n\n```bash\nllamafactory-cli train examples/{stage}.yaml\n```\n"


def own(checkout: Build, stage: str = "sft", package: str = "llamafactory") -> Checkout:
    command, home = "llamafactory-cli", f"src/{package}"
    files = {"README.md": README.format(stage=stage), "pyproject.toml": PROJECT.format(command=command, package=package), f"{home}/cli.py": CLI.format(package=package),
             f"{home}/dpo.py": DPO, f"{home}/__init__.py": "", f"examples/{stage}.yaml": RECIPE.format(stage=stage),
             "examples/README.md": "# More\n\n```bash\ntorchrun --nproc_per_node 2 src/llamafactory/cli.py examples/other.yaml\n```\n"}  # fmt: skip
    return checkout(files)


def test_a_trainer_s_quick_start_is_the_tool_s(checkout: Build) -> None:
    tree = own(checkout)
    run = primary_run(tree)
    assert run is not None
    assert run.shown == "llamafactory-cli train"
    found = {finding.field: finding.value for finding in detect_all(tree)}
    assert found["training.gradient_checkpointing"] == "on"
    assert "training.pairs" not in found
    analysis = analyze(tree)
    assert analysis.spec.hardware.gpu_count == 1
    assert not any(item.startswith("llamafactory") for item in analysis.spec.dependencies.requirements)


def test_another_project_s_command_of_that_name_is_its_own(checkout: Build) -> None:
    run = primary_run(own(checkout, package="stranger"))
    assert run is not None
    assert run.shown == "python stranger.cli"


def test_its_configuration_may_ask_for_pairs(checkout: Build) -> None:
    found = {finding.field: finding.value for finding in detect_all(own(checkout, "dpo"))}
    assert found["training.pairs"] == "on"


@pytest.mark.parametrize(("stage", "has_pairs"), [("sft", False), ("", True)])
def test_a_stage_that_is_said_leaves_the_other_trainers_of_a_program(
    checkout: Build, stage: str, *, has_pairs: bool
) -> None:
    program = DPO + "\nif __name__ == '__main__':\n    run()\n"
    options = f" --stage {stage}" if stage else ""
    tree = checkout({"train.py": program, "run.sh": f"python train.py{options}\n"})
    assert ("training.pairs" in {finding.field for finding in detect_all(tree)}) is has_pairs


@pytest.mark.parametrize(("other", "cards"), [("a.yaml", "4"), ("b.yaml", None)])
def test_cards_of_another_configuration_s_command_are_not_the_run_s(
    checkout: Build, other: str, cards: str | None
) -> None:
    program = "import torch, yaml\nfrom torch.distributed.fsdp import FullyShardedDataParallel\nmodel = FullyShardedDataParallel(build())\nmodel(x).backward()\n"
    readme = f"# Net\n\n```bash\npython train.py a.yaml\ntorchrun --nproc_per_node 4 train.py {other} --big 1\n```\n"
    tree = checkout({"README.md": readme, "train.py": program, "a.yaml": "lr: 1\n", "b.yaml": "lr: 2\n"})
    found = {finding.field: finding.value for finding in detect_all(tree)}
    assert found.get("hardware.gpu_count") == cards


@pytest.mark.parametrize(
    ("more", "workload"),
    [("export_device: cpu", "cpu-only"), ("export_device: auto", "inference"), ("", "inference"), ("export_device: cpu\nexport_quantization_bit: 4", "inference")],
)  # fmt: skip
def test_adapters_are_merged_where_the_configuration_says(checkout: Build, more: str, workload: str) -> None:
    recipe = f"model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nadapter_name_or_path: saves/a\ntemplate: qwen\nexport_dir: saves/b\nexport_size: 5\n{more}\n"
    spec = analyze(checkout({"merge.yaml": recipe})).spec
    assert spec.meta.workload_type.value == workload
    assert "llamafactory" in spec.dependencies.requirements
