"""16-bit numbers that a switch turns on: of a program that is not here by the switch's name, of detectron2 where a program sets it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

TIMM = "--model vit_large_patch16_224 -b 64 --opt adamw"
STARTS = {
    "a program of a clone": f"python pytorch-image-models/train.py /data {TIMM}",
    "its launcher": f"cd pytorch-image-models\n./distributed_train.sh 4 /data {TIMM}",
}
SWITCHES = {"--amp": "fp16", "--amp --amp-dtype bfloat16": "bf16", "": None}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_of_a_program_elsewhere_is_known_by_its_name(checkout: Build, start: str, switch: str) -> None:
    found = analyze(checkout({"train.sh": f"{STARTS[start]} {switch}\n"})).findings
    assert value_of_best(found, "workload") == "training"
    assert value_of_best(found, "training.precision") == SWITCHES[switch]


def test_the_launcher_takes_as_many_cards_as_it_is_told(checkout: Build) -> None:
    found = analyze(checkout({"train.sh": f"{STARTS['its launcher']} --amp\n"}))
    assert found.proposed.hardware.gpu_count == 4


DETECTS = """from detectron2 import model_zoo
from detectron2.config import get_cfg
from detectron2.engine import DefaultTrainer
cfg = get_cfg()
cfg.merge_from_file(model_zoo.get_config_file("COCO-Detection/faster_rcnn_R_50_FPN_3x.yaml"))
{line}
DefaultTrainer(cfg).train()
"""


@pytest.mark.parametrize(
    ("line", "precision"),
    [
        ("cfg.SOLVER.AMP.ENABLED = True", "fp16"),
        ("cfg.SOLVER.AMP.ENABLED = False", None),
        ("if args.amp:\n    cfg.SOLVER.AMP.ENABLED = True", None),
        ("if args.amp:\n    print(1)\ncfg.SOLVER.AMP.ENABLED = True", "fp16"),
        ("# cfg.SOLVER.AMP.ENABLED = True", None),
        ("cfg.TEST.AUG.ENABLED = True", None),
    ],
)
def test_detectron2_is_told_by_its_program(checkout: Build, line: str, precision: str | None) -> None:
    found = analyze(checkout({"requirements.txt": "torch\ndetectron2\n", "train.py": DETECTS.format(line=line)}))
    assert value_of_best(found.findings, "training.precision") == precision


def test_a_program_that_is_here_says_itself_what_its_switch_does(checkout: Build) -> None:
    program = (
        "import argparse, timm, torch\np = argparse.ArgumentParser()\np.add_argument('--amp', action='store_true')\n"
        "a = p.parse_args()\nm = timm.create_model('resnet50').cuda()\no = torch.optim.SGD(m.parameters(), lr=1)\n"
        "for x, y in d:\n    torch.nn.functional.cross_entropy(m(x), y).backward()\n    o.step()\n"
    )
    found = analyze(
        checkout({"requirements.txt": "torch\ntimm\n", "train.py": program, "run.sh": "python train.py --amp\n"})
    )
    assert value_of_best(found.findings, "training.precision") != "fp16"
