"""The configurations of detectron2's zoo are named for what they build, and those of a project's own stand on others."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

PROGRAM = """from detectron2 import model_zoo
from detectron2.config import get_cfg
from detectron2.engine import DefaultTrainer
{before}
cfg = get_cfg()
cfg.merge_from_file(model_zoo.get_config_file({name}))
cfg.SOLVER.IMS_PER_BATCH = 4
trainer = DefaultTrainer(cfg)
trainer.train()
"""
NAME = '"COCO-InstanceSegmentation/mask_rcnn_R_101_FPN_3x.yaml"'
TRAIN_NET = """from detectron2.config import get_cfg
from detectron2.engine import DefaultTrainer, default_argument_parser

args = default_argument_parser().parse_args()
cfg = get_cfg()
cfg.merge_from_file(args.config_file)
cfg.merge_from_list(args.opts)
DefaultTrainer(cfg).train()
"""
OWN = "_BASE_: base.yaml\nMODEL:\n  MASK_ON: True\n  RESNETS:\n    DEPTH: 101\nSOLVER:\n  IMS_PER_BATCH: 2\n  AMP:\n    ENABLED: True\n"
BASE = "MODEL:\n  META_ARCHITECTURE: GeneralizedRCNN\nSOLVER:\n  IMS_PER_BATCH: 64\n"


def told(checkout: Build, files: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in analyze(checkout({"requirements.txt": "detectron2\n", **files})).findings:
        found.setdefault(each.field, each.value)
    return found


@pytest.mark.parametrize(
    ("before", "name", "network"),
    [
        ("", NAME, "maskrcnn_resnet101_fpn"),
        (f"ZOO = {NAME}", "ZOO", "maskrcnn_resnet101_fpn"),
        ("", '"COCO-Detection/faster_rcnn_X_101_32x8d_FPN_3x.yaml"', "fasterrcnn_resnet101_fpn"),
        ("", '"COCO-Detection/retinanet_R_50_FPN_1x.yaml"', "retinanet_resnet50_fpn"),
        ("", "best()", None),
        ("", '"mine/net_R_50_.yaml"', None),
    ],
)
def test_a_name_of_the_zoo_is_the_network(checkout: Build, before: str, name: str, network: str | None) -> None:
    found = told(checkout, {"train.py": PROGRAM.format(before=before, name=name)})
    assert found.get("media.network") == network


def test_another_library_s_names_are_not_the_zoos(checkout: Build) -> None:
    text = PROGRAM.format(before="", name=NAME).replace("detectron2", "ours")
    assert "media.network" not in told(checkout, {"train.py": text})


@pytest.mark.parametrize(("more", "batch"), [("", "2"), (" SOLVER.IMS_PER_BATCH 16 SOLVER.MAX_ITER 100", "16")])
def test_a_configuration_stands_on_its_base_and_below_the_command(checkout: Build, more: str, batch: str) -> None:
    command = f"python train_net.py --config-file configs/mine.yaml --num-gpus 1{more}\n"
    files = {"train_net.py": TRAIN_NET, "configs/mine.yaml": OWN, "configs/base.yaml": BASE, "run.sh": command}
    found = told(checkout, files)
    assert found["media.network"] == "maskrcnn_resnet101_fpn"
    assert found["training.batch_size"] == batch
    assert found["training.precision"] == "fp16"
    off = {**files, "configs/mine.yaml": OWN.replace("ENABLED: True", "ENABLED: False")}
    assert told(checkout, off).get("training.precision") != "fp16"


def test_layers_of_one_part_and_the_width_of_another_are_no_transformer(checkout: Build) -> None:
    text = "  TEXT_ENCODER:\n    NUM_LAYERS: 6\n    VOCAB_SIZE: 49408\n"
    base = BASE.replace("SOLVER:", f"{text}SOLVER:")
    own = OWN.replace("SOLVER:", "  SWIN:\n    EMBED_DIM: 192\n    NUM_HEADS: [6, 12, 24, 48]\nSOLVER:")
    command = "python train_net.py --config-file configs/mine.yaml\n"
    files = {"train_net.py": TRAIN_NET, "configs/mine.yaml": own, "configs/base.yaml": base, "run.sh": command}
    found = told(checkout, files)
    assert "model.layers" not in found
    assert found["media.network"] == "maskrcnn_resnet101_fpn"
