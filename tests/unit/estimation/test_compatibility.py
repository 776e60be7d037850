from __future__ import annotations

import pytest

from gpu_lol_action.domain.gpus import Accelerator, find_accelerator
from gpu_lol_action.estimation.compatibility import (
    ImageContents,
    ImageWish,
    choose_image,
    image_contents,
    image_refusal,
    is_gpu_image,
)


def card(name: str) -> Accelerator:
    found = find_accelerator(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("wish", "image"),
    [
        (ImageWish(), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (ImageWish(torch="2.3.1", is_pinned=True), "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime"),
        (ImageWish(torch="2.1", is_pinned=True), "pytorch/pytorch:2.1.2-cuda12.1-cudnn8-runtime"),
        (ImageWish(torch="1.13.1", is_pinned=True), "pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime"),
        (ImageWish(torch="1.7.1", is_pinned=True), "pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime"),
        (ImageWish(torch="2.8"), "pytorch/pytorch:2.8.0-cuda12.6-cudnn9-runtime"),
        (ImageWish(packages=frozenset({"flash-attn"})), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"),
        (ImageWish(card=card("B200")), "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"),
        (ImageWish(python="3.12"), "pytorch/pytorch:2.9.1-cuda12.6-cudnn9-runtime"),
        (ImageWish("vllm", vllm="0.6.4"), "vllm/vllm-openai:v0.6.4"),
        (ImageWish("vllm"), "vllm/vllm-openai:v0.12.0"),
        (ImageWish("tensorflow", tensorflow="2.15"), "tensorflow/tensorflow:2.15.0-gpu"),
        (ImageWish("tensorflow", tensorflow="1.11.0"), "nvcr.io/nvidia/tensorflow:23.03-tf1-py3"),
        (ImageWish("none", python="3.12"), "python:3.12-slim"),
    ],
)
def test_choose_image(wish: ImageWish, image: str) -> None:
    assert choose_image(wish).image == image


@pytest.mark.parametrize(
    ("image", "torch", "cuda"),
    [
        ("runpod/pytorch:1.0.3-cu1290-torch291-ubuntu2204", (2, 9, 1), (12, 9)),
        ("runpod/pytorch:1.0.2-cu1281-torch260-ubuntu2204", (2, 6, 0), (12, 6)),
        ("runpod/pytorch:1.0.7-cu1300-torch271-ubuntu2404", (2, 7, 1), (12, 8)),
        ("docker:runpod/pytorch:2.4.0-py3.11-cuda12.4.1-devel-ubuntu22.04", (2, 4, 0), (12, 4)),
        ("pytorch/pytorch:2.13.0-cuda12.6-cudnn9-runtime", (2, 13, 0), (12, 6)),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", None, (12, 4)),
        ("ubuntu:22.04", None, None),
    ],
)
def test_image_contents_reads_what_the_image_really_holds(image: str, torch: object, cuda: object) -> None:
    assert image_contents(image) == ImageContents(torch, cuda)  # type: ignore[arg-type]  # both are plain tuples


def test_image_refusal_holds_cards_to_what_wheels_run_on() -> None:
    old, new = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"
    assert "torch 2.7" in image_refusal(old, card("RTX5090"))
    assert "CUDA 12.8" in image_refusal("pytorch/pytorch:2.8.0-cuda12.6-cudnn9-runtime", card("B200"))
    assert image_refusal(new, card("B200")) == ""
    assert image_refusal(old, card("H100")) == ""
    assert "Volta" in image_refusal("pytorch/pytorch:2.12.0-cuda13.0-cudnn9-runtime", card("V100"))
    assert image_refusal("somebody/own:latest", card("RTX5090")) == ""


@pytest.mark.parametrize("name", ["RTX5090", "B200", "A40", "H100", "T4"])
def test_chosen_image_runs_on_the_card_it_was_chosen_for(name: str) -> None:
    assert image_refusal(choose_image(ImageWish(card=card(name))).image, card(name)) == ""


def test_is_gpu_image() -> None:
    assert is_gpu_image("nvidia/cuda:12.4.1-devel-ubuntu22.04")
    assert not is_gpu_image("python:3.11-slim")
