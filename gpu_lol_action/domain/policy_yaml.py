"""`.github/gpu-lol.yml` to a Policy: every key typed, an unknown one refused with its line and the nearest name.

A policy that cannot be read stops spending: whoever wrote a limit must not find it ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import yaml

from gpu_lol_action.domain import yaml_nodes
from gpu_lol_action.domain.durations import parse_duration
from gpu_lol_action.domain.policy import POLICY_PATH, Policy
from gpu_lol_action.domain.yaml_nodes import Place

ROLES = ("read", "triage", "write", "maintain", "admin")
CLOUDS = ("runpod", "lambda", "vast", "aws", "gcp", "azure", "nebius")

Reader = Callable[[yaml.Node, str, Place], object]


def parse_policy(text: str | None, path: str = POLICY_PATH) -> Policy:
    """Return the policy that the file's text states over the defaults; None means that there is no file.

    Raises SpecError with the file's line.
    """
    policy = Policy()
    place = Place(path)
    root = yaml_nodes.read_document(text, place) if text is not None else None
    if root is None:
        return policy
    changes: dict[str, Any] = {}
    for name, key, value in yaml_nodes.entries(root, "policy", place):
        section = _KEYS.get(name)
        if section is None:
            raise _unknown(place, key, name, _KEYS)
        if isinstance(section, tuple):
            field, read = section
            changes[field] = read(value, name, place)
            continue
        for inner, inner_key, inner_value in yaml_nodes.entries(value, name, place):
            if inner not in section:
                raise _unknown(place, inner_key, inner, section)
            field, read = section[inner]
            changes[field] = read(inner_value, f"{name}.{inner}", place)
    return _checked(replace(policy, **changes), root, place)


def _checked(policy: Policy, root: yaml.Node, place: Place) -> Policy:
    if not policy.min_lease <= policy.lease <= policy.max_lease:
        raise place.error(root, "`lease.default` must lie between `lease.min` and `lease.max`.")
    return policy


def _unknown(place: Place, node: yaml.Node, name: str, known: Mapping[str, object]) -> Exception:
    guess = yaml_nodes.nearest(name, known)
    fix = f"Did you mean `{guess}`?" if guess else f"Known here: {', '.join(known)}."
    return place.error(node, f"there is no key `{name[:60]}`.", fix=fix)


def _switch(node: yaml.Node, what: str, place: Place) -> bool:
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:bool":
        return str(node.value).lower() in ("true", "yes", "on")
    raise place.error(node, f"`{what}` must be true or false.")


def _money(node: yaml.Node, what: str, place: Place) -> Decimal:
    text = yaml_nodes.text_of(node, what, place).removeprefix("$")
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount <= 100_000:
        raise place.error(node, f"`{what}: {text[:40]}` is no amount of dollars.", fix=f"Write it as `{what}: 3.50`.")
    return amount


def _duration(node: yaml.Node, what: str, place: Place) -> timedelta:
    text = yaml_nodes.text_of(node, what, place)
    duration = parse_duration(text)
    if duration is None or duration > timedelta(days=30):
        raise place.error(
            node, f"`{what}: {text[:40]}` is no duration up to 30 days.", fix="Write it as `2h` or `90m`."
        )
    return duration


def _count(node: yaml.Node, what: str, place: Place) -> int:
    text = yaml_nodes.text_of(node, what, place)
    if not text.isascii() or not text.isdigit() or len(text) > 4 or int(text) > 1000:
        raise place.error(node, f"`{what}: {text[:40]}` is no number from 0 to 1000.")
    return int(text)


def _names(valid: tuple[str, ...]) -> Reader:
    def read(node: yaml.Node, what: str, place: Place) -> tuple[str, ...]:
        names = []
        for item in yaml_nodes.items(node, what, place):
            name = yaml_nodes.text_of(item, what, place).lower()
            if name not in valid:
                guess = yaml_nodes.nearest(name, valid)
                fix = f"Did you mean `{guess}`?" if guess else f"Known: {', '.join(valid)}."
                raise place.error(item, f"`{what}` knows no `{name[:40]}`.", fix=fix)
            names.append(name)
        return tuple(dict.fromkeys(names))

    return read


_KEYS: Mapping[str, tuple[str, Reader] | Mapping[str, tuple[str, Reader]]] = {
    "enabled": ("is_enabled", _switch),
    "roles": ("roles", _names(ROLES)),
    "clouds": ("clouds", _names(CLOUDS)),
    "limits": {
        "price_usd_per_hour": ("max_price_usd_per_hour", _money),
        "confirm_above_usd_per_hour": ("confirm_above_usd_per_hour", _money),
        "environments_per_person": ("environments_per_person", _count),
        "environments_per_repository": ("environments_per_repository", _count),
        "offers_tried": ("max_offers_tried", _count),
    },
    "lease": {
        "default": ("lease", _duration),
        "max": ("max_lease", _duration),
        "min": ("min_lease", _duration),
        "idle": ("idle_end", _duration),
    },
    "budget": {"month_usd": ("month_usd", _money)},
    "analysis": {"hub": ("asks_hub", _switch), "llm_for_forks": ("may_forks_ask_llm", _switch)},
    "forks": {"may_launch": ("may_forks_launch", _switch)},
    "sweep": {"required": ("requires_recent_sweep", _switch)},
    "validation": {"teardown_on_failure": ("is_teardown_on_failed_validation", _switch)},
}
