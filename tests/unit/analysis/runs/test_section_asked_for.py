"""A batch of a section for training is of a run that infers only where its program asks that very section for it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

HEARS = """import torch, yaml
from transformers import pipeline
cfg = yaml.safe_load(open("config.yaml"))
part = cfg["training"]
pipe = pipeline("automatic-speech-recognition", model="openai/whisper-large-v3", torch_dtype=torch.float16, device="cuda", {batch})
print(pipe("a.mp3"))
"""
SAID = "training:\n  batch_size: 24\n"


@pytest.mark.parametrize(
    ("batch", "told"),
    [
        ('batch_size=cfg["training"]["batch_size"]', "24"),
        ('batch_size=part["batch_size"]', "24"),
        ('batch_size=cfg["batch_size"]', None),
        ('batch_size=cfg["hearing"]["batch_size"]', None),
        ("chunk_length_s=30", None),
    ],
)
def test_a_section_speaks_to_who_asks_it(checkout: Build, batch: str, told: str | None) -> None:
    found = analyze(
        checkout(
            {"requirements.txt": "torch\ntransformers\n", "config.yaml": SAID, "hear.py": HEARS.format(batch=batch)}
        )
    )
    assert value_of_best(found.findings, "training.batch_size") == told
