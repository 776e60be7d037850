"""Trainings whose program is another project's, told by what of them is here; and commands that scripts keep in a text."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.memory.memory_model import model_of
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

MODULE = "import torch\n\nclass Net(torch.nn.Module):\n    pass\n"
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"


def workload(tree: Checkout) -> str:
    return analyze(tree).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("switch", "trains"),
    [("--train", True), ("--export", False), ("--train data.json", False), ("--train False", False)],
)
def test_a_plugin_s_configuration_is_what_its_host_is_told_to_train(checkout: Build, switch: str, trains: bool) -> None:
    readme = (
        f"# Plugin\n```\ncd custom\npython launch.py --config custom/plugin/configs/a.yaml {switch} data.x=1\n```\n"
    )
    tree = checkout({"README.md": readme, "configs/a.yaml": "system:\n  size: 4\n", "system.py": MODULE})
    assert (workload(tree) == "training") is trains


@pytest.mark.parametrize(
    ("folder", "name", "is_found"),
    [
        ("./mine/config", "base", True),
        ("mine/config", "base", True),
        ("mine/config", "other", False),
        ("/data/config", "x", False),
    ],
)
def test_another_project_s_trainer_with_a_configuration_that_is_here(
    checkout: Build, folder: str, name: str, is_found: bool
) -> None:
    script = f"python -u ./tool/tool_cli/hydra_train.py  \\\n  --config-dir {folder} \\\n  --config-name {name} task.data=./d\n"
    tree = checkout({"pretrain.sh": script, "mine/config/base.yaml": "task:\n  rate: 1\n", "mine/model.py": MODULE})
    run = primary_run(tree)
    assert (run is not None and run.evidence.path == "pretrain.sh") is is_found


def test_a_command_kept_in_a_text_with_quotes_of_its_own(checkout: Build) -> None:
    script = (
        'M="a/b"\nfor r in 1 2; do\n  cmd="accelerate launch --gpu_ids 0 deep/train.py \\\n    --model $M \\\n'
        '    --prompt \\"a dog; it runs && barks\\" \\\n    --lr 1e-4"\n  eval $cmd\ndone\n'
    )
    (found,) = launch_commands(checkout({"go.sh": script, "train.py": TRAIN}))
    assert (found.tool, found.target, found.options["model"], found.options["lr"]) == (
        "accelerate",
        "deep/train.py",
        "a/b",
        "1e-4",
    )


def test_a_backslash_that_ends_a_text_quotes_nothing(checkout: Build) -> None:
    script = "A='x\\'\nB=\"4\"\ntorchrun --nproc_per_node=$B train.py\n"
    (found,) = launch_commands(checkout({"go.sh": script, "train.py": TRAIN}))
    assert found.processes == 4


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("trainer: base\n", "llava-hf/llava-1.5-7b-hf"),
        ("model_name_or_path: openai-community/gpt2\n", "openai-community/gpt2"),
    ],
)
def test_what_goes_on_from_a_folder_began_with_the_model_beside_it(checkout: Build, more: str, expected: str) -> None:
    readme = "```\ntorchrun --nproc_per_node 2 ../Tool/src/train.py config/full.yaml\n```\n"
    own = "stage: sft\nfinetuning_type: full\nlearning_rate: 1e-5\nbf16: true\nper_device_train_batch_size: 1\n"
    path = "" if "model_name" in more else "model_name_or_path: saves/first/sft\n"
    tree = checkout(
        {
            "README.md": readme,
            "config/full.yaml": own + path + more,
            "config/lora.yaml": "stage: sft\nmodel_name_or_path: llava-hf/llava-1.5-7b-hf\nfinetuning_type: lora\n",
        }
    )
    model = model_of(tuple(detect_all(tree)), {})
    assert model is not None
    assert model.name == expected


MANAGED = """
import torch
import core.manager as manager
import core.optimizers as optimizers
if __name__ == "__main__":
    net = torch.load("net.pt") if given else build().cuda()
    {made}
    manager.{call}
"""


@pytest.mark.parametrize(
    ("made", "call", "trains"),
    [
        ("optimizer = optimizers.wrap(net)", "f_train_wrapper(args, net, optimizer, data)", True),
        ("optimizer = optimizers.wrap(net)", "train(net, optim=optimizer)", True),
        ("optimizer = optimizers.wrap(net)", "f_inference_wrapper(args, net, optimizer)", False),
        ("pass", "f_train_wrapper(args, net, data)", False),
        ("optimizer = optimizers.wrap(net)", "f_show_trained(args, net, optimizer)", False),
    ],
)
def test_who_hands_an_optimizer_to_a_training_of_another_library_trains(
    checkout: Build, made: str, call: str, trains: bool
) -> None:
    files = {"README.md": "# P\n```\npython main.py\n```\n", "main.py": MANAGED.format(made=made, call=call)}
    assert (workload(checkout(files)) == "training") is trains


@pytest.mark.parametrize(
    ("line", "trains"),
    [
        ("from llmtuner import run_exp", True),
        ("from llamafactory.train.tuner import run_exp", True),
        ("from mine import run_exp", False),
    ],
)
def test_a_library_s_own_start_of_a_training_is_one(checkout: Build, line: str, trains: bool) -> None:
    program = f"{line}\nrun_exp(dict(stage='sft', do_train=True, model_name_or_path='Qwen/Qwen1.5-7B', finetuning_type='lora'))\n"
    tree = checkout({"README.md": "# T\n```\npython train.py\n```\n", "train.py": program})
    assert (workload(tree) == "training") is trains
