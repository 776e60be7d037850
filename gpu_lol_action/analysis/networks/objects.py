"""Objects and classes of other people's programs: how they are built, what their attributes are, how parameters are bound."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.networks.layers import build_layer
from gpu_lol_action.analysis.networks.machine import MAX_DEPTH, MAX_LIST, Frame, Machine, Root
from gpu_lol_action.analysis.networks.parsed import parse_value
from gpu_lol_action.analysis.networks.strangers import WHOLE, is_part_name, is_strange_network
from gpu_lol_action.analysis.networks.values import UNKNOWN, Class, Function, Instance, Named, Tensor, Value
from gpu_lol_action.analysis.programs.gin_bindings import gin_names
from gpu_lol_action.analysis.python.defaults import by_place

_BASES = ("Module", "LightningModule", "Model", "Layer", "Sequential", "ModuleList", "TorchModelV2", "BaseFeaturesExtractor",
          "MessagePassing", "ModelMixin", "Network")  # fmt: skip
MOST_ENTERED = 3
LOADERS = frozenset({"from_pretrained", "load_from_checkpoint", "from_json_file"})
"""Methods by which libraries' mixins build a class of one's own."""
CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "CondSequential"})
SAME = frozenset({"to", "cuda", "cpu", "eval", "train", "half", "float", "bfloat16", "requires_grad_", "apply", "double", "share_memory",
                  "compile"})  # fmt: skip


def call_function(machine: Machine, function: Function, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Bind a function's parameters and run it; a parameter that nobody gives may be an option of that name."""
    node, is_network = id(function.node), machine.building or machine.running
    # What calls itself outside of networks walks through data that is not there.
    is_circle = not is_network and machine.entered.get(node, 0) >= MOST_ENTERED
    if machine.depth >= MAX_DEPTH or is_circle:
        return next((value for value in places if isinstance(value, Tensor)), UNKNOWN)
    frame = Frame(function.program, {}, function.around, function.owner, function.home)
    given = [function.owner, *places] if function.owner is not None else list(places)
    frame.names.update(bind(machine, function, frame, given, named))
    machine.entered[node] = machine.entered.get(node, 0) + 1
    try:
        return machine.followed.run(machine, function, frame)
    finally:
        machine.entered[node] -= 1


def bind(
    machine: Machine, function: Function, frame: Frame, places: Sequence[Value], named: Mapping[str, Value]
) -> dict[str, Value]:
    """Return a function's names as its call begins."""
    signature = function.node.args
    parameters = by_place(function.node)
    start = len(parameters) - len(signature.defaults)
    defaults: dict[str, ast.expr] = {p.arg: d for p, d in zip(parameters[start:], signature.defaults, strict=True)}
    defaults |= {p.arg: d for p, d in zip(signature.kwonlyargs, signature.kw_defaults, strict=True) if d is not None}
    names = dict(zip((p.arg for p in parameters), places, strict=False))
    for parameter in [*parameters, *signature.kwonlyargs]:
        name = parameter.arg
        if name in named:
            names[name] = named[name]
        if machine.bound and name not in names and (told := _bound(machine, function, name)) is not None:
            names[name] = parse_value(told)
        elif names.get(name, UNKNOWN) is UNKNOWN:  # not given, or given what only running the program would tell
            said = machine.option(name) if name not in defaults or name in names else UNKNOWN
            names[name] = machine.evaluate(frame, defaults[name]) if said is UNKNOWN and name in defaults else said
    if signature.vararg is not None:
        names[signature.vararg.arg] = list(places[len(parameters) :])[:MAX_LIST]
    if signature.kwarg is not None:
        names[signature.kwarg.arg] = {key: value for key, value in named.items() if key not in names}
    return names


def _bound(machine: Machine, function: Function, parameter: str) -> str | None:
    """Return what gin-config gives to a parameter that a call leaves out; None where it gives nothing, or not one thing."""
    own = "" if isinstance(function.node, ast.Lambda) else function.node.name
    own = function.home.node.name if own == "__init__" and function.home is not None else own
    known = gin_names(function.program.source, own, ())
    told = {machine.bound.get(f"{fold_key(name)}.{fold_key(parameter)}") for name in known} - {None}
    return told.pop() if len(told) == 1 else None


def line_of(machine: Machine, home: Value) -> list[Value]:
    """Return a class and what it inherits from, nearest first; libraries' classes by name."""
    found: list[Value] = []
    pending = [home]
    while pending and len(found) < 12:
        each = pending.pop(0)
        if any(each is other for other in found):
            continue
        found.append(each)
        if isinstance(each, Class):
            pending += [machine.evaluate(Frame(each.program), base) for base in each.node.bases[:6]]
    return found


MOST_SHAPES = 4
_LAYERS = frozenset({"n_layer", "n_layers", "num_layers", "num_hidden_layers"})
_WIDTH = frozenset({"n_embd", "hidden_size", "d_model", "dim", "hidden_dim"})


def construct(machine: Machine, home: Class, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Build an object of a class of the checkout; a network that stands in no other is noted."""
    line = line_of(machine, home)
    libraries = [each.last for each in line if isinstance(each, Named)]
    is_network = any(name.endswith(_BASES) for name in libraries)
    kind = next((name for name in libraries if name in CONTAINERS), home.node.name)
    made = Instance(home, kind, is_network)
    place, strangers = (machine.program, machine.line), machine.strangers
    machine.strangers += WHOLE * any(isinstance(each, Named) and is_strange_network(each.name) for each in line)
    machine.building += is_network
    machine.built += is_network
    before = machine.depth
    try:
        _initialize(machine, made, line, places, named)
    finally:
        machine.building -= is_network
        machine.depth = before
        made.is_network = is_network or "__base__" in made.attributes
        if (
            not made.is_network
            and len(machine.shapes) < MOST_SHAPES
            and _LAYERS & named.keys()
            and _WIDTH & named.keys()
        ):
            machine.shapes.append(dict(named))
        if made.is_network and not machine.building and not machine.running and place[0] is not None:
            machine.roots.append(Root(made, place[0], place[1], strangers=machine.strangers - strangers))
    return made


def _initialize(
    machine: Machine, made: Instance, line: Sequence[Value], places: Sequence[Value], named: Mapping[str, Value]
) -> None:
    start = method_of(made, "__init__", line)
    if start is not None:
        if made.is_network:
            machine.strangers += WHOLE * _unseen_parts(start, places, named)
        call_function(machine, start, places, named)
    else:
        fields = [
            f
            for each in reversed(line)
            if isinstance(each, Class)
            for f in each.node.body
            if isinstance(f, ast.AnnAssign)
        ]
        names = [f.target.id for f in fields if isinstance(f.target, ast.Name)]
        made.attributes.update(dict(zip(names, places, strict=False)))
        made.attributes.update(dict(named.items()))
        if made.kind in CONTAINERS:
            made.items.extend(places)
        library = next((each for each in line if isinstance(each, Named)), None)
        if library is not None and (layer := build_layer(library, places, named)) is not None:
            made.attributes["__base__"] = layer
    for name in ("setup", "build"):
        later = method_of(made, name, line) if made.is_network else None
        if later is not None:
            call_function(machine, later, (), {})


def _unseen_parts(start: Function, places: Sequence[Value], named: Mapping[str, Value]) -> int:
    """Return how many whole networks a network is handed of which nothing is known: an encoder, a backbone of another project."""
    parameters = by_place(start.node)[1:]
    given = dict(zip((p.arg for p in parameters), places, strict=False)) | dict(named)
    return sum(
        given.get(p.arg, None) is UNKNOWN and is_part_name(p.arg, ast.unparse(p.annotation) if p.annotation else "")
        for p in (*parameters, *start.node.args.kwonlyargs)
    )


def method_of(owner: Instance, name: str, line: Sequence[Value]) -> Function | None:
    """Return a method of an object, from the nearest class that has it."""
    for each in line:
        if isinstance(each, Class):
            for item in reversed(each.node.body):  # a later definition stands
                if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and item.name == name:
                    is_static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in item.decorator_list)
                    return Function(item, each.program, {}, None if is_static else owner, each)
    return None
