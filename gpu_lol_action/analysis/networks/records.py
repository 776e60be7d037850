"""Named tuples of other people's programs, in which tables of blocks are often written down, and copies with other fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.networks.values import UNKNOWN, Instance, Value
from gpu_lol_action.domain.patterns import regex

KIND = "namedtuple"
MAX_FIELDS = 64


def record_kind(places: Sequence[Value]) -> Value:
    """Return what ``namedtuple(name, fields)`` makes: a kind whose calls are records."""
    fields = places[1] if len(places) > 1 else UNKNOWN
    names = regex(r"[,\s]+").split(fields.strip()) if isinstance(fields, str) else fields
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return UNKNOWN
    return Instance(None, KIND, attributes={"_fields": names[:MAX_FIELDS]})


def record_of(kind: Instance, places: Sequence[Value], named: Mapping[str, Value]) -> Instance:
    """Return a record of that kind; fields that nobody gives are none."""
    fields = kind.attributes["_fields"]
    given = dict(zip(fields, places, strict=False)) | {key: named[key] for key in named if key in fields}
    return Instance(None, "record", attributes={field: given.get(field) for field in fields})


def replaced(owner: Instance, named: Mapping[str, Value]) -> Instance:
    """Return an object again with other values of some attributes."""
    return Instance(owner.home, owner.kind, owner.is_network, {**owner.attributes, **named}, list(owner.items))


def split_number(pattern: Value, text: Value) -> Value:
    """Return ``re.split`` of a letter and its number (``k3``, ``se0.25``): of all patterns the one that tables of blocks take apart with.

    A repository's own patterns are never run: one may be made to take forever.
    """
    if pattern != r"(\d.*)" or not isinstance(text, str):
        return UNKNOWN
    place = next((index for index, letter in enumerate(text) if letter.isdigit()), None)
    return [text] if place is None else [text[:place], text[place:], ""]
