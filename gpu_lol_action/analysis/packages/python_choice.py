"""Which Python the machine gets: what files ask for, as far as the run's own code works on it."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.dependencies.python_version import KNOWN, PythonWish, python_wishes
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages.python_bounds import PythonBound, python_bounds
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.wheel_ranges import best_python

BOUND = "environment.python_bound"
HARMLESS = 11
"""A bound that costs nothing to keep to, come to or not: images of PyTorch 2 have Python 3.10."""
_EXACT, _FITTING = "environment.python_version", "environment.fitting_python"


def python_findings(checkout: Checkout, run: Run | None, requirements: Sequence[str]) -> list[Finding]:
    """Return the exact Python that a file names, and for a range the one to take of it: the first on which all installs.

    Of a range those are taken that the code works on. Where nothing is asked for, the code alone may rule the usual one out. What bounds
    it is a finding of its own, of high confidence where the program ends at once and of low where it may never come there.
    """
    bounds = python_bounds(checkout, run)
    certain = [bound for bound in bounds if bound.is_certain or (bound.until or 0) >= HARMLESS]
    wishes = python_wishes(checkout)
    found = [_of_wish(wish, certain, requirements) for wish in wishes] or _of_code(certain, requirements)
    fields = [finding.field for finding in found]
    kept = [finding for place, finding in enumerate(found) if finding.field not in fields[:place]]
    for bound in bounds:
        sure = Confidence.HIGH if bound in certain else Confidence.LOW
        kept.append(Finding(BOUND, bound.specifier, bound.said, sure, bound.evidence))
    return kept


def last_python(findings: Sequence[Finding]) -> str:
    """Return the last Python on which the program starts, as far as the code bounds it from above; empty where it does not."""
    ends = [end for f in findings if f.field == BOUND and f.confidence is Confidence.HIGH and (end := _end(f.value))]
    return f"3.{min(ends) - 1}" if ends else ""


def python_gaps(findings: Sequence[Finding], python: str | None) -> list[str]:
    """Return one sentence per bound that the Python of the image does not meet. One that is not known contradicts nothing but Python 2."""
    found = []
    for finding in findings:
        if finding.field != BOUND:
            continue
        end, minor = _end(finding.value), int(python.split(".")[1]) if python else None
        if end == 0:
            found.append(f"{finding.why}, and no image has Python 2")
        elif minor is not None and (minor >= end if end else minor < int(finding.value.rpartition(".")[2])):
            found.append(f"{finding.why}, but the image has {python}")
    return found


def _end(specifier: str) -> int | None:
    """Return the minor of the first Python that is too new; None where the bound is one from below."""
    return int(specifier.rpartition(".")[2]) if specifier.startswith("<") else None


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
    return [Finding(_FITTING, best_python(requirements, fitting), ruling[0].said, Confidence.HIGH, ruling[0].evidence)]


def _within(pythons: Sequence[str], bounds: Sequence[PythonBound]) -> list[str]:
    return [python for python in pythons if all(bound.allows(python) for bound in bounds)]
