"""Lists of numbers in configuration files (``upsample_rates: [8, 8, 2, 2]``): networks are built from them, level by level.

Settings are flat texts, of which a list of numbers has none; here it is kept as one text, as JSON writes it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import MAX_CONFIG_BYTES
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.formats.json_text import parse_json
from gpu_lol_action.analysis.formats.paths import Form

MAX_LISTS, MAX_ITEMS, MAX_TEXT = 200, 64, 600


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
    if source.form is Form.YAML:
        # Late, as in the reader of settings.
        from gpu_lol_action.analysis.files.yaml_reading import read_nested

        return read_nested(source.text)
    try:
        return parse_json(source.text)
    except (ValueError, RecursionError):
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
