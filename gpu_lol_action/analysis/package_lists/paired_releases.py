"""Packages that a release of another one needs older than they are, which its metadata does not say: pip would take the newest.

``diffusers==0.21`` asks for any ``huggingface-hub``, and imports from it what went in 0.26. The pairs are in
``data/paired_releases.csv``; the bound is said beside the pin.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.tables import table_rows

Release = tuple[int, int, int]
"""Major, minor and patch."""
_NAME = r"[\w.-]{1,60}(?:\[[\w,.-]{1,60}\])?\s{0,3}"
_DOTTED = r"(\d{1,4}(?:\.\d{1,4}){0,2})"
_PIN = regex(_NAME + r"(?:===?|~=|<=)\s{0,3}" + _DOTTED + r"[\w.*+!]{0,20}")
_BELOW = regex(r"[^;@<]{1,120}<\s{0,3}" + _DOTTED + r"[\w.]{0,20}(?:,[^;@<]{0,60})?")
_LEAST = regex(r">=?\s{0,3}" + _DOTTED)
_UPPER = regex(r"<\s{0,3}\d[\w.]{0,20}")
_OPEN = regex(_NAME + r"(?:>=?\s{0,3}" + _DOTTED + r"[\w.]{0,20})?")
_NEWEST: Release = (9999, 0, 0)
# It does say so, but only from this release on: bounded from above alone, and beside a library that takes 1, a resolver goes back
# to the one before.
_SAYS_SO_FROM = MappingProxyType({("transformers", "huggingface-hub"): (4, 13, 0)})


@record(frozen=True, slots=True)
class _Pair:
    """Releases of a package from ``first`` on and below ``end`` that fail with ``needs`` from ``bound`` on.

    What no list names is bounded where one of ``beside`` is listed, which bring it, or one of ``beside_newest`` in any release, whose
    newest ask for a newer one; where both are empty, always.
    """

    name: str
    first: Release
    end: Release
    needs: str
    bound: Release
    beside: frozenset[str]
    beside_newest: frozenset[str]

    def is_added(self, listed: Mapping[str, Finding]) -> bool:
        """Whether what it needs is installed though no list names it."""
        if not self.beside and not self.beside_newest:
            return True
        return bool(self.beside & listed.keys()) or any(
            _OPEN.fullmatch(listed[name].value) for name in self.beside_newest & listed.keys()
        )


@functools.lru_cache(maxsize=1)
def _pairs() -> tuple[_Pair, ...]:
    return tuple(
        _Pair(
            row["package"],
            release_of(row["from"]) if row["from"] else (0, 0, 0),
            release_of(row["below"]) if row["below"] else _NEWEST,
            row["needs"],
            release_of(row["needs_below"]) if row["needs_below"] else _NEWEST,
            frozenset(row["beside"].split()),
            frozenset(row["beside_newest"].split()),
        )
        for row in table_rows("paired_releases.csv")
    )


def release_of(text: str) -> Release:
    """Return the first three numbers of a release; what is not written is zero."""
    major, minor, patch = (*map(int, text.split(".")), 0, 0)[:3]
    return major, minor, patch


def with_paired_releases(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings of packages with those that another one needs older: bounded where a list names them, else beside it."""
    found = list(findings)
    listed = {package_name(each.value): each for each in found if each.field == "dependencies.requirements"}
    settled: set[str] = set()
    for pair in _pairs():
        pin, named = listed.get(pair.name), listed.get(pair.needs)
        if pin is None or pair.needs in settled:
            continue
        if not _is_within(pair, pin.value.partition(";")[0].strip()):
            continue
        if named is None and not pair.is_added(listed):
            continue
        settled.add(pair.needs)
        limit = "" if pair.bound == _NEWEST else ".".join(map(str, pair.bound)).removesuffix(".0").removesuffix(".0")
        value = (
            f"{pair.needs}<{limit}".removesuffix("<")
            if named is None
            else below_release(named.value, pair.bound, limit)
        )
        if value is None:
            continue
        what = f"does not work with {pair.needs} from {limit} on" if limit else f"imports {pair.needs}"
        why = f"`{pin.value}` ({pin.evidence}) {what}, and {_says(pair)}"
        if named is None:
            bounded = Finding("dependencies.requirements", value, why, Confidence.MEDIUM, pin.evidence)
            found.append(bounded)
        else:
            bounded = replace(named, value=value, why=why)
            found = [bounded if each is named else each for each in found]
        listed[pair.needs] = bounded
    return found


def below_release(requirement: str, bound: Release, limit: str) -> str | None:
    """Return a requirement below a release (``limit`` as text); None where it is already, or says itself that it wants a newer one."""
    read, below = _OPEN.fullmatch(requirement), _version(_BELOW.fullmatch(requirement))
    if not limit or (_version(_LEAST.search(requirement)) or (0, 0, 0)) >= bound:
        return None
    if below is not None and below > bound:
        return _UPPER.sub(f"<{limit}", requirement, count=1)
    return f"{requirement}{',' if read[1] else ''}<{limit}" if read is not None else None


def _says(pair: _Pair) -> str:
    """Return what a package says of that itself."""
    first = _SAYS_SO_FROM.get((pair.name, pair.needs))
    if first is None:
        return "does not say so"
    return f"says so only from {'.'.join(map(str, first[:2]))} on: pip may go back to one before it"


def _is_within(pair: _Pair, requirement: str) -> bool:
    """Whether a requirement asks for one of a pair's releases, and for no other that pip would take."""
    pinned = _version(_PIN.fullmatch(requirement))
    says_so = _SAYS_SO_FROM.get((pair.name, pair.needs))
    if says_so is not None:
        least = _version(_LEAST.search(requirement))
        is_exact = pinned is not None and "<=" not in requirement
        if is_exact or (least is not None and least >= says_so):
            return False
    if pinned is not None:
        return pair.first <= pinned < pair.end
    below = _version(_BELOW.fullmatch(requirement))  # of all that are allowed the newest is taken
    if below is None and pair.end == _NEWEST:
        return _OPEN.fullmatch(requirement) is not None
    return below is not None and pair.first < below <= pair.end


def _version(read: re.Match[str] | None) -> Release | None:
    return release_of(read[1]) if read is not None and read[1] else None
