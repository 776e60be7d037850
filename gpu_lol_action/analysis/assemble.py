"""Detectors in order, their findings to a spec, and the repository's own file over it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from gpu_lol_action.analysis import (
    base_image,
    declared_hardware,
    documented,
    entry_points,
    gpu_count,
    media,
    model_families,
    models,
    packages,
    training,
    workload,
)
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.differences import complete, differences
from gpu_lol_action.analysis.entry_points import Run, primary_run
from gpu_lol_action.analysis.memory_need import MemoryNeed, best, memory_need
from gpu_lol_action.analysis.packages import package_name
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.policy import SPEC_PATH
from gpu_lol_action.domain.spec import Dependencies, EnvironmentSpec, Hardware, Meta, Software, WorkloadType
from gpu_lol_action.domain.spec_yaml import parse_spec_file
from gpu_lol_action.estimation.compatibility import ImageChoice, ImageWish, choose_image, image_contents
from gpu_lol_action.estimation.model_facts import ModelFacts

Detector = Callable[[Checkout, Run | None], list[Finding]]
TreeDetector = Callable[[Checkout], list[Finding]]

# The order of the story: what is it for, what starts it, what it loads, how it works, what it runs on, what it installs.
RUN_DETECTORS: tuple[Detector, ...] = (
    workload.detect,
    entry_points.detect,
    models.detect,
    model_families.detect,
    training.detect,
    media.detect,
    gpu_count.detect,
    documented.detect,
    declared_hardware.detect,
)
TREE_DETECTORS: tuple[TreeDetector, ...] = (base_image.detect, packages.detect)

MIN_DISK_GB = 60
MAX_REQUIREMENTS = 150
NO_FACTS: Mapping[str, ModelFacts] = MappingProxyType({})


def analyze(
    checkout: Checkout, spec_text: str | None = None, model_facts: Mapping[str, ModelFacts] = NO_FACTS
) -> Analysis:
    """Return what the tree needs: the file's word where there is one, the code's for the rest.

    ``spec_text`` is the text of `.gpu-lol.yaml`; ``model_facts`` are sizes looked up between detection and assembly.
    The card is not chosen here: it follows from prices (``pricing.proposal``). Raises SpecError where the file is wrong.
    """
    file = parse_spec_file(spec_text, SPEC_PATH) if spec_text is not None else None
    findings = detect_all(checkout)
    proposed, need = propose(findings, model_facts)
    gaps = [*(need.not_understood if need else ()), *_gaps(checkout)]
    if need is not None:
        findings = (*findings, need.finding)
    spec = complete(file, proposed) if file is not None else proposed
    return Analysis(
        spec=spec,
        proposed=proposed,
        breakdown=need.breakdown if need else None,
        findings=findings,
        not_understood=tuple(gaps),
        differences=differences(file, proposed, findings) if file is not None else (),
        spec_path=file.path if file is not None else None,
        files_read=len(checkout.sources),
        files_skipped=checkout.files_skipped,
    )


def detect_all(checkout: Checkout) -> tuple[Finding, ...]:
    """Return the findings of all detectors for the run that counts, in their order."""
    return (*detect_run(checkout, primary_run(checkout)), *detect_tree(checkout))


def detect_run(checkout: Checkout, run: Run | None) -> tuple[Finding, ...]:
    """Return what is found of one run: its model, its way of working, its GPUs."""
    return tuple(finding for detect in RUN_DETECTORS for finding in detect(checkout, run))


def detect_tree(checkout: Checkout) -> tuple[Finding, ...]:
    """Return what is found of the whole tree, whatever is run: image, packages."""
    return tuple(finding for detect in TREE_DETECTORS for finding in detect(checkout))


def named_models(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Return the models that findings name, surest first: what a look-up may be asked about."""
    named = [finding for finding in findings if finding.field in {"model.unsized_id", "model.id"}]
    return tuple(dict.fromkeys(f.value for f in sorted(named, key=lambda f: -f.confidence)))


def propose(
    findings: tuple[Finding, ...], model_facts: Mapping[str, ModelFacts]
) -> tuple[EnvironmentSpec, MemoryNeed | None]:
    """Return the spec that the code alone asks for, and the memory behind it (None without a GPU)."""
    kind = _workload(findings)
    need = memory_need(findings, kind, model_facts) if kind is not WorkloadType.CPU_ONLY else None
    nodes = best(findings, "hardware.num_nodes")
    hardware = Hardware(gpu_count=0)
    if need is not None:
        hardware = Hardware(
            gpu_count=need.gpu_count,
            vram_required_gb=need.required_gib,
            num_nodes=int(nodes.value) if nodes else 1,
            disk_gb=_disk_gb(need.model),
        )
    requirements = tuple(f.value for f in findings if f.field == "dependencies.requirements")[:MAX_REQUIREMENTS]
    image = _image(findings, requirements, kind)
    python = best(findings, "environment.python_version")
    software = Software(image.image, image.python or (python.value if python else None), image.cuda)
    dependencies = Dependencies(requirements=_installable(requirements, image.image))
    return EnvironmentSpec(hardware, software, dependencies, Meta(workload_type=kind)), need


def _workload(findings: tuple[Finding, ...]) -> WorkloadType:
    found = best(findings, "workload")
    return WorkloadType(found.value) if found else WorkloadType.INTERACTIVE


def _disk_gb(model: ModelFacts | None) -> int:
    """Return disk in GB: image, packages and caches, and the weights at 16 bit twice (download and a checkpoint)."""
    weights_gb = 2 * model.parameters_b if model else 0
    return max(MIN_DISK_GB, math.ceil((40 + 2.5 * weights_gb) / 10) * 10)


def _image(findings: tuple[Finding, ...], requirements: tuple[str, ...], kind: WorkloadType) -> ImageChoice:
    """Return the Dockerfile's GPU image, else the one that fits versions and packages."""
    python = best(findings, "environment.python_version") or best(findings, "environment.least_python")
    if kind is WorkloadType.CPU_ONLY:
        return choose_image(ImageWish("none", python=python.value if python else None))
    own = best(findings, "environment.base_image")
    if own is not None:
        cuda = image_contents(own.value).cuda
        return ImageChoice(own.value, None, ".".join(map(str, cuda)) if cuda else None, own.why)
    names = frozenset(package_name(requirement) for requirement in requirements)
    torch, flow, vllm = (best(findings, f"framework.{name}") for name in ("torch", "tensorflow", "vllm"))
    framework = "torch"
    if "vllm" in names:
        framework = "vllm"
    elif (
        "torch" not in names
        and names & {"tensorflow", "tensorflow-gpu", "keras"}
        and not names & {"transformers", "lightning"}
    ):
        framework = "tensorflow"
    version = torch.value.lstrip("=>") if torch and torch.value else None
    return choose_image(
        ImageWish(
            framework=framework,
            torch=version,
            is_pinned=bool(torch and torch.value.startswith("==")),
            packages=names,
            vllm=vllm.value[2:] if vllm and vllm.value.startswith("==") else None,
            tensorflow=flow.value.lstrip("=>") if flow and flow.value else None,
            python=python.value if python else None,
        )
    )


def _installable(requirements: tuple[str, ...], image: str) -> tuple[str, ...]:
    """Return the requirements in their order; nothing is dropped, for pip finds what the image holds already."""
    return tuple(dict.fromkeys(requirements)) if image else requirements


def _gaps(checkout: Checkout) -> list[str]:
    """Return what could not be read, in sentences."""
    gaps = list(checkout.notes)
    broken = [source.path for source in checkout.sources if source.code is not None and source.code.is_broken]
    if broken:
        more = f" and {len(broken) - 3} more" if len(broken) > 3 else ""
        gaps.append(f"not valid Python 3, so not understood: {', '.join(broken[:3])}{more}")
    if checkout.files_skipped:
        gaps.append(f"{checkout.files_skipped} entries were not read: links, special files, or over the size limits")
    return gaps


__all__ = ["Confidence", "Evidence", "analyze", "detect_all", "named_models", "propose"]
