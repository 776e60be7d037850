"""An EnvironmentSpec written as `.gpu-lol.yaml`: fixed order, same value, same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpu_lol_action.domain import spec_keys
from gpu_lol_action.domain.spec import EnvironmentSpec, Smoke, WorkloadType

HEADER = (
    f"# yaml-language-server: $schema={spec_keys.SCHEMA_URL}\n"
    "# What this repository needs to run on a GPU. Regenerate: gpu-lol analyze --format yaml\n"
)


def write_spec(spec: EnvironmentSpec) -> str:
    """Return the file's text; reading it again gives the same spec."""
    import yaml  # late: what programs read is written as JSON, and the library takes long to load

    return HEADER + yaml.safe_dump(
        spec_mapping(spec), sort_keys=False, default_flow_style=False, allow_unicode=True, width=100
    )


def spec_mapping(spec: EnvironmentSpec) -> dict[str, Any]:
    """Return the spec as plain mappings and lists in the file's order, without what is unset."""
    mapping = _sections(spec)
    if spec.profiles:
        mapping["profiles"] = {
            name: _difference(mapping, _sections(spec.profiles[name])) for name in sorted(spec.profiles)
        }
    return {key: mapping[key] for key in spec_keys.TOP_KEYS if key in mapping}


def without_time(spec: EnvironmentSpec) -> EnvironmentSpec:
    """Return the spec without ``created_at``, which never counts as a change."""
    return replace(spec, meta=replace(spec.meta, created_at=None))


def _sections(spec: EnvironmentSpec) -> dict[str, Any]:
    parts = {name: _section(name, getattr(spec, name)) for name in spec_keys.SECTIONS}
    mapping: dict[str, Any] = {name: part for name, part in parts.items() if part}
    if spec.env:
        mapping["env"] = dict(sorted(spec.env.items()))
    if spec.smoke:
        mapping["smoke"] = _smoke(spec.smoke)
    if spec.keep:
        mapping["keep"] = list(spec.keep)
    if spec.measured:
        mapping["measured"] = dict(sorted(spec.measured.items()))
    return mapping


def _smoke(smoke: Smoke) -> dict[str, Any]:
    command = {"command": smoke.command} if smoke.command else {}
    lists = {"gpus": list(smoke.gpus), "images": list(smoke.images)}
    return {**command, "timeout_minutes": smoke.timeout_minutes, **{name: each for name, each in lists.items() if each}}


def _section(name: str, value: object) -> dict[str, Any]:
    section: dict[str, Any] = {}
    always = {"gpu_count", "workload_type", "requirements"}
    defaults = getattr(EnvironmentSpec(), name)
    for key in spec_keys.SECTIONS[name]:
        field = getattr(value, key.name)
        if key.name not in always and field == getattr(defaults, key.name) and key.name != "created_from":
            continue
        section[key.name] = _plain(field)
    return section


def _plain(value: Any) -> Any:
    if isinstance(value, WorkloadType):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _difference(base: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``other`` states differently: the form in which a profile is written."""
    changed: dict[str, Any] = {}
    for key, value in other.items():
        if key in {"profiles", "measured"} or value == base.get(key):
            continue
        before = base.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            changed[key] = {name: inner for name, inner in value.items() if inner != before.get(name)}
            changed[key] |= _back_to_default(key, before, value)
        else:
            changed[key] = value
    return changed


def _back_to_default(section: str, before: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the base states and the profile leaves at its default, which is written nowhere else (``num_nodes: 1``)."""
    if section not in spec_keys.SECTIONS:
        return {}
    defaults = getattr(EnvironmentSpec(), section)
    missing = {name: _plain(getattr(defaults, name)) for name in before if name not in value}
    return {name: default for name, default in missing.items() if default is not None}
