"""Training programs that lie in a submodule, whose folder is empty in a plain clone, or in the tree around a checkout."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
LAYER = {
    "net/show.py": "import torch\nif __name__ == '__main__':\n    model = torch.load('a.pt').cuda()\n    model.eval()\n"
}
MODULES = '[submodule "Megatron-LM"]\n\tpath = Megatron-LM\n\turl = https://example.org/m.git\n'


@pytest.mark.parametrize(
    ("command", "files", "trains"),
    [
        ("torchrun --nproc_per_node 8 third_party/Megatron-LM/pretrain_gpt.py --lr 1", {}, True),
        (
            "torchrun --nproc_per_node 8 Megatron-LM/pretrain_gpt.py --lr 1",
            {".gitmodules": MODULES, "Megatron-LM/x": ""},
            True,
        ),
        # Another project's, who knows where; no training; nothing that starts ranks.
        ("torchrun --nproc_per_node 8 Megatron-LM/pretrain_gpt.py --lr 1", {}, False),
        ("torchrun --nproc_per_node 8 third_party/Megatron-LM/tools/convert.py", {}, False),
        ("python third_party/Megatron-LM/pretrain_gpt.py", {}, False),
    ],
)
def test_a_launcher_starts_a_submodule(
    checkout: Build, command: str, files: Mapping[str, str], *, trains: bool
) -> None:
    run = primary_run(checkout({**LAYER, **files, "exp/gpt.sh": f"#!/bin/bash\n{command}\n"}))
    is_started = run is not None and run.command is not None and run.behavior is Behavior.TRAINS
    assert is_started is trains


@pytest.mark.parametrize(
    ("path", "command", "trains"),
    [
        ("README.md", "../../tools/train_net.py --config-file a.yaml --num-gpus 8", True),
        ("README.md", "python ../train.py --lr 1", True),
        ("net/README.md", "python ../../tools/train.py --lr 1", True),
        # A program of the checkout itself that is not there; a step of the larger tree that trains nothing.
        ("net/README.md", "python ../tools/train.py --lr 1", False),
        ("README.md", "python ../tools/convert.py --lr 1", False),
    ],
)
def test_a_path_out_of_the_checkout_is_of_the_larger_tree(
    checkout: Build, path: str, command: str, *, trains: bool
) -> None:
    run = primary_run(checkout({**LAYER, path: f"# Net\n```\n{command}\n```\n"}))
    is_started = run is not None and run.command is not None and run.behavior is Behavior.TRAINS
    assert is_started is trains


@pytest.mark.parametrize(
    ("command", "trains"),
    [
        ("python deepy.py train.py small.yml", True),
        ("python deepy.py evaluate.py small.yml", False),
        ("python deepy.py small.yml", False),
    ],
)
def test_a_starter_that_is_not_here_is_told_what_to_start(checkout: Build, command: str, *, trains: bool) -> None:
    files = {**LAYER, "small.yml": "lr: 1\n", "README.md": f"# Net\n```\n{command}\n```\n"}
    run = primary_run(checkout(files))
    is_started = run is not None and run.command is not None and run.behavior is Behavior.TRAINS
    assert is_started is trains


@pytest.mark.parametrize(
    ("command", "trains"),
    [("${ROOT}/net/train.py --lr 1", True), ("${ROOT}/net/convert.py --lr 1", False), ("net/train.py --lr 1", False)],
)
def test_a_script_is_told_where_the_larger_tree_lies(checkout: Build, command: str, *, trains: bool) -> None:
    files = {
        "run.sh": f"ROOT=${{PWD}}\npython3 -u {command}\n",
        "prepare_data.py": "import tensorflow as tf\ntf.io.gfile.exists('a')\n",
    }
    run = primary_run(checkout(files))
    assert (run is not None and run.behavior is Behavior.TRAINS) is trains
