"""What programs and READMEs for language models say in words of their own: adapters, servers beside a training, lost backslashes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import Analysis, analyze
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.launch_lines import command_lines
from gpu_lol_action.estimation.model_facts import find_model

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "from transformers import AutoModelForCausalLM\nimport torch\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B')\n"
STEP = "opt = torch.optim.AdamW(model.parameters())\nloss.backward()\nopt.step()\n"


def value(analysis: Analysis, field: str) -> str:
    found = [f for f in analysis.findings if f.field == field]
    return max(found, key=lambda f: f.confidence).value if found else ""


@pytest.mark.parametrize(
    "freeze",
    [
        "for name, param in model.named_parameters():\n    if 'lora' in name:\n        param.requires_grad = True\n    else:\n        param.requires_grad = False\n",
        'for n, p in model.named_parameters():\n    p.requires_grad = "lora_" in n\n',
        "for n, p in model.named_parameters():\n    p.requires_grad_('lora_' in n)\n",
        "for n, p in model.named_parameters():\n    if 'lora_' not in n:  # the rest\n        p.requires_grad = False\n",
    ],
)
def test_parameters_frozen_by_their_names_are_adapters(checkout: Build, freeze: str) -> None:
    assert value(analyze(checkout({"train.py": TRAIN + freeze + STEP})), "training.method") == "lora"


def test_other_names_that_freeze_are_none(checkout: Build) -> None:
    freeze = (
        "for name, param in model.named_parameters():\n    if 'bias' in name:\n        param.requires_grad = False\n"
    )
    assert value(analyze(checkout({"train.py": TRAIN + freeze + STEP})), "training.method") == "full"


def test_adapters_that_an_imported_module_could_freeze_do_not_speak_for_the_run(checkout: Build) -> None:
    module = (
        "def only_lora(model):\n    for n, p in model.named_parameters():\n        p.requires_grad = 'lora_' in n\n"
    )
    files = {"train.py": f"from lora import only_lora\n{TRAIN}{STEP}", "lora.py": module}
    assert value(analyze(checkout(files)), "training.method") == "full"


def test_a_server_that_the_training_asks_is_started_beside_it(checkout: Build) -> None:
    server = "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B')\nmodel.generate(x)\n"
    readme = "# x\n## Usage\n```\npython ref_server.py\n```\nthen\n```\ndeepspeed --num_gpus 4 grpo.py\n```\n"
    files = {"README.md": readme, "ref_server.py": server, "grpo.py": f"from ref_server import encode\n{TRAIN}{STEP}"}
    analysis = analyze(checkout(files))
    assert analysis.spec.meta.workload_type.value == "training"
    assert analysis.spec.hardware.gpu_count == 4


def test_options_below_a_command_belong_to_it_where_a_backslash_is_missing(checkout: Build) -> None:
    text = "```\npython train.py \\\n    --do_train=True\n    --train_batch_size=32   \\\n    --epochs 3\n\npython eval.py\n--- a rule ---\n```\n"
    source = checkout({"README.md": text}).find("README.md")
    assert source is not None
    lines = [line.text for line in command_lines(source)]
    assert [" ".join(line.split()) for line in lines][:2] == [
        "python train.py --do_train=True --train_batch_size=32 --epochs 3",
        "python eval.py",
    ]


def test_a_shell_script_goes_on_only_where_it_says_so(checkout: Build) -> None:
    source = checkout({"run.sh": "python train.py\n--epochs 3\n"}).find("run.sh")
    assert source is not None
    assert next(command_lines(source)).text == "python train.py"


@pytest.mark.parametrize(("name", "billions"), [("org/bloomz-7b1-mt", 7.1), ("org/rwkv-1b5", 1.5), ("org/rwkv-4-raven-7b", 7), ("org/mixed-14b2-chat", 14.2)])  # fmt: skip
def test_a_size_with_its_point_in_the_middle_is_read(name: str, billions: float) -> None:
    facts = find_model(name)
    assert facts is not None
    assert facts.parameters_b == pytest.approx(billions, rel=0.01)


def test_the_batch_of_a_training_is_not_what_a_server_holds_at_most(checkout: Build) -> None:
    files = {
        "train.py": f"import argparse\nfrom serve import Server\nparser = argparse.ArgumentParser()\nparser.add_argument('--batch_size', type=int, default=64)\n{TRAIN}{STEP}",
        "serve.py": "import argparse\n\nclass Server:\n    pass\n\ndef parse():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--max_batch_size', type=int, default=1024)\n",
    }
    assert value(analyze(checkout(files)), "training.batch_size") == "64"
