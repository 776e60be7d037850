"""The cards that HugeCTR's solver lists: ``CreateSolver(vvgpu=[[0, 1, 2, 3]])``, a list for each machine (its guide on the solver)."""

from __future__ import annotations

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_LISTED = regex(r"\bvvgpu\s{0,4}=\s{0,4}\[\s{0,8}\[([\d,\s]{1,120})\]")
MOST_CARDS = 16


def listed_for_solver(run: Run) -> list[Finding]:
    """Return how many cards of one machine the run's program lists; [] where it lists none."""
    found = _LISTED.search(run.script.text) if run.script is not None and run.script.mentions("vvgpu") else None
    if found is None or run.script is None:
        return []
    count = len(set(regex(r"\d+").findall(found[1])))
    if not 1 <= count <= MOST_CARDS:
        return []
    where = Evidence(run.script.path, run.script.text.count("\n", 0, found.start()) + 1)
    return [Finding("hardware.gpu_count", str(count), "`vvgpu` lists them", Confidence.HIGH, where)]
