"""Numbers that layers are given as arguments: by name, by place, or as one of several."""

from __future__ import annotations

from gpu_lol_action.analysis.networks.values import UNKNOWN, Layer, Value


def number(layer: Layer, place: int, *names: str, default: float | None = None) -> float | None:
    """Return an argument as a number, by one of its names or its place."""
    value = next((layer.named[name] for name in names if name in layer.named), UNKNOWN)
    if value is UNKNOWN and 0 <= place < len(layer.places):
        value = layer.places[place]
    value = value[0] if isinstance(value, list) and value else value
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default


def number_at(value: Value, place: int) -> float | None:
    """Return a number, of several the one at that place."""
    if isinstance(value, list) and place < len(value):
        value = value[place]
    return first_number(value)


def first_number(value: Value) -> float | None:
    """Return a number, or the first of several."""
    value = value[0] if isinstance(value, list) and value else value
    return float(value) if isinstance(value, (int, float)) else None
