"""Options that a script takes itself: ``while [ $# -gt 0 ]; do case $1 in --lr) LR="$2"; shift 2;;``, and what it is started with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.option_words import split_options
from gpu_lol_action.analysis.shell_defaults import is_left_open
from gpu_lol_action.domain.patterns import regex

TOLD = "#told"
"""The name, among the variables that a script is given, of those that its options set: what it starts with them counts no more."""
MOST_OPTIONS = 120
_MARK = "\x1f"
_LOOP = regex(
    r"\b(?:while|until)\b[^\n]{0,120}(?:\$#|\$\{?#|\$\{?1|:\s*;|true)|\bfor\s+\w+\s+in\s+\"?\$@|\bfor\s+\w+\s*(?:;|\n)\s*do\b"
)
_NAME = r"-{1,2}[A-Za-z][\w-]{0,60}"
_TAKES = regex(
    rf"(?:^|[\s;(])({_NAME}(?:\s?\|\s?{_NAME}){{0,3}})(?:=\*)?\)\s{{0,80}}(?:export\s+|local\s+)?([A-Za-z_]\w{{0,60}})="
    r"(?:[\"']?\$(?:\{?2\b|\{(?:1|\w{1,20})#)|[\"']?(true|True|1|yes|--?[\w-]{1,60})[\"']?\s{0,40}(?:;|\n))"
)


def set_by_options(script: str, words: Sequence[str]) -> Mapping[str, str] | None:
    """Return the variables that a script's options set as it is started with these words; None of a script that takes none by name.

    What its reader has to fill in leaves the script's own value.
    """
    if "case" not in script or not _LOOP.search(script):
        return None
    takes = [found for found, _ in zip(_TAKES.finditer(script), range(MOST_OPTIONS), strict=False)]
    if not takes:
        return None
    options, _ = split_options(words)
    found: dict[str, str] = {}
    for take in takes:
        names = (name.strip().lstrip("-").replace("-", "_") for name in take[1].split("|"))
        said = next((options[name] for name in names if name in options), None)
        if said is not None and not is_left_open(said[:200]):
            found.setdefault(take[2], take[3] or said)
    return {**found, TOLD: _MARK.join(found)} if found else {}


def told_variables(given: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the variables that a script's options have set."""
    return frozenset(given.get(TOLD, "").split(_MARK)) - {""}
