"""`.github/gpu-lol.yml` to a Policy: every key typed, an unknown one refused with its line and the nearest name.

A policy that cannot be read stops spending: whoever wrote a limit must not find it ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

import yaml

from gpu_lol_action.domain import policy_keys, yaml_nodes
from gpu_lol_action.domain.policy import POLICY_PATH, Policy
from gpu_lol_action.domain.policy_keys import Key
from gpu_lol_action.domain.policy_values import read_value
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.yaml_nodes import Place


@record(frozen=True, slots=True)
class PolicyReading:
    """A policy, and the line of the file that says each key; what has no line is a default."""

    policy: Policy
    lines: Mapping[str, int] = field(default_factory=dict)


def parse_policy(text: str | None, path: str = POLICY_PATH) -> Policy:
    """Return the policy that the file's text states over the defaults; None means that there is no file.

    Raises SpecError with the file's line.
    """
    return read_policy(text, path).policy


def read_policy(text: str | None, path: str = POLICY_PATH) -> PolicyReading:
    """Return the policy with the lines that say it. Raises SpecError with the file's line."""
    place = Place(path)
    root = yaml_nodes.read_document(text, place) if text is not None else None
    if root is None:
        return PolicyReading(Policy())
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for name, key_node, node in yaml_nodes.entries(root, "policy", place):
        if name not in policy_keys.TOP:
            raise _unknown(place, key_node, name, policy_keys.TOP)
        keys = policy_keys.section(name)
        if not keys:
            _read_into(values, lines, _row(name), (key_node, node), place)
            continue
        known = [key.name.partition(".")[2] for key in keys]
        for inner, inner_key, inner_node in yaml_nodes.entries(node, name, place):
            if inner not in known:
                raise _unknown(place, inner_key, inner, known)
            _read_into(values, lines, _row(f"{name}.{inner}"), (inner_key, inner_node), place)
    return PolicyReading(_checked(_with_values(Policy(), values), root, place), lines)


def _read_into(
    values: dict[str, Any], lines: dict[str, int], row: Key, nodes: tuple[yaml.Node, yaml.Node], place: Place
) -> None:
    key_node, value_node = nodes
    values[row.field] = read_value(row, value_node, place)
    lines[row.name] = key_node.start_mark.line + 1


def _row(name: str) -> Key:
    row = policy_keys.find_key(name)
    if row is None:
        raise LookupError(name)
    return row


def _with_values(policy: Policy, values: Mapping[str, Any]) -> Policy:
    plain = {name: value for name, value in values.items() if "." not in name}
    boxes = {name.partition(".")[2]: value for name, value in values.items() if "." in name}
    return replace(policy, **plain, timeouts=replace(policy.timeouts, **boxes))


def _checked(policy: Policy, root: yaml.Node, place: Place) -> Policy:
    if not policy.min_lease <= policy.lease <= policy.max_lease:
        raise place.error(root, "`lease.default` must lie between `lease.min` and `lease.max`.")
    return policy


def _unknown(place: Place, node: yaml.Node, name: str, known: Iterable[str]) -> Exception:
    guess = yaml_nodes.nearest(name, known)
    fix = f"Did you mean `{guess}`?" if guess else f"Known here: {', '.join(known)}."
    return place.error(node, f"there is no key `{name[:60]}`.", fix=fix)
