"""Which versions of a package pip can install on which Python, and the nearest one where the version that is asked for is none.

A release publishes wheels for the Pythons of its day. Asked for on a newer one, pip takes its source, whose build fails on that
Python, lacks a compiler in an image that only runs programs, or takes an hour: the whole installation ends there. On an older
one, pip refuses. The table holds, per Python, the least and the newest version that install (``data/SOURCES.md``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.tables import table_text
from gpu_lol_action.estimation.read_requirements import ReadRequirement, read_requirement

if TYPE_CHECKING:
    from packaging.version import Version

PYTHONS = tuple(f"3.{minor}" for minor in range(6, 15))
"""The Pythons of the table, in the order of its columns."""
_NONE = "-"
# transformers from this release on takes tokenizers up to that one, which without a wheel wants a compiler for Rust; None: any.
# Beside it the first release without known faults. Source: the metadata of transformers' own releases.
_TOKENIZERS = (
    ("2.4", "0.9.3", "2.4.1"), ("4.0", "0.9.4", "4.0.1"), ("4.3", "0.10.3", "4.3.3"), ("4.16", None, "4.16.2"),
    ("4.17", "0.12.1", "4.17.0"), ("4.23", "0.13.3", "4.23.1"), ("4.34", None, "4.34.0"),
)  # fmt: skip
_NAME = regex(r"[A-Za-z0-9][\w.-]*")


@record(frozen=True, slots=True)
class WheelRange:
    """The versions that install on one Python; None: nothing bounds it on that side."""

    least: Version | None
    newest: Version | None


@record(frozen=True, slots=True)
class Replaced:
    """A requirement that does not install on a Python: as it was asked for, and with the nearest version that does.

    ``is_older``: that Python is too old for what was asked for, so the nearest version is one from before it.
    """

    asked: str
    nearest: str
    version: str
    is_older: bool


# What installs and does not load, which no index says: from Python 3.11 on a data class takes no other as its default (fairseq issue
# 5012; hydra-core 1.1.1, 1.2.0 and 1.3.2 were tried).
_LOADS = MappingProxyType({"hydra-core": ("3.11", "1.3.0.."), "fairseq": ("3.11", _NONE)})


@functools.lru_cache(maxsize=1)
def _lines() -> Mapping[str, str]:
    """Return the table's lines by package; cells are read when they are asked for."""
    lines = table_text("wheel_ranges.csv").splitlines()[1:]
    rows = dict(line.split(",", maxsplit=1) for line in lines)
    for name, (first, cell) in _LOADS.items():
        cells = rows.get(name, "," * (len(PYTHONS) - 1)).split(",")
        later = PYTHONS.index(first)
        rows[name] = ",".join((*cells[:later], *(cell for _ in cells[later:])))
    return MappingProxyType(rows)


def known_packages() -> frozenset[str]:
    """Return the names of all packages in the table."""
    return frozenset(_lines())


def wheel_range(name: str, python: str) -> WheelRange | None:
    """Return what of a package (normalized name) installs on a Python (``3.11``); None where the table knows no bound.

    A package of which nothing installs there has no nearest version either: None as well.
    """
    line = _lines().get(name)
    if line is None or python not in PYTHONS:
        return None
    cell = line.split(",")[PYTHONS.index(python)]
    if cell in {"", _NONE}:
        return None
    from packaging.version import Version

    least, _, newest = cell.partition("..")
    return WheelRange(Version(least) if least else None, Version(newest) if newest else None)


def replaced(requirement: str, python: str) -> Replaced | None:
    """Return what to ask for instead where no version that a requirement allows installs on that Python; None where one does.

    Addresses, requirements whose marker leaves that Python out, and packages that the table does not know stay as they are.
    """
    if not regex(r"[=<>~]").search(requirement):
        return None
    read = read_requirement(requirement)
    if read is None or read.url or not read.specifier or (read.marker is not None and not _applies(read, python)):
        return None
    name = regex(r"[-_.]+").sub("-", read.name).lower()
    known = wheel_range(name, python)
    if known is None and name != "transformers":
        return None
    lower, upper = _bounds(read)
    version, is_older = None, False
    known = known or WheelRange(None, None)
    if known.least is not None and upper is not None and upper < known.least:
        version = known.least
    elif known.newest is not None and lower is not None and lower > known.newest:
        version, is_older = known.newest, True
    if version is None and name == "transformers" and lower is not None and upper is not None:
        version = _with_tokenizers(lower, upper, python)
    if version is None:
        return None
    extras = f"[{','.join(sorted(read.extras))}]" if read.extras else ""
    marker = f" ; {read.marker}" if read.marker else ""
    return Replaced(f"{read.name}{read.specifier}", f"{read.name}{extras}=={version}{marker}", str(version), is_older)


def _with_tokenizers(lower: Version, upper: Version, python: str) -> Version | None:
    """Return the next release of transformers whose tokenizers has a wheel for that Python; None where one that is asked for has."""
    from packaging.version import Version

    tokenizers = wheel_range("tokenizers", python)
    least = tokenizers.least if tokenizers is not None else None
    if least is None or lower < Version(_TOKENIZERS[0][0]):
        return None
    ends = [*(first for first, _, _ in _TOKENIZERS[1:]), None]
    for (first, most, release), end in zip(_TOKENIZERS, ends, strict=True):
        if (end is None or Version(end) > lower) and (most is None or Version(most) >= least):
            return Version(release) if Version(first) > upper else None
    return None


def has_none(requirement: str, python: str) -> bool:
    """Whether nothing at all of a package installs on that Python: it has given that Python up, or does not have it yet."""
    found = _NAME.match(requirement)
    line = _lines().get(regex(r"[-_.]+").sub("-", found[0]).lower()) if found is not None else None
    return line is not None and python in PYTHONS and line.split(",")[PYTHONS.index(python)] == _NONE


def unmet(requirements: Iterable[str], python: str) -> int:
    """Return how many requirements have no version that installs on a Python."""
    return sum(replaced(text, python) is not None or has_none(text, python) for text in requirements)


def best_python(requirements: Sequence[str], candidates: Sequence[str]) -> str:
    """Return the first of the Pythons on which the fewest requirements fail; raises ValueError without candidates.

    One that is too old for anything comes after all others: a version taken back years is no stand-in.
    """

    def failing(python: str) -> tuple[int, int]:
        found = [other for requirement in requirements if (other := replaced(requirement, python)) is not None]
        without = sum(has_none(requirement, python) for requirement in requirements)
        return sum(other.is_older for other in found) + without, len(found)

    return min(candidates, key=failing)


def _applies(read: ReadRequirement, python: str) -> bool:
    environment = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux", "os_name": "posix",
                   "platform_system": "Linux", "platform_machine": "x86_64", "implementation_name": "cpython",
                   "platform_python_implementation": "CPython", "extra": ""}  # fmt: skip
    try:
        return read.marker is None or read.marker.evaluate(environment)
    except (ValueError, KeyError):  # `=== "pypy"`, or a name that no standard knows: pip would stop at it
        return True


def _bounds(read: ReadRequirement) -> tuple[Version | None, Version | None]:
    """Return the least and the greatest version that a specifier allows; an open side is None.

    ``==1.22.*`` and ``~=1.22.1`` reach to the end of 1.22; ``<2`` is taken as 2 itself, which is never too narrow.
    """
    from packaging.version import InvalidVersion, Version

    lower: list[Version] = []
    upper: list[Version] = []
    for part in read.specifier:
        text = part.version.removesuffix(".*")
        try:
            version = Version(text.partition("+")[0])
        except InvalidVersion:
            continue
        release = version.release
        if part.operator in {"==", "===", "~=", ">=", ">"}:
            lower.append(version)
        if part.operator in {"<", "<="} or (part.operator in {"==", "==="} and not part.version.endswith(".*")):
            upper.append(version)
        elif part.operator == "~=" and len(release) > 1:
            upper.append(_end_of(release[:-1]))
        elif part.operator == "==":
            upper.append(_end_of(release))
    return (max(lower) if lower else None), (min(upper) if upper else None)


def _end_of(release: tuple[int, ...]) -> Version:
    from packaging.version import Version

    return Version(".".join(map(str, release)) + ".999999")
