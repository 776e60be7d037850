"""An analysis as plain JSON values: what `gpu-lol analyze --format json` prints."""

from __future__ import annotations

from typing import Any

from gpu_lol_action.domain.analysis import Analysis, Override
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.spec_text import spec_mapping

SCHEMA_VERSION = 1


def analysis_json(analysis: Analysis) -> dict[str, Any]:
    """Return the analysis as mappings, lists, texts and numbers, in a fixed order."""
    spec = analysis.spec
    hardware = spec.hardware
    return {
        "schema_version": SCHEMA_VERSION,
        "workload_type": spec.meta.workload_type.value,
        "vram_required_gb": hardware.vram_required_gb if spec.needs_gpu else 0,
        "gpu_count": hardware.gpu_count if spec.needs_gpu else 0,
        "gpu_type": hardware.gpu_type if spec.needs_gpu else None,
        "requirements": list(spec.dependencies.requirements),
        "base_image": spec.environment.base_image,
        "spec_file": analysis.spec_path,
        "spec": spec_mapping(spec),
        "breakdown": _breakdown(analysis.breakdown),
        "findings": [_finding(finding) for finding in analysis.findings],
        "differences": [
            {"key": item.key, "in_file": item.in_file, "in_code": item.in_code, "why": item.why}
            for item in analysis.differences
        ],
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


def _finding(finding: Finding) -> dict[str, str]:
    return {
        "field": finding.field,
        "value": finding.value,
        "why": finding.why,
        "confidence": finding.confidence.name.lower(),
        "where": str(finding.evidence),
    }
