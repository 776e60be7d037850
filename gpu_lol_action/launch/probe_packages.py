"""Which of the spec's packages must be there, in which version, and which of them must import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion

from gpu_lol_action.domain.environment import Check, CheckStatus
from gpu_lol_action.launch.probe_facts import Version, dotted, mapping, shown
from gpu_lol_action.launch.requirements import check_requirement, requirement_name

# Distributions that are imported under another name than their own, where their metadata does not always tell.
MODULES: Mapping[str, str] = {
    "beautifulsoup4": "bs4",
    "faiss-cpu": "faiss",
    "faiss-gpu": "faiss",
    "flash-attn": "flash_attn",
    "hydra-core": "hydra",
    "lightning": "lightning",
    "opencv-python": "cv2",
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "protobuf": "google.protobuf",
    "python-dateutil": "dateutil",
    "pytorch-lightning": "pytorch_lightning",
    "pyyaml": "yaml",
    "scikit-image": "skimage",
    "scikit-learn": "sklearn",
    "sentence-transformers": "sentence_transformers",
    "tensorboard": "tensorboard",
}
# What a GPU job stands or falls with, and what is built against one torch or CUDA: broken more often than missing.
CRITICAL = frozenset(
    {
        "accelerate", "auto-gptq", "bitsandbytes", "datasets", "deepspeed", "diffusers", "faiss-gpu", "flash-attn", "jax",
        "lightning", "mamba-ssm", "numpy", "peft", "pytorch-lightning", "scipy", "sentence-transformers", "tensorflow", "tokenizers", "torch",
        "torchaudio", "torchvision", "transformers", "triton", "trl", "unsloth", "vllm", "xformers",
    }
)  # fmt: skip
_MAX_PACKAGES = 200
_MAX_IMPORTS = 24


@dataclass(frozen=True, slots=True)
class PackageReading:
    """The checks (one, and one more where imports fail), what is installed, and the requirements that are missing."""

    checks: tuple[Check, ...]
    installed: tuple[str, ...]
    missing: tuple[str, ...]


def wanted(requirements: Sequence[str]) -> list[dict[str, object]]:
    """Return what the machine is asked about: each distribution once, with the module to import and whether to."""
    names = list(dict.fromkeys(name for name in map(requirement_name, requirements) if name))[:_MAX_PACKAGES]
    critical = [name for name in names if name in CRITICAL][:_MAX_IMPORTS]
    return [
        {"name": name, "modules": [MODULES[name]] if name in MODULES else [], "is_imported": name in critical}
        for name in names
    ]


def needs(requirements: Sequence[str], name: str) -> bool:
    """Whether a distribution is named among the requirements."""
    return name in map(requirement_name, requirements)


def judge(
    facts: Mapping[str, Any],
    requirements: Sequence[str],
    python: Version,
    *,
    is_torch_broken: bool = False,
    is_torch_stand_in: bool = False,
) -> PackageReading:
    """Compare versions by PEP 440; requirements whose markers do not fit this Python are left out.

    With a broken torch, imports say nothing of their own: most of them import torch. Beside a rehearsal's stand-in for
    torch those that need the rest of it cannot be imported, and that is said.
    """
    found = mapping(facts.get("found"))
    if not found and requirements and facts.get("error"):
        sentence = f"The packages could not be looked at: {shown(facts.get('error'))}."
        return PackageReading(
            (Check("packages", CheckStatus.FAILED, sentence, "Run `/gpu-lol validate` again."),), (), ()
        )
    missing, other, broken, installed = list[str](), list[str](), list[str](), list[str]()
    unproven: list[str] = []
    for text in requirements[:_MAX_PACKAGES]:
        name = requirement_name(text)
        if not name or not _applies(text, python):
            continue
        about = mapping(found.get(name))
        version = shown(about.get("version"), 40)
        if version:
            installed.append(f"{name} {version}")
        if not version and about.get("is_imported") is not True:
            missing.append(text)
        elif version and not _fits(text, version):
            other.append(f"{name} is {version}, asked for was {shown(text, 60)}")
        elif about.get("import_error") and is_torch_stand_in:
            unproven.append(name)
        elif about.get("import_error") and not is_torch_broken:
            broken.append(f"{name} {version}: {shown(about.get('import_error'))}")
    problem = _problem(missing, other, broken)
    if problem is None:
        count = len(installed)
        sentence = (
            "No packages are asked for."
            if not count
            else f"{count} packages are installed as asked for, and the critical ones import."
        )
        if unproven:
            sentence = (
                f"{count} packages are installed as asked for; beside the stand-in for torch these cannot be imported, "
                f"as they would be beside the real one: {', '.join(unproven[:8])}."
            )
        problem = Check("packages", CheckStatus.PASSED, sentence, is_stand_in=bool(unproven))
    repairable = [
        *missing,
        *(text for text in requirements if any(requirement_name(text) == line.split()[0] for line in other)),
    ]
    return PackageReading(
        (problem,), tuple(installed), tuple(text for text in repairable if check_requirement(text) is None)
    )


def _problem(missing: Sequence[str], other: Sequence[str], broken: Sequence[str]) -> Check | None:
    parts = []
    if missing:
        parts.append(f"Not installed: {', '.join(shown(text, 60) for text in missing[:8])}.")
    if other:
        parts.append(f"Another version: {'; '.join(other[:4])}.")
    if broken:
        parts.append(f"Cannot be imported: {'; '.join(broken[:3])}.")
    if not parts:
        return None
    if missing or other:
        fix = (
            "Check name and version in `dependencies.requirements` (~/.gpu-lol/setup.log says what the installer did)."
        )
    else:
        fix = "It is usually built for another torch or CUDA: pin a version that fits the image's torch."
    return Check("packages", CheckStatus.FAILED, " ".join(parts), fix)


def _applies(text: str, python: Version) -> bool:
    try:
        marker = Requirement(text.strip()).marker
    except InvalidRequirement:
        return True
    if marker is None or len(python) < 2:
        return True
    environment = {
        "python_version": dotted(python[:2]),
        "python_full_version": dotted(python),
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    try:
        return marker.evaluate(environment)
    except (ValueError, KeyError):  # `=== "pypy"`, a name that no standard knows, no version where one belongs
        return True


def _fits(text: str, version: str) -> bool:
    try:
        return Requirement(text.strip()).specifier.contains(version, prereleases=True)
    except (InvalidRequirement, InvalidVersion):
        return True
