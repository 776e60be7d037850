"""The packages of a checkout, without those that compute on a GPU where nothing of it needs one and only an extra names them.

A library that is rented no GPU has modules that may use one for those who have it: an evaluation that can also ask a model of one's
own, an explainer of networks beside one of trees. What only such a module imports, only another run's launcher is, or only
`pip install mine[gpu]` brings, is left to whoever has one.
"""

from __future__ import annotations

from gpu_lol_action.analysis import packages
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.gpu_libraries import GPU_PACKAGES
from gpu_lol_action.analysis.package_files import package_name
from gpu_lol_action.analysis.runs import primary_run
from gpu_lol_action.analysis.workload import gpu_need
from gpu_lol_action.domain.finding import Confidence, Finding


def detect(checkout: Checkout) -> list[Finding]:
    """Return the findings on packages; without a need for a GPU those of its packages stay that everybody installs."""
    found = packages.detect(checkout)
    if not any(_computes(item) for item in found) or gpu_need(checkout, primary_run(checkout)) is not None:
        return found
    extras = {package_name(item.requirement) for item in packages.declared_packages(checkout) if item.group}
    return [
        item for item in found if not (_computes(item) and (_is_guessed(item) or package_name(item.value) in extras))
    ]


def _computes(finding: Finding) -> bool:
    return finding.field == "dependencies.requirements" and package_name(finding.value) in GPU_PACKAGES


def _is_guessed(finding: Finding) -> bool:
    """Whether an import or a launcher is all that speaks for a package."""
    return finding.confidence is not Confidence.HIGH
