"""What the README starts, or most of a collection does, asks hosted models: what computes lies beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
LONG = "# Tool\n\n" + "It works on what it is given and writes down what comes out of it. " * 5 + "\n"
TRAIN = (
    "import torch\nnet = torch.nn.Linear(2, 2).cuda()\nnet(1).sum().backward()\nif __name__ == '__main__':\n    pass\n"
)


def workload(checkout: Build, files: Mapping[str, str]) -> str:
    return analyze(checkout(files)).spec.meta.workload_type.value


VENDORED = {
    "README.md": LONG + "```\npython ask.py\n```\n",
    "ask.py": "from together import Together\nprint(Together().chat.completions.create(model='org/net', messages=[]))\n",
    "Judge/README.md": "# Judge\n```\npython train.py\n```\n",
    "Judge/train.py": TRAIN,
    "requirements.txt": "together\n",
}


@pytest.mark.parametrize(
    ("change", "is_cpu"),
    [
        ({}, True),
        ({"ask.py": "import torch\n" + VENDORED["ask.py"]}, False),
        ({"ask.py": "print(1)\n"}, False),
        ({"README.md": LONG + "```\npython ask.py\npython Judge/train.py\n```\n"}, False),
    ],
)
def test_what_the_readme_starts_asks_others(checkout: Build, change: Mapping[str, str], *, is_cpu: bool) -> None:
    assert (workload(checkout, {**VENDORED, **change}) == "cpu-only") is is_cpu


@pytest.mark.parametrize(("clients", "is_cpu"), [(24, True), (5, False)])
def test_applications_of_several_modules_ask_in_one_of_them(checkout: Build, clients: int, *, is_cpu: bool) -> None:
    asks = {f"app{number}/agent.py": "import google.adk\nimport json\n" for number in range(clients)}
    parts = {f"app{number}/tools.py": "import json\n" for number in range(36)}
    tune = {"tuning/tune.py": TRAIN, "tuning/requirements.txt": "torch\n"}
    few = (
        {f"tuning/{name}.py": "import torch\nx = torch.ones(2).cuda()\n" for name in "abcdefgh"} if clients < 24 else {}
    )
    files = {"README.md": LONG, **asks, **parts, **tune, **few}
    assert (workload(checkout, files) == "cpu-only") is is_cpu
