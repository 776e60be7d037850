from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media import media
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
MAIN = """
import torch
from util import instantiate_from_config
from omegaconf import OmegaConf
config = OmegaConf.load({config})
model = instantiate_from_config(config.model).cuda()
optimizer = torch.optim.AdamW(model.parameters())
loss.backward()
optimizer.step()
"""
CONFIG = """
model:
  target: ldm.LatentDiffusion
  params:
    image_size: 64
    {control}
    unet_config:
      target: ldm.UNet
      params:
        in_channels: 4
        image_size: 64
        model_channels: {channels}
        channel_mult: [1, 2, 4, 4]
        context_dim: 768
        use_checkpoint: true
    first_stage_config:
      target: ldm.Autoencoder
      params:
        ddconfig:
          ch_mult: [1, 2, 4, 4]
data:
  params:
    batch_size: 6
"""
UNET = """
import torch.nn as nn
class UNet(nn.Module):
    def __init__(self, in_channels, image_size, model_channels, channel_mult, context_dim, use_checkpoint):
        super().__init__()
        self.first = nn.Conv2d(in_channels, model_channels, 3, padding=1)
        self.blocks = nn.ModuleList([nn.Conv2d(model_channels, model_channels, 3, padding=1) for _ in channel_mult])
    def forward(self, x, t):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return x
"""


def tree_of(checkout: Build, config: str) -> Checkout:
    """Return a checkout that is started with that configuration of a denoiser."""
    files = {
        "main.py": MAIN.format(config='"configs/train.yaml"'),
        "configs/train.yaml": config.format(channels=320, control=""),
        "ldm.py": UNET,
        "util.py": "",
    }
    return checkout(files)


def said(
    checkout: Build, channels: int = 320, control: str = "", config: str = '"configs/train.yaml"'
) -> dict[str, str]:
    files = {"main.py": MAIN.format(config=config), "configs/train.yaml": CONFIG.format(channels=channels, control=control),
             "configs/autoencoder/a.yaml": "model:\n  target: ldm.Autoencoder\n", "ldm.py": UNET, "util.py": ""}  # fmt: skip
    tree = checkout(files)
    found: dict[str, str] = {}
    for finding in media.detect(tree, primary_run(tree)):
        found.setdefault(finding.field, finding.value)
    return found


@pytest.mark.parametrize("config", ['"configs/train.yaml"', "sys.argv[1]"])
def test_sides_of_a_denoiser_name_the_model(checkout: Build, config: str) -> None:
    found = said(checkout, config=config)
    assert found["model.id"] == "stable-diffusion-v1-5/stable-diffusion-v1-5"
    assert found["media.image_size"] == "512"
    assert found["training.gradient_checkpointing"] == "on"
    assert "media.trained_part" not in found


@pytest.mark.parametrize(("side", "pixels"), [(64, "512"), (128, "1024"), (512, "512"), (1024, "1024")])
def test_sides_that_no_latents_have_are_the_pictures_own(checkout: Build, side: int, pixels: str) -> None:
    config = CONFIG.replace("    image_size: 64\n    {control}", f"    image_size: {side}\n    {{control}}")
    tree = tree_of(checkout, config)
    found = [each.value for each in media.detect(tree, primary_run(tree)) if each.field == "media.image_size"]
    assert found[0] == pixels


@pytest.mark.parametrize(
    ("more", "model", "frames"),
    [
        # Layers over time make a denoiser one of clips, convolutions over time one that sets a picture in motion.
        ("temporal_attention: true\n        temporal_length: 16", "damo-vilab/text-to-video-ms-1.7b", "16"),
        ("time_kernel_size: [3, 1, 1]", "stabilityai/stable-video-diffusion-img2vid-xt", None),
    ],
)
def test_what_goes_over_time_makes_another_model(checkout: Build, more: str, model: str, frames: str | None) -> None:
    config = CONFIG.replace("context_dim: 768", f"context_dim: 1024\n        {more}")
    tree = tree_of(checkout, config)
    found = {finding.field: finding.value for finding in media.detect(tree, primary_run(tree))}
    assert (found["model.id"], found.get("media.frames")) == (model, frames)


def test_a_control_stage_is_what_is_trained(checkout: Build) -> None:
    assert (
        said(checkout, control="control_stage_config: {target: cldm.ControlNet}")["media.trained_part"] == "controlnet"
    )


def test_any_other_denoiser_is_built_and_counted(checkout: Build) -> None:
    found = said(checkout, channels=32)
    assert "model.id" not in found
    assert int(found["media.own_parameters"]) == (4 * 9 + 1) * 32 + 4 * (32 * 9 + 1) * 32
    assert int(found["media.own_outputs"]) == 5 * 32 * 64 * 64


@pytest.mark.parametrize(("line", "bits"), [("", "32"), ("\nmodel = model.half()\n", None)])
def test_checkpoints_are_loaded_at_32_bit_unless_they_are_halved(checkout: Build, line: str, bits: str | None) -> None:
    program = "import torch\nfrom util import instantiate_from_config\nfrom omegaconf import OmegaConf\nconfig = OmegaConf.load('configs/train.yaml')\n"
    program += (
        "model = instantiate_from_config(config.model).cuda()\nmodel.load_state_dict(torch.load('x.ckpt'))\n"
        + line
        + "x = model.sample(4)\n"
    )
    tree = checkout(
        {"sample.py": program, "configs/train.yaml": CONFIG.format(channels=320, control=""), "util.py": ""}
    )
    found = {finding.field: finding.value for finding in media.detect(tree, primary_run(tree))}
    assert found.get("model.weight_bits") == bits


@pytest.mark.parametrize(
    ("paths", "taken"),
    [
        # What the first repository of latent diffusion had lies on in most that were made from it.
        (("configs/latent-diffusion/text-finetune.yaml", "configs/stable-diffusion/v1-finetune.yaml"), "configs/stable-diffusion/v1-finetune.yaml"),
        (("configs/latent-diffusion/faces.yaml", "configs/stable-diffusion/v1-finetune.yaml"), "configs/stable-diffusion/v1-finetune.yaml"),
        (("configs/autoencoder/train.yaml", "configs/latent-diffusion/train.yaml"), "configs/latent-diffusion/train.yaml"),
        (("configs/latent-diffusion/faces.yaml", "configs/sound.yaml"), "configs/sound.yaml"),
    ],
)  # fmt: skip
def test_of_configurations_that_a_user_must_name_one_that_trains_the_later_model_is_taken(
    checkout: Build, paths: tuple[str, str], taken: str
) -> None:
    program = MAIN.format(config="opt.base")
    configs = {path: CONFIG.format(channels=320, control="").lstrip() for path in paths}
    run = primary_run(checkout({"main.py": program, "util.py": "", **configs}))
    assert run is not None
    assert [source.path for source in run.configs] == [taken]
