"""Detectors that a program builds by name around a backbone: the whole is counted, at the size that its pictures get."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = """
import argparse
import keras
from shop import nets

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--backbone', default='resnet50')
    parser.add_argument('--batch-size', default=1, type=int)
    parser.add_argument('--image-min-side', default=800, type=int)
    parser.add_argument('--image-max-side', default=1333, type=int)
    args = parser.parse_args()
    model = nets.small_retinanet(backbone=args.backbone)
    model.compile(optimizer=keras.optimizers.Adam(1e-5))
    model.fit_generator(generator=None, epochs=5)

if __name__ == '__main__':
    main()
"""
NETS = "import keras\n\ndef small_retinanet(backbone):\n    return keras.models.Model(backbone)\n"
FILES = {"train.py": TRAIN, "shop/__init__.py": "", "shop/nets.py": NETS, "requirements.txt": "keras\ntensorflow\n"}


def values(analysis: Analysis, field: str) -> list[str]:
    return [finding.value for finding in analysis.findings if finding.field == field]


def activations(analysis: Analysis) -> float:
    assert analysis.breakdown is not None
    return next(term.gib for term in analysis.breakdown.terms if term.name == "activations")


def test_the_detector_is_the_model_and_the_named_network_its_backbone(checkout: Build) -> None:
    analysis = analyze(checkout(FILES))
    assert values(analysis, "media.network")[0] == "retinanet_resnet50_fpn"
    assert analysis.breakdown is not None
    assert analysis.breakdown.terms[0].basis.startswith("retinanet_resnet50_fpn")
    assert values(analysis, "media.image_size") == ["800x1333"]
    assert analysis.spec.hardware.needed_gib == 7


def test_a_deeper_backbone_makes_a_larger_detector(checkout: Build) -> None:
    files = {**FILES, "train.py": TRAIN.replace("default='resnet50'", "default='resnet101'")}
    assert values(analyze(checkout(files)), "media.network")[0] == "retinanet_resnet101_fpn"


def test_torch_s_detectors_keep_their_first_stages_frozen(checkout: Build) -> None:
    keras = activations(analyze(checkout(FILES)))
    torch = TRAIN.replace("import keras", "import torch").replace(
        "model.compile(optimizer=keras.optimizers.Adam(1e-5))", ""
    )
    torch = torch.replace("model.fit_generator(generator=None, epochs=5)", "model.cuda()(x).backward()")
    files = {"train.py": torch, "shop/nets.py": NETS.replace("keras", "torch"), "requirements.txt": "torch\n"}
    assert activations(analyze(checkout(files))) < keras - 1


def test_of_several_kinds_of_detectors_none_is_taken(checkout: Build) -> None:
    nets = NETS + "\nmodel = build_maskrcnn()\nother = FasterRCNN(3)\n"
    found = values(analyze(checkout({**FILES, "shop/nets.py": nets})), "media.network")
    assert not [name for name in found if "rcnn" in name or "retina" in name]


def test_of_several_kinds_the_one_that_the_program_is_called_after_is_built_on_the_others(checkout: Build) -> None:
    files = {
        "keras_maskrcnn/bin/train.py": TRAIN,
        "shop/__init__.py": "",
        "shop/nets.py": NETS + "\nmodel = build_maskrcnn()\n",
    }
    found = values(analyze(checkout({**files, "requirements.txt": "keras\n"})), "media.network")
    assert found[0] == "maskrcnn_resnet50_fpn"
