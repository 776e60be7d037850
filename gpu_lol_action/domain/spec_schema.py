"""The JSON Schema of `.gpu-lol.yaml`, derived from the key table (published as docs/gpu-lol.schema.json)."""

from __future__ import annotations

import json
from typing import Any

from gpu_lol_action.domain import spec_keys
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.domain.spec_keys import Key, Kind

_LISTS = {Kind.IMAGES, Kind.TEXTS, Kind.SCRIPTS, Kind.SYSTEM_PACKAGES, Kind.LINKS, Kind.PATHS}


def build_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) as a mapping."""
    sections = {name: _object(keys, spec_keys.TOP_KEYS[name]) for name, keys in spec_keys.SECTIONS.items()}
    variables = {"type": ["object", "null"], "additionalProperties": {"type": ["string", "number", "null"]}}
    properties: dict[str, Any] = {
        **sections,
        "env": {**variables, "description": spec_keys.TOP_KEYS["env"]},
        "smoke": {**_object(spec_keys.SMOKE, spec_keys.TOP_KEYS["smoke"])},
        "keep": {**_list("string"), "description": spec_keys.TOP_KEYS["keep"]},
        "measured": {**variables, "description": spec_keys.TOP_KEYS["measured"]},
    }
    profile = {"type": ["object", "null"], "additionalProperties": False}
    profile["properties"] = {name: properties[name] for name in spec_keys.PROFILE_KEYS}
    profiles = {
        "type": ["object", "null"],
        "description": spec_keys.TOP_KEYS["profiles"],
        "propertyNames": {"pattern": "^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$"},
        "additionalProperties": profile,
    }
    properties["profiles"] = profiles
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": spec_keys.SCHEMA_URL,
        "title": "gpu-lol environment spec",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: properties[name] for name in spec_keys.TOP_KEYS},
    }


def schema_text() -> str:
    """Return the bytes of docs/gpu-lol.schema.json as text."""
    return json.dumps(build_schema(), indent=2, ensure_ascii=False) + "\n"


def key_table() -> str:
    """Return the Markdown table of all keys, as docs/spec.md shows it."""
    rows = ["| key | value | meaning |", "|---|---|---|"]
    for section, keys in {**spec_keys.SECTIONS, "smoke": spec_keys.SMOKE}.items():
        rows += [f"| `{section}.{key.name}` | {_words(key)} | {key.meaning} |" for key in keys]
    rows += [f"| `{name}` | | {spec_keys.TOP_KEYS[name]} |" for name in ("env", "profiles", "keep", "measured")]
    return "\n".join(rows) + "\n"


def _words(key: Key) -> str:
    return f"{key.kind.value}, {key.low} to {key.high}" if key.high else key.kind.value


def _object(keys: tuple[Key, ...], meaning: str) -> dict[str, Any]:
    properties = {key.name: {**_property(key), "description": key.meaning} for key in keys}
    return {"type": ["object", "null"], "description": meaning, "additionalProperties": False, "properties": properties}


def _property(key: Key) -> dict[str, Any]:
    if key.kind is Kind.WHOLE:
        return {"type": ["integer", "null"], "minimum": key.low, "maximum": key.high}
    if key.kind is Kind.GIB:
        return {"type": ["number", "string", "null"], "minimum": key.low, "maximum": key.high}
    if key.kind is Kind.SWITCH:
        return {"type": ["boolean", "null"]}
    if key.kind is Kind.WORKLOAD:
        return {"enum": [kind.value for kind in WorkloadType] + [None]}
    if key.kind is Kind.ACCELERATOR:
        return {"type": ["string", "null"], "examples": list(accelerators())}
    if key.kind in _LISTS or key.kind is Kind.ACCELERATORS:
        return _list("string")
    return {"type": ["string", "number", "null"]}


def _list(kind: str) -> dict[str, Any]:
    return {"type": ["array", "null"], "items": {"type": kind}}
