"""The JSON Schema of `.github/gpu-lol.yml`, derived from the key table (published as docs/gpu-lol-policy.schema.json).

Two things a schema cannot say are left to the reader: that durations written with units add up to 30 days at most, and
that the default lease lies between the shortest and the longest.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gpu_lol_action.domain import policy_keys
from gpu_lol_action.domain.folders import FOLDER_PATTERN
from gpu_lol_action.domain.policy import PROPOSAL_MODES, SSH_DETAILS
from gpu_lol_action.domain.policy_keys import Key, Kind
from gpu_lol_action.domain.policy_values import (
    COUNT_PATTERN,
    IMAGE_PATTERN,
    LABEL_PATTERN,
    LOGIN_PATTERN,
    TEAM_PATTERN,
    USD_PATTERN,
)

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_UNITS = (
    "[Hh]([Oo][Uu][Rr][Ss]?|[Rr][Ss]?)?|[Mm]([Ii][Nn]([Uu][Tt][Ee][Ss]?|[Ss])?)?|[Dd]([Aa][Yy][Ss]?)?"  # in any case
)
DURATION_PATTERN = rf"(?=[^1-9]*[1-9])(?: *[0-9]{{1,5}}(?:\.[0-9]{{1,3}})? *(?:{_UNITS}) *)+|(?=[^1-9]*[1-9])[0-9]{{1,3}}(?:\.[0-9]{{1,3}})?"


def build_policy_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) as a mapping."""
    properties: dict[str, Any] = {}
    for name in policy_keys.TOP:
        keys = policy_keys.section(name)
        if keys:
            inner = {key.name.partition(".")[2]: _property(key) for key in keys}
            properties[name] = {"type": ["object", "null"], "additionalProperties": False, "properties": inner}
        else:
            properties[name] = next(_property(key) for key in policy_keys.KEYS if key.name == name)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": policy_keys.SCHEMA_URL,
        "title": "gpu-lol policy",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": properties,
    }


def policy_schema_text() -> str:
    """Return the bytes of docs/gpu-lol-policy.schema.json as text."""
    return json.dumps(build_policy_schema(), indent=2, ensure_ascii=False) + "\n"


def _property(key: Key) -> dict[str, Any]:
    return {**_type(key.kind), "description": _LINK.sub(r"\1", key.meaning)}


def _type(kind: Kind) -> dict[str, Any]:
    match kind:
        case Kind.SWITCH:
            return {"type": "boolean"}
        case Kind.USD:
            return _number(0, policy_keys.MAX_USD, USD_PATTERN)
        case Kind.DURATION:
            return _number(policy_keys.MIN_HOURS, policy_keys.MAX_HOURS, DURATION_PATTERN)
        case Kind.COUNT:
            return _number(0, policy_keys.MAX_COUNT, COUNT_PATTERN, "integer")
        case Kind.ROLES:
            return _list({"enum": list(policy_keys.ROLES)})
        case Kind.CLOUDS:
            return _list({"enum": list(policy_keys.CLOUDS)})
        case Kind.USERS:
            return _list(_name(LOGIN_PATTERN))
        case Kind.TEAMS:
            return _list(_name(TEAM_PATTERN), policy_keys.MAX_TEAMS)
        case Kind.IMAGES | Kind.FOLDERS:
            is_image = kind is Kind.IMAGES
            return _list(_name(IMAGE_PATTERN)) if is_image else _list(_name(FOLDER_PATTERN), policy_keys.MAX_FOLDERS)
        case Kind.MODE | Kind.DETAILS:
            return {"enum": list(PROPOSAL_MODES if kind is Kind.MODE else SSH_DETAILS)}
        case Kind.LABEL:
            return {"type": "string", "pattern": f"^(?:{LABEL_PATTERN})?$"}


def _number(least: float, most: float, pattern: str, kind: str = "number") -> dict[str, Any]:
    return {
        "anyOf": [{"type": kind, "minimum": least, "maximum": most}, {"type": "string", "pattern": f"^(?:{pattern})$"}]
    }


def _name(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def _list(items: dict[str, Any], most: int = policy_keys.MAX_NAMES) -> dict[str, Any]:
    return {"type": ["array", "null"], "items": items, "maxItems": most}
