"""Backward passes that no step follows, in whatever a program imports: gradients are looked at, and nothing is trained."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.program_behavior import program_behavior

Build = Callable[[Mapping[str, str]], Checkout]
MAIN = "if __name__ == '__main__':\n    main()\n"
START = f"import torch\nimport uvicorn\nfrom walk import explain\ndef main():\n    uvicorn.run(explain)\n{MAIN}"
WALK = "import torch\ndef explain(loss):\n    loss.backward()\n    return loss.grad\n"


def behavior(checkout: Build, files: Mapping[str, str], path: str = "work.py") -> Behavior:
    tree = checkout(files)
    source = tree.find(path)
    assert source is not None
    return program_behavior(tree, source)


def test_a_backward_pass_without_a_step_in_all_that_is_imported_trains_nothing(checkout: Build) -> None:
    assert behavior(checkout, {"work.py": START, "walk.py": WALK}) is Behavior.INFERS


def test_so_does_one_in_the_program_itself(checkout: Build) -> None:
    own = f"import torch\ndef main(net, x):\n    net(x).sum().backward()\n    show(x.grad)\n{MAIN}"
    assert behavior(checkout, {"work.py": own}) is Behavior.INFERS
    unread = own.replace("show(x.grad)", "show(x)")  # what for is left to what is not here
    assert behavior(checkout, {"work.py": unread}) is Behavior.TRAINS
    hooked = unread.replace("show(x)", "net.register_full_backward_hook(show)")
    assert behavior(checkout, {"work.py": hooked}) is Behavior.INFERS


@pytest.mark.parametrize(
    "step",
    [
        "solver.step()",
        "sgd = make_optimizer(net)",
        "for epoch in range(9):\n    pass",
        "weight.data -= 0.1 * weight.grad",
        "weight.add_(-0.1 * weight.grad)",
        "lr = 0.1",
        "Trainer(net)",
    ],
)
@pytest.mark.parametrize("place", ["work.py", "walk.py", "deep.py"])
def test_a_step_anywhere_in_it_trains(checkout: Build, place: str, step: str) -> None:
    files = {"work.py": START, "walk.py": f"import deep\n{WALK}", "deep.py": "import torch\n"}
    files[place] += f"\n{step}\n"
    assert behavior(checkout, files) is Behavior.TRAINS


def test_a_simulated_worlds_step_is_no_step(checkout: Build) -> None:
    assert behavior(checkout, {"work.py": START, "walk.py": f"{WALK}    env.step(1)\n"}) is Behavior.INFERS


def test_a_program_that_is_named_for_training_takes_its_step_in_a_library(checkout: Build) -> None:
    assert behavior(checkout, {"train.py": START, "walk.py": WALK}, "train.py") is Behavior.TRAINS


TIMED = "import torch\nfrom torch import nn\nnet = nn.Linear(64, 64).cuda()\nstart = torch.cuda.Event()\nnet(x).sum().backward()\n{}\n"


@pytest.mark.parametrize(
    ("then", "workload"),
    [
        ("print(start.elapsed_time(end))", "interactive"),
        ("print(start)", "training"),
        ("print(start.elapsed_time(end))\noptimizer.step()", "training"),
    ],
)
def test_taking_the_time_of_a_backward_pass_trains_nothing(checkout: Build, then: str, workload: str) -> None:
    cell = {"cell_type": "code", "source": TIMED.format(then), "metadata": {}, "outputs": [], "execution_count": None}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert analyze(checkout({"layers.ipynb": notebook})).spec.meta.workload_type.value == workload
