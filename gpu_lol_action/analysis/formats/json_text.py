"""JSON as people write it: with remarks (``// batch size``), and a comma behind the last item.

Trainers of super-resolution, editors and compilers read such files by leaving the remarks out; so does this. What is valid is
read as it stands.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from gpu_lol_action.domain.patterns import regex

_STRING = r'"(?:[^"\\\n]|\\.){0,4000}"'
_REMARK = regex(rf"({_STRING})|//[^\n]{{0,4000}}|/\*[^*]{{0,4000}}(?:\*(?!/)[^*]{{0,4000}}){{0,200}}\*/")
_LAST_COMMA = regex(rf"({_STRING})|,(?=\s{{0,400}}[}}\]])")


def parse_json(text: str, parse_int: Callable[[str], int | str] = int) -> Any:
    """Return what a JSON text holds, remarks and last commas left out where it is not valid with them; ValueError where it is broken."""
    try:
        return json.loads(text, parse_int=parse_int)
    except ValueError:
        plain = _without(_LAST_COMMA, _without(_REMARK, text))
        if plain == text:
            raise
        return json.loads(plain, parse_int=parse_int)


def _without(pattern: Any, text: str) -> str:
    """Return a text without what a pattern finds outside of strings, which its first group holds."""
    return str(pattern.sub(lambda found: found[1] or "", text))
