"""What an imported module sets is told as the guess that it mostly is; what the program itself sets, or a typed field, is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.finding import Confidence

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = (
    "import torch\nfrom helpers import Net, batches\nmodel = Net().cuda()\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
    "for x, y in batches():\n    loss = model(x).sum()\n    loss.backward()\n    optimizer.step()\n"
)
HELPERS = "from torch import nn\nclass Config:\n    {line}\nclass Net(nn.Module): ...\ndef batches(): ...\n"


def told(build: Build, line: str) -> dict[str, tuple[str, Confidence]]:
    analysis = analyze(
        build({"train.py": TRAIN, "helpers.py": HELPERS.format(line=line), "README.md": "```\npython train.py\n```\n"})
    )
    return {each.field: (each.value, each.confidence) for each in analysis.told}


@pytest.mark.parametrize(
    ("line", "confidence"),
    [
        ("max_seq_length = 384", Confidence.LOW),
        ("max_seq_length: int = 384", Confidence.MEDIUM),
        ("max_seq_length: int = 384  # tokens", Confidence.MEDIUM),
    ],
)
def test_a_size_of_a_helper_is_told_as_a_guess(checkout: Build, line: str, confidence: Confidence) -> None:
    assert told(checkout, line)["training.sequence_length"] == ("384", confidence)


def test_a_batch_of_a_helper_is_told_as_before(checkout: Build) -> None:
    assert told(checkout, "batch_size = 48")["training.batch_size"] == ("48", Confidence.MEDIUM)


def test_a_typed_parameter_is_no_typed_field(checkout: Build) -> None:
    net = "from torch import nn\nclass Net(nn.Module):\n    def __init__(\n        self,\n        max_seq_length: int = 384,\n    ): ...\n"
    files = {"train.py": TRAIN, "helpers.py": f"{net}def batches(): ...\n", "README.md": "```\npython train.py\n```\n"}
    found = [each for each in analyze(checkout(files)).told if each.field == "training.sequence_length"]
    assert [(each.value, each.confidence) for each in found] == [("384", Confidence.LOW)]
