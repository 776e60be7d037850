"""What a graph network keeps whose batches are nodes with some of their neighbours, and of these again: PyG's ``NeighborLoader``.

Of each node of a batch so many neighbours are taken per layer (``num_neighbors``), and every layer computes all of them. Half of
them are taken as different ones: graphs have nodes that are the neighbours of many.
"""

from __future__ import annotations

import math

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.settings import as_number
from gpu_lol_action.domain.patterns import regex

LOADER = "NeighborLoader"
# `num_neighbors=[15, 10]`, `num_neighbors={("a", "to", "b"): [15, 10]}`, `num_neighbors=[10] * 2`
_NEIGHBORS = regex(r"num_neighbors\s{0,4}=\s{0,4}(?:\{[^\[\]{}]{0,200})?\[([\d,\s]{1,60})\](?:\s{0,4}\*\s{0,4}(\d))?")
_WIDTHS = ("hidden_channels", "hidden_dim", "hidden_size", "n_hidden", "num_hidden", "hidden")
USUAL_WIDTH, MOST_WIDTH = 256, 8192
MOST_LAYERS = 12
DIFFERENT = 0.5
KEPT = 3  # of each layer: what it aggregates, what it gives, and what is left of that behind norm and activation
MOST_NODES = 2000
"""Of one node of a batch: more than a few thousand are the whole graph."""


@remembered
def numbers_per_node(source: Source) -> int | None:
    """Return the numbers that are kept for each node of a batch; None for a program that samples no neighbours so, or does not say how many."""
    code = source.code
    if code is None or not source.mentions(LOADER) or not code.calls_named(LOADER):
        return None
    found = _NEIGHBORS.search(source.text)
    steps = (
        [int(step) for step in found[1].split(",") if step.strip()] * int(found[2] or 1) if found is not None else []
    )
    if not 0 < len(steps) <= MOST_LAYERS or any(not 0 < step <= MOST_NODES for step in steps):
        return None
    nodes, reached = 1, 1
    for step in steps:
        reached *= step
        nodes += reached
    given = (call.keyword(*_WIDTHS) for call in code.calls)
    widths = [as_number(code.resolve(value) or "") or 0 for value in given if value is not None]
    width = next((width for width in widths if 0 < width <= MOST_WIDTH), USUAL_WIDTH)
    return math.ceil(min(nodes * DIFFERENT, MOST_NODES) * width * len(steps) * KEPT)
