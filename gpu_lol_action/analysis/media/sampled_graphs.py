"""What a graph network keeps whose batches are nodes with some of their neighbours, and of these again: PyG's ``NeighborLoader``.

Of each node of a batch so many neighbours are taken per layer (``num_neighbors``), and every layer computes all of them. Half of
them are taken as different ones: graphs have nodes that are the neighbours of many.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.python.code import Call, PythonCode
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.domain.patterns import regex

LOADER = "NeighborLoader"
# `num_neighbors=[15, 10]`, `num_neighbors={("a", "to", "b"): [15, 10]}`, `num_neighbors=[10] * 2`
_NEIGHBORS = regex(r"num_neighbors\s{0,4}=\s{0,4}(?:\{[^\[\]{}]{0,200})?\[([\d,\s]{1,60})\](?:\s{0,4}\*\s{0,4}(\d))?")
_WIDTHS = ("hidden_channels", "hidden_dim", "hidden_size", "n_hidden", "num_hidden", "hidden")
USUAL_WIDTH, MOST_WIDTH, MOST_HEADS = 256, 8192, 64
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
    # A test's loader may take fewer of them than that which training reads from.
    nodes, layers = max(map(_reached, _samples(source, code)), default=(0, 0))
    if nodes == 0:
        return None
    width = min(max(map(functools.partial(_width, code), code.calls), default=0) or USUAL_WIDTH, MOST_WIDTH)
    return math.ceil(min(nodes * DIFFERENT, MOST_NODES) * width * layers * KEPT)


def _samples(source: Source, code: PythonCode) -> Iterator[list[int]]:
    """Yield how many neighbours are taken per layer, of each loader that says so."""
    for found in _NEIGHBORS.finditer(source.text):
        before = source.text[source.text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if "#" not in before:
            yield [int(step) for step in found[1].split(",") if step.strip()] * int(found[2] or 1)
    for call in code.calls_named(LOADER):
        given = call.keyword("num_neighbors") or (call.arguments[1] if len(call.arguments) > 1 else None)
        steps = [as_number(step.strip()) for step in (code.resolve(given) or "").strip("()[] ").split(",")]
        yield [int(step) if step is not None else 0 for step in steps]


def _reached(steps: list[int]) -> tuple[int, int]:
    """Return how many nodes are computed for one of a batch, and in how many layers; nothing where all are taken, or it is not known."""
    if not 0 < len(steps) <= MOST_LAYERS or any(not 0 < step <= MOST_NODES for step in steps):
        return 0, 0
    nodes, reached = 1, 1
    for step in steps:
        reached *= step
        nodes += reached
    return nodes, len(steps)


def _width(code: PythonCode, call: Call) -> int:
    """Return how wide the layers are that a call makes: attention's heads stand side by side, but for PyG's model, which divides by them."""
    width = as_number(code.resolve(call.keyword(*_WIDTHS)) or "") or 0
    given = call.keyword("heads", "num_heads") if call.last != "GAT" else None
    heads = as_number(code.resolve(given) or "") or 1
    return int(width * (heads if 1 <= heads <= MOST_HEADS else 1)) if 0 < width <= MOST_WIDTH else 0
