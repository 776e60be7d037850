"""Where the memory is taken from a document alone, the answer says why: nothing was recognized, or what was is taken for a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = (
    "import torch\nfrom torchvision.models import resnet50\nmodel = {model}.cuda()\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
    "for x, y in loader:\n    loss = model(x).sum()\n    loss.backward()\n    optimizer.step()\n"
)
README = "# Net\n\nWe trained on one RTX 3090.\n\n```\npython train.py\n```\n"


def test_a_network_that_needs_far_less_is_named_as_the_part_that_it_is_taken_for(checkout: Build) -> None:
    analysis = analyze(checkout({"train.py": TRAIN.format(model="resnet50()"), "README.md": README}))
    assert analysis.not_understood[0] == (
        "timm/resnet50.a1_in1k (25.6 M parameters) needs 3 GiB, far less, so it is taken for a part; the documentation's RTX3090 was taken"
    )
    assert analysis.spec.hardware.vram_required_gb == 24


def test_where_nothing_is_recognized_that_is_said(checkout: Build) -> None:
    analysis = analyze(checkout({"train.py": TRAIN.format(model="build(name)"), "README.md": README}))
    assert (
        analysis.not_understood[0] == "no model of a known size was recognized; the documentation's RTX3090 was taken"
    )
