"""How many programs a checkout has: a project asks for more than a lesson where nothing else is known of its model."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

FIELD = "checkout.programs"
LEAST_OF_A_PROJECT = 5


def detect(checkout: Checkout) -> list[Finding]:
    """Return the number of programs of a checkout that has as many as a project; none of a lesson's few."""
    programs = checkout.of(Form.PYTHON)
    if len(programs) < LEAST_OF_A_PROJECT:
        return []
    where = Evidence(programs[0].path)
    return [Finding(FIELD, str(len(programs)), f"{len(programs)} programs in Python", Confidence.LOW, where)]


def programs_of(findings: tuple[Finding, ...]) -> int:
    """Return how many programs a project has; 0 for a lesson's few."""
    return int(value_of_best(findings, FIELD) or 0)
