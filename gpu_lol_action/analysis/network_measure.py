"""What a network of one's own weighs and what one run of it keeps: its parts are counted, ``forward`` is followed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_lol_action.analysis.network_calls import call
from gpu_lol_action.analysis.network_forms import numel_of
from gpu_lol_action.analysis.network_machine import Kept, Machine, OutOfStepsError, Root
from gpu_lol_action.analysis.network_values import UNKNOWN, Class, Counted, Instance, Layer, Tensor, Value
from gpu_lol_action.analysis.network_waves import is_judged, wave_input
from gpu_lol_action.analysis.network_weights import number
from gpu_lol_action.domain.finding import Evidence

MOST_ROOTS, MOST_MEASURED = 64, 12
"""Networks of one run that are looked at, and how many of those that stand in no other are run once."""
MOST_KEPT = 16e9
"""Numbers that one sample may keep: 64 GB at 32 bit."""
DEFAULT_SIZE, DENSE_SIZE = 224, 512
"""Pixels of a picture that nothing says: for classes, and for networks that put out a picture themselves (PASCAL VOC's crops)."""
LENGTH = 256
"""Positions of a text or sound with which ``forward`` is followed; what is kept is said per position."""
FORWARD_STEPS = 60_000
WAVE_SIDES = 3
_LATENT_CHANNELS, LATENT = frozenset({4, 8, 9, 12, 13, 16}), 8
"""Channels of a latent picture, with those of a mask or another picture beside them, and how many pixels a side of it stands for."""
FAULTS = (ArithmeticError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What following somebody's program may come to: it was not understood, and nothing else is wrong."""


@dataclass(frozen=True, slots=True)
class OwnNetwork:
    """A network of one's own: weights, numbers per sample (per position of a sequence) that its layers keep, and where it stands.

    ``shape`` are the numbers of a transformer by the field that they speak for, as the program computes them before it builds it.
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


def measured(machine: Machine) -> list[OwnNetwork]:
    """Return the networks that stand in no other, each once, with what one run of each keeps."""
    inner: set[int] = set()
    del machine.roots[MOST_ROOTS:]
    for root in machine.roots:
        inner |= {id(part) for part in _parts(root.network)} - {id(root.network)}
    found: dict[str, OwnNetwork] = {}
    outer = [root for root in machine.roots if id(root.network) not in inner]
    for root in outer[:MOST_MEASURED]:
        network = _measure(machine, root)
        before = found.get(network.name)
        if network.parameters and (before is None or before.parameters < network.parameters):
            found[network.name] = network
    return sorted(found.values(), key=lambda network: -network.parameters)


def _measure(machine: Machine, root: Root) -> OwnNetwork:
    result = UNKNOWN
    if root.kept is not None:
        machine.kept = root.kept
    else:
        result = _run_once(machine, root)
    if machine.is_size_open and machine.size != DENSE_SIZE and _is_dense(result, machine.size):
        before, machine.size = machine.size, DENSE_SIZE
        _run_once(machine, root)
        machine.size = before
    kept = machine.kept
    parts = {id(part): part for part in (*_parts(root.network), *kept.used.values())}
    layers = [part for part in parts.values() if isinstance(part, Layer)]
    weights = sum(part.parameters or 0.0 for part in layers)
    weights += sum(part.numel or 0.0 for part in parts.values() if isinstance(part, Tensor) and part.is_parameter)
    weights += 1e6 * sum(
        {p.network.name: p.network.parameters_m for p in parts.values() if isinstance(p, Counted)}.values()
    )
    unknown = sum(part.parameters is None for part in layers) + kept.unknown
    sized = sum(bool(part.parameters) for part in layers)
    if kept.saved > MOST_KEPT:
        unknown += sized  # no card holds one sample of it: what goes in was not understood
    per = LENGTH if kept.is_sequence else 1
    name = (
        root.network.home.node.name if isinstance(root.network, Instance) and root.network.home else "a row of layers"
    )
    where = Evidence(root.program.source.path, root.line)
    return OwnNetwork(
        name, int(weights), int(kept.saved / per), int(kept.at_work / per), kept.is_sequence, sized, unknown, where
    )


def _run_once(machine: Machine, root: Root) -> Value:
    """Follow ``forward`` once; what it keeps is in ``machine.kept``."""
    budget = min(FORWARD_STEPS, machine.forward_left)
    machine.kept, machine.steps, machine.running = Kept(), budget, 1
    inputs = _inputs(machine, root.network)
    try:
        return call(machine, root.network, inputs, {})
    except (OutOfStepsError, *FAULTS):
        machine.kept.unknown += 1
        return UNKNOWN
    finally:
        machine.forward_left -= budget - max(machine.steps, 0)
        machine.depth = machine.building = machine.running = 0


def _is_dense(result: Value, size: int) -> bool:
    """Whether a network puts out a picture of at least half the sides that went in."""
    for _ in range(8):
        if not isinstance(result, (list, dict)) or not result:
            break
        result = result[0] if isinstance(result, list) else next(iter(result.values()))
    shape = result.shape if isinstance(result, Tensor) else None
    return shape is not None and len(shape) == 4 and min(shape[2:]) >= size / 2


def _inputs(machine: Machine, network: Value) -> list[Tensor]:
    """Return what ``forward`` is given: as many fresh tensors as it has parameters without a default."""
    function = None
    if isinstance(network, Instance) and isinstance(network.home, Class):
        named = {item.name: item for item in network.home.node.body if hasattr(item, "name")}
        function = next((named[name] for name in ("forward", "call", "__call__") if name in named), None)
    if function is None or not hasattr(function, "args"):
        return [_first_input(machine, network, "x")]
    parameters = function.args.args[1:]
    needed = len(parameters) - len(function.args.defaults)
    first = _first_input(machine, network, parameters[0].arg if parameters else "x")
    is_wave = first.shape is not None and len(first.shape) == WAVE_SIDES
    names = [parameter.arg for parameter in parameters[1 : max(needed, 1)]]
    rest = [
        Tensor(first.numel, first.shape, name=name)
        if is_wave and is_judged(name, first.name)
        else Tensor(None, name=name)
        for name in names
    ]
    return [first, *rest]


def _first_input(machine: Machine, network: Value, name: str) -> Tensor:
    """Return the input that the first layer with weights wants: a picture, or what that layer sizes itself."""
    for part in _parts(network):
        if not isinstance(part, Layer) or part.is_last:
            continue
        if (wave := wave_input(machine, part, name)) is not None:
            return wave
        if part.kind == "ConvTranspose2d" and (inner := number(part, 0, "in_channels")):
            return Tensor(inner, (1.0, inner, 1.0, 1.0), name=name)  # a generator's noise
        if part.kind == "Conv2d" and (inner := number(part, 0, "in_channels")):
            size = float(machine.size // LATENT if inner in _LATENT_CHANNELS and machine.has_latents else machine.size)
            shape = (1.0, inner, size, size)
            return Tensor(numel_of(shape), shape, name=name)
        is_patches = (
            part.kind == "Rearrange"
            and bool(part.places)
            and str(part.places[0]).lstrip().startswith(("b c (h", "b c (p"))
        )
        if is_patches:
            shape = (1.0, 3.0, float(machine.size), float(machine.size))
            return Tensor(numel_of(shape), shape, name=name)
        if part.parameters:
            break
    return Tensor(None, name=name)


def _parts(value: Value, limit: int = 20_000) -> list[Value]:
    """Return the layers, weights and networks that a network holds, itself first, each once."""
    found: dict[int, Value] = {}
    seen: set[int] = set()
    pending = [value]
    while pending and len(seen) < limit:
        each = pending.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, (Instance, Layer, Counted)) or (isinstance(each, Tensor) and each.is_parameter):
            found[id(each)] = each
        if isinstance(each, Instance):
            pending[:0] = [*each.attributes.values(), *each.items]
        elif isinstance(each, list):
            pending[:0] = each
        elif isinstance(each, dict):
            pending[:0] = each.values()
    return list(found.values())


def together(found: Sequence[OwnNetwork]) -> OwnNetwork:
    """Return several networks as one: sums, under the largest one's name."""
    largest = max(found, key=lambda network: (network.parameters, network.evidence))
    return OwnNetwork(
        largest.name,
        sum(network.parameters for network in found),
        sum(network.outputs for network in found),
        max(network.at_work for network in found),
        largest.is_sequence,
        layers := sum(network.layers for network in found),
        # One of them that was not understood leaves the whole unknown.
        layers if any(network.unknown >= network.layers for network in found) else sum(n.unknown for n in found),
        largest.evidence,
    )
