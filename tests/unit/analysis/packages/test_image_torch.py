"""Where no list pins a PyTorch, the image's says which releases of other libraries work."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.packages.image_torch import with_image_torch

OLD = "pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime"
USUAL = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (["transformers"], ["transformers<4.50", "huggingface-hub<1"]),
        (["torch", "tqdm", "transformers>=4.31"], ["torch", "tqdm", "transformers>=4.31,<4.50"]),
        (["peft", "torch>=2.0"], ["peft", "torch>=2.0", "transformers<4.50", "huggingface-hub<1"]),
        (["opencv-python"], ["opencv-python", "numpy<2"]),
    ],
)
def test_a_library_is_kept_below_what_the_image_s_is_too_old_for(listed: list[str], expected: list[str]) -> None:
    kept, notes = with_image_torch(listed, OLD)
    assert list(kept) == expected
    assert len(notes) == 1
    bounded = next(text for text in expected if "<" in text)
    assert notes[0].startswith(f"{bounded} is taken: `torch==2.0.1` (the image) does not work with ")


@pytest.mark.parametrize(
    ("listed", "image"),
    [
        (["transformers", "peft"], USUAL),
        (["transformers==4.31.0"], OLD),
        (["tqdm"], OLD),
        (["torch==2.0.1", "transformers"], OLD),  # read with the lists
        (["torch>=2.1", "transformers"], OLD),  # the image's goes
        (["transformers"], "python:3.11-slim"),
        (["transformers"], "example.org/of-ones-own:1"),
    ],
)
def test_all_else_stays(listed: list[str], image: str) -> None:
    assert with_image_torch(listed, image) == (tuple(listed), ())
