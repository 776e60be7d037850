"""The packages of a checkout, without those that compute on a GPU where nothing of it needs one and no list names them.

A library that is rented no GPU has modules that may use one for those who have it: an evaluation that can also ask a model of one's
own, an explainer of networks beside one of trees. What only such a module imports, or only another run's launcher is, belongs to
whoever installs the extra.
"""

from __future__ import annotations

from gpu_lol_action.analysis import packages
from gpu_lol_action.analysis.behavior import GPU_PACKAGES
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.package_files import package_name
from gpu_lol_action.analysis.runs import primary_run
from gpu_lol_action.analysis.workload import gpu_need
from gpu_lol_action.domain.finding import Confidence, Finding


def detect(checkout: Checkout) -> list[Finding]:
    """Return the findings on packages; without a need for a GPU those of its packages that lists or commands name stay."""
    found = packages.detect(checkout)
    if not any(_is_guessed(item) for item in found) or gpu_need(checkout, primary_run(checkout)) is not None:
        return found
    return [item for item in found if not _is_guessed(item)]


def _is_guessed(finding: Finding) -> bool:
    """Whether a finding is of a package that computes on a GPU, and an import or a launcher is all that speaks for it."""
    return (
        finding.field == "dependencies.requirements"
        and finding.confidence is not Confidence.HIGH
        and package_name(finding.value) in GPU_PACKAGES
    )
