"""What a PyTorch brings or binds: its CUDA libraries and Triton, and the builds of torchvision and xformers that go with it.

pip ends where two lines exclude each other. What PyTorch itself pins needs no line of its own, and of two pins that cannot both be
had the one on PyTorch counts. Images of servers hold a PyTorch that their server was built for.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.package_pairs import pinned, specifier_of, xformers_for
from gpu_lol_action.estimation.torch_releases import parse_version, torch_releases

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
    torch = pinned(specifier_of(requirements, "torch"))
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
            notes.append(f"{name} {pinned(specifier)} is not for torch {torch}, which is pinned: {other} is taken")
        kept.append(other or requirement)
    return tuple(kept), tuple(notes)


def _read(requirement: str) -> tuple[str, str]:
    """Return the normalized name and the specifier of a requirement; empty ones for an address."""
    found = _NAME.fullmatch(requirement.strip())
    if found is None:
        return "", ""
    return regex(r"[-_.]+").sub("-", found[1]).lower(), regex(r"\s+").sub("", found[2] or "")


def _companion(name: str, version: str, torch: str) -> str:
    """Return the build of torchvision, torchaudio or xformers for a PyTorch where another is pinned; empty where it fits or nobody knows."""
    release = torch_releases().get(torch)
    if not version or release is None:
        return ""
    if name == "torchvision" and any(
        other.vision == version and other.name != torch for other in torch_releases().values()
    ):
        return f"torchvision=={release.vision}"
    if name == "torchaudio" and parse_version(torch) >= (2, 0) and version in torch_releases() and version != torch:
        return f"torchaudio=={torch}"
    if name == "xformers":
        return xformers_for(version, torch)
    return ""
