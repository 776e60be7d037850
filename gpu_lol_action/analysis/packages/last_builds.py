"""Packages that an old Python of the image has no builds of any more: their sources would be built, for which images lack a compiler.

pip takes the newest release that says it runs on a Python, with or without a build for it: of safetensors for Python 3.7 that is
0.5.3, which needs Rust. The releases stand in ``data/last_builds.csv``, of Pythons alone that get no more of them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.package_lists.paired_releases import Release, below_release, release_of
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.tables import table_rows

_AT_MOST = regex(r"(===?|~=|<=?)\s{0,3}(\d{1,4}(?:\.\d{1,4}){0,2})")


@record(frozen=True, slots=True)
class _Ended:
    """A package without builds for a Python from a release on; ``brought_by``: what installs it though no list names it, and from which release on."""

    package: str
    limit: str
    bound: Release
    brought_by: tuple[tuple[str, Release], ...]

    def is_brought(self, listed: Mapping[str, str]) -> bool:
        """Whether something that is listed, in a release that may, installs it."""
        return any(name in listed and _may_reach(listed[name], least) for name, least in self.brought_by)


def _may_reach(requirement: str, least: Release) -> bool:
    """Whether a requirement lets a release in, or a newer one."""
    most = _AT_MOST.search(requirement)
    if most is None:
        return True
    return release_of(most[2]) > least or (release_of(most[2]) == least and most[1] != "<")


@functools.lru_cache(maxsize=4)
def _ended(python: str) -> tuple[_Ended, ...]:
    rows = (row for row in table_rows("last_builds.csv") if row["python"] == python)
    return tuple(
        _Ended(row["package"], row["below"], release_of(row["below"]), tuple(map(_bringer, row["brought_by"].split())))
        for row in rows
    )


def _bringer(text: str) -> tuple[str, Release]:
    name, _, least = text.partition(">=")
    return name, release_of(least or "0")


def with_last_builds(requirements: Sequence[str], python: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirements, those that are open kept at releases with a build, and one sentence on them."""
    ended = _ended(".".join((python or "").split(".")[:2]))
    if not ended:
        return tuple(requirements), ()
    kept = list(requirements)
    places = {package_name(text): place for place, text in reversed(list(enumerate(kept)))}
    listed = {name: kept[place] for name, place in places.items()}
    taken: list[str] = []
    for each in ended:
        place = places.get(each.package)
        value: str | None = None
        if place is not None and (value := below_release(kept[place], each.bound, each.limit)) is not None:
            kept[place] = value
        elif place is None and each.is_brought(listed):
            value = f"{each.package}<{each.limit}"
            kept.append(value)
        taken += [value] if value is not None else []
    return tuple(kept), (
        f"no later builds for Python {python}, which the image has: {', '.join(taken)}",
    ) if taken else ()
