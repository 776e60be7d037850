"""Switches that a program looks up in its configuration, off where that says nothing: ``lora = cfg["model"].get("lora", False)``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.domain.patterns import regex

MAX_SWITCHES = 60
# Of a configuration: what a function is handed (``kwargs``) is its caller's to say.
_LOOKED_UP = regex(
    r"^[ \t]*([A-Za-z_]\w{0,60})[ \t]?=[ \t]?(?=[\w.]{0,60}(?:cfg|conf|opt|param|setting)s?)[\w.\[\]'\"]{1,120}\.get\(['\"](\w{1,60})['\"],[ \t]?False\)",
    re.MULTILINE,
)
_GIVEN = regex(r"^[ \t]*(?:for[ \t]+)?([A-Za-z_]\w{0,60})[ \t]?(?:=[^=]|in\b|:[ \t]?bool)", re.MULTILINE)


def with_looked_up(source: Source, values: Mapping[str, str]) -> Mapping[str, str]:
    """Return what options are, also under the names that a program has for what it looks up; of one that nothing says, that it is off."""
    switches = _switches(source)
    if not switches:
        return values
    return {**{name: values.get(key, "False") for name, key in switches}, **values}


@remembered
def _switches(source: Source) -> tuple[tuple[str, str], ...]:
    """Return name and key of each, where the name is given nothing else."""
    if not (source.mentions(".get(") and source.mentions("False)")):
        return ()
    found: dict[str, set[str]] = {}
    for match in itertools.islice(_LOOKED_UP.finditer(source.text), MAX_SWITCHES):
        found.setdefault(match[1], set()).add(match[2])
    if not found:
        return ()
    times: dict[str, int] = {}
    for match in _GIVEN.finditer(source.text):
        times[match[1]] = times.get(match[1], 0) + 1
    return tuple(
        (fold_key(name), fold_key(next(iter(keys))))
        for name, keys in found.items()
        if len(keys) == 1 and times.get(name) == 1
    )
