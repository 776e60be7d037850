"""Calls in other people's programs, by what is called: functions and networks of the checkout are followed, libraries' known or not."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpu_lol_action.analysis.networks.attributes import assign_attribute, attribute
from gpu_lol_action.analysis.networks.inputs import FORWARDS
from gpu_lol_action.analysis.networks.layers import apply_layer, build_layer
from gpu_lol_action.analysis.networks.libraries import call_named, unknown_call
from gpu_lol_action.analysis.networks.machine import Kept, Machine
from gpu_lol_action.analysis.networks.objects import (
    CONTAINERS,
    LOADERS,
    SAME,
    call_function,
    construct,
    line_of,
    method_of,
)
from gpu_lol_action.analysis.networks.plain import call_plain_method
from gpu_lol_action.analysis.networks.records import KIND, record_of, replaced
from gpu_lol_action.analysis.networks.saved_configs import saved_arguments
from gpu_lol_action.analysis.networks.spaces import SPACE, drawn_from
from gpu_lol_action.analysis.networks.strangers import is_layers
from gpu_lol_action.analysis.networks.tensors import call_tensor_function
from gpu_lol_action.analysis.networks.values import (
    UNKNOWN,
    Class,
    Counted,
    Function,
    Instance,
    Layer,
    Method,
    Named,
    Partial,
    Super,
    Tensor,
    Value,
)

_WEIGHTS = (["state_dict"], ["checkpoint"], ["ckpt"], ["weights"], ["sd"])


def call(machine: Machine, target: Value, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return what a call returns; of a library that is not known the first tensor that it is given, else ``UNKNOWN``."""
    follow = _CALLS.get(type(target))
    if follow is not None:
        return follow(machine, target, places, named)
    # A layer whose kind only running the program would tell (`kind(input_size=8, hidden_size=8)`).
    machine.strangers += 2 * (machine.building > 0 and not machine.running and is_layers(named))
    return unknown_call(machine, places, named)


def _enter(machine: Machine, target: Function, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    is_told = not reads_off_weights(target.node) or any(value is not UNKNOWN for value in places)
    return call_function(machine, target, places, named) if is_told else UNKNOWN


def _complete(machine: Machine, target: Partial, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    return call(machine, target.target, [*target.places, *places], {**target.named, **named})


def reads_off_weights(node: ast.AST) -> bool:
    """Whether a function is handed weights and nothing else: how large its network is only they tell (``build_model(state_dict)``).

    One that goes without them only fills with them what it builds (``build_sam_vit_b(checkpoint=None)``).
    """
    if not isinstance(node, ast.FunctionDef) or node.args.kwonlyargs or node.args.vararg is not None:
        return False
    if node.args.defaults:
        return False
    return [argument.arg for argument in node.args.args] in _WEIGHTS


def _run(machine: Machine, target: Instance, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Run a network, layer by layer where it is a row of them; outside of any network nothing is run."""
    if target.is_network and not machine.running:
        if not machine.building:
            return UNKNOWN
        return _tried(machine, target, places, named)
    if target.kind in CONTAINERS and target.row:
        value: Value = places[0] if places else UNKNOWN
        forward = method_of(target, "forward", line_of(machine, target.home)) if target.home is not None else None
        if forward is not None:
            return call_function(machine, forward, places, named)
        for item in target.row:
            value = call(machine, item, [value], {})
        return value
    if target.kind == KIND:
        return record_of(target, places, named)
    if target.kind == SPACE:
        return target  # `env.observation_spec()`
    line = line_of(machine, target.home) if target.home is not None else []
    for name in FORWARDS:
        forward = method_of(target, name, line)
        if forward is not None:
            return call_function(machine, forward, places, named)
    base = target.attributes.get("__base__")
    if base is not None:
        return call(machine, base, places, named)
    return places[0] if places else UNKNOWN


def _tried(machine: Machine, target: Instance, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Run a part while its network is built: programs ask so how large its output is."""
    before, machine.kept = machine.kept, Kept()
    machine.running += 1
    try:
        return _run(machine, target, places, named)
    finally:
        machine.kept = before
        machine.running -= 1


def _apply(machine: Machine, target: Layer | Counted, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    given = places[0] if places else next(iter(named.values()), UNKNOWN)
    return apply_layer(machine, target, given, named)


def _call_method(machine: Machine, target: Method, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    owner = target.owner
    if isinstance(owner, Super):
        if target.name != "__init__":
            return places[0] if places else UNKNOWN
        line = line_of(machine, owner.owner.home)
        library = next((each for each in line if isinstance(each, Named)), None)
        if owner.owner.kind in CONTAINERS:
            owner.owner.items.extend(places)
        elif library is not None and (layer := build_layer(library, places, named)) is not None:
            owner.owner.attributes["__base__"] = layer
        return None
    if isinstance(owner, Class) and target.name in LOADERS:
        return construct(machine, owner, (), {**saved_arguments(machine, places), **named})
    if isinstance(owner, (Instance, Layer)) and target.name in SAME:
        return owner
    if isinstance(owner, (list, dict, str)):
        return call_plain_method(machine, owner, target.name, places)
    if isinstance(owner, Tensor):
        return call_tensor_function(machine, target.name, [owner, *places], named)
    if isinstance(owner, Instance) and owner.kind == SPACE and target.name == "sample":
        return drawn_from(owner)
    if isinstance(owner, Counted):
        return [
            owner
        ] * PARTS  # `nn.Sequential(*list(resnet.children())[:-2])`: whatever is left of it, it is what is run
    if isinstance(owner, Instance):
        return _of_object(machine, owner, target.name, places, named)
    return unknown_call(machine, places, named)


def _of_object(
    machine: Machine, owner: Instance, name: str, places: Sequence[Value], named: Mapping[str, Value]
) -> Value:
    if name == "_replace":
        return replaced(owner, named)
    if name == "__getattr__" and places:
        return attribute(machine, owner, str(places[0]))
    return _of_container(owner, name, places)


def _of_container(owner: Instance, name: str, places: Sequence[Value]) -> Value:
    """Return what a container's or network's own methods do: add a layer, list its parts."""
    if name in {"append", "insert", "add", "add_module", "register_module", "setattr", "__setattr__"} and places:
        is_row = owner.kind in CONTAINERS and owner.kind != "ModuleDict"
        at = places[0] if name == "insert" and isinstance(places[0], int) else len(owner.items)
        owner.items.insert(at, places[-1]) if is_row else assign_attribute(owner, str(places[0]), places[-1])
    elif name in {"extend", "update"} and places and isinstance(places[0], (list, Instance)):
        owner.items.extend(places[0] if isinstance(places[0], list) else places[0].items)
    elif name == "param" and len(places) > 2 and isinstance(places[2], list):
        sides = [side for side in places[2] if isinstance(side, (int, float))]
        made = Tensor(min(math.prod(sides), 1e12), tuple(float(side) for side in sides), is_parameter=True)
        assign_attribute(owner, f"param {places[0]}", made)  # Flax
        return made
    elif name in {"children", "modules"}:
        return list(owner.items or owner.attributes.values())
    elif name in {"items", "named_children"}:
        return [[key, value] for key, value in owner.attributes.items()]
    elif name in {"values", "keys"}:
        return list(owner.attributes.values() if name == "values" else owner.attributes)
    elif name in {"register_parameter", "register_buffer"} and len(places) > 1:
        assign_attribute(owner, str(places[0]), places[1] if name == "register_parameter" else _plain(places[1]))
    return UNKNOWN


def _plain(value: Value) -> Value:
    return Tensor(value.numel, value.shape) if isinstance(value, Tensor) else value


PARTS = 10
"""Into how many parts a counted network is taken apart: as many as torchvision's ResNet is made of."""
_CALLS: Mapping[type, Callable[[Machine, Any, Sequence[Value], Mapping[str, Value]], Value]] = {
    Named: call_named, Function: _enter, Class: construct, Partial: _complete, Layer: _apply, Counted: _apply, Instance: _run,
    Method: _call_method,
}  # fmt: skip
