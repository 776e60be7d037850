"""A README's demand for a GPU, where no file names what uses it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

PROJECT = '[project]\nname = "voice"\nversion = "1"\ndependencies = ["fastapi", "openai"]\n'
SERVICE = "from fastapi import FastAPI\napp = FastAPI()\n"


@pytest.mark.parametrize(
    ("readme", "expected"),
    [
        ("# Voice\n## Requirements\n- Hardware: a GPU with CUDA support and at least 16 GB VRAM.\n", ("inference", 1, 16)),
        ("# Chat\n## Inference\nCommands for inference. The 11B model requires two 32GB V100.\n", ("inference", 2, 32)),
        ("# Net\n## Training\nTraining requires 4 V100 32GB GPUs.\n", ("training", 4, 32)),
        # What is shown is an example, and a card that is only named is no demand.
        ("# Tool\n```\n$ tool show\nneeds 24GB VRAM\n```\n", ("cpu-only", 0, 0)),
        ("# Tool\nAn RTX 4090 has 24 GB.\n", ("cpu-only", 0, 0)),
    ],
)  # fmt: skip
def test_it_is_taken_at_its_word(checkout: Build, readme: str, expected: tuple[str, int, int]) -> None:
    tree = checkout({"README.md": readme, "pyproject.toml": PROJECT, "voice/app.py": SERVICE})
    spec = analyze(tree).spec
    count = spec.hardware.gpu_count if spec.meta.workload_type.value != "cpu-only" else 0
    size = spec.hardware.vram_required_gb if count else 0
    assert (spec.meta.workload_type.value, count, size) == expected
