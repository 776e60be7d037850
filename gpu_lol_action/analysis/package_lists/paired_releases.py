"""Packages that an older release of another one needs as they were, which its metadata does not say: pip would take the newest.

``diffusers==0.21`` asks for any ``huggingface-hub``, and imports from it what went in 0.26. Each row was met by many people on their
own machines; the bound is said beside the pin. Sources: the projects' own issues, and their notes on releases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

_PIN = regex(r"[\w.-]{1,60}(?:\[[\w,.-]{1,60}\])?\s{0,3}(?:===?|~=|<=)\s{0,3}(\d{1,4})(?:\.(\d{1,4}))?[\w.*]{0,20}")
_BELOW = regex(r"[^;@<]{1,120}<\s{0,3}(\d{1,4})(?:\.(\d{1,4}))?[\w.]{0,20}(?:,[^;@<]{0,60})?")
_LEAST = regex(r">=?\s{0,3}(\d{1,4})(?:\.(\d{1,4}))?")
_UPPER = regex(r"<\s{0,3}\d[\w.]{0,20}")
_OPEN = regex(r"[\w.-]{1,60}(?:\[[\w,.-]{1,60}\])?\s{0,3}(?:>=?\s{0,3}(\d{1,4})(?:\.(\d{1,4}))?[\w.]{0,20})?")
_NEWEST = (9999, 0)
# What is pinned or bounded, from which release on and below which; what it needs, and the first release of that with which it fails.
_PAIRS: tuple[tuple[str, tuple[int, int], tuple[int, int], str, tuple[int, int]], ...] = (
    # Built for NumPy 1, and what is installed beside it (OpenCV) asks for 2.
    ("torch", (1, 10), (2, 3), "numpy", (2, 0)),
    ("diffusers", (0, 0), (0, 29), "huggingface-hub", (0, 26)),
    ("sentence-transformers", (0, 0), (2, 3), "huggingface-hub", (0, 26)),
    ("gradio", (3, 0), (5, 0), "huggingface-hub", (1, 0)),
    ("transformers", (4, 0), (5, 0), "huggingface-hub", (1, 0)),
    ("flask", (2, 0), (2, 3), "werkzeug", (3, 0)),
    ("flask", (0, 0), (2, 0), "werkzeug", (2, 1)),
    ("flask", (0, 0), (2, 0), "jinja2", (3, 1)),
    ("flask", (0, 0), (2, 0), "itsdangerous", (2, 1)),
    ("streamlit", (0, 0), (1, 22), "altair", (5, 0)),
    ("openai", (1, 0), (1, 55), "httpx", (0, 28)),
    ("pytorch-lightning", (1, 0), (1, 6), "torchmetrics", (0, 8)),
    # pytorch/text issue 2272: its last release was built for 2.3, and asks for any from there on.
    ("torchtext", (0, 0), _NEWEST, "torch", (2, 4)),
)
# It does say so, but only from this release on: bounded from above alone, and beside a library that takes 1, a resolver goes back
# to the one before.
_SAYS_SO_FROM = MappingProxyType({"transformers": (4, 13)})
# Their newest asks for NumPy 2.
_ASK_FOR_NEWEST = frozenset(
    {"opencv-python", "opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless"}
)


def with_paired_releases(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings of packages with those that a pinned one needs older: bounded where a list names them, else beside it."""
    requirements = [finding for finding in findings if finding.field == "dependencies.requirements"]
    pins = {package_name(finding.value): finding for finding in requirements}
    found = list(findings)
    settled: set[str] = set()
    for name, first, end, other, bound in _PAIRS:
        pin = pins.get(name)
        if pin is None or other in settled or not _is_within(name, pin.value.partition(";")[0].strip(), first, end):
            continue
        limit = ".".join(map(str, bound)).removesuffix(".0")
        why = f"`{pin.value}` ({pin.evidence}) does not work with {other} from {limit} on, and {_says(name)}"
        named = pins.get(other)
        if (
            named is None
            and name == "torch"
            and not any(_OPEN.fullmatch(p.value) for k, p in pins.items() if k in _ASK_FOR_NEWEST)
        ):
            continue
        if named is None:
            found.append(Finding("dependencies.requirements", f"{other}<{limit}", why, Confidence.MEDIUM, pin.evidence))
            settled.add(other)
            continue
        settled.add(other)
        read, below = _OPEN.fullmatch(named.value), _version(_BELOW.fullmatch(named.value))
        least = _version(_LEAST.search(named.value)) or (0, 0)
        if least < bound and below is not None and below > bound:
            value = _UPPER.sub(f"<{limit}", named.value, count=1)
        elif least < bound and read is not None:
            value = f"{named.value}{',' if read[1] else ''}<{limit}"
        else:
            continue
        found = [replace(each, value=value, why=why) if each is named else each for each in found]
    return found


def _says(name: str) -> str:
    """Return what a package says of that itself."""
    first = _SAYS_SO_FROM.get(name)
    return (
        f"says so only from {'.'.join(map(str, first))} on: pip may go back to one before it"
        if first
        else "does not say so"
    )


def _is_within(name: str, requirement: str, first: tuple[int, int], end: tuple[int, int]) -> bool:
    """Whether a requirement asks for one of the releases from ``first`` on and below ``end``, and for no other that pip would take."""
    pinned = _version(_PIN.fullmatch(requirement))
    if name in _SAYS_SO_FROM:
        least = _version(_LEAST.search(requirement))
        is_exact = pinned is not None and "<=" not in requirement
        if is_exact or (least is not None and least >= _SAYS_SO_FROM[name]):
            return False
    if pinned is not None:
        return first <= pinned < end
    below = _version(_BELOW.fullmatch(requirement))  # of all that are allowed the newest is taken
    if below is None and end == _NEWEST:
        return _OPEN.fullmatch(requirement) is not None
    return below is not None and first < below <= end


def _version(read: re.Match[str] | None) -> tuple[int, int] | None:
    return (int(read[1]), int(read[2] or 0)) if read is not None else None
