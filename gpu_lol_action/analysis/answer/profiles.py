"""Runs beside the one that is provisioned for, as profiles: of the answer, and of the proposed file where their hardware differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gpu_lol_action.analysis.command_lines.container_words import without_secrets
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.memory.machine_need import MemoryNeed
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.analysis import Profile
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.spec import EnvironmentSpec

MAX_IN_FILE = 5
# A run whose memory is within this part of the default's is served by the same machine: a profile would say nothing.
SAME_MEMORY = 0.2


def profile_of(run: Run, spec: EnvironmentSpec, need: MemoryNeed | None, findings: tuple[Finding, ...]) -> Profile:
    """Return a run as a profile of the answer; ``findings`` are those of this run."""
    hardware = spec.hardware
    return Profile(
        name=run.name,
        command=shown_command(run),
        evidence=run.evidence,
        workload=spec.meta.workload_type,
        gpu_count=hardware.gpu_count if spec.needs_gpu else 0,
        vram_required_gb=hardware.vram_required_gb if spec.needs_gpu else None,
        breakdown=need.breakdown if need is not None else None,
        not_understood=need.not_understood if need is not None else (),
        why=run.reason,
        findings=findings,
        program=run.script.path if run.script is not None else "",
        is_relaxed=need is not None and need.is_relaxed,
        needed_gib=hardware.needed_gib if spec.needs_gpu else None,
    )


def shown_command(run: Run) -> str:
    """Return what a person would type; the file where it is a notebook or a configuration."""
    if run.command is not None:
        return without_secrets(run.command.text)
    if is_shown(run.script):
        return run.shown
    if run.script is not None:
        return run.script.path if run.script.form is Form.NOTEBOOK else f"python {run.script.path}"
    return run.evidence.path


def different_hardware(
    proposed: EnvironmentSpec, others: Iterable[tuple[Profile, EnvironmentSpec]]
) -> Mapping[str, EnvironmentSpec]:
    """Return the profiles for the proposed file: the likeliest runs that want another machine, at most five."""
    found: dict[str, EnvironmentSpec] = {}
    for profile, spec in others:
        if not spec.needs_gpu or not _differs(proposed, spec) or any(_is_same(spec, other) for other in found.values()):
            continue
        meta = replace(proposed.meta, workload_type=spec.meta.workload_type)
        found[profile.name] = replace(proposed, hardware=spec.hardware, meta=meta)
        if len(found) >= MAX_IN_FILE:
            break
    return found


def _differs(proposed: EnvironmentSpec, spec: EnvironmentSpec) -> bool:
    return not _is_same(proposed, spec)


def _is_same(one: EnvironmentSpec, other: EnvironmentSpec) -> bool:
    """Whether two runs are served by the same machine."""
    first, second = one.hardware, other.hardware
    if not one.needs_gpu or (first.gpu_count, first.num_nodes) != (second.gpu_count, second.num_nodes):
        return False
    low, high = sorted((first.vram_required_gb or 0, second.vram_required_gb or 0))
    return high - low <= SAME_MEMORY * max(high, 1)
