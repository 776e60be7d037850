"""What is cut out of a scan goes into the network, several parts of it at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media import media
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = """
import torch
from monai.networks.nets import {network}
from monai.transforms import Compose, RandCropByPosNegLabeld, RandSpatialCropd, RandSpatialCropSamples
patch = (128, 128, 32)
steps = Compose([{crop}])
net = {network}(in_channels=1, out_channels=2{more}).cuda()
loader = torch.utils.data.DataLoader(scans, batch_size=2)
opt = torch.optim.AdamW(net.parameters())
loss.backward()
opt.step()
"""
BY_LABEL = (
    "RandCropByPosNegLabeld(keys=['image', 'label'], label_key='label', spatial_size=(96, 96, 96), num_samples=4)"
)
NAMED = "RandSpatialCropd(keys=['image'], roi_size=patch, num_samples=4)"
BARE = "RandSpatialCropSamples([96, 96, 64], num_samples=3)"
WHOLE = "RandSpatialCropd(keys=['image'], roi_size=(-1, -1, 64))"


def found(tree: Checkout) -> dict[str, str]:
    first: dict[str, str] = {}
    for finding in media.detect(tree, primary_run(tree)):
        first.setdefault(finding.field, finding.value)
    return first


@pytest.mark.parametrize(
    ("crop", "size", "depth", "parts"),
    [
        (BY_LABEL, "96x96", "96", "4"),
        (NAMED, "128x128", "32", None),  # cuts one part, whatever it is told
        (BARE, "96x96", "64", "3"),
        (WHOLE, None, None, None),
        ("RandSpatialCropd(keys=['image'], roi_size=[64, 64, 64], random_size=True)", None, None, None),
        ("RandCropByPosNegLabeld(['image', 'label'], 'label', patch, 1, 1, 6)", "128x128", "32", "6"),
        # Cut for a test, and for training.
        (f"RandSpatialCropd(keys=['image'], roi_size=(32, 32, 32))]), Compose([{BY_LABEL}", "96x96", "96", "4"),
        (f"{BY_LABEL},\n    Resized(keys=['image'], spatial_size=(192, 192, 160))\n", "192x192", "160", "4"),
        (f"{BY_LABEL},\n    Resized(keys=['image'], spatial_size=sides)\n", None, None, None),
        (f"{BY_LABEL}])\nother = Compose([Resized(keys=['image'], spatial_size=(32, 32, 32))", "96x96", "96", "4"),
    ],
)
def test_the_parts_that_are_cut_out_of_a_scan(
    checkout: Build, crop: str, size: str | None, depth: str | None, parts: str | None
) -> None:
    said = found(checkout({"train.py": TRAIN.format(network="SegResNet", crop=crop, more="")}))
    assert (said.get("media.image_size"), said.get("media.frames"), said.get("media.parts")) == (size, depth, parts)


def test_parts_of_a_scan_are_learned_from_at_once(checkout: Build) -> None:
    def needed(crop: str, more: str = "") -> int:
        return analyze(
            checkout({"train.py": TRAIN.format(network="SwinUNETR", crop=crop, more=more)})
        ).spec.hardware.vram_required_gb

    one, four = needed(BY_LABEL.replace("num_samples=4", "num_samples=1")), needed(BY_LABEL)
    assert four > one >= 12
    # Its blocks are computed anew in the way back.
    assert needed(BY_LABEL.replace("num_samples=4", "num_samples=1"), ", use_checkpoint=True") <= one


def test_another_library_s_crops_are_none_of_scans(checkout: Build) -> None:
    other = TRAIN.replace("monai", "ours").format(network="SegResNet", crop=BY_LABEL, more="")
    assert "media.parts" not in found(checkout({"train.py": other}))


def test_a_network_that_was_counted_for_pictures_sees_no_volumes(checkout: Build) -> None:
    said = found(checkout({"train.py": TRAIN.format(network="AttentionUnet", crop=BY_LABEL, more=", spatial_dims=3")}))
    assert not {"media.parts", "media.image_size"} & said.keys()
    flat = "RandSpatialCropSamplesd(keys=['image'], roi_size=(96, 96), num_samples=3)"
    said = found(checkout({"train.py": TRAIN.format(network="AttentionUnet", crop=flat, more=", spatial_dims=2")}))
    assert (said["media.image_size"], said["media.parts"]) == ("96x96", "3")


MONAI_UNET = ", spatial_dims=3, channels=(16, 32, 64, 128, 256), strides=(2, 2, 2, 2), num_res_units=2"


def test_monai_s_u_net_has_the_weights_that_it_is_published_with(checkout: Build) -> None:
    said = found(checkout({"train.py": TRAIN.format(network="UNet", crop=BY_LABEL, more=MONAI_UNET)}))
    # 4,808,917 in MONAI's notebook on the spleen, whose curves have a weight each.
    assert 4_808_000 < int(said["media.own_parameters"]) < 4_809_000
    assert float(said["media.own_outputs"]) > 96**3 * 32
    assert "media.network" not in said
    flat = found(
        checkout({"train.py": TRAIN.format(network="UNet", crop=BY_LABEL, more=MONAI_UNET.replace("3,", "2,", 1))})
    )
    assert int(flat["media.own_parameters"]) < 2_000_000


@pytest.mark.parametrize(
    ("before", "sides", "files"),
    [
        ("from settings import CUBE", "(CUBE, CUBE, CUBE)", {"settings.py": "CUBE = 64\n"}),
        ("from settings import CUBES", "CUBES", {"settings.py": "CUBES = (64, 64, 64)\n"}),
        ("cfg = yaml.safe_load(open('c.yaml'))", "[cfg['cube']] * 3", None),
        ("", "(64, 64, depth())", None),
    ],
)
def test_sides_of_parts_are_followed(checkout: Build, before: str, sides: str, files: dict[str, str] | None) -> None:
    crop = BY_LABEL.replace("(96, 96, 96)", sides)
    text = before + TRAIN.format(network="SegResNet", crop=crop, more="")
    said = found(checkout({"train.py": text, **(files or {"c.yaml": "cube: 64\n"})}))
    assert (said.get("media.image_size"), said.get("media.frames")) == (("64x64", "64") if files else (None, None))
