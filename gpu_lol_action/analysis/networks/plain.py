"""Lists, dictionaries and texts of other people's programs: what loops over them yield, what their methods give, within bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpu_lol_action.analysis.networks.forms import rows_of
from gpu_lol_action.analysis.networks.machine import MAX_LIST, Machine
from gpu_lol_action.analysis.networks.values import UNKNOWN, Counted, Instance, Layer, Tensor, Value
from gpu_lol_action.domain.sums import added

_OF_ARRAYS: Mapping[str, Callable[[list[float]], float]] = {"prod": math.prod, "sum": added, "max": max, "min": min}
"""Methods of arrays, which stand here as lists of their numbers."""


def items(value: Value) -> list[Value]:
    """Return what a loop over a value yields, unknown ones once."""
    if isinstance(value, Instance) and (value.items or value.kind in {"Sequential", "ModuleList"}):
        return list(value.row)
    if isinstance(value, (list, tuple, dict, str)):
        return list(value)[:MAX_LIST]
    if isinstance(value, Tensor):
        return rows_of(value)
    return [value] if isinstance(value, (Counted, Layer)) else [UNKNOWN]


def copied(machine: Machine, value: Value) -> Value:
    """Return a network or layer as a second one of its kind; the rest as it is."""
    machine.step()
    if isinstance(value, Layer):
        return Layer(value.kind, value.places, value.named, value.is_last, value.parameters)
    if isinstance(value, Instance):
        made = Instance(value.home, value.kind, value.is_network)
        made.items = [copied(machine, item) for item in value.items]
        made.attributes = {key: copied(machine, item) for key, item in value.attributes.items()}
        return made
    return [copied(machine, item) for item in value] if isinstance(value, list) else value


def call_plain_method(
    machine: Machine, owner: list[Value] | dict[Any, Value] | str, name: str, places: Sequence[Value]
) -> Value:
    """Return what a method of a list, dictionary or text gives; it changes the list or dictionary as Python would, within bounds."""
    machine.step()
    if isinstance(owner, list):
        return _list_method(owner, name, places)
    if isinstance(owner, dict):
        if name in {"get", "pop", "setdefault"} and places and isinstance(places[0], (str, int)):
            return owner.get(places[0], places[1] if len(places) > 1 else None)
        if name == "items":
            return [[key, value] for key, value in owner.items()]
        if name in {"values", "keys"}:
            return list(owner.values() if name == "values" else owner)
        if name == "update" and places and isinstance(places[0], dict):
            owner.update(places[0])
        return dict(owner) if name == "copy" else UNKNOWN
    return _text_method(owner, name, places)


def _list_method(owner: list[Value], name: str, places: Sequence[Value]) -> Value:
    if name == "append" and places and len(owner) < MAX_LIST:
        owner.append(places[0])
    elif name == "extend" and places:
        owner.extend(items(places[0])[: MAX_LIST - len(owner)])
    elif name == "insert" and len(places) > 1 and isinstance(places[0], int) and len(owner) < MAX_LIST:
        owner.insert(places[0], places[1])
    elif name == "pop" and owner:
        place = places[0] if places and isinstance(places[0], int) else -1
        return owner.pop(place) if -len(owner) <= place < len(owner) else UNKNOWN
    elif name == "reverse":
        owner.reverse()
    elif name == "index" and places and isinstance(places[0], (str, int)):
        return owner.index(places[0]) if places[0] in owner else UNKNOWN
    elif name in _OF_ARRAYS and owner and all(isinstance(item, (int, float)) for item in owner):
        return _OF_ARRAYS[name](owner)
    return list(owner) if name == "copy" else None


def formatted(text: str, mark: str, values: Sequence[Value]) -> Value:
    """Return a text with its places (``%d``, ``{}``) filled in turn; widths and precisions are left out."""
    pattern = r"%[-+0-9.]{0,6}[a-z]" if mark == "%" else r"\{[^{}]{0,20}\}"
    for value in values[:20]:
        if not isinstance(value, (str, int, float)):
            return UNKNOWN
        shown = str(value)[:200]
        text = re.sub(pattern, shown.replace("\\", "\\\\"), text, count=1)
    return text[:400]


def _cut(owner: str, name: str, mark: str, places: Sequence[Value]) -> Sequence[str]:
    """Return a text cut at a mark, from its end or at one place."""
    if name == "rsplit":
        most = places[1] if len(places) > 1 and isinstance(places[1], int) else -1
        return owner.rsplit(mark, most)[:MAX_LIST]
    return owner.rpartition(mark) if name == "rpartition" else owner.partition(mark)


def _text_method(owner: str, name: str, places: Sequence[Value]) -> Value:
    texts = [place for place in places if isinstance(place, str)]
    if name in {"lower", "upper", "strip", "title"}:
        return {"lower": owner.lower, "upper": owner.upper, "strip": owner.strip, "title": owner.title}[name]()
    if name in {"startswith", "endswith"} and texts:
        return owner.startswith(texts[0]) if name == "startswith" else owner.endswith(texts[0])
    if name in {"rsplit", "rpartition", "partition"} and texts and texts[0]:
        return list(_cut(owner, name, texts[0], places))
    if name == "split":
        return owner.split(texts[0])[:MAX_LIST] if texts and texts[0] else owner.split()[:MAX_LIST]
    if name == "join" and places and isinstance(places[0], list) and all(isinstance(part, str) for part in places[0]):
        return owner.join(places[0])[:400]
    if name == "format":
        return formatted(owner, "{", places)
    if name == "replace" and len(texts) == 2 and texts[0]:
        return owner.replace(texts[0], texts[1])[:400]
    return UNKNOWN
