"""A program with a fault in it is read before and after the fault, and says where that is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.python.faulty import MAX_FAULTY, MOST_TRIES, parse_mostly
from gpu_lol_action.analysis.python.syntax import BROKEN
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
BEFORE = "import torch\nnet = Net()\n"
AFTER = "loss = net(x)\nloss.backward()\nstep()\n"
MORE = "more()\n" * 4


def spends(_size: int) -> bool:
    return True


def read(text: str) -> tuple[str, int]:
    tree, line = parse_mostly(text, spends)
    return tree if isinstance(tree, str) else ast.unparse(tree), line


@pytest.mark.parametrize(
    "fault",
    [
        "x = = 1\n",
        "print(\n    'a' 'b' = 2,\n    c,\n)\n",
        "foo(\n",
        "if x ==:\n    a()\n    b()\n",
        "y = '''never closed\n",
        "def f(a, (b, c)):\n    return a\n",
        "     if x:\n   y\n",
        "if x:\n",
        "for x in y:\n# a remark\n",
    ],
)
def test_what_stands_around_a_fault_is_read(fault: str) -> None:
    said, line = read(BEFORE + fault + AFTER + MORE)
    assert "net = Net()" in said
    assert "loss.backward()" in said
    assert line == 3


def test_the_marks_of_a_merge_leave_both_sides() -> None:
    said, line = read(f"{BEFORE}<<<<<<< HEAD\nlr = 1\n=======\nlr = 2\n>>>>>>> other\n{AFTER}")
    assert "lr = 1" in said
    assert "lr = 2" in said
    assert line == 3


def test_only_the_statement_around_a_fault_is_left_out_of_a_class() -> None:
    text = "class Net:\n    def __init__(self):\n        self.a = 1\n        self.b = = 2\n        self.c = 3\n    def forward(self):\n        return 4\n"
    said, line = read(text)
    assert "self.a = 1" in said
    assert "self.b" not in said
    assert "self.c = 3" in said
    assert "return 4" in said
    assert line == 4


def test_lines_stay_where_they_are() -> None:
    tree, _ = parse_mostly(f"{BEFORE}foo(\n    1,\n    2 = 3,\n)\n{AFTER}{MORE}", spends)
    assert isinstance(tree, ast.Module)
    assert [node.lineno for node in tree.body if isinstance(node, ast.Assign)] == [2, 7]


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\necho a\nls -l\nfor i in *; do\n  echo $i\ndone\n",
        "a b c\nd e f\ng h i\nx = 1\n",
        "def f(:\n",
        "# only\n# remarks\n$$$\n",
        "x = 1\n" * 40 + "a b c\ny = 2\n" * (MOST_TRIES + 1),
    ],
)
def test_what_is_no_python_stays_broken(text: str) -> None:
    assert read(text) == (BROKEN, 0)


def test_a_whole_program_has_no_fault() -> None:
    assert read(BEFORE)[1] == 0


def test_each_further_try_is_asked_for_and_a_long_program_gets_none() -> None:
    asked: list[int] = []

    def refuses(size: int) -> bool:
        asked.append(size)
        return len(asked) < 2

    text = f"{BEFORE}x = = 1\n{AFTER}y = = 2\n{AFTER}"
    assert parse_mostly(text, refuses) == (BROKEN, 0)
    assert len(asked) == 2
    assert parse_mostly("x = = 1\n" + "y = 2\n" * (MAX_FAULTY // 6), spends) == (BROKEN, 0)


@pytest.mark.parametrize("deep", ["+".join(["b"] * 40_000), "f" + "()" * 40_000, "(" * 150 + "b" + ")" * 150])
def test_a_deep_chain_beside_a_fault_ends_nothing(deep: str) -> None:
    said, line = read(f"x = = 1\na = {deep}\n{MORE * 4}")
    assert said == BROKEN or line == 1


TRAINING = (
    "import torch\nfrom torchvision.models import resnet50\n\ndef main():\n    model = resnet50().cuda()\n"
    "    optimizer = torch.optim.SGD(model.parameters(), 0.1)\n    for x, y in loader:\n        loss = model(x).sum()\n"
    "        loss.backward()\n        optimizer.step()\n        print(= loss)\n\nif __name__ == '__main__':\n    main()\n"
)


def test_a_training_with_a_fault_is_one_and_the_fault_is_shown(checkout: Build) -> None:
    analysis = analyze(checkout({"train.py": TRAINING, "requirements.txt": "torch\ntorchvision\n"}))
    assert analysis.spec.meta.workload_type is WorkloadType.TRAINING
    assert any(gap.endswith("left out: train.py:11") for gap in analysis.not_understood)


def test_a_network_of_a_module_with_a_fault_is_measured(checkout: Build) -> None:
    net = (
        "import torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(24)])\n    def forward(self, x):\n"
        "        return self.layers(x)\n\ndef show(net):\n    print(= net)\n"
    )
    train = TRAINING.replace("from torchvision.models import resnet50", "from net import Net").replace(
        "resnet50()", "Net()"
    )
    files = {"train.py": train, "net.py": net, "requirements.txt": "torch\n"}
    whole = {path: text.replace("print(= ", "print(") for path, text in files.items()}
    broken, sound = analyze(checkout(files)), analyze(checkout(whole))
    assert broken.breakdown is not None
    assert broken.breakdown == sound.breakdown


def test_the_requirements_of_a_setup_with_a_fault_are_read(checkout: Build) -> None:
    setup = "from setuptools import setup\nx = = 1\nsetup(name='a', install_requires=['torch', 'einops'])\n"
    analysis = analyze(checkout({"setup.py": setup, "train.py": TRAINING}))
    assert "einops" in analysis.spec.dependencies.requirements
