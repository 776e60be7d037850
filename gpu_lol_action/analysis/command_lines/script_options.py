"""Options that a script takes itself: ``while [ $# -gt 0 ]; do case $1 in --lr) LR="$2"; shift 2;;``, and what it is started with."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.command_lines.option_words import split_options
from gpu_lol_action.analysis.command_lines.shell_defaults import is_left_open
from gpu_lol_action.domain.patterns import regex

TOLD = "#told"
"""The name, among the variables that a script is given, of those that its options set: what it starts with them counts no more."""
MOST_OPTIONS = 120
_MARK = "\x1f"
_LOOP = regex(
    r"\b(?:while|until)\b[^\n]{0,120}(?:\$#|\$\{?#|\$\{?1|:\s{0,8};|true|getopts)"
    r"|\bfor\s{1,8}\w{1,40}(?:\s{1,8}in\s{1,8}\"?\$@|\s{0,8}(?:;|\n)\s{0,8}do\b)"
)
_NAME = r"-{1,2}[A-Za-z][\w-]{0,60}"
_TAKES = regex(
    rf"(?:^|[\s;(])({_NAME}(?:\s?\|\s?{_NAME}){{0,3}})(?:=\*)?\)\s{{0,80}}(?:export\s{{1,8}}|local\s{{1,8}})?([A-Za-z_]\w{{0,60}})="
    r"(?:[\"']?\$(?:\{?2\b|\{(?:1|\w{1,20})#|\(\s?echo\s{1,4}[\"']?\$\w{1,20}[\"']?\s{0,4}\|)|[\"']?(true|True|1|yes|--?[\w-]{1,60})[\"']?\s{0,40}(?:;|\n))"
)
# `while getopts "g:c:" opt; do case $opt in g) GPUS=$OPTARG ;;`
_TAKES_LETTER = regex(
    r"(?:^|[\s;(])([A-Za-z])\)\s{0,80}(?:export\s{1,8}|local\s{1,8})?([A-Za-z_]\w{0,60})=[\"']?\$\{?OPTARG\b"
)


def set_by_options(script: str, words: Sequence[str]) -> Mapping[str, str] | None:
    """Return the variables that a script's options set as it is started with these words; None of a script that takes none by name.

    What its reader has to fill in leaves the script's own value.
    """
    if "case" not in script or not _LOOP.search(script):
        return None
    takes = [(take[1], take[2], take[3]) for take in itertools.islice(_TAKES.finditer(script), MOST_OPTIONS)]
    if "getopts" in script:
        letters = itertools.islice(_TAKES_LETTER.finditer(script), MOST_OPTIONS)
        takes += [(take[1], take[2], "") for take in letters]
    if not takes:
        return None
    options, _ = split_options(words)
    found: dict[str, str] = {}
    for names, variable, value in takes:
        each = (name.strip().lstrip("-").replace("-", "_") for name in names.split("|"))
        said = next((options[name] for name in each if name in options), None)
        if said is not None and not is_left_open(said[:200]):
            found.setdefault(variable, value or said)
    return {**found, TOLD: _MARK.join(found)} if found else {}


def told_variables(given: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the variables that a script's options have set."""
    return frozenset(given.get(TOLD, "").split(_MARK)) - {""}
