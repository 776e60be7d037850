"""Parts of what a program names: what a dictionary has under a name, and one place of a row."""

from __future__ import annotations

from gpu_lol_action.analysis.python.values import NOTHING, Value, entry_of


def named_in(table: Value, name: str, otherwise: Value | None = None) -> Value | None:
    """Return what a dictionary that a program names has under a name (``params["batch"]``); None where it has no name itself."""
    if table.path is None or not name.isidentifier():
        return None
    return Value(None, name, f"{table.path}.{name}", table=table.reference, key=Value(name), otherwise=otherwise)


def part_of(whole: Value, place: int) -> Value:
    """Return one part, by its place from 0, of what is a row or a pair: an entry of a table, or a name."""
    key = Value(str(place))
    if whole.table is not None:
        return entry_of(whole, key)
    return Value(None, table=whole.reference, key=key) if whole.path == whole.reference is not None else NOTHING
