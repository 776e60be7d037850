"""Releases that a document's own commands install of what the list leaves open: ``conda install pytorch=1.7.0`` beside ``torch>=1.7.0``.

Who follows the document has that release, and the list is content with it: nothing newer comes.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.analysis.package_lists.installable_names import meant
from gpu_lol_action.analysis.package_lists.package_files import Declared, package_name
from gpu_lol_action.estimation.read_requirements import Named, ReadRequirement, read_requirement

_CLOSED = ("==", "~=", "<", "===")


def as_told(declared: Sequence[Declared], told: Sequence[Declared]) -> list[Declared]:
    """Return what lists name, with the one release that commands install of it where the list leaves the release open."""
    exact: dict[str, set[str]] = {}
    places: dict[str, Declared] = {}
    for item in told:
        found = read_requirement(meant(item.requirement) or "")
        if found is not None and (release := _release(found)) is not None:
            exact.setdefault(package_name(found.name), set()).add(release)
            places.setdefault(package_name(found.name), item)
    return [_with_release(item, exact, places) for item in declared]


def _with_release(item: Declared, exact: dict[str, set[str]], places: dict[str, Declared]) -> Declared:
    asked = read_requirement(item.requirement)
    releases = exact.get(package_name(asked.name), set()) if asked is not None else set()
    if (
        asked is None
        or len(releases) != 1
        or item.is_optional
        or asked.url
        or any(s.operator in _CLOSED for s in asked.specifier)
    ):
        return item
    release = next(iter(releases))
    told = _exactly(asked, release)
    return item if told is None else replace(item, requirement=told, evidence=places[package_name(asked.name)].evidence)


def _exactly(asked: ReadRequirement, release: str) -> str | None:
    """Return what asks for that release alone; None where the list does not allow it."""
    if isinstance(asked, Named):
        return f"{asked.name}=={release}"
    from packaging.specifiers import SpecifierSet  # loaded by now, as what read the list needs it

    if not asked.specifier.contains(release, prereleases=True):
        return None
    exact = copy.copy(asked)
    exact.specifier = SpecifierSet(f"=={release}")
    return str(exact)


def _release(found: ReadRequirement) -> str | None:
    """Return the release of a requirement that allows one alone."""
    pins = [s.version for s in found.specifier if s.operator == "==" and not s.version.endswith("*")]
    return pins[0] if len(pins) == 1 and len(found.specifier) == 1 and found.marker is None else None
