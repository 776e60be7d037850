"""The repository's file against the code: what the file leaves open is filled, what disagrees is said, the file wins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gpu_lol_action.domain.card_sizes import size_class_gb, sold_gb
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.policy import SPEC_PATH
from gpu_lol_action.domain.spec import EnvironmentSpec, SpecDifference, WorkloadType
from gpu_lol_action.domain.spec_keys import SECTIONS

if TYPE_CHECKING:
    from gpu_lol_action.domain.spec_yaml import SpecFile

# A file that asks for up to so many times what the code needs leaves room on purpose.
ROOM = 1.5
_GROUNDS = frozenset({"hardware.vram_required_gb", "model.id", "model.layers"})


def file_of(spec_text: str | None, path: str = SPEC_PATH) -> SpecFile | None:
    """Return the repository's file as read, which lies at ``path``; None where it has none. Raises SpecError."""
    if spec_text is None:
        return None
    # Late: most repositories have none, and what reads it takes long to load.
    from gpu_lol_action.domain.spec_yaml import parse_spec_file

    return parse_spec_file(spec_text, path)


def complete(file: SpecFile, proposed: EnvironmentSpec) -> EnvironmentSpec:
    """Return the file's spec with what it does not state taken from the code; its profiles likewise."""
    spec = _filled(file.spec, file.stated, proposed)
    profiles = {}
    for name, profile in file.spec.profiles.items():
        stated = file.stated | _changed(file.spec, profile)
        profiles[name] = _filled(profile, stated, proposed)
    return replace(spec, profiles=profiles)


def differences(file: SpecFile, proposed: EnvironmentSpec, findings: tuple[Finding, ...]) -> tuple[SpecDifference, ...]:
    """Return the stated keys on which file and code disagree so much that a run may fail or money is wasted."""
    # A need that was only assumed is no reason to doubt the file; that of a known model is, whatever its sum lacks.
    grounds = [f.confidence for f in findings if f.field in _GROUNDS]
    is_sure = max(grounds, default=Confidence.LOW) > Confidence.LOW
    checks: tuple[tuple[str, Callable[[], tuple[str, str] | None]], ...] = (
        ("hardware.vram_required_gb", lambda: _memory(file, proposed) if is_sure else None),
        ("hardware.gpu_type", lambda: _card(file, proposed) if is_sure else None),
        ("hardware.gpu_count", lambda: _count(file, proposed)),
        ("meta.workload_type", lambda: _workload(file, proposed)),
    )
    found = []
    for key, check in checks:
        pair = check() if key in file.stated else None
        if pair is not None:
            found.append(SpecDifference(key, pair[0], pair[1], _why(key, findings)))
    return tuple(found)


def _filled(spec: EnvironmentSpec, stated: frozenset[str], proposed: EnvironmentSpec) -> EnvironmentSpec:
    parts = {}
    for section, keys in SECTIONS.items():
        own, other = getattr(spec, section), getattr(proposed, section)
        open_keys = [key.name for key in keys if f"{section}.{key.name}" not in stated]
        parts[section] = replace(own, **{name: getattr(other, name) for name in open_keys if name != "created_from"})
    if "hardware.vram_required_gb" not in stated:
        parts["hardware"] = replace(parts["hardware"], needed_gib=proposed.hardware.needed_gib)
    filled = replace(spec, hardware=parts["hardware"], environment=parts["environment"],
                     dependencies=parts["dependencies"], meta=parts["meta"])  # fmt: skip
    return _consistent(filled, stated)


def _consistent(spec: EnvironmentSpec, stated: frozenset[str]) -> EnvironmentSpec:
    """Hold filled values to stated ones: a stated card bounds an unstated memory; a stated GPU makes a GPU workload."""
    hardware = spec.hardware
    wants_gpu = {"hardware.gpu_type", "hardware.vram_required_gb"} & stated or (
        "hardware.gpu_count" in stated and hardware.gpu_count
    )
    if wants_gpu and "hardware.gpu_count" not in stated and hardware.gpu_count == 0:
        hardware = replace(hardware, gpu_count=1)
    card = find_accelerator(hardware.gpu_type) if hardware.gpu_type else None
    if card and "hardware.vram_required_gb" not in stated and (hardware.vram_required_gb or 0) > card.marketed_gb:
        hardware = replace(hardware, vram_required_gb=int(card.marketed_gb), needed_gib=None)
    meta = spec.meta
    if wants_gpu and "meta.workload_type" not in stated and meta.workload_type is WorkloadType.CPU_ONLY:
        meta = replace(meta, workload_type=WorkloadType.INTERACTIVE)
    return replace(spec, hardware=hardware, meta=meta)


def _changed(base: EnvironmentSpec, other: EnvironmentSpec) -> frozenset[str]:
    """Return the dotted keys on which a profile differs from the file's base."""
    return frozenset(
        f"{section}.{key.name}"
        for section, keys in SECTIONS.items()
        for key in keys
        if getattr(getattr(base, section), key.name) != getattr(getattr(other, section), key.name)
    )


def _memory(file: SpecFile, proposed: EnvironmentSpec) -> tuple[str, str] | None:
    asked, needed = file.spec.hardware.vram_required_gb, proposed.hardware.vram_required_gb
    if not asked or not needed:
        return None
    # A size that is asked for at least is no reason to doubt a file that asks for less: the need is.
    least = min(needed, sold_gb(proposed.hardware.needed_gib or needed))
    if least <= size_class_gb(asked) <= needed * ROOM:
        return None
    return f"{asked} GB", f"{needed} GB"


def _card(file: SpecFile, proposed: EnvironmentSpec) -> tuple[str, str] | None:
    name, needed = file.spec.hardware.gpu_type, proposed.hardware.vram_required_gb
    card = find_accelerator(name) if name else None
    if card is None or not needed or min(needed, sold_gb(proposed.hardware.needed_gib or needed)) <= card.marketed_gb:
        return None
    return f"{card.name} ({card.marketed_gb:g} GB)", f"{needed} GB"


def _count(file: SpecFile, proposed: EnvironmentSpec) -> tuple[str, str] | None:
    asked, needed = file.spec.hardware.gpu_count, proposed.hardware.gpu_count
    return (str(asked), str(needed)) if asked != needed else None


def _workload(file: SpecFile, proposed: EnvironmentSpec) -> tuple[str, str] | None:
    asked, seen = file.spec.meta.workload_type, proposed.meta.workload_type
    return (asked.value, seen.value) if asked is not seen else None


def _why(key: str, findings: tuple[Finding, ...]) -> str:
    """Return the sentence and the place of the finding behind the code's value."""
    field = {"hardware.gpu_type": "hardware.vram_required_gb", "meta.workload_type": "workload"}.get(key, key)
    found = max((f for f in findings if f.field == field), key=lambda f: f.confidence, default=None)
    return f"{found.why} ({found.evidence})" if found else "the code names no number"
