"""The Python inside an image, and which release's image has the Python that pinned packages have builds for.

Sources: ``torch_releases`` and ``framework_images``; NVIDIA's release notes of its PyTorch and TensorFlow containers (Python and
Ubuntu per month).
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.framework_images import TENSORFLOW
from gpu_lol_action.estimation.read_requirements import read_requirement
from gpu_lol_action.estimation.torch_family import built_for
from gpu_lol_action.estimation.torch_releases import TorchRelease, parse_version, torch_releases
from gpu_lol_action.estimation.wheel_ranges import unmet

# The first month of NVIDIA's containers with each Python.
_NVIDIA = (("24.11", "3.12"), ("23.04", "3.10"), ("20.12", "3.8"), ("18.01", "3.6"))
# Their releases of today ask for a newer PyTorch than images with an older Python hold.
_FOLLOWS_TORCH = frozenset({
    "transformers", "diffusers", "accelerate", "peft", "trl", "lightning", "pytorch-lightning", "deepspeed", "bitsandbytes", "unsloth",
    "torchtune", "sentence-transformers", "llamafactory", "ms-swift", "torchao", "optimum", "timm", "xformers", "flash-attn",
})  # fmt: skip
_LEAST_RELEASE = (2, 0)


def python_inside(image: str) -> str:
    """Return the Python of an image by its name, as ``3.10``; empty where the name does not say."""
    name = image.removeprefix("docker:")
    if found := regex(r"(?:docker\.io/)?pytorch/pytorch:(\d+\.\d+(?:\.\d+)?)-cuda").match(name):
        version = found[1] if found[1].count(".") == 2 else f"{found[1]}.0"
        release = torch_releases().get(version)
        return release.image_python if release is not None else ""
    if found := regex(r"nvcr\.io/nvidia/(?:pytorch|tensorflow):(\d\d\.\d\d)-").match(name):
        return next((python for month, python in _NVIDIA if found[1] >= month), "")
    if found := regex(r"tensorflow/tensorflow:(\d+\.\d+\.\d+)-").match(name):
        return TENSORFLOW.get(found[1], ("", ""))[1]
    found = regex(r"(?:docker\.io/)?(?:library/)?python:(3\.\d{1,2})\b").match(name)
    return found[1] if found else ""


def of_image(requirement: str, image: str) -> str:
    """Return a requirement with the image's own release of PyTorch where a pin is older than every image.

    Builds of those days know no card that is rented today, and some are on no index any more.
    """
    found = regex(r"(?:docker:)?(?:docker\.io/)?pytorch/pytorch:(\d+\.\d+\.\d+)-cuda").match(image)
    release = torch_releases().get(found[1]) if found else None
    first = next(iter(torch_releases().values()))
    if release is None or release.name != first.name:
        return requirement
    asked = regex(r"(torch|torchvision|torchaudio)\s*(?:={2,3}|~=|<=?)\s*(\d+(?:\.\d+){0,2})[\w.*]*").fullmatch(
        requirement
    )
    held = (release.name if asked[1] == "torch" else built_for(asked[1], release.name)) if asked else ""
    return f"{asked[1]}=={held}" if asked and parse_version(asked[2]) < parse_version(held) else requirement


def release_for_pins(
    fitting: Sequence[TorchRelease], chosen: TorchRelease, requirements: Sequence[str]
) -> TorchRelease | None:
    """Return a release whose image has builds of more of the pinned packages than the chosen one's; None where none does.

    Packages of today that follow PyTorch closely keep the chosen release: they would refuse an older one.
    """
    fails = unmet(requirements, chosen.image_python)
    if not fails or any(_is_open(requirement) for requirement in requirements):
        return None
    newest: dict[str, TorchRelease] = {}
    for release in fitting:
        if release.version >= _LEAST_RELEASE:
            newest[release.image_python] = release
    others = [(unmet(requirements, python), release) for python, release in newest.items()]
    least = min((count for count, _ in others), default=fails)
    return next((release for count, release in others if count == least), None) if least < fails else None


def _is_open(requirement: str) -> bool:
    """Whether a package that follows PyTorch may be of today's release: nothing bounds it from above."""
    read = read_requirement(requirement)
    if read is None:
        return False
    return regex(r"[-_.]+").sub("-", read.name).lower() in _FOLLOWS_TORCH and not any(
        part.operator in {"==", "===", "~=", "<", "<="} for part in read.specifier
    )
