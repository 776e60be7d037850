"""What an image holds, as far as its name says, and on which cards that runs. RunPod's tags by runpod/containers' bake file."""

from __future__ import annotations

import functools
import re

from gpu_lol_action.domain.gpus import Accelerator
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation import framework_images as others
from gpu_lol_action.estimation.torch_releases import (
    FIRST_BLACKWELL_TORCH,
    Version,
    first_cuda,
    least_capability,
    parse_version,
)


@record(frozen=True, slots=True)
class ImageContents:
    """What an image's name says of torch and of the CUDA that its torch was built for; None: it does not say."""

    torch: Version | None
    cuda: Version | None


@functools.lru_cache(maxsize=64)  # asked of the same few images for each of hundreds of offers
def image_contents(image: str) -> ImageContents:
    """Read torch and CUDA off an image's name (pytorch/pytorch, runpod/pytorch old and new, NVIDIA's, vllm, nvidia/cuda)."""
    name = image.removeprefix("docker:")
    if found := regex(r"cu(\d{2})(\d)\d?-torch(\d)(\d{1,2})(\d)(?:-|$)").search(name):
        torch: Version = (int(found[3]), int(found[4]), int(found[5]))
        # A torch260 tag holds a CUDA 12.6 build, a torch271 tag a 12.8 one, whatever toolkit the tag names.
        builds: dict[Version, Version] = {(2, 6): (12, 6), (2, 7): (12, 8)}
        built_for = builds.get(torch[:2], (int(found[1]), int(found[2])))
        return ImageContents(torch, built_for)
    if found := regex(r"nvcr\.io/nvidia/pytorch:(\d\d\.\d\d)-").search(name):
        return ImageContents(*others.NVIDIA_RELEASES.get(found[1], (None, None)))
    if found := regex(r"tensorflow/tensorflow:(\d+\.\d+)\.\d+-gpu").search(name):
        cudas = [cuda for release, (cuda, _) in others.TENSORFLOW.items() if release.startswith(f"{found[1]}.")]
        return ImageContents(None, parse_version(cudas[0]) if cudas else None)
    torch_found = regex(r"(?:^|/)pytorch:v?(\d+)\.(\d+)(?:\.(\d+))?[-+]").search(name)
    # Behind `pytorch-cuda:` may stand PyTorch's version first.
    cuda_found = regex(r"cuda[:-]?([7-9]|[1-9]\d)\.(\d)").search(name)
    cuda_found = cuda_found or regex(r"[-+]cu(\d{2})(\d)(?:\D|$)").search(name)
    return ImageContents(
        tuple(int(part or 0) for part in torch_found.groups()) if torch_found else None,
        (int(cuda_found[1]), int(cuda_found[2])) if cuda_found else None,
    )


def image_refusal(image: str, card: Accelerator) -> str:
    """Return why that image's torch does not run on that card, in one clause; an empty text when nothing speaks against it."""
    holds = image_contents(image)
    if card.is_blackwell and holds.torch is not None and holds.torch < FIRST_BLACKWELL_TORCH:
        return f"{card.architecture} needs torch 2.7 or newer, the image holds {_dotted(holds.torch)}"
    if holds.cuda is None or card.compute_capability is None:
        return ""
    needed = first_cuda(card.compute_capability)
    is_build = holds.torch is not None or needed < (11, 8)
    if is_build and holds.cuda < needed and not image.removeprefix("docker:").startswith("nvidia/cuda"):
        return f"{card.architecture} needs a CUDA {_dotted(needed)} build, the image holds {_dotted(holds.cuda)}"
    if card.compute_capability < least_capability(holds.torch, holds.cuda) and (holds.torch or holds.cuda >= (13, 0)):
        return f"CUDA {_dotted(holds.cuda)} builds do not run on {card.architecture}"
    return ""


def is_gpu_image(image: str) -> bool:
    """Whether an image's name promises CUDA."""
    return bool(
        regex(r"cuda|cu1[123]\d|pytorch|torch|tensorflow.*gpu|nvidia|nvcr\.io|vllm|sglang|runpod/|paddle.*gpu|"
                  r"text-generation-inference|deepspeed", re.IGNORECASE).search(image)
    )  # fmt: skip


def _dotted(version: Version) -> str:
    return ".".join(str(part) for part in version)
