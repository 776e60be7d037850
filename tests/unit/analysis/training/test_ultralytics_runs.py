"""Several cards of a training by ultralytics, which divides its batch among them."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = 'from ultralytics import YOLO\nif __name__ == "__main__":\n    YOLO("yolov8x.pt").train(data="coco.yaml", {given})\n'


def files(given: str, *, is_command: bool) -> dict[str, str]:
    if is_command:
        words = given.replace(", ", " ").replace("[", "").replace("]", "").replace('"', "")
        return {"README.md": f"```\nyolo detect train data=coco.yaml model=yolov8x.pt {words}\n```\n"}
    return {"train.py": TRAIN.format(given=given)}


@pytest.mark.parametrize("is_command", [False, True])
@pytest.mark.parametrize(
    ("device", "count"), [("device=[0,1,2,3]", 4), ('device="0,1"', 2), ("device=0", 1), ("imgsz=1280", 1)]
)
def test_each_listed_card_takes_its_share_of_the_batch(
    checkout: Build, device: str, count: int, is_command: bool
) -> None:
    given = f"imgsz=1280, batch=16, {device}"
    found = analyze(checkout({"requirements.txt": "ultralytics\n", **files(given, is_command=is_command)}))
    assert found.spec.hardware.gpu_count == count
    assert found.breakdown is not None
    activations = next(term for term in found.breakdown.terms if term.name == "activations")
    assert f", {16 // count} x 1280 x 1280 pixels" in activations.basis


@pytest.mark.parametrize("device", ["device=0", "device=[0]", "device=[-1]", "epochs=3"])
def test_a_batch_that_one_card_has_alone_is_not_divided(checkout: Build, device: str) -> None:
    # Eight cards were proposed, of which ultralytics would have used one, for all of the batch.
    found = analyze(
        checkout(
            {"requirements.txt": "ultralytics\n", "train.py": TRAIN.format(given=f"imgsz=1280, batch=256, {device}")}
        )
    )
    assert found.spec.hardware.gpu_count == 1
    assert any("is assumed against what was read" in gap for gap in found.not_understood)


def test_a_prediction_lists_no_cards(checkout: Build) -> None:
    program = 'from ultralytics import YOLO\nYOLO("yolov8n.pt").predict("bus.jpg", device=[0, 1])\n'
    found = analyze(checkout({"requirements.txt": "ultralytics\n", "use.py": program}))
    assert found.spec.hardware.gpu_count == 1
