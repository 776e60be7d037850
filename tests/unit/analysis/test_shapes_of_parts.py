"""Shapes that are said of a part beside the language model: the tower for its pictures, the head that drafts for it."""

from __future__ import annotations

import json

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.files.checkout import Checkout
from tests.unit.analysis.conftest import Build

RUN = (
    "import torch\nfrom net.model import SeesLlamaForCausalLM\nif __name__ == '__main__':\n"
    "    model = SeesLlamaForCausalLM.from_pretrained(args.path).cuda()\n    model.generate()\n"
)
MODEL = "import torch\nfrom net.configuration_net import NetConfig\nclass SeesLlamaForCausalLM(torch.nn.Module):\n    config = NetConfig()\n"
CONFIG = """
class NetConfig(PretrainedConfig):
    def __init__(self, vision_config=None, {text}=None):
        self.vision_config = vision_config or CONFIG_MAPPING["clip_vision_model"](
            hidden_size=1024, {patch}image_size=336, num_hidden_layers=24, num_attention_heads=16, vocab_size=32000
        )
"""
README = "# Net\n```\npython demo.py\n```\n"


def layers(tree: Checkout) -> list[str]:
    return [finding.value for finding in detect_all(tree) if finding.field == "model.layers"]


@pytest.mark.parametrize(
    ("text", "patch", "expected"),
    [
        ("text_config", "patch_size=14, ", []),
        ("other_config", "patch_size=14, ", ["24"]),  # a network for pictures alone
        ("text_config", "", ["24"]),
    ],
)
def test_a_tower_for_pictures_is_not_the_language_model(
    checkout: Build, text: str, patch: str, expected: list[str]
) -> None:
    files = {
        "README.md": README,
        "demo.py": RUN,
        "net/model.py": MODEL,
        "net/configuration_net.py": CONFIG.format(text=text, patch=patch),
    }
    assert layers(checkout(files)) == expected


@pytest.mark.parametrize(("count", "expected"), [(1, []), (32, ["32"])])
def test_a_head_that_drafts_is_not_the_model_that_it_drafts_for(
    checkout: Build, count: int, expected: list[str]
) -> None:
    config = {"hidden_size": 4096, "num_hidden_layers": count, "vocab_size": 128256}
    run = "import torch\nif __name__ == '__main__':\n    torch.load(path).cuda().generate()\n"
    tree = checkout({"README.md": README, "demo.py": run, "train/config.json": json.dumps(config)})
    assert layers(tree) == expected


DRAWS = """
import torch
from diffusers import StableDiffusionXLPipeline
from {module} import Eye
if __name__ == "__main__":
    pipe = StableDiffusionXLPipeline.from_pretrained("stabilityai/stable-diffusion-xl-base-1.0", torch_dtype=torch.float16)
    pipe.to("cuda")(prompt, image_embeds=Eye()(picture))
"""
EYE = "import torch\nclass Eye(torch.nn.Module):\n    def __init__(self, image_size=224, width=1024):\n        super().__init__()\n"


@pytest.mark.parametrize(
    ("module", "is_as_usual"), [("eva_clip.model", True), ("models.vit", True), ("canvas.model", False)]
)
def test_what_looks_at_a_picture_does_not_say_how_large_one_is_drawn(
    checkout: Build, module: str, is_as_usual: bool
) -> None:
    path = f"{module.replace('.', '/')}.py"
    analysis = analyze(checkout({"README.md": README, "demo.py": DRAWS.format(module=module), path: EYE}))
    assert "224" in [f.value for f in analysis.findings if f.field == "media.image_size"]
    assert ((analysis.spec.hardware.needed_gib or 0) >= 10) is is_as_usual  # SDXL draws 1024 pixels


@pytest.mark.parametrize(
    ("toolbox", "vocabulary", "expected"),
    [
        ("from mmcv import Config\n", "", []),  # an encoder among a detector's parts
        ("import argparse\n", "", ["6"]),
        ("from mmcv import Config\n", "vocab_size=32000, ", ["6"]),
    ],
)
def test_layers_of_a_toolbox_for_pictures_are_those_of_a_part(
    checkout: Build, toolbox: str, vocabulary: str, expected: list[str]
) -> None:
    parts = (
        f"model = dict(type='Det', encoder=dict(type='Enc', num_layers=6, {vocabulary}embed_dim=256, num_heads=8))\n"
    )
    files = {
        "train.py": f"import torch\n{toolbox}if __name__ == '__main__':\n    loss.backward()\n    optimizer.step()\n",
        "configs/det.py": parts,
        "README.md": "# N\n```\npython train.py configs/det.py\n```\n",
    }
    assert layers(checkout(files)) == expected


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        ("d_model", ["4"]),  # blocks that read both ways
        ("hidden_size", []),  # a recurrent network that does
    ],
)
def test_a_section_that_reads_both_ways_is_not_always_recurrent(
    checkout: Build, width: str, expected: list[str]
) -> None:
    config = f"model:\n  config:\n    n_layer: 4\n    {width}: 128\n    bidirectional: true\n"
    program = "import hydra, torch\n@hydra.main(config_path='conf', config_name='train')\ndef main(cfg):\n    loss.backward()\n    torch.optim.Adam(net.parameters()).step()\nif __name__ == '__main__':\n    main()\n"
    files = {"train.py": program, "conf/train.yaml": config, "README.md": "# Net\n```\npython train.py\n```\n"}
    assert layers(checkout(files)) == expected
