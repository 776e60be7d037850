"""From findings to the image, and to the requirements as they install into it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.dependencies.python_version import KNOWN
from gpu_lol_action.analysis.formats.import_names import package_names
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.packages.image_torch import with_image_torch
from gpu_lol_action.analysis.packages.last_builds import with_last_builds
from gpu_lol_action.analysis.packages.python_choice import last_python
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.estimation.compatibility import ImageChoice, ImageWish, choose_image
from gpu_lol_action.estimation.image_contents import image_contents
from gpu_lol_action.estimation.image_python import of_image, python_inside
from gpu_lol_action.estimation.package_pairs import allows, is_on_jax_page, pinned, specifier_of, with_jaxlib
from gpu_lol_action.estimation.torch_companions import beside_torch
from gpu_lol_action.estimation.wheel_links import fitting_link, of_any_cuda
from gpu_lol_action.estimation.wheel_ranges import Replaced, best_python, replaced

_OVER_TORCH = frozenset({"transformers", "lightning", "pytorch-lightning", "diffusers", "accelerate", "timm", "peft"})
_TENSORFLOW = frozenset({"tensorflow", "tensorflow-gpu", "tf-nightly", "tf-nightly-gpu", "tensorflow-cpu"})
# Of NVIDIA's, those of before 2020 hold it without saying so.
_HOLDS_TENSORFLOW_1 = regex(r"(?:^|/)tensorflow:(?:1\.\d|[\w.]{1,20}-tf1-|1[789]\.\d\d-py)")
_NVIDIA_BUILT = frozenset({"apex", "transformer-engine", "megatron-core", "megatron-lm"})
LARGEST, LARGEST_BEFORE = "B200", "H200"
_SERVES_BY_VLLM = frozenset({"vllm"})


def image_for(
    findings: Sequence[Finding], requirements: Sequence[str], kind: WorkloadType, needed_gib: float = 0.0
) -> ImageChoice:
    """Return the Dockerfile's GPU image, else the one that fits versions, packages, and cards that have the ``needed_gib``."""
    found = tuple(findings)
    exact, fitting = best(found, "environment.python_version"), best(found, "environment.fitting_python")
    minor = ".".join(exact.value.split(".")[:2]) if exact else fitting.value if fitting else ""
    if kind is WorkloadType.CPU_ONLY:
        # Where nothing asks for a Python, the first on which all that is listed installs.
        return choose_image(ImageWish("none", python=minor or best_python(requirements, KNOWN)))
    own = best(found, "environment.base_image")
    if own is not None:
        cuda = image_contents(own.value).cuda
        return ImageChoice(own.value, None, ".".join(map(str, cuda)) if cuda else None, own.why)
    torch, cuda_asked = best(found, "framework.torch"), best(found, "framework.cuda")
    compiler = best(found, "framework.compiler")
    # A range says something only where it leaves out what the image would have anyway.
    python = minor if exact is not None or (fitting is not None and fitting.value != "3.11") else ""
    return choose_image(
        ImageWish(
            framework=_framework(found, requirements),
            requirements=tuple(requirements),
            torch=torch.value if torch else "",
            cuda=cuda_asked.value if cuda_asked else "",
            python=python,
            last_python=last_python(found),
            compiles=compiler.value if compiler else "",
            # Cards larger than all before are Blackwell's, which the usual image is too old for.
            card=accelerators()[LARGEST] if needed_gib > accelerators()[LARGEST_BEFORE].memory_gib else None,
        )
    )


def _framework(findings: tuple[Finding, ...], requirements: Sequence[str]) -> str:
    """Return whose image is right: the server's that the run needs, else the framework that the packages build on."""
    names = {package_name(requirement) for requirement in requirements}
    torch = best(findings, "framework.torch")
    is_pinned = bool(torch and pinned(torch.value))
    if best(findings, "framework.tgi") is not None:
        return "tgi"
    if names & _SERVES_BY_VLLM:
        return "vllm"
    if "sglang" in names:
        return "sglang"
    if "nemo-toolkit" in names and not is_pinned:
        return "nemo"
    if names & _NVIDIA_BUILT and not is_pinned:
        return "nvidia"
    # What builds on PyTorch builds on TensorFlow as well, where that alone is asked for.
    is_over_torch = names & _OVER_TORCH and not names & _TENSORFLOW
    if "torch" in names or is_over_torch:
        return "torch"
    if names & {"jax", "jaxlib", "flax"}:
        return "jax"  # it brings its own CUDA; TensorFlow beside it reads data
    if names & {*_TENSORFLOW, "keras"}:
        return "tensorflow"
    if names & {"paddlepaddle", "paddlepaddle-gpu", "paddleocr", "paddlenlp"}:
        return "paddle"
    if any(regex(r"mxnet(?:-cu\d+)?").fullmatch(name) for name in names):
        return "mxnet"
    return "torch"


def fitted(requirements: Sequence[str], image: ImageChoice) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirements as they install into that image, and what could not be had.

    A version without a build for the image's Python gives way to the nearest that has one. JAX without its CUDA extra is the
    CPU's: on a GPU image it gets the extra, which brings its own CUDA.
    """
    kept: list[str] = []
    notes: list[str] = []
    is_gpu = not image.image.startswith("python:")
    python = image.python or python_inside(image.image)
    swapped: list[Replaced] = []
    names = {package_name(requirement) for requirement in requirements}
    settled, said = beside_torch(tuple(dict.fromkeys(requirements)), image.image)
    settled, older = with_image_torch(settled, image.image)
    settled, last = with_last_builds(settled, python)
    notes += [*said, *older, *last]
    is_built = any(".whl" in each or "-cu" in each for each in settled)
    published = frozenset(map(package_name, package_names().values())) if is_built else frozenset[str]()
    for asked in (of_image(each, image.image) for each in settled):
        built = _other_build(asked, python, published) if python and published else None
        swapped += [built] if built is not None else []
        wanted = built.nearest if built is not None else asked
        requirement, note = _on_a_card(wanted, is_alone="torch" not in names) if is_gpu else (wanted, "")
        requirement = with_jaxlib(requirement, names)
        notes += [note] if note else []
        name = package_name(requirement)
        if name == "jaxlib" and "jax" in names:
            # Its extras are those of jax, which brings it; a bound still holds.
            kept += [f"jaxlib{bound}"] if (bound := specifier_of([requirement], "jaxlib")) else []
            continue
        if image.image.startswith(("paddlepaddle/", "nvcr.io/nvidia/paddlepaddle")) and name == "paddlepaddle":
            requirement = "paddlepaddle-gpu"  # the CPU build would replace the image's, which any version satisfies
        if image.image.startswith("nvcr.io/nvidia/mxnet") and name.startswith("mxnet"):
            continue
        if name in _TENSORFLOW and _HOLDS_TENSORFLOW_1.search(image.image):
            continue  # pip has no wheel of 1 for its Python, or one for another CUDA than the image's
        if requirement == "keras" and _HOLDS_TENSORFLOW_1.search(image.image):
            requirement = "keras<2.4"  # later ones are of TensorFlow 2
        other = replaced(requirement, python) if python else None
        if other is not None:
            swapped.append(other)
        kept.append(other.nearest if other is not None else requirement)
    return tuple(kept), (*notes, *([_said(swapped, python)] if swapped else []))


def _other_build(requirement: str, python: str, published: frozenset[str]) -> Replaced | None:
    return fitting_link(requirement, python, published) or of_any_cuda(requirement, python, published)


def _said(swapped: Sequence[Replaced], python: str) -> str:
    """Return one sentence on what was asked for and is not installed as it was."""
    pairs = ", ".join(f"{other.asked} ({other.version} instead)" for other in swapped)
    return f"no build for Python {python}, which the image has, so the nearest that has one is taken: {pairs}"


def _on_a_card(requirement: str, *, is_alone: bool) -> tuple[str, str]:
    """Return a requirement of JAX with CUDA and what is to be said of it; any other, and one that has its CUDA, as it is."""
    jax = regex(r"jax((?:\[[\w,.-]+\])?)\s*((?:[<>=!~;][^\[\]@]*)?)", re.IGNORECASE).fullmatch(requirement)
    if jax is None or regex(r"cuda1[23]|cuda(?:_pip|_local)?\]").search(jax[1]):
        return requirement, ""
    return _with_cuda(jax[1].strip("[]"), jax[2].strip(), is_alone=is_alone)


def _with_cuda(extras: str, version: str, *, is_alone: bool) -> tuple[str, str]:
    """Return JAX with its CUDA extra; the builds of before 0.4.30 are on an index of their own, and before 0.4.8 for CUDA 11 alone."""
    # Builds for CUDA 11 ended, and a TPU's are of no use here.
    extras = ",".join(part for part in extras.split(",") if part and "cuda" not in part and part != "tpu")
    specifier, _, marker = version.partition(";")
    exact = pinned(specifier.strip())
    tail = f"; {marker.strip()}" if marker else ""
    # Beside PyTorch it may only be listed along, and would bring a second CUDA.
    if is_alone and is_on_jax_page(f"jax=={exact}"):
        joined = ",".join(part for part in (extras, "cuda12_pip") if part)
        return f"jax[{joined}]{specifier}{tail}", ""
    if exact and not allows(">=0.4.30", exact):
        return (
            f"jax{f'[{extras}]' if extras else ''}{specifier}{tail}",
            f"jax {exact} has its CUDA builds on an index of its own; without it, it runs on the CPU",
        )
    joined = ",".join(part for part in (extras, "cuda12") if part)
    return f"jax[{joined}]{specifier}{tail}", ""
