"""Which image holds which torch and CUDA, and on which cards that runs.

Sources: PyTorch's RELEASE.md compatibility matrix and "previous versions" page (CUDA per release), PyTorch issues
157517, 172352 and 190385 (architectures per wheel), runpod/containers' bake file (what a RunPod tag really holds),
NVIDIA's CUDA compatibility guide (drivers). SkyPilot 0.14.1 cannot ask RunPod for a host's driver, so of several
images that would do, the one with the lowest CUDA 12 is taken: it starts on more hosts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpu_lol_action.domain.gpus import Accelerator

Version = tuple[int, ...]

# torch release: CUDA versions of pytorch/pytorch's tags, cuDNN in the tag, Python in the image.
TORCH_IMAGES: dict[str, tuple[tuple[str, ...], int, str]] = {
    "1.12.1": (("11.3",), 8, "3.7"),
    "1.13.0": (("11.6",), 8, "3.10"),
    "1.13.1": (("11.6",), 8, "3.10"),
    "2.0.0": (("11.7",), 8, "3.10"),
    "2.0.1": (("11.7",), 8, "3.10"),
    "2.1.0": (("11.8", "12.1"), 8, "3.10"),
    "2.1.1": (("11.8", "12.1"), 8, "3.10"),
    "2.1.2": (("11.8", "12.1"), 8, "3.10"),
    "2.2.0": (("11.8", "12.1"), 8, "3.10"),
    "2.2.1": (("11.8", "12.1"), 8, "3.10"),
    "2.2.2": (("11.8", "12.1"), 8, "3.10"),
    "2.3.0": (("11.8", "12.1"), 8, "3.10"),
    "2.3.1": (("11.8", "12.1"), 8, "3.10"),
    "2.4.0": (("11.8", "12.1", "12.4"), 9, "3.11"),
    "2.4.1": (("11.8", "12.1", "12.4"), 9, "3.11"),
    "2.5.0": (("11.8", "12.1", "12.4"), 9, "3.11"),
    "2.5.1": (("11.8", "12.1", "12.4"), 9, "3.11"),
    "2.6.0": (("11.8", "12.4", "12.6"), 9, "3.11"),
    "2.7.0": (("11.8", "12.6", "12.8"), 9, "3.11"),
    "2.7.1": (("11.8", "12.6", "12.8"), 9, "3.11"),
    "2.8.0": (("12.6", "12.8", "12.9"), 9, "3.11"),
    "2.9.0": (("12.6", "12.8", "13.0"), 9, "3.12"),
    "2.9.1": (("12.6", "12.8", "13.0"), 9, "3.12"),
    "2.10.0": (("12.6", "12.8", "13.0"), 9, "3.12"),
    "2.11.0": (("12.6", "12.8", "13.0"), 9, "3.12"),
    "2.12.0": (("12.6", "13.0", "13.2"), 9, "3.12"),
    "2.13.0": (("12.6", "13.0", "13.2"), 9, "3.12"),
}
DEFAULT_TORCH = "2.6.0"  # the newest whose lowest CUDA 12 is 12.4; packages of today still support it
FIRST_BLACKWELL_TORCH: Version = (2, 7)
FIRST_BLACKWELL_CUDA: Version = (12, 8)

# vLLM pins one torch, and an unpinned one brings a CUDA 13 build that needs driver 580: take its own image instead.
VLLM_IMAGE = "vllm/vllm-openai:v0.12.0"
VLLM_IMAGES = ("0.6.4", "0.12.0", "0.20.0", "0.22.1", "0.24.0", "0.27.1", "0.28.0", "0.29.0")

# Packages that compile at install or at run time and so need nvcc.
NEEDS_COMPILER = frozenset({"flash-attn", "apex", "deepspeed", "mamba-ssm", "causal-conv1d", "xformers", "detectron2",
                            "torch-scatter", "torch-sparse", "transformer-engine", "gsplat", "tiny-cuda-nn"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class ImageWish:
    """What the code asks of an image. ``torch`` is a pinned or least version; ``is_pinned`` says which."""

    framework: str = "torch"
    torch: str | None = None
    is_pinned: bool = False
    packages: frozenset[str] = frozenset()
    vllm: str | None = None
    tensorflow: str | None = None
    python: str | None = None
    card: Accelerator | None = None


@dataclass(frozen=True, slots=True)
class ImageChoice:
    """The image, what it holds, and one sentence why it was chosen."""

    image: str
    python: str | None
    cuda: str | None
    why: str


@dataclass(frozen=True, slots=True)
class ImageContents:
    """What an image's name says of torch and of the CUDA that its torch was built for; None: it does not say."""

    torch: Version | None
    cuda: Version | None


def choose_image(wish: ImageWish) -> ImageChoice:
    """Return the image for that wish; always one that exists by the tables above."""
    if wish.framework == "none":
        python = wish.python or "3.11"
        return ImageChoice(f"python:{python}-slim", python, None, "no GPU framework is used")
    if wish.framework == "tensorflow":
        return _tensorflow(wish)
    if wish.framework == "vllm":
        return _vllm(wish)
    return _torch(wish)


def image_contents(image: str) -> ImageContents:
    """Read torch and CUDA off an image's name (pytorch/pytorch, runpod/pytorch old and new, vllm, nvidia/cuda)."""
    name = image.removeprefix("docker:")
    if found := re.search(r"cu(\d{2})(\d)\d?-torch(\d)(\d{1,2})(\d)(?:-|$)", name):
        torch: Version = (int(found[3]), int(found[4]), int(found[5]))
        # A torch260 tag holds a CUDA 12.6 build, a torch271 tag a 12.8 one, whatever toolkit the tag names.
        builds: dict[Version, Version] = {(2, 6): (12, 6), (2, 7): (12, 8)}
        built_for = builds.get(torch[:2], (int(found[1]), int(found[2])))
        return ImageContents(torch, built_for)
    torch_found = re.search(r"(?:^|/)pytorch:v?(\d+)\.(\d+)(?:\.(\d+))?[-+]", name)
    cuda_found = re.search(r"cuda[:-]?(\d{2})\.(\d)", name) or re.search(r"[-+]cu(\d{2})(\d)(?:\D|$)", name)
    return ImageContents(
        tuple(int(part or 0) for part in torch_found.groups()) if torch_found else None,
        (int(cuda_found[1]), int(cuda_found[2])) if cuda_found else None,
    )


def image_refusal(image: str, card: Accelerator) -> str:
    """Return why that image's torch does not run on that card, in one clause; an empty text when nothing speaks against it."""
    holds = image_contents(image)
    if card.is_blackwell:
        if holds.torch is not None and holds.torch < FIRST_BLACKWELL_TORCH:
            return f"{card.architecture} needs torch 2.7 or newer, the image holds {_dotted(holds.torch)}"
        if holds.torch is not None and holds.cuda is not None and holds.cuda < FIRST_BLACKWELL_CUDA:
            return f"{card.architecture} needs a CUDA 12.8 build, the image holds {_dotted(holds.cuda)}"
    capability = card.compute_capability or (99, 0)
    if capability < (7, 5) and holds.cuda is not None and holds.cuda >= (13, 0):
        return f"CUDA {_dotted(holds.cuda)} builds do not run on {card.architecture}"
    return ""


def is_gpu_image(image: str) -> bool:
    """Whether an image's name promises CUDA."""
    return bool(
        re.search(r"cuda|cu1[12]\d|pytorch|torch|tensorflow.*gpu|nvidia|nvcr\.io|vllm|runpod/", image, re.IGNORECASE)
    )


def parse_version(text: str) -> Version:
    """Return the leading numbers of a version: ``2.9.1+cu128`` gives (2, 9, 1)."""
    found = re.match(r"\s*v?(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in found[1].split(".")[:3]) if found else ()


def _torch(wish: ImageWish) -> ImageChoice:
    release, why = _release(wish)
    cudas, cudnn, python = TORCH_IMAGES[release]
    needs_blackwell = wish.card is not None and wish.card.is_blackwell
    floor: Version = FIRST_BLACKWELL_CUDA if needs_blackwell else (12, 0)
    fitting = [cuda for cuda in cudas if parse_version(cuda) >= floor]
    cuda = fitting[0] if fitting else cudas[-1]
    needs_nvcc = bool(wish.packages & NEEDS_COMPILER)
    kind = "devel" if needs_nvcc else "runtime"
    if needs_nvcc:
        compiled = ", ".join(sorted(wish.packages & NEEDS_COMPILER))
        why += f"; with a compiler for {compiled}"
    why += f"; of its builds CUDA {cuda} starts on the most drivers"
    return ImageChoice(f"pytorch/pytorch:{release}-cuda{cuda}-cudnn{cudnn}-{kind}", python, cuda, why)


def _release(wish: ImageWish) -> tuple[str, str]:
    """Return the torch release of the image and why."""
    known = sorted(TORCH_IMAGES, key=parse_version)
    least = parse_version(wish.torch or "")
    if wish.is_pinned and least:
        same = [name for name in known if parse_version(name)[: len(least)] == least]
        if same:
            return same[-1], f"torch {wish.torch} is pinned"
        older = [name for name in known if parse_version(name) <= least]
        near = older[-1] if older else known[0]
        return near, f"torch {wish.torch} is pinned; {near} is the nearest release with a known image"
    floor = max(least, parse_version(DEFAULT_TORCH))
    why = f"torch {wish.torch} or newer is asked for" if least > parse_version(DEFAULT_TORCH) else "torch is not pinned"
    if wish.card is not None and wish.card.is_blackwell and floor < (2, 8):
        floor, why = (2, 8, 0), f"{wish.card.name} needs torch 2.7 or newer"
    if wish.python and parse_version(wish.python) >= (3, 12) and floor < (2, 9, 1):
        floor, why = (2, 9, 1), f"Python {wish.python} is asked for"
    fitting = [name for name in known if parse_version(name) >= floor]
    return (fitting[0] if fitting else known[-1]), why


def _vllm(wish: ImageWish) -> ImageChoice:
    if wish.vllm and wish.vllm in VLLM_IMAGES:
        return ImageChoice(f"vllm/vllm-openai:v{wish.vllm}", "3.12", None, f"vllm {wish.vllm} is pinned")
    if wish.vllm:
        choice = _torch(ImageWish(packages=wish.packages | {"xformers"}, card=wish.card))
        return ImageChoice(
            choice.image, choice.python, choice.cuda, f"vllm {wish.vllm} is pinned and brings its own torch"
        )
    why = "vllm is not pinned; this image is the newest with CUDA 12, a fresh install would need driver 580"
    return ImageChoice(VLLM_IMAGE, "3.12", "12.9", why)


def _tensorflow(wish: ImageWish) -> ImageChoice:
    version = parse_version(wish.tensorflow or "")
    if version and version < (2, 0):
        # TensorFlow 1's own images do not run on Ampere and newer; NVIDIA's build of 1.15 does.
        return ImageChoice("nvcr.io/nvidia/tensorflow:23.03-tf1-py3", "3.8", "12.1", "TensorFlow 1 is asked for")
    release = ".".join(map(str, (*version, 0, 0)[:3])) if version and len(version) > 1 else "2.20.0"
    python = "3.11" if not version or version >= (2, 16) else "3.9"
    return ImageChoice(
        f"tensorflow/tensorflow:{release}-gpu",
        python,
        None,
        f"TensorFlow {wish.tensorflow or 'without a pin'} is asked for",
    )


def _dotted(version: Version) -> str:
    return ".".join(str(part) for part in version)
