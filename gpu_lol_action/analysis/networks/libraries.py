"""Calls of libraries: layers, containers, counted networks, configurations that name a class, and what nothing is known of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from gpu_lol_action.analysis.networks.asked import Asked, Builtin
from gpu_lol_action.analysis.networks.blueprints import blueprint_of
from gpu_lol_action.analysis.networks.builtins import BUILTINS, HELPERS
from gpu_lol_action.analysis.networks.layers import build_layer, is_counted
from gpu_lol_action.analysis.networks.machine import MAX_LIST, Kept, Machine, Root
from gpu_lol_action.analysis.networks.objects import CONTAINERS, call_function
from gpu_lol_action.analysis.networks.saved_configs import saved_object
from gpu_lol_action.analysis.networks.spread_arguments import said_of
from gpu_lol_action.analysis.networks.strangers import is_stranger
from gpu_lol_action.analysis.networks.tensors import FUNCTIONS, call_tensor_function
from gpu_lol_action.analysis.networks.texts import READS
from gpu_lol_action.analysis.networks.values import (
    UNKNOWN,
    Class,
    Counted,
    Function,
    Instance,
    Layer,
    Named,
    Partial,
    Super,
    Tensor,
    Value,
)
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.media_facts import find_network

_LIBRARIES = (
    "torchvision",
    "timm",
    "pretrainedmodels",
    "keras.applications",
    "tensorflow.keras.applications",
    "efficientnet_pytorch",
)
_BY_NAME = frozenset({"create_model", "get_model", "load", "from_name", "from_pretrained"})
_STARTERS = frozenset({"spawn", "start_processes", "Process"})
_FACTORIES = frozenset({"create_model", "get_model", "build_model"})
_NAMES_OF_MODULE = (".__dict__.items", ".__dict__.values")
_TARGETS = ("target", "_target_", "class", "cls")
_OF_HYDRA = frozenset({"_target_", "_partial_", "_recursive_", "_convert_"})
_INSTANTIATE = frozenset({"instantiate_from_config", "instantiate", "build_from_config"})
_SPECIAL = _INSTANTIATE | _FACTORIES | {"super", "get_obj_from_str", "Module", "Model"}


def _reading(read: Callable[[Machine, Sequence[Value]], Value]) -> Builtin:
    return lambda asked: read(asked.machine, asked.places)


_FUNCTIONS: Mapping[str, Builtin] = {**BUILTINS, **{name: _reading(read) for name, read in READS.items()}}


def call_named(machine: Machine, target: Named, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Call something of a library: a layer, a container, a counted network, a function of tensors, one of Python's own."""
    follow = _call_known if _may_build(target.name) else _call_other
    return follow(machine, target, places, named)


def _call_known(machine: Machine, target: Named, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    last = target.last
    if last == "super" and len(places) == 2:
        return Super(places[0], places[1]) if isinstance(places[0], Instance) else UNKNOWN
    if last in _INSTANTIATE or last == "get_obj_from_str":
        return instantiate(machine, places[0] if places else UNKNOWN, named)
    if target.name in _FUNCTIONS:
        return _FUNCTIONS[target.name](Asked(machine, places, named))
    if last in HELPERS:
        return HELPERS[last](Asked(machine, places, named))
    if last in CONTAINERS:
        return _container(machine, last, places)
    if last == "Module" and not places:
        return Instance(None, last, is_network=True)  # a part that holds what is put into it by name
    drawn = blueprint_of(target)
    if drawn is not None:
        return machine.call(drawn, places, named)
    if last in _FACTORIES and (own := _own_network(machine, places, named)) is not None:
        return own
    network = _library_network(target, places, named)
    if network is not None:
        return network
    layer = build_layer(target, places, named)
    if layer is not None:
        machine.built += 1
        return layer
    if last == "Model" and not machine.running and not machine.building and machine.kept.used:
        return _functional(machine)
    return _call_other(machine, target, places, named)


@functools.lru_cache(maxsize=4096)
def _may_build(name: str) -> bool:
    """Whether a library's name is one of those that ``_call_known`` knows; the most are not (loggers, files, optimizers)."""
    target = Named(name)
    return (
        target.last in _SPECIAL
        or name in _FUNCTIONS
        or target.last in HELPERS
        or target.last in CONTAINERS
        or name.startswith(_LIBRARIES)
        or blueprint_of(target) is not None
        or is_counted(target.last)
    )


def _call_other(machine: Machine, target: Named, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Call a function of tensors, one of the checkout's by its module, or what nothing is known of."""
    last = target.last
    if target.name.endswith(_NAMES_OF_MODULE):
        return _names_of(machine, target)
    if last == "checkpoint" and places:
        return _checkpointed(machine, places)
    if last in _STARTERS and not machine.running:
        return _started(machine, last, places, named)
    if last in FUNCTIONS:
        return call_tensor_function(machine, last, places, named)
    if (saved := saved_object(machine, target, places, named)) is not None:
        return saved
    if "." in target.name and (own := machine.of_module(target.name.rpartition(".")[0], last)) is not None:
        return machine.call(own, places, named)
    if (
        "." in target.name
        and isinstance(found := machine.find(last, None), (Class, Function))
        and _is_near(target, found)
    ):
        return machine.call(found, places, named)
    made = unknown_call(machine, places, named)
    machine.strangers += made is UNKNOWN and machine.building > 0 and not machine.running and is_stranger(target.name)
    return made


def _names_of(machine: Machine, target: Named) -> Value:
    """Return the classes and functions of a module by their names, as a program looks through them for one."""
    home = machine.module(target.name.partition(".__dict__")[0])
    if home is None:
        return UNKNOWN
    names = [*home.classes, *home.functions][:MAX_LIST]
    found = [[name, machine.find(name, home)] for name in names]
    return found if target.last == "items" else [value for _, value in found]


def _started(machine: Machine, last: str, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Call what other processes are started with, once; PyTorch's ``spawn`` hands it its number first."""
    target = next(
        (value for value in (named.get("fn"), named.get("target"), *places[:1]) if isinstance(value, Function)), None
    )
    given = named.get("args", places[1] if len(places) > 1 and last != "Process" else [])
    if target is None or id(target.node) in machine.called:
        return UNKNOWN
    number = [] if last == "Process" else [0]
    call_function(machine, target, [*number, *(given if isinstance(given, list) else [])], {})
    return UNKNOWN


def _functional(machine: Machine) -> Instance:
    """Return the network of the layers that were called so far: Keras names what goes in and what comes out."""
    kept, machine.kept = machine.kept, Kept()
    made = Instance(None, "Model", is_network=True, items=list(kept.used.values()))
    if machine.program is not None:
        machine.roots.append(Root(made, machine.program, machine.line, kept))
    return made


def _is_near(target: Named, found: Class | Function) -> bool:
    """Whether a dotted name is of one of the checkout's own modules (``models_vit.vit_large``)."""
    return found.program.stem in target.name.split(".")


def _container(machine: Machine, last: str, places: Sequence[Value]) -> Instance:
    items = list(places)
    if len(items) == 1 and isinstance(items[0], (list, dict)):
        items = list(items[0]) if isinstance(items[0], list) else list(items[0].values())
    items = [item[-1] if isinstance(item, list) and item else item for item in items]
    made = Instance(None, last, is_network=True, items=items[:MAX_LIST])
    if last == "ModuleDict" and places and isinstance(places[0], dict):
        made.attributes.update({str(key): value for key, value in places[0].items()})
        made.items = []
    if last == "Sequential" and not machine.building and not machine.running and machine.program is not None:
        machine.roots.append(Root(made, machine.program, machine.line))
    return made


def _own_network(machine: Machine, places: Sequence[Value], named: Mapping[str, Value]) -> Value | None:
    """Return a network that the checkout itself registers under the name that a library's factory is given; None without one."""
    keys = ("model_name", "model", "name")
    given = next((value for value in (*places[:1], *(named.get(key) for key in keys)) if isinstance(value, str)), "")
    found = machine.registered(given) if given else None
    if found is None:
        return None
    machine.known_as.append(given)
    return machine.call(found, places[1:], {key: value for key, value in named.items() if key not in keys})


def _library_network(target: Named, places: Sequence[Value], named: Mapping[str, Value]) -> Counted | None:
    """Return a network of torchvision, timm or Keras whose layers were counted."""
    if not target.name.startswith(_LIBRARIES) and target.last != "create_model":
        return None
    given = next((value for value in (*places, *named.values()) if isinstance(value, str)), "")
    network = find_network(given if target.last in _BY_NAME else target.last)
    if network is None or network.family in {"unet", "dit"}:
        return None
    return Counted(network)


def instantiate(machine: Machine, config: Value, named: Mapping[str, Value]) -> Value:
    """Build what a configuration of ``target`` and ``params`` names; a text alone is the class itself."""
    if isinstance(config, str):
        return machine.find(config.rpartition(".")[2], None)
    if not isinstance(config, dict):
        return config if isinstance(config, (Instance, Layer)) else UNKNOWN
    target = next((config[key] for key in _TARGETS if isinstance(config.get(key), str)), None)
    if target is None:
        return UNKNOWN
    inner = config.get("params")
    params = inner if isinstance(inner, dict) else {k: v for k, v in config.items() if k not in _TARGETS}
    found = machine.find(target.rpartition(".")[2], None)
    words = {key: _argument(machine, value) for key, value in {**params, **named}.items() if isinstance(key, str)}
    words = {key: value for key, value in words.items() if value is not UNKNOWN and key not in _OF_HYDRA}
    made = found if not isinstance(found, Named) else Named(target)
    return Partial(made, (), words) if params.get("_partial_") in {True, "true"} else machine.call(made, (), words)


def _argument(machine: Machine, value: Value) -> Value:
    """Return an argument in a configuration: a part that names a class is built, ``${width}`` is what that setting says."""
    if isinstance(value, dict) and any("." in str(value.get(key, "")) for key in _TARGETS[1:]):
        return instantiate(machine, value, {})
    if isinstance(value, str) and (found := regex(r"\$\{(?:\w+:)?\.*([\w.]{1,200})\}").fullmatch(value)):
        return _put(machine, found[1].split("."))
    return UNKNOWN if value == "???" else value


def _checkpointed(machine: Machine, places: Sequence[Value]) -> Value:
    """Run a part whose layers are computed again in the backward pass: only what goes in and comes out is kept."""
    saved = machine.kept.saved
    given = [item for value in places[1:] for item in (value if isinstance(value, list) else [value])]
    result = machine.call(places[0], given, {})
    if result is UNKNOWN or (len(places) > 3 and places[3] is False):
        return result
    machine.kept.saved = saved
    return machine.kept.keep(result) if isinstance(result, Tensor) else result


def _put(machine: Machine, path: Sequence[str]) -> Value:
    """Return what a place in a configuration stands for: what is there by now, a part that is built, else the setting of that name."""
    node: Value = machine.nodes.get(path[0], {})
    for word in path[1:]:
        node = node.get(word, UNKNOWN) if isinstance(node, dict) else UNKNOWN
    is_open = node is UNKNOWN or node in ("???", {})
    return machine.option(path[-1]) if is_open else _argument(machine, node)


def unknown_call(machine: Machine, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return the first tensor or network of a call that nothing is known of: most wrap what they are given.

    Functions that it is given are entered once (``app.run(main)``, ``fire.Fire(main)``), with what the run says itself.
    """
    values = [*places, *named.values()]
    if not machine.running:
        if (entered := _from_registry(machine, values)) is not None:
            return entered
        for value in values:
            if isinstance(value, Function) and id(value.node) not in machine.called:
                call_function(machine, value, (), said_of(machine, value))
    for value in values:
        if isinstance(value, list) and len(value) > 1 and all(isinstance(item, Tensor) for item in value):
            return value[0]
    for value in values:
        if isinstance(value, (Tensor, Layer, Counted)) or (isinstance(value, Instance) and value.is_network):
            return value
    return UNKNOWN


def _from_registry(machine: Machine, values: Sequence[Value]) -> Value | None:
    """Return what a registry has under a name that is asked for (``MODELS.get("a")``), or builds from settings with a ``type``."""
    first = values[0] if values else None
    if isinstance(first, str):
        return machine.registered(first)
    kind = (
        next((first[key] for key in ("type", "name", "NAME") if isinstance(first.get(key), str)), None)
        if isinstance(first, dict)
        else None
    )
    found = machine.registered(kind) if kind is not None else None
    if found is None or not isinstance(first, dict):
        return None
    return machine.call(
        found, (), {key: value for key, value in first.items() if isinstance(key, str) and value is not kind}
    )
