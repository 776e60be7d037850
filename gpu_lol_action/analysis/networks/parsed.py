"""A setting's text as the value that Python would have."""

from __future__ import annotations

from gpu_lol_action.analysis.networks.values import Value
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.domain.patterns import regex


def parse_value(text: str) -> Value:
    """Return a setting's text as Python would have it: a number, a switch, a list of numbers, else the text."""
    bare = text.strip().strip("\"'")
    if bare.lower() in {"true", "false"}:
        return bare.lower() == "true"
    if bare.lower() in {"none", "null"}:
        return None
    if regex(r"\[\[[\d\s.,\[\]-]{1,300}\]\]").fullmatch(bare):
        rows = [parse_value(f"{row},") for row in regex(r"\[([^\[\]]+)\]").findall(bare)]
        return [row if isinstance(row, list) else [row] for row in rows]
    if "," in bare:
        parts = [_number(part) for part in bare.strip("[]() ").split(",") if part.strip()]
        return parts if all(part is not None for part in parts) else bare
    number = _number(bare)
    return number if number is not None else bare


def _number(text: str) -> float | int | None:
    whole = as_number(text)
    if whole is not None:
        return whole
    try:
        return float(text) if len(text) < 24 else None
    except ValueError:
        return None
