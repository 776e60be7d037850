"""What a network of one's own weighs and what one run of it keeps: its parts are counted, ``forward`` is followed once."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from gpu_lol_action.analysis.networks.arguments import number
from gpu_lol_action.analysis.networks.calls import call
from gpu_lol_action.analysis.networks.chain import is_chain, run_chain
from gpu_lol_action.analysis.networks.idle import is_average, is_judge, only_fills
from gpu_lol_action.analysis.networks.inputs import inputs_of, parts_of_network
from gpu_lol_action.analysis.networks.machine import Kept, Machine, OtherRankError, OutOfStepsError, Root
from gpu_lol_action.analysis.networks.methods import ways_in
from gpu_lol_action.analysis.networks.position_tables import positions_of_tables
from gpu_lol_action.analysis.networks.sources import only_judges
from gpu_lol_action.analysis.networks.values import A_ROW, UNKNOWN, Counted, Function, Instance, Layer, Tensor, Value
from gpu_lol_action.analysis.networks.weights import DENSE
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.sums import added

MOST_ROOTS, MOST_MEASURED = 64, 12
"""Networks of one run that are looked at, and how many of those that stand in no other are run once."""
MOST_KEPT = 16e9
"""Numbers that one sample may keep: 64 GB at 32 bit."""
MOST_OF_A_LAYER = 2e9
"""Weights of a dense layer: of published models Nemotron-4 340B has the widest, 18,432 x 73,728. Of more, a picture was not shrunk before it."""
MOST_PARAMETERS = 40e9
"""Weights of a network that nobody writes down without a name that says its size: numbers were misread."""
MOST_UNREACHED = 0.4
"""Share of the weights in layers that one run has to reach: else only a part of the network was understood."""
DEEP, LOST = 12, 0.1
"""Dense layers of a network that is surely a transformer, and the share of their outputs under which its positions were lost."""
DEFAULT_SIZE, DENSE_SIZE = 224, 512
"""Pixels of a picture that nothing says: for classes, and for networks that put out a picture themselves (PASCAL VOC's crops)."""
LENGTH = 256
"""Positions of a text or sound with which ``forward`` is followed; what is kept is said per position."""
FORWARD_STEPS = 60_000
FAULTS = (ArithmeticError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What following somebody's program may come to: it was not understood, and nothing else is wrong."""


@record(frozen=True, slots=True)
class OwnNetwork:
    """A network of one's own: weights, numbers per sample (per position of a sequence) that its layers keep, and where it stands.

    ``shape`` are the numbers of a transformer by the field that they speak for, as the program computes them before it builds it;
    ``is_size_assumed``: what one run keeps rests on pictures of a usual size, since nothing says how large they are;
    ``positions`` are the rows of its table of positions (0: it has none, or none is seen); ``is_of_file``: its layers stand row by row in a file of the run; ``known_as`` is a name under which the checkout itself registers the network.
    """

    name: str
    parameters: int
    outputs: int
    at_work: int
    is_sequence: bool
    layers: int
    unknown: int
    evidence: Evidence
    shape: tuple[tuple[str, int], ...] = ()
    is_size_assumed: bool = False
    is_of_file: bool = False
    known_as: str = ""
    positions: int = 0


def measured(machine: Machine) -> list[OwnNetwork]:
    """Return the networks that stand in no other, each once, with what one run of each keeps."""
    inner: set[int] = set()
    del machine.roots[MOST_ROOTS:]
    for root in machine.roots:
        inner |= {id(part) for part in parts_of_network(root.network)} - {id(root.network)}
    found: dict[str, OwnNetwork] = {}
    outer = [root for root in machine.roots if id(root.network) not in inner]
    script = machine.programs[0]
    outer = [root for root in outer if root.program is script or not only_judges(root.program.source)]
    outer = [root for root in outer if not is_average(root, outer)] if len(outer) > 1 else outer
    if machine.infers:
        outer = [root for root in outer if not is_judge(root) and (root.program is script or not only_fills(root))]
    for root in outer[:MOST_MEASURED]:
        try:
            network = _measure(machine, root)
        except FAULTS:  # numbers of somebody's program that none of ours can be made of
            continue
        before = found.get(network.name)
        is_believable = 0 < network.parameters <= MOST_PARAMETERS
        if is_believable and (before is None or before.parameters < network.parameters):
            found[network.name] = network
    return sorted(found.values(), key=lambda network: -network.parameters)


def _measure(machine: Machine, root: Root) -> OwnNetwork:
    result = UNKNOWN
    if root.kept is not None:
        machine.kept = root.kept
    else:
        result = _run_through(machine, root)
    if machine.is_size_open and machine.size != DENSE_SIZE and _is_dense(result, machine.size):
        before, machine.size = machine.size, DENSE_SIZE
        _run_through(machine, root)
        machine.size = before
    kept = machine.kept
    parts = {id(part): part for part in (*parts_of_network(root.network), *kept.used.values())}
    layers = [part for part in parts.values() if isinstance(part, Layer)]
    weights = added(_own_weights(part) for part in layers)
    layered = weights
    weights += added(part.numel or 0.0 for part in parts.values() if isinstance(part, Tensor) and part.is_parameter)
    counted = {p.network.name: p.network.parameters_m for p in parts.values() if isinstance(p, Counted)}
    weights += 1e6 * added(counted.values())
    layered += 1e6 * added(counted.values())
    if not math.isfinite(weights):
        weights = 0.0  # somebody's `float("inf")` went into a layer: nothing of it can be said
    unknown = (
        sum(part.parameters is None for part in layers) + kept.unknown + root.strangers // 2
    )  # half of them hold little
    sized = sum(bool(part.parameters) for part in layers)
    reached = added(part.parameters or 0.0 for part in kept.used.values() if isinstance(part, Layer))
    reached += 1e6 * added(
        part.network.parameters_m for key, part in kept.used.items() if isinstance(part, Counted) and key < 0
    )
    if kept.is_sequence:
        kept.saved = max(kept.saved, _lost_positions(kept))
    is_part = not machine.infers and (not kept.saved or reached < MOST_UNREACHED * layered)
    if machine.infers and kept.saved > MOST_KEPT:
        kept.saved = kept.at_work = 0.0  # it was not followed, but what it weighs was, and is most of what is needed
    largest = max((part.parameters or 0.0 for part in layers if part.kind in DENSE), default=0.0)
    if kept.saved > MOST_KEPT or is_part or largest > MOST_OF_A_LAYER:
        unknown += sized or 1  # what goes in was not understood (no card holds one sample of it), or where it goes
    per = LENGTH if kept.is_sequence else 1
    name = root.network.home.node.name if isinstance(root.network, Instance) and root.network.home else A_ROW
    where = Evidence(root.program.source.path, root.line)
    return OwnNetwork(
        name,
        int(weights),
        int(kept.saved / per),
        int(kept.at_work / per),
        kept.is_sequence,
        sized,
        unknown,
        where,
        is_size_assumed=kept.is_size_assumed,
        is_of_file=machine.is_of_file,
        positions=positions_of_tables(parts.values()) if kept.is_sequence else 0,
    )


def _own_weights(layer: Layer) -> float:
    """Return the weights of a layer but those that it shares with another one (``head.weight = table.weight``)."""
    shared = layer.named.get("@weight")
    is_shared = isinstance(shared, Tensor) and not shared.is_parameter and shared.numel is not None
    weights = layer.parameters or 0.0
    return max(0.0, weights - (shared.numel or 0.0)) if is_shared and isinstance(shared, Tensor) else weights


def _lost_positions(kept: Kept) -> float:
    """Return what a deep network keeps of a text at least, where its positions were lost on the way (sides in another order); 0 elsewhere.

    Each position goes through each product of a transformer: what all of them put out, and what the steps between them keep.
    """
    dense = [part for part in kept.used.values() if isinstance(part, Layer) and part.kind in DENSE]
    each = added(number(part, 1, "out_features") or 0.0 for part in dense)
    is_lost = len(dense) >= DEEP and kept.saved < LOST * each * LENGTH
    return 2 * each * LENGTH if is_lost else 0.0


def _run_through(machine: Machine, root: Root) -> Value:
    """Run a network once; one without ``forward`` by the method that keeps most."""
    if is_chain(machine, root.network):
        return _run_once(machine, root)
    most: Kept | None = None
    for method in ways_in(machine, root.network):
        _run_once(machine, root, method)
        most = machine.kept if most is None or machine.kept.saved > most.saved else most
    if most is None:
        return _run_once(machine, root)
    machine.kept = most
    return UNKNOWN


def _run_once(machine: Machine, root: Root, method: Function | None = None) -> Value:
    """Follow ``forward`` once, again where it wants an input of another rank; what it keeps is in ``machine.kept``."""
    rank: int | None = None
    for _ in range(2):
        budget = min(FORWARD_STEPS, machine.forward_left)
        machine.kept, machine.steps, machine.running = Kept(), budget, 1
        node = method.node if method is not None and isinstance(method.node, ast.FunctionDef) else None
        inputs = inputs_of(machine, root.network, rank, node)
        machine.input_shape = inputs[0].shape if rank is None else None
        try:
            if method is None and is_chain(machine, root.network):
                return run_chain(machine, root.network)
            return call(machine, method or root.network, inputs, {})
        except OtherRankError as said:
            rank = said.rank
        except (OutOfStepsError, *FAULTS):
            machine.kept.unknown += 1
            return UNKNOWN
        finally:
            machine.forward_left -= budget - max(machine.steps, 0)
            machine.depth = machine.building = machine.running = 0
    return UNKNOWN


def _is_dense(result: Value, size: int) -> bool:
    """Whether a network puts out a picture of at least half the sides that went in."""
    for _ in range(8):
        if not isinstance(result, (list, dict)) or not result:
            break
        result = result[0] if isinstance(result, list) else next(iter(result.values()))
    shape = result.shape if isinstance(result, Tensor) else None
    return shape is not None and len(shape) == 4 and min(shape[2:]) >= size / 2


def together(found: Sequence[OwnNetwork]) -> OwnNetwork:
    """Return several networks as one: sums, under the largest one's name."""
    largest = max(found, key=lambda network: (network.parameters, network.evidence))
    # What is said per position does not add up with what is said of a whole sample.
    is_mixed = len({network.is_sequence for network in found}) > 1
    is_open = is_mixed or any(network.unknown >= network.layers for network in found)
    return OwnNetwork(
        largest.name,
        sum(network.parameters for network in found),
        sum(network.outputs for network in found),
        max(network.at_work for network in found),
        largest.is_sequence,
        layers := sum(network.layers for network in found),
        # One of them that was not understood leaves the whole unknown.
        layers if is_open else sum(n.unknown for n in found),
        largest.evidence,
        is_size_assumed=any(network.is_size_assumed for network in found),
    )
