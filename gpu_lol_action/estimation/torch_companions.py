"""What a PyTorch brings or binds: its CUDA libraries and Triton, and the builds of its family and of xformers that go with it.

pip ends where two lines exclude each other. What PyTorch itself pins needs no line of its own, and of two pins that cannot both be
had the one on PyTorch counts. Images of servers hold a PyTorch that their server was built for.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.image_contents import image_contents
from gpu_lol_action.estimation.package_pairs import allows, pinned, specifier_of, xformers_for
from gpu_lol_action.estimation.torch_family import built_for, three_numbers, torch_of
from gpu_lol_action.estimation.torch_releases import parse_version

# The packages that PyTorch's wheels pin one by one since 2.0.
_CUDA_PARTS = regex(
    r"nvidia[-_](?:cublas|cuda[-_](?:cupti|nvrtc|runtime)|cudnn|cufft|cufile|curand|cusolver|cusparse|cusparselt|nccl|nvjitlink|nvtx|nvshmem)"
    r"(?:[-_]cu1\d)?"
)
_NAME = regex(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]{0,80}\])?\s*([=<>!~][^;@]*)?(?:;.*)?")
# Their PyTorch is the one that the server or library beside it was built for.
_HOLDS_ITS_OWN = regex(
    r"(?:docker:)?(?:vllm/|lmsysorg/|ghcr\.io/huggingface/text-generation-inference|nvcr\.io/nvidia/(?:pytorch|nemo):)"
)
_BOUND = ("torch", "torchvision", "torchaudio", "triton")


def beside_torch(requirements: Sequence[str], image: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirements without what the image's or the pinned PyTorch settles, and sentences on pins that gave way."""
    names = [_read(requirement) for requirement in requirements]
    has_torch = any(name == "torch" for name, _ in names)
    torch, says = settled_torch(specifier_of(requirements, "torch"), image)
    kept: list[str] = []
    notes: list[str] = []
    for requirement, (name, specifier) in zip(requirements, names, strict=True):
        if has_torch and _CUDA_PARTS.fullmatch(name) and specifier:
            continue
        if specifier and name in _BOUND and _HOLDS_ITS_OWN.match(image):
            notes.append(
                f"`{image}` holds the {name} that it was built for: {name}{specifier} is not installed over it"
            )
            kept.append(name)
            continue
        if has_torch and name == "triton" and specifier:
            kept.append("triton")
            continue
        other = _companion(name, pinned(specifier), torch) if torch else ""
        if other:
            notes.append(f"{name} {pinned(specifier)} is not for torch {torch}, which {says}: {other} is taken")
        kept.append(other or requirement)
    return tuple(kept), tuple(notes)


def _read(requirement: str) -> tuple[str, str]:
    """Return the normalized name and the specifier of a requirement; empty ones for an address."""
    found = _NAME.fullmatch(requirement.strip())
    if found is None:
        return "", ""
    return regex(r"[-_.]+").sub("-", found[1]).lower(), regex(r"\s+").sub("", found[2] or "")


def settled_torch(specifier: str | None, image: str) -> tuple[str, str]:
    """Return the PyTorch that will be there, and what says so: the pinned one, else the image's where it is allowed; empty if unknown."""
    if pinned(specifier):
        return pinned(specifier), "is pinned"
    held = image_contents(image).torch
    version = ".".join(map(str, held)) if held else ""
    return (version, "the image holds") if version and allows(specifier or "", version) else ("", "")


def _companion(name: str, version: str, torch: str) -> str:
    """Return the build of a library for a PyTorch where one for another is pinned; empty where it fits or nobody knows."""
    if not version or not _is_known(torch):
        return ""
    if name == "xformers":
        return xformers_for(version, torch)
    # Those of before 0.4 ask for no PyTorch, and import from Pillow what went in 7.
    built = torch_of(name, version) or ("0" if name == "torchvision" and parse_version(version) < (0, 4) else "")
    if not built or built == three_numbers(torch):
        return ""
    fitting = built_for(name, torch)
    return f"{name}=={fitting}" if fitting else ""


def _is_known(torch: str) -> bool:
    return bool(built_for("torchvision", torch))
