"""A model of CLIP that a command or a configuration names as its own programs do, where it is about CLIP."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

WORDS = "--train-data a.csv --batch-size 256 --precision amp"


def named(checkout: Build, files: dict[str, str]) -> str | None:
    found = analyze(checkout({"requirements.txt": "torch\nopen_clip_torch\n", **files}))
    return next((f.value for f in found.findings if f.field == "model.id"), None)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("ViT-L-14", "openai/clip-vit-large-patch14"),
        ("ViT-B/32", "openai/clip-vit-base-patch32"),
        ("ViT-Mine-14", None),
        ("$MODEL", None),
    ],
)
def test_open_clip_s_command_names_its_model(checkout: Build, model: str, expected: str | None) -> None:
    command = f"torchrun --nproc_per_node 1 -m open_clip_train.main --model {model} {WORDS}\n"
    assert named(checkout, {"run.sh": command}) == expected


def test_another_program_s_word_is_no_clip(checkout: Build) -> None:
    program = (
        "import argparse\nimport torch\np = argparse.ArgumentParser()\np.add_argument('--model')\na = p.parse_args()\n"
    )
    program += "net = build(a.model).cuda()\nloss = net(x)\nloss.backward()\n"
    files = {"requirements.txt": "torch\n", "train.py": program, "run.sh": "python train.py --model ViT-L-14\n"}
    assert named(checkout, files) is None


def test_a_joined_name_is_what_the_command_makes_of_it(checkout: Build) -> None:
    program = "import argparse\nfrom transformers import WhisperForConditionalGeneration as W\n"
    program += "p = argparse.ArgumentParser()\np.add_argument('--size', default='tiny')\na = p.parse_args()\n"
    program += 'model = W.from_pretrained(f"openai/whisper-{a.size}").cuda()\nmodel.generate(x)\n'
    files = {"requirements.txt": "torch\ntransformers\n", "run.py": program}
    assert named(checkout, {**files, "run.sh": "python run.py --size large-v3\n"}) == "openai/whisper-large-v3"
    assert named(checkout, {**files, "run.sh": "python run.py\n"}) == "openai/whisper-tiny"
