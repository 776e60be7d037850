"""What a script falls back to: ``[ -z "$BATCH" ] && BATCH=8`` says what ``BATCH=${BATCH:-8}`` does, what it is handed without blanks, and a loop's first turn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model

_OF = r"[\"']?\$\{?(?P<name>[A-Za-z_]\w{0,60})(?::?[-+]x?)?\}?[\"']?"
_OPENS, _CLOSES = r"(?:\[{1,2}|test)\s+", r"(?:\s+\]{1,2})?\s*"
_SETS = r"(?:export\s+)?(?P=name)=(?P<value>\"[^\"$`]{0,200}\"|'[^']{0,200}'|[\w./:,@+-]{1,200})"
_BLANK = regex(r"\$\{?[\w/-]{1,90}\}?|<[^<>]{1,90}>|\{[^{}]{1,90}\}")
# "model directory", `path/to/model`: told to be filled in, as a blank is.
_TOLD = regex(
    r"[A-Za-z_ -]{2,40} (?:director(?:y|ies)|folder|dir|path|file|name|here)|(?:[\w./-]{0,40}/)?path[/_]to[/_].{0,120}",
    re.IGNORECASE,
)
_LOOP = regex(
    r"\s*for\s+([A-Za-z_]\w{0,60})\s+in\s+[\"']?([\w./:@+-]{1,120})[\"']?(?:\s[^;$`(){}*]{0,400})?\s*(?:;\s*(?:do)?\s*)?(?:#.*)?$"
)
_LOOP_OVER_LIST = regex(
    r"\s*for\s+([A-Za-z_]\w{0,60})\s+in\s+\"?\$\{([A-Za-z_]\w{0,60})\[[@*]\]\}\"?\s*(?:;\s*(?:do)?\s*)?(?:#.*)?$"
)
_DEFAULT = (
    regex(rf"\s*{_OPENS}-z\s+{_OF}{_CLOSES}&&\s*{_SETS}\s*(?:;?\s*#.*)?$"),
    regex(rf"\s*{_OPENS}-n\s+{_OF}{_CLOSES}\|\|\s*{_SETS}\s*(?:;?\s*#.*)?$"),
    regex(rf"\s*if\s+{_OPENS}-z\s+{_OF}{_CLOSES};\s*then\s+{_SETS}\s*;\s*fi\s*(?:#.*)?$"),
)


def as_default(line: str) -> str:
    """Return a line that sets a variable where nobody has as ``NAME="${NAME:-value}"``; any other as it is."""
    if "-z " not in line and "-n " not in line:
        return line
    for form in _DEFAULT:
        if (found := form.match(line)) is not None:
            value = found["value"].strip("\"'")
            return f'{found["name"]}="${{{found["name"]}:-{value}}}"' if "}" not in value else line
    return line


def first_turn(line: str) -> str:
    """Return a line that begins a loop over plain words as the one that sets its variable to the first; any other as it is."""
    if "for" not in line[:40]:
        return line
    if (listed := _LOOP_OVER_LIST.match(line)) is not None:
        return f'{listed[1]}="${{{listed[2]}[0]}}"'
    found = _LOOP.match(line)
    return f'{found[1]}="{found[2]}"' if found is not None else line


def exported(names: frozenset[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return those of the variables that have one of these names, and are no blanks."""
    return {name: value for name, value in variables.items() if name in names and not _BLANK.fullmatch(value[:100])}


def handed_places(words: Sequence[str]) -> dict[str, str]:
    """Return what a script is handed by its places, without what the reader has to fill in (``bash train.sh ${GPU_NUM}``, ``<port>``)."""
    return {str(place): word for place, word in enumerate(words, 1) if not is_left_open(word[:200])}


def is_left_open(word: str) -> bool:
    """Whether a word stands for what the reader has to fill in: a blank, or what tells what belongs there.

    Where the reader's copy lies is left open, and not which model it is (``/path/to/Llama-2-7b-hf``).
    """
    if _BLANK.fullmatch(word[:100]):
        return True
    return _TOLD.fullmatch(word) is not None and not _names_a_model(word)


def _names_a_model(word: str) -> bool:
    name = word.rstrip("/").rpartition("/")[2]
    return "-" in name and any(sign.isdigit() for sign in name) and find_model(name) is not None
