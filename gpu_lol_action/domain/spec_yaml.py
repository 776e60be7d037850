"""`.gpu-lol.yaml` read into an EnvironmentSpec; what is wrong is said with line, key and nearest valid name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import yaml

from gpu_lol_action.domain import spec_keys, yaml_nodes
from gpu_lol_action.domain.gpus import AcceleratorRequest, UnknownAccelerator, parse_accelerator
from gpu_lol_action.domain.policy import SPEC_PATH
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware, Smoke, WorkloadType
from gpu_lol_action.domain.spec_keys import Key, Kind
from gpu_lol_action.domain.yaml_nodes import Place

_SYSTEM_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.:=~_-]{0,99}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_PROFILE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_VERSION = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){0,3}")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")


@record(frozen=True, slots=True)
class SpecFile:
    """A file as read: the spec, and the dotted keys that it really states (all else may be filled from the code)."""

    spec: EnvironmentSpec
    stated: frozenset[str]
    path: str = SPEC_PATH


def parse_spec(text: str, path: str = SPEC_PATH) -> EnvironmentSpec:
    """Return the spec that the file's text states, with defaults for the rest. Raises SpecError."""
    return parse_spec_file(text, path).spec


def parse_spec_file(text: str, path: str = SPEC_PATH) -> SpecFile:
    """Return the spec and which keys the file states. Raises SpecError with the 1-based line."""
    place = Place(path)
    root = yaml_nodes.read_document(text, place)
    if root is None:
        return SpecFile(EnvironmentSpec(), frozenset(), path)
    reader = _Reading(place, {})
    spec = _apply(EnvironmentSpec(), root, reader, is_profile=False)
    return SpecFile(spec, frozenset(reader.lines), path)


@record(frozen=True, slots=True)
class _Reading:
    """What a read collects on its way: where the file is, and the line of each key stated."""

    place: Place
    lines: dict[str, int]


def _apply(base: EnvironmentSpec, root: yaml.Node, reading: _Reading, *, is_profile: bool) -> EnvironmentSpec:
    place = reading.place
    known = spec_keys.PROFILE_KEYS if is_profile else tuple(spec_keys.TOP_KEYS)
    if not isinstance(root, yaml.MappingNode) and not yaml_nodes.is_null(root):
        raise place.error(root, f"the file must hold sections such as `hardware:`, not {yaml_nodes.kind_of(root)}.")
    parts: dict[str, yaml.Node] = {}
    for name, key, value in yaml_nodes.entries(root, "the file", place):
        if name not in known:
            raise _unknown(place, key, name, known, "" if not is_profile else " in a profile")
        parts[name] = value
    spec = base
    builders: dict[str, Callable[[dict[str, Any]], EnvironmentSpec]] = {
        "hardware": lambda read: replace(spec, hardware=_hardware(spec.hardware, read)),
        "environment": lambda read: replace(spec, environment=replace(spec.environment, **read)),
        "dependencies": lambda read: replace(spec, dependencies=replace(spec.dependencies, **read)),
        "meta": lambda read: replace(spec, meta=replace(spec.meta, **read)),
    }
    for section, build in builders.items():
        if section in parts:
            spec = build(_section(section, parts[section], reading))
    if "env" in parts:
        spec = replace(spec, env={**spec.env, **_variables(parts["env"], "env", reading)})
    if "smoke" in parts:
        spec = replace(spec, smoke=_smoke(spec.smoke, parts["smoke"], reading))
    if "keep" in parts:
        spec = replace(spec, keep=_list(spec_keys.Key("keep", Kind.PATHS, ""), parts["keep"], place))
    if "measured" in parts:
        spec = replace(spec, measured=_variables(parts["measured"], "measured", reading))
    if "profiles" in parts:
        spec = replace(spec, profiles=_profiles(spec, parts["profiles"], place))
    reading.lines.update({name: node.start_mark.line + 1 for name, node in parts.items()})
    return spec


def _section(section: str, node: yaml.Node, reading: _Reading) -> dict[str, Any]:
    """Return field name to value for a section's keys; a key whose value is null is not stated."""
    keys = spec_keys.SECTIONS[section]
    read: dict[str, Any] = {}
    for name, key_node, value in yaml_nodes.entries(node, section, reading.place):
        key = spec_keys.key_named(keys, name)
        if key is None:
            raise _unknown(reading.place, key_node, name, [k.name for k in keys], f" in `{section}`")
        if yaml_nodes.is_null(value):
            continue
        read[name] = _value(key, value, reading.place)
        reading.lines[f"{section}.{name}"] = value.start_mark.line + 1
    if section == "hardware" and isinstance(read.get("gpu_type"), AcceleratorRequest):
        _check_count(read, node, reading.place)
    return read


def _check_count(read: dict[str, Any], node: yaml.Node, place: Place) -> None:
    """Hold `gpu_type: A100:2` and `gpu_count` together, and the count to what one machine holds."""
    request: AcceleratorRequest = read["gpu_type"]
    count = read.get("gpu_count", request.count)
    if request.count is not None and count != request.count:
        what = f"`gpu_type` asks for {request.count} cards and `gpu_count` for {count}."
        raise place.error(node, what, fix="Keep one of the two.")
    if count is not None and count > request.accelerator.max_per_node:
        what = f"one machine has at most {request.accelerator.max_per_node} × {request.accelerator.name}, not {count}."
        raise place.error(node, what, fix=f"Set `gpu_count: {request.accelerator.max_per_node}` or another card.")
    read["gpu_type"] = request.accelerator.name
    if count is not None:
        read["gpu_count"] = count


def _hardware(base: Hardware, read: dict[str, Any]) -> Hardware:
    if isinstance(read.get("alternatives"), tuple):
        read = {**read, "alternatives": tuple(request.accelerator.name for request in read["alternatives"])}
    return replace(base, **read)


def _value(key: Key, node: yaml.Node, place: Place) -> object:
    match key.kind:
        case Kind.WHOLE | Kind.GIB:
            return _whole(key, node, place)
        case Kind.SWITCH:
            if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:bool":
                raise place.error(node, f"`{key.name}` must be `true` or `false`, not {yaml_nodes.kind_of(node)}.")
            return node.value.lower() in {"true", "yes", "on"}
        case Kind.ACCELERATOR:
            return _accelerator(key, node, place)
        case Kind.ACCELERATORS:
            return tuple(_accelerator(key, item, place) for item in yaml_nodes.items(node, key.name, place))
        case Kind.WORKLOAD:
            return _workload(key, node, place)
        case Kind.TEXT:
            return _text(key, node, place)
        case _:
            return _list(key, node, place)


def _text(key: Key, node: yaml.Node, place: Place) -> str:
    text = yaml_nodes.text_of(node, key.name, place, is_multiline=key.name == "command")
    if key.name in {"python_version", "cuda_version"} and not _VERSION.fullmatch(text):
        raise place.error(node, f"`{key.name}: {text[:40]}` is no version.", fix=f'Write it as `{key.name}: "3.11"`.')
    if key.name == "base_image" and not _IMAGE.fullmatch(text.removeprefix("docker:")):
        raise place.error(node, f"`{text[:60]}` is no image name.", fix="Write it as `repository/name:tag`.")
    return text.removeprefix("docker:") if key.name == "base_image" else text


def _whole(key: Key, node: yaml.Node, place: Place) -> int:
    text = yaml_nodes.text_of(node, key.name, place).strip()
    is_size = key.kind is Kind.GIB
    unit = r"(?:\s*(?:gb|gib|g))?" if is_size else ""
    found = re.fullmatch(rf"([0-9]{{1,9}})(\.[0-9]{{1,9}})?{unit}", text, re.IGNORECASE)
    if not found:
        raise place.error(
            node, f"`{key.name}: {text[:40]}` is not a {key.kind.value}.", fix=f"Write `{key.name}: {max(key.low, 1)}`."
        )
    number, rest = int(found[1]), float(found[2] or 0)
    if rest and not is_size:
        raise place.error(node, f"`{key.name}: {text}` must be a whole number.")
    number += 1 if rest else 0  # a need of 22.5 GiB is met by 23
    if not key.low <= number <= key.high:
        raise place.error(node, f"`{key.name}: {number}` is out of range; {key.low} to {key.high} is possible.")
    return number


def _accelerator(key: Key, node: yaml.Node, place: Place) -> AcceleratorRequest:
    found = parse_accelerator(yaml_nodes.text_of(node, key.name, place))
    if isinstance(found, UnknownAccelerator):
        fix = f"Did you mean {' or '.join(f'`{name}`' for name in found.did_you_mean)}?" if found.did_you_mean else ""
        raise place.error(node, found.what, fix=fix)
    return found


def _workload(key: Key, node: yaml.Node, place: Place) -> WorkloadType:
    text = yaml_nodes.text_of(node, key.name, place)
    names = [kind.value for kind in WorkloadType]
    folded = text.strip().lower().replace("_", "-")
    if folded not in names:
        guess = yaml_nodes.nearest(folded, names)
        fix = f"Did you mean `{guess}`?" if guess else ""
        raise place.error(node, f"`{text[:40]}` is no workload; {', '.join(names)} are.", fix=fix)
    return WorkloadType(folded)


def _list(key: Key, node: yaml.Node, place: Place) -> tuple[str, ...]:
    nodes = yaml_nodes.items(node, key.name, place)
    return tuple(_item(key, item, place) for item in nodes)


def _item(key: Key, node: yaml.Node, place: Place) -> str:
    text = yaml_nodes.text_of(node, key.name, place, is_multiline=key.kind is Kind.SCRIPTS)
    if key.kind is Kind.IMAGES:
        text = text.removeprefix("docker:")
        if not _IMAGE.fullmatch(text):
            raise place.error(node, f"`{text[:60]}` is no image name.", fix="Write it as `repository/name:tag`.")
    if not text.strip():
        raise place.error(node, f"`{key.name}` holds an empty entry.", fix="Remove it.")
    if key.kind is Kind.SYSTEM_PACKAGES and not _SYSTEM_PACKAGE.fullmatch(text):
        raise place.error(node, f"`{text[:60]}` is no name of a Debian package.")
    if key.kind is Kind.LINKS:
        parts = text.split(":")
        if len(parts) != 2 or not all(part.startswith("/") and ".." not in part.split("/") for part in parts):
            raise place.error(node, f"`{text[:60]}` is no link.", fix="Write it as `/existing/path:/link/path`.")
    if key.kind is Kind.PATHS and (text.startswith(("/", "~")) or ".." in text.split("/")):
        raise place.error(node, f"`{text[:60]}` leaves the checkout.", fix="Write a path relative to its root.")
    return text


def _variables(node: yaml.Node, what: str, reading: _Reading) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, key, value in yaml_nodes.entries(node, what, reading.place):
        if what == "env" and not _VARIABLE.fullmatch(name):
            raise reading.place.error(key, f"`{name[:60]}` is no name of a variable.")
        if what == "env" and name.startswith(("GPU_LOL_", "SKYPILOT_")):
            raise reading.place.error(key, f"`{name[:60]}` is set by the tool itself.", fix="Use another name.")
        values[name] = "" if yaml_nodes.is_null(value) else yaml_nodes.text_of(value, name[:60], reading.place)
    return values


def _smoke(base: Smoke | None, node: yaml.Node, reading: _Reading) -> Smoke | None:
    read: dict[str, Any] = {}
    for name, key_node, value in yaml_nodes.entries(node, "smoke", reading.place):
        key = spec_keys.key_named(spec_keys.SMOKE, name)
        if key is None:
            raise _unknown(reading.place, key_node, name, [k.name for k in spec_keys.SMOKE], " in `smoke`")
        if not yaml_nodes.is_null(value):
            read[name] = _value(key, value, reading.place)
    if "gpus" in read:
        read["gpus"] = tuple(_written(request) for request in read["gpus"])
    if base is None and not read:
        return None
    return replace(base or Smoke(), **read)


def _written(request: AcceleratorRequest) -> str:
    return f"{request.accelerator.name}:{request.count}" if (request.count or 1) > 1 else request.accelerator.name


def _profiles(base: EnvironmentSpec, node: yaml.Node, place: Place) -> dict[str, EnvironmentSpec]:
    profiles: dict[str, EnvironmentSpec] = {}
    for name, key, value in yaml_nodes.entries(node, "profiles", place):
        if not _PROFILE.fullmatch(name):
            raise place.error(
                key, f"`{name[:60]}` is no profile name; small letters, digits and dashes are, at most 32."
            )
        profiles[name] = _apply(base, value, _Reading(place, {}), is_profile=True)
    return profiles


def _unknown(place: Place, node: yaml.Node, name: str, known: Any, where: str) -> Exception:
    guess = yaml_nodes.nearest(name, known)
    fix = f"Did you mean `{guess}`?" if guess else f"Known here: {', '.join(known)}."
    return place.error(node, f"there is no key `{name[:60]}`{where}.", fix=fix)
