"""Which Python the machine gets: what files ask for, as far as the run's own code works on it."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.dependencies.python_version import KNOWN, PythonWish, python_wishes
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages.python_bounds import PythonBound, python_bounds
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.wheel_ranges import best_python

HARMLESS = 11
"""A bound that costs nothing to keep to, come to or not: images of PyTorch 2 have Python 3.10."""
_EXACT, _FITTING, _LAST = "environment.python_version", "environment.fitting_python", "environment.last_python"


def python_findings(checkout: Checkout, run: Run | None, requirements: Sequence[str]) -> list[Finding]:
    """Return the exact Python that a file names, and for a range the one to take of it: the first on which all installs.

    Of a range those are taken that the code works on. Where nothing is asked for, the code alone may rule the usual one out; what the
    Python that is taken does not have is a contradiction.
    """
    bounds = python_bounds(checkout, run)
    certain = [bound for bound in bounds if bound.is_certain or (bound.until or 0) >= HARMLESS]
    wishes = python_wishes(checkout)
    found = [_of_wish(wish, certain, requirements) for wish in wishes] or _of_code(certain, requirements)
    fields = [finding.field for finding in found]
    kept = [finding for place, finding in enumerate(found) if finding.field not in fields[:place]]
    python = kept[0].value if kept else KNOWN[0]
    return [*kept, *_last(certain), *_contradictions(wishes, bounds, python)]


def _of_wish(wish: PythonWish, bounds: Sequence[PythonBound], requirements: Sequence[str]) -> Finding:
    """Return what a file asks for: the version itself, or of its range the best for code and packages."""
    why = f"Python {wish.said} is {'named' if wish.exact else 'asked for'}"
    allowed = [python for python in KNOWN if wish.allows(python)]
    value = wish.exact or best_python(requirements, _within(allowed, bounds) or allowed or KNOWN)
    return Finding(_EXACT if wish.exact else _FITTING, value, why, Confidence.HIGH, wish.evidence)


def _of_code(bounds: Sequence[PythonBound], requirements: Sequence[str]) -> list[Finding]:
    """Return the Python for code that the usual one does not take; nothing where it does, or where none does."""
    ruling = [bound for bound in bounds if not bound.allows(KNOWN[0])]
    fitting = _within(KNOWN, bounds)
    if not ruling or not fitting:
        return []
    value = best_python(requirements, fitting)
    return [Finding(_FITTING, value, ruling[0].said, Confidence.HIGH, ruling[0].evidence)]


def _last(bounds: Sequence[PythonBound]) -> list[Finding]:
    """Return the last Python on which the program starts: no image may have a later one, as far as there is a choice."""
    ends = [bound for bound in bounds if bound.until and not bound.allows(KNOWN[0])]
    return [Finding(_LAST, f"3.{(b.until or 1) - 1}", b.said, Confidence.HIGH, b.evidence) for b in ends[:1]]


def _within(pythons: Sequence[str], bounds: Sequence[PythonBound]) -> list[str]:
    return [python for python in pythons if all(bound.allows(python) for bound in bounds)]


def _contradictions(wishes: Sequence[PythonWish], bounds: Sequence[PythonBound], python: str) -> list[Finding]:
    """Return one sentence per bound that the Python does not meet which is taken."""
    wish = wishes[0] if wishes else None
    asked = f", but {wish.evidence} asks for Python {wish.said}" if wish is not None else f", but {python} is taken"
    found = []
    for bound in bounds:
        if not bound.allows(python):
            why = f"{bound.said}{', and no image has Python 2' if bound.until == 0 else asked}"
            found.append(Finding("contradiction", "python", why, Confidence.HIGH, bound.evidence))
    return found
