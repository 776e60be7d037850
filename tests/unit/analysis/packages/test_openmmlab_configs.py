"""Folders of nothing but OpenMMLab's configurations: what lies beside them says of which library."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]

CONFIG = "_base_ = ['../_base_/models/net.py']\ndata = dict(samples_per_gpu=8, workers_per_gpu=2)\noptimizer = dict(type='Adam', lr=0.01)\ntotal_iters = 300\n"


def found(tree: Checkout) -> set[str]:
    return {f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"}


@pytest.mark.parametrize(
    ("link", "wanted"),
    [
        ("https://download.openmmlab.com/mmgen/net/net_20210101.pth", {"mmgen", "mmcv-full"}),
        ("https://github.com/open-mmlab/mmdetection/tree/main/configs/net", {"mmdet", "mmcv"}),
        ("https://download.openmmlab.com/mmrotate/v0.1.0/net.pth", {"mmrotate", "mmcv", "mmdet"}),
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


PLAIN = "exp_name = 'edvr'\nmodel = dict(\n    type='EDVR', generator=dict(type='EDVRNet'))\ntrain_cfg = dict(tsa_iter=5)\noptimizer = dict(type='Adam', lr=4e-4)\nlr_config = dict(policy='Step')\ndata = dict(train_dataloader=dict(samples_per_gpu=4))\ntotal_iters = 600\n"


def test_a_configuration_that_inherits_nothing_names_its_network_by_class(checkout: Build) -> None:
    link = "https://download.openmmlab.com/mmediting/restorers/edvr.pth"
    tree = checkout({"edvr.py": PLAIN, "README.md": f"# EDVR\n\n[model]({link})\n"})
    assert {"mmedit", "mmcv-full"} <= found(tree)


def test_a_configuration_that_only_changes_the_network_it_inherits_is_trained(checkout: Build) -> None:
    config = "_base_ = ['../_base_/datasets/dota.py', '../_base_/schedule_1x.py']\n\nangle = 'oc'\nmodel = dict(\n    type='R3Det')\n"
    link = "https://download.openmmlab.com/mmrotate/v0.1.0/r3det.pth"
    analysis = analyze(checkout({"r3det.py": config, "README.md": f"# R3Det\n\n[model]({link})\n"}))
    assert analysis.spec.meta.workload_type is WorkloadType.TRAINING
    assert analysis.spec.hardware.gpu_count == 1
    assert {"mmrotate", "mmdet", "mmcv"} <= set(analysis.spec.dependencies.requirements)


def test_many_configurations_that_name_no_card_are_trained_all_the_same(checkout: Build) -> None:
    files = {f"net_b{place}.py": CONFIG for place in range(12)}
    files["README.md"] = "# Net\n\n[model](https://download.openmmlab.com/mmgen/net/net.pth)\n"
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.TRAINING


def test_a_program_with_a_base_of_its_own_is_no_configuration(checkout: Build) -> None:
    program = "_base_ = 3\ndata = [1, 2]\ndef add(a):\n    return a + _base_\n"
    assert analyze(checkout({"sum.py": program})).spec.meta.workload_type is WorkloadType.CPU_ONLY
