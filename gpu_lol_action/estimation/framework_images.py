"""Images of frameworks other than PyTorch: TensorFlow, vLLM, SGLang, Text Generation Inference, PaddlePaddle, MXNet, NVIDIA's.

Sources: TensorFlow's "tested build configurations" (CUDA and Python per release); tags as public Dockerfiles use them.
"""

from __future__ import annotations

from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.package_pairs import allows, pinned
from gpu_lol_action.estimation.torch_releases import Version, parse_version

# TensorFlow release: CUDA in the image, Python in it.
TENSORFLOW: dict[str, tuple[str, str]] = {
    "2.0.0": ("10.0", "3.6"), "2.1.0": ("10.1", "3.6"), "2.2.0": ("10.1", "3.6"), "2.3.0": ("10.1", "3.6"),
    "2.4.0": ("11.0", "3.6"), "2.5.0": ("11.2", "3.6"), "2.6.0": ("11.2", "3.6"), "2.7.0": ("11.2", "3.8"),
    "2.8.0": ("11.2", "3.8"), "2.9.0": ("11.2", "3.8"), "2.10.0": ("11.2", "3.8"), "2.11.0": ("11.2", "3.8"),
    "2.12.0": ("11.8", "3.8"), "2.13.0": ("11.8", "3.8"), "2.14.0": ("11.8", "3.11"), "2.15.0": ("12.2", "3.11"),
    "2.16.1": ("12.3", "3.11"), "2.17.0": ("12.3", "3.11"), "2.18.0": ("12.5", "3.11"), "2.19.0": ("12.5", "3.11"),
    "2.20.0": ("12.5", "3.11"),
}  # fmt: skip
# TensorFlow 1's own images do not run on Ampere and newer; NVIDIA's build of 1.15 does.
TENSORFLOW_1 = "nvcr.io/nvidia/tensorflow:23.03-tf1-py3"
# An unpinned vLLM brings a CUDA 13 build that needs driver 580: its own image with CUDA 12 is taken instead.
VLLM_DEFAULT = "0.12.0"
VLLM_TAGS = ("0.6.4", "0.12.0", "0.20.0", "0.22.1", "0.24.0", "0.27.1", "0.28.0", "0.29.0")
SGLANG_TAGS = {"0.4.6.post4": "v0.4.6.post4-cu124", "0.4.8.post1": "v0.4.8.post1-cu126", "0.4.10.post2": "v0.4.10.post2-cu126",
               "0.5.4": "v0.5.4", "0.5.9": "v0.5.9", "0.5.15": "v0.5.15"}  # fmt: skip
SGLANG_DEFAULT = "0.4.10.post2"
TGI_IMAGE = "ghcr.io/huggingface/text-generation-inference:3.3.5"
PADDLE_TAGS = {"2.2.0": "2.2.0-gpu-cuda11.2-cudnn8", "2.4.1": "2.4.1-gpu-cuda11.2-cudnn8.2-trt8.0",
               "2.6.1": "2.6.1-gpu-cuda12.0-cudnn8.9-trt8.6", "3.2.0": "3.2.0-gpu-cuda12.6-cudnn9.5"}  # fmt: skip
MXNET_IMAGE = "nvcr.io/nvidia/mxnet:22.04-py3"
NEMO_IMAGE = "nvcr.io/nvidia/nemo:24.07"
# NVIDIA's PyTorch holds apex and Transformer Engine ready-made; this release has CUDA 12.6 and PyTorch 2.6.
NVIDIA_PYTORCH = "nvcr.io/nvidia/pytorch:24.12-py3"
NVIDIA_RELEASES: dict[str, tuple[Version, Version]] = {
    "23.10": ((2, 1), (12, 2)), "24.01": ((2, 2), (12, 3)), "24.07": ((2, 4), (12, 5)), "24.10": ((2, 5), (12, 6)),
    "24.12": ((2, 6), (12, 6)), "25.01": ((2, 6), (12, 8)), "25.03": ((2, 7), (12, 8)), "25.04": ((2, 7), (12, 9)),
    "25.06": ((2, 8), (12, 9)), "25.08": ((2, 8), (13, 0)), "25.09": ((2, 9), (13, 0)), "25.11": ((2, 10), (13, 0)),
    "26.04": ((2, 12), (13, 2)),
}  # fmt: skip


@record(frozen=True, slots=True)
class FrameworkImage:
    """An image with its Python and CUDA where they are known, and one sentence why; ``is_exact``: it holds what is pinned."""

    image: str
    python: str | None
    cuda: str | None
    why: str
    is_exact: bool = True


def tensorflow_image(specifier: str) -> FrameworkImage:
    """Return TensorFlow's own image for a specifier: what is pinned, else the newest that is allowed."""
    exact = pinned(specifier)
    least = parse_version(specifier.split(",", maxsplit=1)[0].lstrip("=~<>! ")) if specifier else ()
    why = f"TensorFlow {specifier or 'without a pin'} is asked for"
    if least and least < (2, 0) and not any(allows(specifier, name) for name in ("2.0.0", "2.3.0", "2.10.0")):
        return FrameworkImage(TENSORFLOW_1, "3.8", "12.1", "TensorFlow 1 is asked for")
    if least and least < (2, 0) and specifier.lstrip().startswith((">", "~", "=")):
        # "1.11 or newer" was written before there was a 2, which its programs do not run on.
        return FrameworkImage(TENSORFLOW_1, "3.8", "12.1", f"{why}: written for TensorFlow 1")
    if exact and len(parse_version(exact)) == 3:
        minor = [
            contents for name, contents in TENSORFLOW.items() if parse_version(name)[:2] == parse_version(exact)[:2]
        ]
        cuda, python = minor[0] if minor else (None, None)
        return FrameworkImage(f"tensorflow/tensorflow:{exact}-gpu", python, cuda, why)
    fitting = [name for name in TENSORFLOW if allows(specifier, name)]
    fitting = fitting or [name for name in TENSORFLOW if parse_version(name)[:2] == least[:2]]
    name = fitting[-1] if fitting else "2.20.0"
    cuda, python = TENSORFLOW[name]
    return FrameworkImage(f"tensorflow/tensorflow:{name}-gpu", python, cuda, why, is_exact=bool(fitting))


def vllm_image(specifier: str) -> FrameworkImage | None:
    """Return vLLM's own image; None where a version is pinned that no known tag holds."""
    exact = pinned(specifier)
    if exact:
        why = f"vllm {exact} is pinned"
        return FrameworkImage(f"vllm/vllm-openai:v{exact}", "3.12", None, why) if exact in VLLM_TAGS else None
    if specifier and not allows(specifier, VLLM_DEFAULT):
        fitting = [tag for tag in VLLM_TAGS if allows(specifier, tag)]
        if not fitting:
            return None
        return FrameworkImage(f"vllm/vllm-openai:v{fitting[0]}", "3.12", None, f"vllm{specifier} is asked for")
    why = "vllm is not pinned; this image is the newest with CUDA 12, a fresh install would need driver 580"
    return FrameworkImage(f"vllm/vllm-openai:v{VLLM_DEFAULT}", "3.12", "12.9", why)


def sglang_image(specifier: str) -> FrameworkImage:
    """Return SGLang's own image: what is pinned where a tag is known, else one with CUDA 12."""
    exact = pinned(specifier)
    if exact in SGLANG_TAGS:
        return FrameworkImage(f"lmsysorg/sglang:{SGLANG_TAGS[exact]}", None, None, f"sglang {exact} is pinned")
    fitting = [tag for tag in SGLANG_TAGS if allows(specifier, tag)] if specifier and not exact else []
    tag = SGLANG_DEFAULT if not fitting or SGLANG_DEFAULT in fitting else fitting[0]
    why = f"sglang{specifier} is asked for; {tag} is the image that is known" if specifier else "sglang is not pinned"
    return FrameworkImage(f"lmsysorg/sglang:{SGLANG_TAGS[tag]}", None, None, why, is_exact=not exact)


def paddle_image(specifier: str) -> FrameworkImage:
    """Return PaddlePaddle's own image: the newest that is allowed, else the nearest older one."""
    fitting = [name for name in PADDLE_TAGS if allows(specifier, name)] if specifier else list(PADDLE_TAGS)
    is_exact = bool(fitting)
    if not fitting:
        asked = parse_version(pinned(specifier) or specifier.lstrip("=~<>! "))
        fitting = [name for name in PADDLE_TAGS if parse_version(name) <= asked] or ["2.2.0"]
    tag = PADDLE_TAGS[fitting[-1]]
    cuda = tag.split("cuda", 1)[1].split("-", 1)[0]
    why = f"PaddlePaddle {specifier or 'without a pin'} is asked for"
    return FrameworkImage(f"paddlepaddle/paddle:{tag}", None, cuda, why, is_exact=is_exact)
