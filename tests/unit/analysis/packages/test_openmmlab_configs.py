"""Folders of nothing but OpenMMLab's configurations: what lies beside them says of which library."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

CONFIG = "_base_ = ['../_base_/models/net.py']\ndata = dict(samples_per_gpu=8, workers_per_gpu=2)\noptimizer = dict(type='Adam', lr=0.01)\ntotal_iters = 300\n"


def found(tree: Checkout) -> set[str]:
    return {f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"}


@pytest.mark.parametrize(
    ("link", "wanted"),
    [
        ("https://download.openmmlab.com/mmgen/net/net_20210101.pth", {"mmgen", "mmcv-full"}),
        ("https://github.com/open-mmlab/mmdetection/tree/main/configs/net", {"mmdet", "mmcv"}),
        ("https://github.com/open-mmlab/mmnobody/tree/main/configs/net", set()),
        ("https://example.org/mmgen/net.pth", set()),
    ],
)
def test_the_links_beside_a_configuration_name_its_library(checkout: Build, link: str, wanted: set[str]) -> None:
    tree = checkout({"net_b8.py": CONFIG, "README.md": f"# Net\n\n[model]({link})\n"})
    assert {name for name in found(tree) if name.startswith("mm")} == wanted


def test_a_metafile_links_as_well(checkout: Build) -> None:
    tree = checkout(
        {"net_b8.py": CONFIG, "metafile.yml": "Models:\n- Weights: https://download.openmmlab.com/mmgen/net/net.pth\n"}
    )
    assert "mmgen" in found(tree)
