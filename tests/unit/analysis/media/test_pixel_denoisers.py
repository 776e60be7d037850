"""A denoiser of pixels says how large its pictures are; one of latents does not."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = """
import torch
from diffusers import {kind}
model = {kind}(sample_size={side}, layers_per_block=2, block_out_channels=(128, 128, 256, 256, 512, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
train_batch_size = 16
for pictures in torch.utils.data.DataLoader(data, batch_size=train_batch_size):
    torch.nn.functional.mse_loss(model(pictures, steps, return_dict=False)[0], noise).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("kind", "side", "said"),
    [
        ("UNet2DModel", "128", "128"),
        ("UNet2DModel", "64", "64"),
        ("UNet2DModel", "0", None),
        ("UNet2DConditionModel", "64", None),
    ],
)
def test_side_of_a_denoiser_is_that_of_its_pictures(checkout: Build, kind: str, side: str, said: str | None) -> None:
    files = {"train.py": TRAIN.format(kind=kind, side=side), "requirements.txt": "torch\ndiffusers\n"}
    found = analyze(checkout(files))
    assert next((each.value for each in found.findings if each.field == "media.image_size"), None) == said


def test_twice_the_batch_of_known_pictures_keeps_twice_as_much(checkout: Build) -> None:
    kept = []
    for batch in (8, 16):
        program = TRAIN.format(kind="UNet2DModel", side=128).replace("= 16", f"= {batch}")
        breakdown = analyze(checkout({"train.py": program, "requirements.txt": "torch\ndiffusers\n"})).breakdown
        assert breakdown is not None
        kept.append(next(term.gib for term in breakdown.terms if term.name == "activations"))
    assert kept[1] / kept[0] == pytest.approx(2, rel=0.1)
