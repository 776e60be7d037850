"""A machine's state held against the spec that it was made from: what came later becomes part of the spec.

What set-up left is the spec's word already, a range of versions as well as a command's doing; so the spec stands as it
is, but for what is different on the machine since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion

from gpu_lol_action.domain.corrected_spec import correct_spec
from gpu_lol_action.domain.corrections import Corrections
from gpu_lol_action.domain.snapshot import (
    CREATED_FROM,
    Change,
    Inventory,
    MachineState,
    Package,
    Snapshot,
    explain_lists,
)
from gpu_lol_action.domain.spec import Dependencies, EnvironmentSpec, Software
from gpu_lol_action.launch.requirements import requirement_name

MOST_NEW = 400
"""Packages that one snapshot adds; nobody installs more by hand."""
_MOST_SAID = 6
# `pip freeze` leaves them out too: every environment has its own.
_INSTALLERS = frozenset({"pip", "setuptools", "wheel", "distribute", "uv"})


@dataclass(frozen=True, slots=True)
class Rented:
    """The accelerator as it was rented, by SkyPilot's name; ``accelerator`` None where there is none."""

    accelerator: str | None
    count: int


def snapshot_spec(spec: EnvironmentSpec, state: MachineState, rented: Rented, *, is_new: bool) -> Snapshot:
    """Return the spec as the machine is. ``is_new``: the repository states none, so that all of it is to be written down."""
    shaped = _with_card(spec, rented, is_new=is_new)
    environment = _software(spec.environment, state, is_new=is_new)
    requirements, sentences = _requirements(spec.dependencies.requirements, state)
    system = _system_packages(spec.dependencies.system_packages, state)
    dependencies = replace(spec.dependencies, requirements=requirements, system_packages=system)
    changes = [
        *_values("hardware", spec.hardware, shaped.hardware),
        *_values("environment", spec.environment, environment),
        *_lists(spec.dependencies, dependencies),
    ]
    taken = replace(shaped, environment=environment, dependencies=dependencies)
    if changes or is_new:
        taken = replace(taken, meta=replace(taken.meta, created_from=CREATED_FROM))
    return Snapshot(taken, tuple(changes), tuple(sentences))


def _with_card(spec: EnvironmentSpec, rented: Rented, *, is_new: bool) -> EnvironmentSpec:
    """Return the spec with the card that was rented, where it names another one; any that fits stays any that fits."""
    hardware = spec.hardware
    if rented.accelerator is None or rented.count < 1:
        return spec
    welcome = {hardware.gpu_type, *hardware.alternatives}
    is_named = rented.accelerator in welcome if hardware.gpu_type else not is_new
    if is_named and rented.count == hardware.gpu_count:
        return spec
    card = None if is_named else rented.accelerator
    return correct_spec(spec, Corrections(gpu=card, gpu_count=rented.count))


def _software(stated: Software, state: MachineState, *, is_new: bool) -> Software:
    python, cuda = stated.python_version, stated.cuda_version
    if _short(state.now.python) and (
        _short(state.now.python) != _short(state.setup.python) or (is_new and python is None)
    ):
        python = _short(state.now.python)
    if _short(state.now.cuda) and (_short(state.now.cuda) != _short(state.setup.cuda) or (is_new and cuda is None)):
        cuda = _short(state.now.cuda)
    return Software(state.setup.image or stated.base_image, python, cuda)


def _short(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _requirements(stated: Sequence[str], state: MachineState) -> tuple[tuple[str, ...], list[str]]:
    kept = [line for line in (_kept(line, state.setup, state.now) for line in stated) if line is not None]
    named = {requirement_name(line) for line in stated}
    others = {
        name: package
        for name, package in sorted(state.now.packages.items())
        if name not in named | _INSTALLERS and not _is_same(state.setup.packages.get(name), package)
    }
    new = [package.line for package in others.values() if package.line is not None]
    sentences = [_sentence(package) for package in others.values() if package.line is None]
    if len(sentences) > _MOST_SAID:
        sentences = [*sentences[:_MOST_SAID], f"And {len(sentences) - _MOST_SAID} more such packages."]
    if len(new) > MOST_NEW:
        sentences.append(f"{len(new) - MOST_NEW} more packages than the {MOST_NEW} that a snapshot adds.")
    if state.now.refused:
        sentences.append(f"Entries of the machine's lists that name no package: {state.now.refused}.")
    return (*kept, *new[:MOST_NEW]), sentences


def _sentence(package: Package) -> str:
    return f"`{package.name}` {package.version}: {package.why}."


def _is_same(before: Package | None, now: Package) -> bool:
    return before is not None and (before.version, before.line) == (now.version, now.line)


def _kept(line: str, setup: Inventory, now: Inventory) -> str | None:
    """Return a line of the spec as it holds on the machine: as it is, at another version, or None where it is gone."""
    name = requirement_name(line)
    before, installed = setup.packages.get(name), now.packages.get(name)
    if installed is None:
        return line if before is None else None
    if installed.line is None or _is_same(before, installed):
        return line
    # The spec has moved on since set-up, and what it asks for now is there.
    if before is None and _fits(line, installed.version):
        return line
    return _pinned(line, installed)


def _pinned(line: str, installed: Package) -> str:
    """Return the requirement for what is installed, with the extras and the marker of the line before."""
    pinned = installed.line or line
    try:
        asked = Requirement(line.strip())
    except InvalidRequirement:
        return pinned
    extras = f"[{','.join(sorted(asked.extras))}]" if asked.extras else ""
    marker = f"{' ' if ' @ ' in pinned else ''}; {asked.marker}" if asked.marker else ""
    return f"{installed.name}{extras}{pinned.removeprefix(installed.name)}{marker}"


def _fits(line: str, version: str) -> bool:
    try:
        return Requirement(line.strip()).specifier.contains(version, prereleases=True)
    except (InvalidRequirement, InvalidVersion):
        return True


def _system_packages(stated: Sequence[str], state: MachineState) -> tuple[str, ...]:
    before, now = state.setup.system_packages, state.now.system_packages
    if before is None or now is None:
        return tuple(stated)
    named: Mapping[str, str] = {line: line.partition("=")[0] for line in stated}
    gone = {line for line, name in named.items() if name in before and name not in now}
    new = sorted(now - before - set(named.values()))[:MOST_NEW]
    return (*(line for line in stated if line not in gone), *new)


def _values(section: str, before: object, after: object) -> list[Change]:
    keys = type(before).__dataclass_fields__  # type: ignore[attr-defined]  # the sections are dataclasses
    pairs = [(f"{section}.{key}", getattr(before, key), getattr(after, key)) for key in keys]
    return [Change(key, _shown(old), _shown(new)) for key, old, new in pairs if old != new]


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _lists(before: Dependencies, after: Dependencies) -> list[Change]:
    return [
        *explain_lists("dependencies.requirements", before.requirements, after.requirements),
        *explain_lists("dependencies.system_packages", before.system_packages, after.system_packages),
    ]
