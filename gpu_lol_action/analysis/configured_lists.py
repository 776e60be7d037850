"""Lists of numbers in configuration files (``upsample_rates: [8, 8, 2, 2]``): networks are built from them, level by level.

Settings are flat texts, of which a list of numbers has none; here it is kept as one text, as JSON writes it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.configuration import MAX_CONFIG_BYTES, MAX_DEPTH, fold_key
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.paths import Form

MAX_LISTS, MAX_ITEMS, MAX_TEXT = 200, 64, 600
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def listed_numbers(sources: Sequence[Source]) -> Mapping[str, str]:
    """Return lists of numbers, and lists of such lists, by their key; of files and places in a file the first counts."""
    found: dict[str, str] = {}
    for source in sources:
        for key, text in _lists_of(source).items():
            found.setdefault(key, text)
    return found


def document_of(source: Source) -> Any:
    """Return what a JSON or YAML file holds; None where it is too large, broken, or of another form."""
    if source.form not in {Form.JSON, Form.YAML} or len(source.text) > MAX_CONFIG_BYTES:
        return None
    try:
        return json.loads(source.text) if source.form is Form.JSON else read_nested(source.text)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return None


@remembered
def _lists_of(source: Source) -> dict[str, str]:
    document = document_of(source)
    found: dict[str, str] = {}
    pending: deque[Any] = deque([document])
    while pending and len(found) < MAX_LISTS:
        node = pending.popleft()
        for key, value in node.items() if isinstance(node, dict) else ():
            if isinstance(value, dict):
                pending.append(value)
            elif isinstance(value, list) and _is_numeric(value):
                text = json.dumps(value)
                if len(text) <= MAX_TEXT:
                    found.setdefault(fold_key(str(key)), text)
    return found


def _is_numeric(value: list[Any], depth: int = 0) -> bool:
    if not 0 < len(value) <= MAX_ITEMS or depth > 2:
        return False
    if all(isinstance(item, (int, float)) and not isinstance(item, bool) and abs(item) < 1e12 for item in value):
        return True
    return all(isinstance(item, list) and _is_numeric(item, depth + 1) for item in value)


def read_nested(text: str) -> Any:
    """Return mappings and lists of a YAML file, numbers as such; from its events, so that no alias is expanded."""
    stack: list[tuple[Any, list[str]]] = []
    for event in yaml.parse(text, Loader=_LOADER):
        if len(stack) > MAX_DEPTH:
            return None
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            made: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            _put(stack, made)
            stack.append((made, []))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            whole, _ = stack.pop()
            if not stack:
                return whole
        elif isinstance(event, yaml.ScalarEvent):
            is_key = bool(stack) and isinstance(stack[-1][0], dict) and not stack[-1][1]
            _put(stack, str(event.value)[:100] if is_key else _plain(event))
        elif isinstance(event, yaml.AliasEvent):
            _put(stack, None)
    return None


def _put(stack: list[tuple[Any, list[str]]], value: Any) -> None:
    if not stack:
        return
    owner, key = stack[-1]
    if isinstance(owner, list):
        owner.append(value)
    elif key:
        owner[key.pop()] = value
    else:
        key.append(str(value))


def _plain(event: yaml.ScalarEvent) -> float | int | str:
    text = str(event.value)[:100]
    if event.style in {"'", '"'}:
        return text
    try:
        return int(text) if text.lstrip("+-").isdigit() and len(text) < 16 else float(text)
    except ValueError:
        return text
