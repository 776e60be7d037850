"""An analysis as plain JSON values: what `gpu-lol analyze --format json` prints, as docs/analysis.schema.json has it.

Programs read this. Keys are only ever added; a change of meaning, or a key that goes, raises ``SCHEMA_VERSION``.
"""

from __future__ import annotations

from typing import Any

from gpu_lol_action.analysis.answer.confidence import decision_confidence
from gpu_lol_action.analysis.answer.priced_json import Priced, place_json, priced_json
from gpu_lol_action.analysis.stated.stated import Stated, stated_figures
from gpu_lol_action.domain.analysis import Analysis, Override, Profile
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.spec_text import spec_mapping

SCHEMA_VERSION = 2


def analysis_json(analysis: Analysis, priced: Priced | None = None) -> dict[str, Any]:
    """Return the analysis as mappings, lists, texts and numbers, in a fixed order; ``priced`` is what it costs."""
    spec = analysis.spec
    hardware = spec.hardware
    return {
        "schema_version": SCHEMA_VERSION,
        "workload_type": spec.meta.workload_type.value,
        "vram_required_gb": hardware.vram_required_gb if spec.needs_gpu else 0,
        "needed_gib": hardware.needed_gib if spec.needs_gpu else 0,
        "gpu_count": hardware.gpu_count if spec.needs_gpu else 0,
        "gpu_type": hardware.gpu_type if spec.needs_gpu else None,
        "requirements": list(spec.dependencies.requirements),
        "base_image": spec.environment.base_image,
        "confidence": {name: sure.name.lower() for name, sure in decision_confidence(analysis).items()},
        "computed": _computed(analysis.breakdown),
        "documented": [_stated(each) for each in stated_figures(analysis)],
        "spec_file": analysis.spec_path,
        "spec": spec_mapping(spec),
        "breakdown": _breakdown(analysis.breakdown),
        "profiles": [_profile(profile) for profile in analysis.profiles],
        "findings": [_finding(finding) for finding in analysis.told],
        "differences": [
            {"key": item.key, "in_file": item.in_file, "in_code": item.in_code, "why": item.why}
            for item in analysis.differences
        ],
        **priced_json(priced),
        **_override(analysis.override),
        "not_understood": list(analysis.not_understood),
        "files_read": analysis.files_read,
        "files_skipped": analysis.files_skipped,
    }


def _override(override: Override | None) -> dict[str, Any]:
    """Return what a language model's word changed; nothing where none was asked or it changed nothing."""
    if override is None:
        return {}
    changes = [{"key": key, "code_alone": was, "proposed": now} for key, was, now in override.changes]
    return {"llm_override": {"model": override.model, "claim": override.reason, "changes": changes}}


def _breakdown(breakdown: MemoryBreakdown | None) -> dict[str, Any] | None:
    if breakdown is None:
        return None
    terms = [
        {
            "name": term.name,
            "gib": round(term.gib, 2),
            "basis": term.basis,
            "where": str(term.evidence) if term.evidence else None,
            **place_json(term.evidence),
        }
        for term in breakdown.terms
    ]
    return {
        "method": breakdown.method,
        "terms": terms,
        "low_gib": breakdown.low_gib,
        "expected_gib": breakdown.expected_gib,
        "high_gib": breakdown.high_gib,
        "required_gib": breakdown.required_gib,
        "notes": list(breakdown.notes),
    }


def _computed(breakdown: MemoryBreakdown | None) -> dict[str, float] | None:
    """Return what the sum of the terms says before documentation was weighed against it."""
    if breakdown is None:
        return None
    computed = breakdown.required_gib if breakdown.computed_gib is None else breakdown.computed_gib
    return {"memory_gib": computed, "expected_gib": breakdown.expected_gib}


def _stated(stated: Stated) -> dict[str, Any]:
    """Return one statement of the documentation."""
    return {
        "kind": stated.kind,
        "value": stated.finding.value,
        "memory_gib": stated.memory_gib,
        "purpose": stated.purpose or None,
        "is_weighed": stated.is_weighed,
        "why": stated.finding.why,
        "confidence": stated.finding.confidence.name.lower(),
        **place_json(stated.finding.evidence),
    }


def _profile(profile: Profile) -> dict[str, Any]:
    """Return another run of the tree, estimated as the first one is."""
    return {
        "name": profile.name,
        "command": profile.command,
        "where": str(profile.evidence),
        **place_json(profile.evidence),
        "why": profile.why,
        "workload_type": profile.workload.value,
        "vram_required_gb": profile.vram_required_gb or 0,
        "needed_gib": profile.needed_gib or 0,
        "gpu_count": profile.gpu_count,
        "breakdown": _breakdown(profile.breakdown),
        "not_understood": list(profile.not_understood),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "field": finding.field,
        "value": finding.value,
        "why": finding.why,
        "confidence": finding.confidence.name.lower(),
        "where": str(finding.evidence),
        **place_json(finding.evidence),
    }
