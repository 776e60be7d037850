"""What Python's own functions give, and a few of libraries that only compute numbers, as far as a reader of networks needs them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.networks.asked import Asked, Builtin
from gpu_lol_action.analysis.networks.attributes import assign_attribute, attribute
from gpu_lol_action.analysis.networks.kinds import is_instance, kind_of
from gpu_lol_action.analysis.networks.machine import MAX_LIST
from gpu_lol_action.analysis.networks.plain import copied, items
from gpu_lol_action.analysis.networks.records import record_kind, replaced, split_number
from gpu_lol_action.analysis.networks.values import UNKNOWN, Instance, Named, Partial, Tensor, Value
from gpu_lol_action.domain.sums import added

_Numbers = (int, float)


def _range(asked: Asked) -> Value:
    asked.machine.step()
    whole = [int(place) for place in asked.places[:3] if isinstance(place, _Numbers) and abs(place) < 1e12]
    if len(whole) != len(asked.places) or not whole or (len(whole) > 2 and not whole[2]):
        return UNKNOWN
    return list(range(*whole)[:MAX_LIST])  # a slice of a range: never written out


def _len(asked: Asked) -> Value:
    value = asked.places[0] if asked.places else UNKNOWN
    if isinstance(value, Instance):
        return len(value.items) if value.items else UNKNOWN
    return len(value) if isinstance(value, (list, dict, str)) else UNKNOWN


def _number(kind: Callable[[float], float]) -> Builtin:
    def give(asked: Asked) -> Value:
        value = asked.places[0] if asked.places else UNKNOWN
        if isinstance(value, str):
            try:
                return kind(number) if len(value) < 24 and math.isfinite(number := float(value)) else UNKNOWN
            except (ValueError, OverflowError):
                return UNKNOWN
        if not isinstance(value, _Numbers):
            return value if isinstance(value, Tensor) else UNKNOWN
        return kind(value) if math.isfinite(value) else UNKNOWN

    return give


def _text(asked: Asked) -> Value:
    value = asked.places[0] if asked.places else UNKNOWN
    return str(value) if isinstance(value, (str, *_Numbers)) else UNKNOWN  # the key of a layer: `self.layers[str(i)]`


def _extreme(pick: Callable[[list[float]], float]) -> Builtin:
    def give(asked: Asked) -> Value:
        values = (
            list(asked.places[0])
            if len(asked.places) == 1 and isinstance(asked.places[0], list)
            else list(asked.places)
        )
        known = [value for value in values if isinstance(value, _Numbers)]
        return pick(known) if known else UNKNOWN

    return give


def _sum(asked: Asked) -> Value:
    values = items(asked.places[0]) if asked.places else []
    start = asked.places[1] if len(asked.places) > 1 else 0
    if isinstance(start, list):
        return [item for value in values for item in (value if isinstance(value, list) else [value])][:MAX_LIST]
    if values and all(isinstance(value, _Numbers) for value in values):
        return added((*values, start if isinstance(start, _Numbers) else 0))
    return next((value for value in values if isinstance(value, Tensor)), UNKNOWN)


def _zip(asked: Asked) -> Value:
    rows = [items(place) for place in asked.places]
    is_open = [place is UNKNOWN or (isinstance(place, Tensor) and place.shape is None) for place in asked.places]
    most = max((len(row) for row, each in zip(rows, is_open, strict=True) if not each), default=1)
    # What is not known is as long as what stands beside it: an input, too, of which each layer of a list gets its own part.
    rows = [(row * most)[:most] if each else row for row, each in zip(rows, is_open, strict=True)]
    return [list(each) for each in zip(*rows, strict=False)]


def _enumerate(asked: Asked) -> Value:
    return [[place, value] for place, value in enumerate(items(asked.places[0]) if asked.places else [])]


def _listed(asked: Asked) -> Value:
    return (
        items(asked.places[0])
        if asked.places and asked.places[0] is not UNKNOWN
        else []
        if not asked.places
        else UNKNOWN
    )


def _reversed(asked: Asked) -> Value:
    found = _listed(asked)
    return found[::-1] if isinstance(found, list) else UNKNOWN


def _sorted(asked: Asked) -> Value:
    found = _listed(asked)
    is_plain = isinstance(found, list) and (
        all(isinstance(f, _Numbers) for f in found) or all(isinstance(f, str) for f in found)
    )
    return sorted(found) if is_plain else found


def _dict(asked: Asked) -> Value:
    start = asked.places[0] if asked.places else {}
    if not isinstance(start, (list, dict)) and not asked.named:
        return UNKNOWN
    pairs = {each[0]: each[1] for each in start if isinstance(each, list) and len(each) == 2 and isinstance(each[0], (str, int))} if isinstance(start, list) else start  # fmt: skip
    return {**(pairs if isinstance(pairs, dict) else {}), **asked.named}


def _getattr(asked: Asked) -> Value:
    if len(asked.places) < 2 or not isinstance(asked.places[1], str):
        return UNKNOWN
    owner, name = asked.places[0], asked.places[1]
    if isinstance(owner, Instance) and name not in owner.attributes and len(asked.places) > 2 and owner.is_network:
        return asked.places[2]
    found = attribute(asked.machine, owner, name)
    if isinstance(found, Named) and not isinstance(near := asked.machine.find(name, None), Named):
        return near if near.program.stem in found.name.split(".") else found
    return asked.places[2] if found is UNKNOWN and len(asked.places) > 2 else found


def _setattr(asked: Asked) -> Value:
    if len(asked.places) > 2 and isinstance(asked.places[1], str):
        assign_attribute(asked.places[0], asked.places[1], asked.places[2])
    return None


def _hasattr(asked: Asked) -> Value:
    if len(asked.places) < 2 or not isinstance(asked.places[1], str):
        return UNKNOWN
    owner = asked.places[0]
    if isinstance(owner, Instance) and owner.is_network:
        return asked.places[1] in owner.attributes
    return asked.places[1] in owner if isinstance(owner, dict) else UNKNOWN


def _partial(asked: Asked) -> Value:
    return Partial(asked.places[0], tuple(asked.places[1:]), dict(asked.named)) if asked.places else UNKNOWN


def _map(asked: Asked) -> Value:
    if len(asked.places) < 2:
        return UNKNOWN
    return [asked.machine.call(asked.places[0], [value], {}) for value in items(asked.places[1])]


def _product(asked: Asked) -> Value:
    values = items(asked.places[0]) if asked.places else [UNKNOWN]
    known = all(isinstance(value, _Numbers) for value in values)
    result = math.prod(values) if known else 0
    return result if known and abs(result) < 1e13 else UNKNOWN


def _array(asked: Asked) -> Value:
    """Return an array of numbers as their list; anything else as before: the first tensor that is given."""
    value = asked.places[0] if asked.places else UNKNOWN
    if isinstance(value, list) and value and all(isinstance(item, _Numbers) for item in value):
        return list(value)
    return value if isinstance(value, Tensor) else UNKNOWN


def _copied(asked: Asked) -> Value:
    return copied(asked.machine, asked.places[0]) if asked.places else UNKNOWN


def _replaced(asked: Asked) -> Value:
    owner = asked.places[0] if asked.places else UNKNOWN
    return replaced(owner, asked.named) if isinstance(owner, Instance) else owner


def _second(asked: Asked) -> Value:
    return asked.places[1] if len(asked.places) > 1 else UNKNOWN


def _some(*, every: bool) -> Builtin:
    def give(asked: Asked) -> Value:
        values = items(asked.places[0]) if asked.places else [UNKNOWN]
        known = all(isinstance(value, (bool, int, float)) for value in values)
        return (all(values) if every else any(values)) if known else UNKNOWN

    return give


def _logarithm(asked: Asked) -> Value:
    numbers = [place for place in asked.places[:2] if isinstance(place, _Numbers) and place > 0]
    if len(numbers) != len(asked.places) or not numbers or (len(numbers) > 1 and numbers[1] == 1):
        return UNKNOWN
    return math.log(numbers[0]) if len(numbers) == 1 else round(math.log(numbers[0], numbers[1]), 9)


def _linear_space(asked: Asked) -> Value:
    """Return evenly spaced numbers: rates of stochastic depth, of which only the count matters."""
    count = asked.places[2] if len(asked.places) > 2 else UNKNOWN
    return [0.0] * min(int(count), MAX_LIST) if isinstance(count, _Numbers) and count >= 0 else UNKNOWN


def _input(asked: Asked) -> Value:
    """Return the input that a Keras model begins with."""
    shape = asked.named.get("shape", asked.places[0] if asked.places else None)
    if isinstance(shape, list) and shape and all(isinstance(side, _Numbers) for side in shape):
        whole = (1.0, *(float(side) for side in shape))
        return Tensor(math.prod(whole), whole)
    return Tensor(None)


def _environment(asked: Asked) -> Value:
    """Return what the run gives a variable of the environment, else what the program takes instead."""
    name, instead = (*asked.places, UNKNOWN, UNKNOWN)[:2]
    said = asked.machine.option(name.lower()) if isinstance(name, str) else UNKNOWN
    return said if said is not UNKNOWN else instead


def _pair(asked: Asked) -> Value:
    value = asked.places[0] if asked.places else UNKNOWN
    return value if isinstance(value, list) else [value, value]


def _divisible(asked: Asked) -> Value:
    """Return the next multiple of a number, as detectors' widths are rounded."""
    value, step = (*asked.places, UNKNOWN, UNKNOWN)[:2]
    is_known = isinstance(value, _Numbers) and isinstance(step, _Numbers) and step > 0 and abs(value) < 1e9
    return math.ceil(value / step) * step if is_known else UNKNOWN


def _always(number: int) -> Builtin:
    def give(asked: Asked) -> Value:
        del asked
        return number

    return give


HELPERS: Mapping[str, Builtin] = {"to_2tuple": _pair, "_pair": _pair, "pair": _pair, "cast_tuple": _pair, "make_divisible": _divisible, "_make_divisible": _divisible,
                                  "get_world_size": _always(1), "get_rank": _always(0)}  # fmt: skip
"""Functions that many libraries have under one name."""
BUILTINS: Mapping[str, Builtin] = {
    "range": _range, "len": _len, "str": _text, "int": _number(int), "float": _number(float), "round": _number(round),
    "abs": _number(abs), "math.ceil": _number(math.ceil), "math.floor": _number(math.floor),
    "math.sqrt": _number(lambda v: math.sqrt(abs(v))), "np.sqrt": _number(lambda v: math.sqrt(abs(v))), "numpy.sqrt": _number(lambda v: math.sqrt(abs(v))),
    "math.log2": _number(lambda v: math.log2(v) if v > 0 else 0), "np.log2": _number(lambda v: math.log2(v) if v > 0 else 0),
    "numpy.log2": _number(lambda v: math.log2(v) if v > 0 else 0),
    "math.log": _logarithm, "np.log": _logarithm, "numpy.log": _logarithm, "np.ceil": _number(math.ceil), "numpy.ceil": _number(math.ceil),
    "np.floor": _number(math.floor), "numpy.floor": _number(math.floor),
    "max": _extreme(max), "min": _extreme(min), "sum": _sum, "zip": _zip, "enumerate": _enumerate, "list": _listed, "tuple": _listed,
    "set": _listed, "iter": _listed, "reversed": _reversed, "sorted": _sorted, "dict": _dict, "OrderedDict": _dict, "collections.OrderedDict": _dict, "cast": _second, "typing.cast": _second,
    "getattr": _getattr, "setattr": _setattr, "hasattr": _hasattr, "isinstance": is_instance, "partial": _partial, "functools.partial": _partial, "map": _map,
    "np.prod": _product, "np.array": _array, "numpy.array": _array, "np.asarray": _array, "numpy.prod": _product, "math.prod": _product, "deepcopy": _copied, "copy.deepcopy": _copied, "copy": _copied, "copy.copy": _copied,
    "namedtuple": lambda asked: record_kind(asked.places), "collections.namedtuple": lambda asked: record_kind(asked.places),
    "re.split": lambda asked: split_number(*(*asked.places, UNKNOWN, UNKNOWN)[:2]), "dataclasses.replace": _replaced, "replace": _replaced,
    "all": _some(every=True), "any": _some(every=False), "torch.linspace": _linear_space, "np.linspace": _linear_space, "numpy.linspace": _linear_space,
    "type": kind_of, "Input": _input, "keras.Input": _input, "tf.keras.Input": _input, "keras.layers.Input": _input, "layers.Input": _input,
    "tensorflow.keras.Input": _input, "tensorflow.keras.layers.Input": _input, "tf.keras.layers.Input": _input,
    "os.getenv": _environment, "getenv": _environment, "os.environ.get": _environment, "environ.get": _environment,
    "ConfigDict": _dict, "ml_collections.ConfigDict": _dict, "config_dict.ConfigDict": _dict,
    "edict": _dict, "EasyDict": _dict, "easydict.EasyDict": _dict, "SimpleNamespace": _dict, "types.SimpleNamespace": _dict,
}  # fmt: skip
