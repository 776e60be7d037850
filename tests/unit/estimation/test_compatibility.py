from __future__ import annotations

import pytest

from gpu_lol_action.domain.gpus import Accelerator, find_accelerator
from gpu_lol_action.estimation.compatibility import ImageWish, choose_image
from gpu_lol_action.estimation.image_contents import ImageContents, image_contents, image_refusal, is_gpu_image
from gpu_lol_action.estimation.torch_family import built_for
from gpu_lol_action.estimation.torch_releases import first_cuda, least_driver, parse_version, torch_releases


def card(name: str) -> Accelerator:
    found = find_accelerator(name)
    assert found is not None
    return found


def wish(*requirements: str, framework: str = "torch", **more: object) -> ImageWish:
    return ImageWish(framework, requirements, **more)  # type: ignore[arg-type]  # named as the dataclass names them


@pytest.mark.parametrize(
    ("asked", "image"),
    [
        (wish(), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (wish("torch==2.3.1"), "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime"),
        (wish("torch == 2.1"), "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime"),
        (wish("torch==1.13.1"), "pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime"),
        (wish("torch==1.7.1"), "pytorch/pytorch:1.7.1-cuda11.0-cudnn8-runtime"),
        (wish("torch==1.10.2"), "pytorch/pytorch:1.10.0-cuda11.3-cudnn8-runtime"),
        (wish("torchaudio==0.13.1"), "pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime"),
        (wish("torch>=1.9", "torchtext==0.15.2"), "pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime"),
        (wish("torchvision==0.5.0"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (wish("torch==1.2.0"), "pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime"),
        (wish("torch==1.1.*"), "pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime"),
        (wish("torch<1.4"), "pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime"),
        (wish("torch==1.99.*"), "pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime"),
        (wish("torch==1.12.*"), "pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime"),
        (wish("torch>=2.8"), "pytorch/pytorch:2.8.0-cuda12.6-cudnn9-runtime"),
        (wish("torch>=1.13.1,<2"), "pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime"),
        (wish("torch<2.2"), "pytorch/pytorch:2.1.2-cuda12.1-cudnn8-runtime"),
        (wish("torch==2.1.0", cuda="11.8"), "pytorch/pytorch:2.1.0-cuda11.8-cudnn8-runtime"),
        (wish("torch==2.5.1", cuda="12.1"), "pytorch/pytorch:2.5.1-cuda12.1-cudnn9-runtime"),
        (wish("torch>=1.13", cuda="11.7"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (wish(torch="==1.12.1", cuda="11.3"), "pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime"),
        (wish("torchvision==0.15.2"), "pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime"),
        (wish("torch", "xformers==0.0.28.post3"), "pytorch/pytorch:2.5.1-cuda11.8-cudnn9-runtime".replace("11.8", "12.1")),
        (wish("flash-attn"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"),
        (wish("torch", "git+https://github.com/x/" "simple-knn.git"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"),
        (wish("torch", compiles="its own extension"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"),
        (wish(card=card("B200")), "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"),
        (wish(python="3.12"), "pytorch/pytorch:2.9.1-cuda12.6-cudnn9-runtime"),
        (wish("jax[cuda12]", framework="jax"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (wish("vllm==0.6.4", framework="vllm"), "vllm/vllm-openai:v0.6.4"),
        (wish("vllm", framework="vllm"), "vllm/vllm-openai:v0.12.0"),
        (wish("vllm>=0.5", framework="vllm"), "vllm/vllm-openai:v0.12.0"),
        (wish("vllm<=0.6.3", framework="vllm"), "pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime"),
        (wish("vllm<0.6", framework="vllm"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (wish("vllm==0.5.0", framework="vllm"), "pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime"),
        (wish("vllm==0.5.3.post1", framework="vllm"), "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime"),
        (wish("vllm==0.4.0", framework="vllm"), "pytorch/pytorch:2.1.2-cuda12.1-cudnn8-runtime"),
        (wish("vllm==0.1.7", framework="vllm"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (wish("vllm==0.8.5", framework="vllm"), "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        (wish("sglang", framework="sglang"), "lmsysorg/sglang:v0.4.10.post2-cu126"),
        (wish("tensorflow==2.15", framework="tensorflow"), "tensorflow/tensorflow:2.15.0-gpu"),
        (wish("tensorflow==2.11.1", framework="tensorflow"), "tensorflow/tensorflow:2.11.1-gpu"),
        (wish("tensorflow >= 1.11.0", framework="tensorflow"), "nvcr.io/nvidia/tensorflow:23.03-tf1-py3"),
        (wish("tensorflow-gpu==1.15", framework="tensorflow"), "nvcr.io/nvidia/tensorflow:23.03-tf1-py3"),
        (wish("tensorflow<2.11", framework="tensorflow"), "tensorflow/tensorflow:2.10.0-gpu"),
        (wish("tensorflow", framework="tensorflow"), "tensorflow/tensorflow:2.20.0-gpu"),
        (wish("paddlepaddle-gpu==2.4.1", framework="paddle"), "paddlepaddle/paddle:2.4.1-gpu-cuda11.2-cudnn8.2-trt8.0"),
        (wish(framework="tgi"), "ghcr.io/huggingface/text-generation-inference:3.3.5"),
        (wish("apex", framework="nvidia"), "nvcr.io/nvidia/pytorch:24.12-py3"),
        (wish(framework="none", python="3.12"), "python:3.12-slim"),
    ],
)  # fmt: skip
def test_choose_image(asked: ImageWish, image: str) -> None:
    assert choose_image(asked).image == image


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (wish("torch==1.13.1", card=card("H100")), "does not run on H100"),
        (wish("torch==2.6.0", card=card("B200")), "Blackwell needs torch 2.7"),
        (wish("torch==1.12.1", python="3.12"), "torch 1.12.1 exists for Python 3.7 to 3.10 only"),
        (wish("torch==2.0.1", python="3.8"), "has 3.10"),
        (wish("torch==2.1.0", "torchvision==0.15.2"), "torchvision 0.15.2 is built for torch 2.0.1"),
        (wish("torch==2.1.0", "xformers==0.0.20"), "xformers 0.0.20 is built for torch 2.0.1"),
        (wish("torch==2.1.0", "vllm==0.8.5"), "pins torch 2.6.0"),
        (wish("paddlepaddle-gpu==2.5.1", framework="paddle"), "no image with that version is known"),
    ],
)
def test_contradictions_are_said(asked: ImageWish, said: str) -> None:
    assert said in " | ".join(choose_image(asked).contradictions)


@pytest.mark.parametrize("asked", [wish("torch==2.5.1", "torchvision==0.20.1", "vllm==0.6.4"), wish("torch"), wish()])
def test_what_fits_is_no_contradiction(asked: ImageWish) -> None:
    assert choose_image(asked).contradictions == ()


@pytest.mark.parametrize(
    ("image", "torch", "cuda"),
    [
        ("runpod/pytorch:1.0.3-cu1290-torch291-ubuntu2204", (2, 9, 1), (12, 9)),
        ("runpod/pytorch:1.0.2-cu1281-torch260-ubuntu2204", (2, 6, 0), (12, 6)),
        ("runpod/pytorch:1.0.7-cu1300-torch271-ubuntu2404", (2, 7, 1), (12, 8)),
        ("docker:runpod/pytorch:2.4.0-py3.11-cuda12.4.1-devel-ubuntu22.04", (2, 4, 0), (12, 4)),
        ("pytorch/pytorch:2.13.0-cuda12.6-cudnn9-runtime", (2, 13, 0), (12, 6)),
        ("nvcr.io/nvidia/pytorch:24.12-py3", (2, 6), (12, 6)),
        ("nvcr.io/nvidia/pytorch:99.99-py3", None, None),
        ("tensorflow/tensorflow:2.3.4-gpu", None, (10, 1)),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", None, (12, 4)),
        ("somebody/pytorch-cuda:1.12.0-11.3.0", None, None),
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
    assert "11.8" in image_refusal("pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime", card("H100"))
    assert image_refusal("pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime", card("RTX4090")) == ""
    assert "11.0" in image_refusal("pytorch/pytorch:1.6.0-cuda10.1-cudnn7-runtime", card("A100"))
    assert image_refusal("nvidia/cuda:11.3.1-devel-ubuntu20.04", card("H100")) == ""  # its torch comes with pip


@pytest.mark.parametrize("name", ["RTX5090", "B200", "A40", "H100", "T4"])
def test_chosen_image_runs_on_the_card_it_was_chosen_for(name: str) -> None:
    assert image_refusal(choose_image(ImageWish(card=card(name))).image, card(name)) == ""


def test_releases_are_ordered_and_whole() -> None:
    releases = list(torch_releases().values())
    assert [release.version for release in releases] == sorted(release.version for release in releases)
    assert len({built_for("torchvision", release.name) for release in releases} - {""}) == len(releases)
    for release in releases:
        assert release.image_cudas
        assert set(release.image_cudas) <= set(release.wheel_cudas)
        least, most = (parse_version(python) for python in release.pythons)
        assert least <= parse_version(release.image_python) <= most
        assert least_driver(release.image_cudas[0])


def test_first_cuda_by_capability() -> None:
    assert [first_cuda(c) for c in ((7, 0), (8, 9), (9, 0), (12, 0))] == [(9, 2), (11, 0), (11, 8), (12, 8)]


def test_is_gpu_image() -> None:
    assert is_gpu_image("nvidia/cuda:12.4.1-devel-ubuntu22.04")
    assert is_gpu_image("lmsysorg/sglang:v0.5.4")
    assert not is_gpu_image("python:3.11-slim")
