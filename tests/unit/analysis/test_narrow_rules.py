"""Rules that speak for one kind of repository leave its neighbours as they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.needs import workload
from gpu_lol_action.analysis.runs.runs import all_runs

Build = Callable[[Mapping[str, str]], Checkout]
TUNE = (
    "import argparse, torch, yaml\nfrom transformers import AutoModelForCausalLM\np = argparse.ArgumentParser()\np.add_argument('--config')\n"
    "{options}model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B')\nmodel(x).loss.backward()\ntorch.optim.AdamW(model.parameters()).step()\n"
)


def started(config: str, options: str = "", command: str = "python train.py --config c.yaml") -> dict[str, str]:
    return {
        "README.md": f"# N\n\n```bash\n{command}\n```\n",
        "train.py": TUNE.format(options=options),
        "c.yaml": config,
    }


def found(tree: Checkout) -> dict[str, str]:
    said: dict[str, str] = {}
    for finding in detect_all(tree):
        said.setdefault(finding.field, finding.value)
    return said


def test_a_training_is_not_left_to_cores_by_where_it_exports(checkout: Build) -> None:
    config = "model_name_or_path: Qwen/Qwen2.5-7B\nexport_dir: out\nprompt_template: qwen\nexport_device: cpu\n"
    analysis = analyze(checkout(started(config)))
    assert analysis.spec.meta.workload_type.value == "training"
    assert not any("llamafactory" in item for item in analysis.spec.dependencies.requirements)


def test_a_program_s_own_checkpointing_stays_off(checkout: Build) -> None:
    options = "p.add_argument('--finetuning_type', default='full')\np.add_argument('--gradient_checkpointing', default=False)\n"
    assert found(checkout(started("lr: 1\n", options)))["training.gradient_checkpointing"] == "off"


def test_another_program_of_the_same_name_has_other_configurations(checkout: Build) -> None:
    files = started("lr: 1\n", command="python small/train.py --config path/to/config.yaml")
    files |= {"small/train.py": files.pop("train.py"), "big/train.py": TUNE.format(options=""),
              "big/run.sh": "torchrun --nproc_per_node 8 big/train.py --config big/c.yaml\n", "big/c.yaml": "model_name_or_path: Qwen/Qwen2.5-72B\n"}  # fmt: skip
    assert found(checkout(files))["model.id"] == "Qwen/Qwen2.5-7B"


@pytest.mark.parametrize(
    ("remark", "card"),
    [("on 80GB A100", "A100-80GB"), ("up to 32 on an A100 80GB", None), ("increase with A100 80GB", None)],
)
def test_a_card_beside_a_batch_is_the_run_s_unless_it_is_another_s(
    checkout: Build, remark: str, card: str | None
) -> None:
    assert found(checkout(started(f"batch_size: 4 # {remark}\n"))).get("documented.card") == card


@pytest.mark.parametrize(
    ("environment", "project", "readme", "is_taken"),
    [
        ("", '[project]\nname = "n"\ndependencies = ["numpy"]\n', "# N\n", False),
        ("", "[tool.black]\nline-length = 88\n", "# N\n", True),
        ("", '[project]\nname = "n"\ndependencies = ["numpy"]\n', "# N\n\n```bash\nconda env create\n```\n", True),
    ],
)
def test_an_environment_with_developers_tools_counts_where_it_is_the_list(
    checkout: Build, environment: str, project: str, readme: str, *, is_taken: bool
) -> None:
    listed = f"dependencies:\n{environment}  - decord\n  - pytest\n  - black\n  - isort\n  - flake8\n"
    tree = checkout(
        {"environment.yml": listed, "pyproject.toml": project, "README.md": readme, "train.py": TUNE.format(options="")}
    )
    assert any("decord" in item for item in analyze(tree).spec.dependencies.requirements) is is_taken


def test_what_uses_a_library_s_model_is_no_training(checkout: Build) -> None:
    steps = "def fit(m):\n    m(1).backward()\n    torch.optim.Adam(m.parameters()).step()\n"
    files = {"pyproject.toml": '[project]\nname = "net"\ndependencies = ["torch"]\n', "README.md": "# Net\n\nTrain your networks. Training is fast: pretraining, fine-tuning, training.\n",
             "net/__init__.py": "", "net/trainer.py": f"import torch\n{steps}\nif __name__ == '__main__':\n    fit(build().cuda())\n",
             "net/generate.py": "import torch\n\nif __name__ == '__main__':\n    torch.load('w.pt').cuda().generate(x)\n"}  # fmt: skip
    tree = checkout(files)
    kinds = {run.shown: workload.detect(tree, run)[-1].value for run in all_runs(tree)}
    assert kinds == {"net/trainer.py": "training", "net/generate.py": "inference"}


def test_examples_of_a_small_library_of_networks_are_what_it_is_for(checkout: Build) -> None:
    files = {"setup.py": "from setuptools import setup\nsetup(name='net', install_requires=['numpy'])\n", "net/__init__.py": "", "net/blocks.py": "import torch\nclass Block(torch.nn.Module): ...\n",
             "examples/train.py": "import torch, net\nif __name__ == '__main__':\n    loss.cuda().backward()\n    torch.optim.SGD(p).step()\n"}  # fmt: skip
    assert analyze(checkout(files)).spec.meta.workload_type.value == "training"


@pytest.mark.parametrize(
    ("load", "gib"),
    [
        ("timm.create_model('own_net')", 12),
        ("CLIPModel.from_pretrained('me/own')", 12),
        ("see(CLIPModel.from_pretrained('me/eye'), AutoModelForCausalLM.from_pretrained('me/own'))", 20),
        ("AutoModelForCausalLM.from_pretrained('me/own')", 20),
    ],
)
def test_adapters_of_pictures_networks_are_for_small_ones(checkout: Build, load: str, gib: int) -> None:
    program = f"import timm, torch\nfrom transformers import CLIPModel, AutoModelForCausalLM\nfrom peft import LoraConfig, get_peft_model\nmodel = get_peft_model({load}, LoraConfig(r=8)).cuda()\nmodel(x).loss.backward()\ntorch.optim.AdamW(model.parameters()).step()\n"
    assert analyze(checkout({"train.py": program})).spec.hardware.vram_required_gb == gib


def test_a_word_of_a_training_s_command_is_no_question(checkout: Build) -> None:
    assert "entry_point" in found(checkout(started("lr: 1\n", command="python train.py config c.yaml")))


@pytest.mark.parametrize(("optimizer", "package"), [("ao_adamw_8bit", "torchao"), ("adamw_bnb_8bit", "bitsandbytes")])
def test_each_optimizer_in_8_bit_has_its_library(checkout: Build, optimizer: str, package: str) -> None:
    recipe = f"base_model: Qwen/Qwen2.5-7B\nmicro_batch_size: 1\noptimizer: {optimizer}\ndatasets:\n  - path: a/b\n    type: alpaca\n"
    brought = {"torchao", "bitsandbytes"} & set(analyze(checkout({"ours.yaml": recipe})).spec.dependencies.requirements)
    assert brought == {package}


@pytest.mark.parametrize(("given", "precision"), [("", "fp32"), ("export ACCELERATE_MIXED_PRECISION=bf16\n", None)])
def test_what_the_surroundings_tell_accelerate_is_not_left_untold(
    checkout: Build, given: str, precision: str | None
) -> None:
    program = "import torch\nfrom accelerate import Accelerator\n\ndef main():\n    accelerator = Accelerator()\n    weight_dtype = torch.float32\n    if accelerator.mixed_precision == 'fp16':\n        weight_dtype = torch.float16\n    accelerator.backward(model(x).loss)\n\nif __name__ == '__main__':\n    main()\n"
    tree = checkout({"train.py": program, "run.sh": f"{given}accelerate launch train.py\n"})
    assert found(tree).get("training.precision") == precision
