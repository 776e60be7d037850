"""Attributes in other people's programs, by what has them: objects, classes, layers, tensors, modules, and what nothing is known of."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from gpu_lol_action.analysis.networks.machine import MAX_LIST, Frame, Machine
from gpu_lol_action.analysis.networks.made_tensors import features_of
from gpu_lol_action.analysis.networks.objects import LOADERS, SAME, call_function, line_of, method_of
from gpu_lol_action.analysis.networks.spaces import space_of
from gpu_lol_action.analysis.networks.values import (
    UNKNOWN,
    Class,
    Counted,
    Function,
    Instance,
    Layer,
    Method,
    Named,
    Super,
    Tensor,
    Unknown,
    Value,
)
from gpu_lol_action.analysis.networks.weights import layer_number

_PLAIN = (str, int, float, list, dict, type(None))
_OF_ARRAYS = frozenset(
    {"shape", "size", "ndim", "prod", "sum", "max", "min", "mean", "astype", "tolist", "reshape", "T", "dtype"}
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def attribute(machine: Machine, owner: Value, name: str) -> Value:
    """Return an attribute: an object's own, its class's, what a layer or tensor says of itself; else an option of that name."""
    follow = _ATTRIBUTES.get(type(owner))
    return follow(machine, owner, name) if follow is not None else _of_plain(machine, owner, name)


def _of_super(machine: Machine, owner: Super, name: str) -> Value:
    line = line_of(machine, owner.owner.home)
    place = next(
        (place for place, each in enumerate(line) if isinstance(each, Class) and each.node is owner.home.node), -1
    )
    found = method_of(owner.owner, name, line[place + 1 :])
    return found if found is not None else Method(owner, name)


def _of_own_class(machine: Machine, owner: Class, name: str) -> Value:
    found = _of_class(machine, owner, name)
    if found is UNKNOWN and (other := machine.of_module(owner.node.name, name)) is not None:
        return other  # of the module that has the class's name
    return Method(owner, name) if found is UNKNOWN and name in LOADERS else found


def _of_tensor(_machine: Machine, owner: Tensor, name: str) -> Value:
    return features_of(owner, name)


def _of_layer(_machine: Machine, owner: Layer, name: str) -> Value:
    if f"@{name}" in owner.named:
        return owner.named[f"@{name}"]
    number = layer_number(owner, name)
    return number if number is not None else Method(owner, name)


def _of_counted(machine: Machine, owner: Counted, name: str) -> Value:
    if name in {"children", "modules"}:
        return Method(owner, name)
    return owner if not name.startswith(("in_", "out_", "num_", "embed", "hidden")) else machine.option(name)


def _of_dictionary(machine: Machine, owner: dict[Any, Value], name: str) -> Value:
    return owner[name] if name in owner else _of_plain(machine, owner, name)


def _of_function(machine: Machine, owner: Function, name: str) -> Value:
    found = machine.of_module(getattr(owner.node, "name", ""), name)
    return found if found is not None else _of_plain(machine, owner, name)


def _of_unknown(machine: Machine, _owner: Value, name: str) -> Value:
    """Return what a configuration, an option or an environment has under a name."""
    said = machine.nodes[name] if name in machine.nodes else machine.option(name)
    return said if said is not UNKNOWN else space_of(machine, name)


def _of_plain(machine: Machine, owner: Value, name: str) -> Value:
    """Return an attribute of a text, number, list or dictionary, mostly a method."""
    if isinstance(owner, list) and len(owner) == 2 and name in {"values", "indices"}:
        return owner[name == "indices"]  # of a maximum along a side
    is_value = isinstance(owner, _PLAIN) and not hasattr(owner, name) and name not in _OF_ARRAYS
    # What is asked for what no text or list has is a part of a configuration, of which only a word is known.
    return _of_unknown(machine, owner, name) if is_value else Method(owner, name)


def _of_named(machine: Machine, owner: Named, name: str) -> Value:
    if (owner.name, name) in machine.parts:
        return machine.parts[owner.name, name]
    last = owner.last
    if last in {"FLAGS", "args", "cfg", "opt"}:
        return machine.option(name)
    if owner.name == "string" and name.startswith("ascii_"):
        return {"ascii_lowercase": _LETTERS, "ascii_uppercase": _LETTERS.upper()}.get(name, _LETTERS + _LETTERS.upper())
    home = machine.module(owner.name)
    if home is not None and name in home.values:
        return machine.evaluate(Frame(home), ast.Name(name))
    if home is None and last in {"config", "conf", "hparams"}:
        return machine.option(name)  # of a module that is named as the program runs
    part = Named(f"{owner.name}.{name}") if len(owner.name) < 200 else UNKNOWN
    machine.parts[owner.name, name] = part
    return part


def _of_instance(machine: Machine, owner: Instance, name: str) -> Value:
    if name in owner.attributes:
        value = owner.attributes[name]
        return value if value is not UNKNOWN else space_of(machine, name)
    line = line_of(machine, owner.home) if owner.home is not None else []
    function = method_of(owner, name, line)
    if function is not None:
        words = {d.attr if isinstance(d, ast.Attribute) else d.id for d in function.node.decorator_list if isinstance(d, (ast.Name, ast.Attribute))} if not isinstance(function.node, ast.Lambda) else set()  # fmt: skip
        if words & {"property", "cached_property"}:
            return call_function(machine, function, (), {})
        return function
    if name in {"training", "__dict__"}:
        return owner.attributes if name == "__dict__" else True
    if isinstance(base := owner.attributes.get("__base__"), Layer) and (own := layer_number(base, name)) is not None:
        if name == "weight":
            machine.kept.used[id(base)] = base  # in a function of its own, in the layer's place
        return own
    for each in line:
        if isinstance(each, Class):
            found = _of_class(machine, each, name)
            if found is not UNKNOWN:
                return found
    option = machine.option(name) if not owner.is_network or name not in SAME else UNKNOWN
    option = space_of(machine, name) if option is UNKNOWN else option
    return option if option is not UNKNOWN else Method(owner, name)


def _of_class(machine: Machine, home: Class, name: str) -> Value:
    for item in home.node.body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and item.name == name:
            is_of_class = any(isinstance(d, ast.Name) and d.id == "classmethod" for d in item.decorator_list)
            return Function(item, home.program, {}, home if is_of_class else None, home)
        targets = (
            item.targets if isinstance(item, ast.Assign) else [item.target] if isinstance(item, ast.AnnAssign) else []
        )
        value = item.value if isinstance(item, (ast.Assign, ast.AnnAssign)) else None
        if value is not None and any(isinstance(target, ast.Name) and target.id == name for target in targets):
            machine.step()
            return machine.evaluate(Frame(home.program), value)
    return home.node.name if name == "__name__" else UNKNOWN


def assign_attribute(owner: Value, name: str, value: Value) -> None:
    """Give an object, or a node of a configuration, an attribute; the rest have none that we keep."""
    held = owner.attributes if isinstance(owner, Instance) else owner.named if isinstance(owner, Layer) else owner
    if isinstance(held, dict) and len(held) < 4 * MAX_LIST:
        held[f"@{name}" if isinstance(owner, Layer) else name] = value


_ATTRIBUTES: Mapping[type, Callable[[Machine, Any, str], Value]] = {
    Named: _of_named, Unknown: _of_unknown, Instance: _of_instance, Super: _of_super, Class: _of_own_class, Tensor: _of_tensor,
    Layer: _of_layer, Counted: _of_counted, dict: _of_dictionary, Function: _of_function,
}  # fmt: skip
