"""Which requirements are installed last: those whose build imports what the others bring, PyTorch above all.

pip builds a source in an environment of its own, which holds only what the project declares for it. Projects that compile
against the installed PyTorch seldom declare it (flash-attn, apex), or would be built against another than the one that runs
(xformers from source): they are built last, and in the environment where they will run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement

# Published as source (alone, or where no wheel fits); their own instructions ask for `--no-build-isolation` or for an installed
# PyTorch. No package that pins one PyTorch is here: it must be resolved together with the others.
_FROM_SOURCE = frozenset({
    "flash-attn", "flash-attention", "apex", "deepspeed", "deeperspeed", "mamba-ssm", "mamba", "causal-conv1d", "detectron2",
    "torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv", "pytorch-scatter", "pytorch-sparse", "pytorch-cluster",
    "pytorch-spline-conv", "transformer-engine", "transformerengine", "transformer-engine-torch", "auto-gptq", "autogptq", "exllamav2",
    "pytorch3d", "mmcv-full", "diff-gaussian-rasterization", "simple-knn", "nvdiffrast", "tiny-cuda-nn", "tinycudann", "groundingdino",
    "minkowskiengine", "torchsparse", "natten", "pointnet2-ops", "sageattention", "megablocks", "grouped-gemm", "fused-ssim", "curope",
    "ms-deform-attn", "multiscaledeformableattention", "chamferdist", "gsplat", "kaolin", "flash-attn-3",
})  # fmt: skip
# Every work on splatting has one of its own (`diff-surfel-rasterization`), of the same build.
_RASTERIZER = re.compile(r"diff-[a-z0-9-]{1,60}-rasterization")
# Published as wheels of one PyTorch: only their repositories are built here.
_FROM_REPOSITORY = frozenset({"xformers"})


@dataclass(frozen=True, slots=True)
class BuildOrder:
    """What is installed first, what is built last without isolation, and what may not move meanwhile (pip's constraints)."""

    first: tuple[str, ...]
    last: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()


def order_builds(requirements: Sequence[str]) -> BuildOrder:
    """Split requirements by whether their build needs the others installed; both parts keep their order."""
    last = tuple(text for text in requirements if _needs_others(text))
    first = tuple(text for text in requirements if text not in last)
    return BuildOrder(first, last, tuple(limit for text in first if (limit := _constraint(text))) if last else ())


def _needs_others(text: str) -> bool:
    name, url = _name_and_url(text)
    if url.rpartition("#")[0].endswith(".whl") or url.endswith(".whl"):
        return False
    return name in _FROM_SOURCE or _RASTERIZER.fullmatch(name) is not None or (bool(url) and name in _FROM_REPOSITORY)


def _name_and_url(text: str) -> tuple[str, str]:
    """Return the normalized name and the address; a bare address is named by its egg, else by its repository."""
    try:
        read = Requirement(text.strip())
    except InvalidRequirement:
        url = text.strip()
        egg = re.search(r"#(?:.*&)?egg=([A-Za-z0-9._-]+)", url)
        path = urlsplit(url.removeprefix("git+")).path
        name = egg[1] if egg else re.sub(r"(?:\.git)?(?:@.*)?$", "", path.rstrip("/")).rpartition("/")[2]
    else:
        name, url = read.name, read.url or ""
    return re.sub(r"[-_.]+", "-", name).lower(), url


def _constraint(text: str) -> str:
    """Return a requirement as a constraint (no extras, no address); empty where it limits nothing."""
    try:
        read = Requirement(text.strip())
    except InvalidRequirement:
        return ""
    if read.url or not str(read.specifier):
        return ""
    return f"{read.name}{read.specifier}" + (f"; {read.marker}" if read.marker else "")
