"""The Python in an image, and the image whose Python pinned packages have builds for."""

from __future__ import annotations

import pytest

from gpu_lol_action.estimation.compatibility import ImageWish, choose_image
from gpu_lol_action.estimation.image_python import of_image, python_inside


@pytest.mark.parametrize(
    ("image", "python"),
    [
        ("pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", "3.11"),
        ("docker:pytorch/pytorch:1.12.1-cuda11.3-cudnn8-devel", "3.7"),
        ("pytorch/pytorch:1.11-cuda11.3-cudnn8-devel", "3.8"),
        ("nvcr.io/nvidia/pytorch:20.06-py3", "3.6"),
        ("nvcr.io/nvidia/pytorch:22.12-py3", "3.8"),
        ("nvcr.io/nvidia/pytorch:24.07-py3", "3.10"),
        ("nvcr.io/nvidia/pytorch:25.04-py3", "3.12"),
        ("tensorflow/tensorflow:2.14.0-gpu", "3.11"),
        ("python:3.9-slim", "3.9"),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", ""),
        ("pytorch/pytorch:9.9.9-cuda99-cudnn99-runtime", ""),
        ("evil/python:3.9", ""),
    ],
)
def test_the_name_of_an_image_tells_its_python(image: str, python: str) -> None:
    assert python_inside(image) == python


@pytest.mark.parametrize(
    ("requirements", "image"),
    [
        # Pins of 2022: the newest image with the Python that they have builds for.
        (("torch", "numpy==1.22.0", "tokenizers==0.12.1"), "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime"),
        (("torch>=1.8", "numpy==1.22.0"), "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime"),
        # No image of PyTorch 2 has a Python for these: the usual one, and the pin gives way.
        (("torch", "numpy==1.13.3"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        # Transformers of today asks for a newer PyTorch than an older Python's image holds.
        (("torch", "numpy==1.22.0", "transformers"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (("torch", "numpy==1.22.0", "transformers>=4.40"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (("torch", "numpy==1.22.0", "transformers==4.30.2"), "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime"),
        # A pinned PyTorch has one image, whatever else is pinned.
        (("torch==2.5.1", "numpy==1.22.0"), "pytorch/pytorch:2.5.1-cuda12.1-cudnn9-runtime"),
        (("torch>=2.5", "numpy==1.22.0"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (("torch", "numpy==1.26.4"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
    ],
)
def test_pins_choose_the_image_where_pytorch_is_open(requirements: tuple[str, ...], image: str) -> None:
    assert choose_image(ImageWish("torch", requirements)).image == image


@pytest.mark.parametrize(
    ("asked", "release"), [("torch==1.4.*", "1.6.0"), ("torch<1.3", "1.6.0"), ("torch~=1.2.0", "1.6.0"), ("torch>9", "2.13.0")]
)  # fmt: skip
def test_a_range_without_an_image_takes_the_nearest_release(asked: str, release: str) -> None:
    assert choose_image(ImageWish("torch", (asked,))).image.startswith(f"pytorch/pytorch:{release}-")


@pytest.mark.parametrize(
    ("asked", "image", "installed"),
    [
        ("torch==0.4.1", "pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime", "torch==1.6.0"),
        ("torch==1.4.*", "pytorch/pytorch:1.6.0-cuda10.1-cudnn7-devel", "torch==1.6.0"),
        ("torchvision==0.4.0", "pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime", "torchvision==0.7.0"),
        ("torch==1.6.0", "pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime", "torch==1.6.0"),
        ("torch>=0.4", "pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime", "torch>=0.4"),
        ("torch==0.4.1", "acme/ours:1", "torch==0.4.1"),
        ("torch==1.12.1", "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", "torch==1.12.1"),
        ("torchmetrics==0.4.1", "pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime", "torchmetrics==0.4.1"),
    ],
)
def test_a_pytorch_older_than_every_image_is_the_images_own(asked: str, image: str, installed: str) -> None:
    assert of_image(asked, image) == installed
