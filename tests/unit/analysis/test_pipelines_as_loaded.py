"""Pipelines for pictures that nothing narrows lie at 32 bit, as their library loads them; of the large ones nobody does so."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

RUN = """
import torch
from diffusers import DiffusionPipeline
if __name__ == "__main__":
    pipe = DiffusionPipeline.from_pretrained("{model}"{more}).to("cuda")
    pipe("a cat").images[0].save("cat.png")
"""


@pytest.mark.parametrize(
    ("model", "more", "low", "high"),
    [
        ("stabilityai/stable-diffusion-2-1-base", "", 7, 10),
        ("stabilityai/stable-diffusion-2-1-base", ", torch_dtype=torch.float16", 4, 6),
        ("stabilityai/stable-diffusion-xl-base-1.0", "", 7, 13),
    ],
)
def test_a_small_pipeline_lies_as_its_library_loads_it(
    checkout: Build, model: str, more: str, low: float, high: float
) -> None:
    files = {"README.md": "# P\n```\npython draw.py\n```\n", "draw.py": RUN.format(model=model, more=more)}
    assert low <= (analyze(checkout(files)).spec.hardware.needed_gib or 0) <= high
