"""A network that a library builds is called by a counted one's name, with what was done to it before or behind."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from tests.unit.analysis.conftest import Build

STEPS = "    loss = model(x)\n    loss.backward()\n    torch.optim.AdamW(model.parameters()).step()\n"
CHOSEN = (
    "import argparse\nimport torch\nfrom lab import networks\n\nif __name__ == '__main__':\n    p = argparse.ArgumentParser()\n    p.add_argument('--model')\n"
    f"    args = p.parse_args()\n    model = getattr(networks, args.model)().cuda()\n{STEPS}"
)
CALLED = f"import torch\nimport lab\n\nif __name__ == '__main__':\n    model = lab.models.{{name}}(num_classes=2).cuda()\n{STEPS}"


def networks(tree: Checkout) -> set[str]:
    return {f.value for f in detect_all(tree) if f.field == "media.network"}


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("omni_swin_t", {"swin_t"}),
        ("resnet50_deterministic", {"resnet50"}),
        ("dino_vit_small_patch16_224", {"vit_small_patch16_224"}),
        ("resnet50_unet", set()),  # a part of what is built around it
        ("yolox_darknet53", set()),
        ("my_model", set()),
    ],
)
def test_an_option_and_a_library_s_function_name_it(checkout: Build, name: str, network: set[str]) -> None:
    readme = f"```\npython train.py --model {name} --batch-size 128\n```\n"
    assert networks(checkout({"README.md": readme, "train.py": CHOSEN, "requirements.txt": "torch"})) == network
    called = {"README.md": "```\npython train.py\n```\n", "train.py": CALLED.format(name=name)}
    assert networks(checkout({**called, "requirements.txt": "torch"})) == network
