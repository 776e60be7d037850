"""Extensions of a checkout's own that its ``setup.py`` has Cython translate: it must be there before they are built."""

from __future__ import annotations

from collections.abc import Collection

from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

_BUILDS = "setup.py"
MAX_DEPTH = 3  # folders below the root: deeper ones are other people's


def cython_finding(checkout: Checkout, run: Run | None, known: Collection[str]) -> list[Finding]:
    """Return Cython where something is started, a build script imports it, and no list names it."""
    if run is None or "cython" in known:
        return []
    for source in checkout.of(Form.PYTHON, roles=(Role.WORKLOAD, Role.PACKAGES)):
        if source.name != _BUILDS or source.depth > MAX_DEPTH or source.code is None or not source.mentions("ython"):
            continue
        for item in source.code.imports:
            if item.module.partition(".")[0] == "Cython" and not item.is_optional:
                why = "an extension of the checkout is translated with it, and no list names it"
                where = Evidence(source.path, item.line)
                return [Finding("dependencies.requirements", "cython", why, Confidence.MEDIUM, where)]
    return []
