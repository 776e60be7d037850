"""Lines that PyTorch settles itself, and pins beside it that cannot be had with it."""

from __future__ import annotations

import pytest

from gpu_lol_action.estimation.torch_companions import beside_torch

USUAL = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"


@pytest.mark.parametrize(
    ("asked", "image", "installed"),
    [
        (("torch==2.4.0", "nvidia-cublas-cu12==12.4.5.8", "nvidia_nccl_cu12==2.20.5", "numpy"), USUAL, ("torch==2.4.0", "numpy")),
        (("nvidia-cublas-cu12==12.4.5.8", "jax"), USUAL, ("nvidia-cublas-cu12==12.4.5.8", "jax")),
        (("torch", "nvidia-ml-py==12.0", "nvidia-dali-cuda120", "nvidia-cublas-cu12"), USUAL,
         ("torch", "nvidia-ml-py==12.0", "nvidia-dali-cuda120", "nvidia-cublas-cu12")),
        (("torch==2.1.0", "triton==2.0.0"), USUAL, ("torch==2.1.0", "triton")),
        (("torch==1.13.1", "xformers==0.0.25.post1"), USUAL, ("torch==1.13.1", "xformers==0.0.16")),
        (("torch==2.5.1", "xformers==0.0.28.post3"), USUAL, ("torch==2.5.1", "xformers==0.0.28.post3")),
        (("torch==1.12.1", "xformers==0.0.25"), USUAL, ("torch==1.12.1", "xformers")),
        (("torch==2.1.0", "torchvision==0.15.2", "torchaudio==2.0.1"), USUAL, ("torch==2.1.0", "torchvision==0.16.0", "torchaudio==2.1.0")),
        (("torch>=2.1", "torchvision==0.15.2"), USUAL, ("torch>=2.1", "torchvision==0.21.0")),
        (("torchaudio==0.6.0", "torch"), USUAL, ("torchaudio==2.6.0", "torch")),
        (("torch<2.6", "torchvision==0.15.2"), USUAL, ("torch<2.6", "torchvision==0.15.2")),
        (("torch", "torchvision==0.15.2"), "nvcr.io/nvidia/cuda:12.4.1-devel", ("torch", "torchvision==0.15.2")),
        (("torch==1.8.1", "torchvision==0.2.2"), USUAL, ("torch==1.8.1", "torchvision==0.9.1")),
        (("torch==1.10", "torchvision==0.11.1", "torchaudio==0.10"), USUAL, ("torch==1.10", "torchvision==0.11.1", "torchaudio==0.10")),
        (("torch==1.10.1", "torchvision==0.11.1", "torchtext==0.11.0"), USUAL, ("torch==1.10.1", "torchvision==0.11.2", "torchtext==0.11.1")),
        (("torch==1.12.1", "torchaudio==0.13.1", "torchdata==0.5.1"), USUAL, ("torch==1.12.1", "torchaudio==0.12.1", "torchdata==0.4.1")),
        (("torch==2.7.0", "torchtext==0.16.0", "torchdata==0.7.0"), USUAL, ("torch==2.7.0", "torchtext==0.16.0", "torchdata==0.7.0")),
        (("torch==2.99.0", "torchvision==0.21.0"), USUAL, ("torch==2.99.0", "torchvision==0.21.0")),
        (("torch==2.1.1", "vllm", "transformers==4.40.0"), "vllm/vllm-openai:v0.12.0", ("torch", "vllm", "transformers==4.40.0")),
        (("torch==2.1.0", "git+https://github.com/x/torchvision@v0.15.2"), USUAL, ("torch==2.1.0", "git+https://github.com/x/torchvision@v0.15.2")),
    ],
)  # fmt: skip
def test_what_pytorch_or_the_image_settles_needs_no_line_of_its_own(
    asked: tuple[str, ...], image: str, installed: tuple[str, ...]
) -> None:
    assert beside_torch(asked, image)[0] == installed


def test_a_pin_that_gives_way_is_told() -> None:
    _, notes = beside_torch(("torch==1.13.1", "xformers==0.0.25.post1"), USUAL)
    assert notes == ("xformers 0.0.25.post1 is not for torch 1.13.1, which is pinned: xformers==0.0.16 is taken",)
    _, notes = beside_torch(("torch", "torchvision==0.6.1"), USUAL)
    assert notes == ("torchvision 0.6.1 is not for torch 2.6.0, which the image holds: torchvision==0.21.0 is taken",)
    _, notes = beside_torch(("torch==2.1.1",), "vllm/vllm-openai:v0.12.0")
    assert "holds the torch that it was built for" in notes[0]
    assert beside_torch(("torch==2.4.0", "nvidia-nccl-cu12==2.20.5"), USUAL)[1] == ()
