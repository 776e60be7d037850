"""Packages that ask for one PyTorch, or for a compiler.

Sources: the packages' own release notes and wheels' metadata, as far as they were known when this was written.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.read_requirements import read_requirement
from gpu_lol_action.estimation.torch_family import FAMILY, torch_of
from gpu_lol_action.estimation.torch_releases import parse_version, torch_releases

# xformers' wheels are built for one PyTorch each.
_XFORMERS = {
    "0.0.16": "1.13.1", "0.0.17": "2.0.0", "0.0.18": "2.0.0", "0.0.19": "2.0.0", "0.0.20": "2.0.1", "0.0.21": "2.0.1",
    "0.0.22": "2.0.1", "0.0.22.post7": "2.1.0", "0.0.23": "2.1.1", "0.0.23.post1": "2.1.2", "0.0.24": "2.2.0",
    "0.0.25": "2.2.1", "0.0.25.post1": "2.2.2", "0.0.26.post1": "2.3.0", "0.0.27": "2.3.1", "0.0.27.post2": "2.4.0",
    "0.0.28": "2.4.1", "0.0.28.post1": "2.4.1", "0.0.28.post2": "2.5.0", "0.0.28.post3": "2.5.1", "0.0.29": "2.5.1",
    "0.0.29.post1": "2.5.1", "0.0.29.post2": "2.6.0", "0.0.29.post3": "2.6.0", "0.0.30": "2.7.0", "0.0.31": "2.7.1",
    "0.0.32": "2.8.0", "0.0.33": "2.9.0",
}  # fmt: skip
# vLLM's wheels pin one PyTorch, from this release on that one. Source: the metadata of vLLM's own releases.
_VLLM: tuple[tuple[tuple[int, ...], str], ...] = (
    ((0, 2, 1), "2.0.1"), ((0, 2, 2), "2.1.2"), ((0, 4, 1), "2.2.1"), ((0, 4, 2), "2.3.0"), ((0, 5, 2), "2.3.1"), ((0, 5, 4), "2.4.0"),
    ((0, 6, 4), "2.5.1"), ((0, 8), "2.6.0"), ((0, 9), "2.7.0"), ((0, 10), "2.7.1"), ((0, 11), "2.8.0"), ((0, 12), "2.9.0"), ((0, 13), ""),
)  # fmt: skip

# Compiled with nvcc at installation or at run time.
NEEDS_COMPILER = frozenset({
    "flash-attn", "flash-attention", "apex", "deepspeed", "mamba-ssm", "causal-conv1d", "detectron2", "torch-scatter", "torch-sparse",
    "torch-cluster", "torch-spline-conv", "pyg-lib", "transformer-engine", "gsplat", "tiny-cuda-nn", "pytorch3d", "mmcv-full",
    "diff-gaussian-rasterization", "simple-knn", "nvdiffrast", "groundingdino", "minkowskiengine", "torchsparse", "natten",
    "pointnet2-ops", "sageattention", "exllamav2", "megablocks", "grouped-gemm", "fused-ssim", "curope", "deformable-attention",
    "mamba", "colossalai", "rwkv", "raymarching", "nerfacc", "kaolin", "sparseconvnet", "chamferdist", "ms-deform-attn",
})  # fmt: skip

_NAME = regex(r"[ \t]*([A-Za-z0-9][A-Za-z0-9._-]*)")


def xformers_for(version: str, torch: str) -> str:
    """Return the newest xformers that is built for a PyTorch where the one that is pinned is for another; empty where it fits."""
    if _XFORMERS.get(version, torch) == torch:
        return ""
    fitting = [name for name, built_for in _XFORMERS.items() if built_for == torch]
    return f"xformers=={fitting[-1]}" if fitting else "xformers"


def specifier_of(requirements: Sequence[str], *names: str) -> str | None:
    """Return the version part of the first of these packages; empty for any version, None where none is named."""
    for text in requirements:
        # Read as a requirement only where it begins as one of them: each list is asked for a dozen packages, of each run.
        name = _NAME.match(text)
        if name is None or regex(r"[-_.]+").sub("-", name[1]).lower() not in names:
            continue
        read = read_requirement(text)
        if read is not None:
            return str(read.specifier) if read.specifier else ""
    return None


def pinned(specifier: str | None) -> str:
    """Return the version of a ``==`` specifier; empty for a range."""
    found = regex(r"={2,3}\s*(\d[\w.+!-]*)").fullmatch((specifier or "").strip())
    return found[1] if found else ""


def is_on_jax_page(requirement: str) -> bool:
    """Whether a requirement is a JAX whose CUDA comes as wheels from JAX's own page: pinned, from 0.4.8 on, before PyPI had them."""
    exact = pinned(specifier_of([requirement], "jax"))
    return bool(exact) and allows(">=0.4.8,<0.4.30", exact)


def is_on_old_jax_page(requirement: str) -> bool:
    """Whether a requirement pins a JAX of before 0.4.13, whose jaxlib no index has any more: JAX's own page of wheels does."""
    name = "jaxlib" if requirement.startswith("jaxlib") else "jax"
    exact = pinned(specifier_of([requirement], name))
    return bool(exact) and allows(">=0.2.10,<0.4.13", exact) and not is_on_jax_page(requirement)


def with_jaxlib(requirement: str, names: Collection[str]) -> str:
    """Return a pinned JAX of before 0.4.26, which asks for jaxlib by its extras alone, with that extra; anything else as it is.

    ``names`` are those of all that is installed: beside a jaxlib of its own it needs none.
    """
    exact = pinned(specifier_of([requirement], "jax"))
    if not exact or "jaxlib" in names or "[" in requirement or not allows(">=0.2.10,<0.4.26", exact):
        return requirement
    return requirement.replace("jax", "jax[cpu]", 1)


def _newest(specifier: str | None) -> str:
    """Return the version that is installed of a ``==``, or of a range that ends with ``<=``; empty where only the index tells."""
    ends = regex(r"<=\s*(\d[\w.]*)").search(specifier or "")
    return pinned(specifier) or (ends[1] if ends else "")


def implied_torch(requirements: Sequence[str]) -> tuple[str, str]:
    """Return the PyTorch that other pins imply as a specifier, and which pin does; empty where none does."""
    for name in FAMILY:
        version = pinned(specifier_of(requirements, name))
        torch = torch_of(name, version)
        # An older one would bring an image for cards that nobody rents out.
        if torch and parse_version(torch) >= next(iter(torch_releases().values())).version:
            return f"=={torch}", f"{name} {version}"
    xformers = pinned(specifier_of(requirements, "xformers"))
    if xformers in _XFORMERS:
        return f"=={_XFORMERS[xformers]}", f"xformers {xformers}"
    vllm = _newest(specifier_of(requirements, "vllm"))
    built_for = _torch_of_vllm(vllm)
    return (f"=={built_for}", f"vllm {vllm}") if built_for else ("", "")


def _torch_of_vllm(version: str) -> str:
    """Return the PyTorch that a release of vLLM pins; empty for one that is not known."""
    asked = parse_version(version) if version else ()
    return next((torch for first, torch in reversed(_VLLM) if asked >= first), "")


def disagreements(requirements: Sequence[str]) -> list[str]:
    """Return sentences on pins that exclude each other: PyTorch's own libraries, xformers and vLLM against torch."""
    torch = specifier_of(requirements, "torch")
    if not torch:
        return []
    found: list[str] = []
    for name in FAMILY:
        version = pinned(specifier_of(requirements, name))
        built = torch_of(name, version)
        if built and not allows(torch, built):
            found.append(f"{name} {version} is built for torch {built}, but torch{torch} is asked for")
    xformers = pinned(specifier_of(requirements, "xformers"))
    if xformers in _XFORMERS and not allows(torch, _XFORMERS[xformers]):
        found.append(f"xformers {xformers} is built for torch {_XFORMERS[xformers]}, but torch{torch} is asked for")
    vllm = _torch_of_vllm(pinned(specifier_of(requirements, "vllm")))
    exact = parse_version(pinned(torch))
    if vllm and exact and exact[:2] != parse_version(vllm)[:2]:
        found.append(f"this vllm pins torch {vllm}, but torch{torch} is asked for")
    return found


def allows(specifier: str, version: str) -> bool:
    """Whether a specifier allows a version; none and one that cannot be read allow all."""
    if not specifier:
        return True
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True
