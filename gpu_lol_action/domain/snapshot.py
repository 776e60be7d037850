"""What a running machine has beyond what set-up left on it, as changes of the spec it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from typing import Any

from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec import EnvironmentSpec

SECTIONS = ("hardware", "environment", "dependencies", "meta")
CREATED_FROM = "snapshot"


@record(frozen=True, slots=True)
class Package:
    """An installed distribution. ``line`` is what pip takes for it, None where no other machine could (``why``)."""

    name: str
    version: str
    line: str | None
    why: str = ""


@record(frozen=True, slots=True)
class Inventory:
    """What was installed at one moment: distributions by normalized name, and packages that apt was asked for.

    ``system_packages`` None: it could not be told. ``refused`` counts entries that were no names or versions.
    """

    python: str = ""
    cuda: str = ""
    image: str = ""
    packages: Mapping[str, Package] = field(default_factory=dict)
    system_packages: frozenset[str] | None = None
    refused: int = 0


@record(frozen=True, slots=True)
class MachineState:
    """What the image brought, what set-up left, and what is there now."""

    image: Inventory
    setup: Inventory
    now: Inventory


@record(frozen=True, slots=True)
class Change:
    """One thing that the spec does not say: its key, and what it was and is; one of them is empty where it came or went."""

    key: str
    before: str
    after: str


@record(frozen=True, slots=True)
class Snapshot:
    """A spec as the machine is. ``changes`` explain it; ``left_out`` are sentences about what no spec can hold."""

    spec: EnvironmentSpec
    changes: tuple[Change, ...]
    left_out: tuple[str, ...] = ()


def changed_values(before: EnvironmentSpec, after: EnvironmentSpec) -> dict[str, Any]:
    """Return the dotted keys of the sections on which two specs differ, with the later value."""
    return {
        f"{section}.{name}": getattr(getattr(after, section), name)
        for section in SECTIONS
        for name in _names(getattr(after, section))
        if getattr(getattr(after, section), name) != getattr(getattr(before, section), name)
    }


def with_values(spec: EnvironmentSpec, values: Mapping[str, Any]) -> EnvironmentSpec:
    """Return a spec with dotted keys at other values; profiles that have the spec's own value of one follow it."""
    changed = _with(spec, values)
    profiles = {
        name: _with(each, {key: value for key, value in values.items() if value_at(each, key) == value_at(spec, key)})
        for name, each in spec.profiles.items()
    }
    return replace(changed, profiles=profiles)


def value_at(spec: EnvironmentSpec, key: str) -> Any:
    """Return the value of a dotted key."""
    section, _, name = key.partition(".")
    return getattr(getattr(spec, section), name)


def explain_lists(key: str, before: Iterable[str], after: Iterable[str]) -> list[Change]:
    """Return what came to a list and what went."""
    old, new = list(before), list(after)
    gone = [Change(key, each, "") for each in old if each not in new]
    return [*gone, *(Change(key, "", each) for each in new if each not in old)]


def _with(spec: EnvironmentSpec, values: Mapping[str, Any]) -> EnvironmentSpec:
    for section in SECTIONS:
        own = {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{section}.")}
        if own:
            spec = replace(spec, **{section: replace(getattr(spec, section), **own)})
    return spec


def _names(section: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(section) if each.compare)
