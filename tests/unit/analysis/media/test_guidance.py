"""Scenes that a frozen diffusion model guides: the model is not trained, the scene's points are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
LAUNCH = """
import argparse
import lightning as L

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    L.Trainer(devices=1, precision="16-mixed").fit(build(parser.parse_args().config))
"""
CONFIG = """
data:
  height: [128, 256]
  width: [128, 256]
  batch_size: 1
system:
  renderer:
    num_samples_per_ray: 64
  prompt_processor:
    pretrained_model_name_or_path: "stabilityai/stable-diffusion-2-1-base"
  guidance:
    pretrained_model_name_or_path: "stabilityai/stable-diffusion-2-1-base"
    guidance_scale: 100
trainer:
  precision: 16-mixed
"""
README = "# Scenes\n## Train\n```\npython launch.py --config configs/lamp.yaml --train\n```\n"
FILES = {
    "launch.py": LAUNCH,
    "configs/lamp.yaml": CONFIG,
    "README.md": README,
    "requirements.txt": "lightning\ndiffusers\n",
}


def terms(analysis: Analysis) -> dict[str, float]:
    assert analysis.breakdown is not None
    return {term.name: term.gib for term in analysis.breakdown.terms}


def values(analysis: Analysis, field: str) -> list[str]:
    return [finding.value for finding in analysis.findings if finding.field == field]


def test_a_guide_is_frozen_and_its_text_encoder_gone_before(checkout: Build) -> None:
    analysis = analyze(checkout(FILES))
    assert values(analysis, "media.trained_part") == ["scene"]
    assert values(analysis, "media.scene_points") == [str(256 * 256 * 64)]
    found = terms(analysis)
    assert "gradients" not in found
    assert "optimizer" not in found
    assert 1.6 < found["frozen parts"] < 1.9  # 866 M of the denoiser, 84 M of the autoencoder, 16 bit
    assert analysis.spec.meta.workload_type.value == "training"


def test_the_same_model_under_another_section_is_trained(checkout: Build) -> None:
    config = CONFIG.replace("  guidance:", "  model:").replace("prompt_processor", "text")
    assert terms(analyze(checkout({**FILES, "configs/lamp.yaml": config})))["optimizer"] > 5


def test_a_second_guide_lies_beside_the_first(checkout: Build) -> None:
    config = CONFIG.replace(
        "trainer:", "  guidance_3d:\n    pretrained_model_name_or_path: ./load/zero123/stable_zero123.ckpt\ntrainer:"
    )
    analysis = analyze(checkout({**FILES, "configs/lamp.yaml": config}))
    assert values(analysis, "model.guide") == ["./load/zero123/stable_zero123.ckpt"]
    assert 2.2 < terms(analysis)["models beside"] < 2.5


def test_configurations_beside_the_program_name_its_guide_without_a_command(checkout: Build) -> None:
    files = {name: text for name, text in FILES.items() if name != "README.md"}
    other = CONFIG.replace("stable-diffusion-2-1-base", "stable-diffusion-xl-base-1.0")
    analysis = analyze(checkout({**files, "configs/tower.yaml": other}))
    assert values(analysis, "media.trained_part") == ["scene"]
    assert values(analysis, "model.guide") == []


def test_a_module_about_guidance_that_freezes_what_it_loads(checkout: Build) -> None:
    program = "import torch\nfrom guidance import sd\n\nif __name__ == '__main__':\n    loss = sd.Guide().step(render())\n    loss.backward()\n"
    guide = (
        "import torch\nfrom diffusers import StableDiffusionPipeline\n\nclass Guide:\n    def __init__(self):\n"
        "        self.pipe = StableDiffusionPipeline.from_pretrained('stabilityai/stable-diffusion-2-1-base').to('cuda')\n"
        "        self.pipe.unet.requires_grad_(False)\n"
    )
    files = {
        "main.py": program,
        "guidance/__init__.py": "",
        "guidance/sd.py": guide,
        "requirements.txt": "torch\ndiffusers\n",
    }
    analysis = analyze(checkout(files))
    assert values(analysis, "media.trained_part") == ["scene"]
    assert "optimizer" not in terms(analysis)


UNET = """
model:
  target: ldm.LatentDiffusion
  params:
    image_size: 32
    unet_config:
      target: ldm.UNet
      params:
        in_channels: 8
        image_size: 32
        model_channels: 320
        channel_mult: [1, 2, 4, 4]
        context_dim: 768
"""


def test_a_guide_s_own_configuration_says_nothing_of_what_is_trained(checkout: Build) -> None:
    program = (
        "import argparse\nimport torch\nfrom guidance import sd\n\nif __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--guide_config', default='pretrained/guide.yaml')\n"
        "    sd.Guide(parser.parse_args().guide_config).step(x).backward()\n"
    )
    guide = (
        "import torch\nfrom diffusers import StableDiffusionPipeline\n\nclass Guide:\n    @torch.no_grad()\n    def __init__(self, path):\n"
        "        self.pipe = StableDiffusionPipeline.from_pretrained('stabilityai/stable-diffusion-2-1-base').to('cuda')\n"
    )
    files = {
        "main.py": program,
        "guidance/sd.py": guide,
        "pretrained/guide.yaml": UNET,
        "requirements.txt": "torch\ndiffusers\n",
    }
    analysis = analyze(checkout(files))
    assert values(analysis, "media.trained_part") == ["scene"]
    assert "optimizer" not in terms(analysis)


GUIDE = (
    "import torch\nfrom diffusers import UNet2DConditionModel, AutoencoderKL\n\nclass Diffusion:\n    def __init__(self, name='CompVis/stable-diffusion-v1-4'):\n"
    "        self.vae = AutoencoderKL.from_pretrained(name, subfolder='vae').cuda()\n"
    "        self.unet = UNet2DConditionModel.from_pretrained(name, subfolder='unet').cuda()\n\n"
    "    def train_step(self, latents, noise, w):\n        with torch.no_grad():\n            noise_pred = self.unet(latents)\n        {step}\n"
)
SCENE = "import torch\nfrom prior import Diffusion\n\nif __name__ == '__main__':\n    optimizer = torch.optim.Adam(scene.parameters())\n    Diffusion().train_step(scene())\n    loss.backward()\n    optimizer.step()\n"


@pytest.mark.parametrize(
    ("step", "is_guide"),
    [
        ("latents.backward(gradient=w * (noise_pred - noise), retain_graph=True)", True),
        ("SpecifyGradient.apply(latents, w * (noise_pred - noise))", True),
        ("loss = torch.nn.functional.mse_loss(noise_pred, noise)", False),
        ("return (noise_pred - noise).pow(2).mean()", False),
    ],
)
def test_a_module_that_hands_on_the_difference_of_noise_is_a_guide_by_any_name(
    checkout: Build, step: str, is_guide: bool
) -> None:
    analysis = analyze(checkout({"train.py": SCENE, "prior.py": GUIDE.format(step=step)}))
    assert (values(analysis, "media.trained_part") == ["scene"]) is is_guide
