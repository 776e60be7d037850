"""How sure each decision of an analysis is: that of the finding behind it, or what a guess without one deserves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.spec import EnvironmentSpec, WorkloadType

_FRAMEWORKS = ("framework.torch", "framework.tensorflow", "framework.vllm")
# The decisions under the keys of the spec that a language model may change.
_NAMES = {
    "meta.workload_type": "workload_type",
    "hardware.vram_required_gb": "vram_required_gb",
    "hardware.gpu_count": "gpu_count",
    "packages": "requirements",
    "environment.base_image": "base_image",
}


def decision_confidence(analysis: Analysis) -> Mapping[str, Confidence]:
    """Return how sure each of the five decisions is, under the names that the JSON has for them.

    What the repository's own file says otherwise than the code is not guessed at all, so it is sure; what a language
    model changed is its claim, so it is not.
    """
    claimed = {_NAMES.get(key, key) for key, _, _ in analysis.override.changes} if analysis.override else set()
    decisions: Mapping[str, tuple[Callable[[EnvironmentSpec], object], Confidence]] = {
        "workload_type": (lambda spec: spec.meta.workload_type, _of(analysis.findings, "workload")),
        "vram_required_gb": (lambda spec: spec.hardware.vram_required_gb, _memory(analysis)),
        "gpu_count": (lambda spec: spec.hardware.gpu_count, _count(analysis)),
        "requirements": (lambda spec: spec.dependencies.requirements, _packages(analysis.findings)),
        "base_image": (lambda spec: spec.environment.base_image, _image(analysis)),
    }
    found = {}
    for name, (value, own) in decisions.items():
        is_stated = analysis.is_from_file and value(analysis.spec) != value(analysis.proposed)
        found[name] = Confidence.HIGH if is_stated else Confidence.LOW if name in claimed else own
    return found


def _of(findings: tuple[Finding, ...], field: str, otherwise: Confidence = Confidence.LOW) -> Confidence:
    found = best(findings, field)
    return found.confidence if found else otherwise


def _memory(analysis: Analysis) -> Confidence:
    if analysis.proposed.meta.workload_type is WorkloadType.CPU_ONLY:
        return _of(analysis.findings, "workload")
    return _of(analysis.findings, "hardware.vram_required_gb")


def _count(analysis: Analysis) -> Confidence:
    """Return how sure the number of cards is: where nothing states one it is one, mostly rightly, or as many as the memory takes, seldom so."""
    if analysis.proposed.meta.workload_type is WorkloadType.CPU_ONLY:
        return _of(analysis.findings, "workload")
    found = best(analysis.findings, "hardware.gpu_count")
    if found is not None:
        return found.confidence
    return Confidence.MEDIUM if analysis.proposed.hardware.gpu_count == 1 else Confidence.LOW


def _packages(findings: tuple[Finding, ...]) -> Confidence:
    """Return that of the least sure package: a set-up fails by one."""
    named = [finding.confidence for finding in findings if finding.field == "dependencies.requirements"]
    return min(named, default=Confidence.LOW)


def _image(analysis: Analysis) -> Confidence:
    """Return high where the repository names it, medium where a framework's version chooses it, low for the default."""
    if best(analysis.findings, "environment.base_image") is not None:
        return _of(analysis.findings, "environment.base_image")
    stated = [found for name in _FRAMEWORKS if (found := best(analysis.findings, name)) is not None]
    return Confidence.MEDIUM if any(finding.value for finding in stated) else Confidence.LOW
