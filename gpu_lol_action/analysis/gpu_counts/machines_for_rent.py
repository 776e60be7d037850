"""Cards of one machine, more than machines for rent have, as several machines: a DGX-2 had sixteen, nearly all that clouds offer has eight."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.gpu_counts import gpu_count
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Finding

MOST_CARDS = 8
"""Of one machine: of the offers in ``data/gpu_prices.csv`` with more, two in all, none has cards of a data center."""
_COUNT, _MACHINES, _COPIES = "hardware.gpu_count", "hardware.num_nodes", "hardware.replicas"


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return what ``gpu_count.detect`` does, a count that no machine for rent has, and copies on as many, as one on several machines."""
    found = gpu_count.detect(checkout, run)
    first = next((each for each in found if each.field == _COUNT), None)
    count = int(first.value) if first is not None else 0
    if first is None or count <= MOST_CARDS or count % MOST_CARDS:
        return found
    named = next((each for each in found if each.field == _MACHINES), None)
    machines = count // MOST_CARDS * (int(named.value) if named is not None else 1)
    why = f"{first.why}; machines for rent have {MOST_CARDS}"
    kept = [each for each in found if each is not first and each is not named]
    rest = [replace(each, value=str(MOST_CARDS)) if each.field == _COPIES else each for each in kept]
    return [
        replace(first, value=str(MOST_CARDS), why=why),
        *rest,
        replace(first, field=_MACHINES, value=str(machines), why=why),
    ]
