"""Texts over several lines: those that a script reads into a variable and starts, and objects that a command is handed in quotes.

``read -r -d '' command <<EOF`` keeps a command; ``ray job submit --runtime-env-json='{`` goes on until its quote is closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpu_lol_action.domain.patterns import regex

MAX_KEPT = 80  # lines of a text that a script keeps in a variable
_READS = regex(r"\s*(?:IFS=\S*\s+)?read\b[^<#]{0,80}?\b([A-Za-z_]\w*)\s*<<-?\s*[\"']?(\w+)[\"']?\s*$")

_QUOTE = regex(r"(?<!\\)[\"']")


def has_open_object(text: str) -> bool:
    """Whether a line ends within an object or a list in quotes, which the next lines go on with (``--env-json='{``)."""
    if not any(opening in text for opening in ("'{", '"{', "'[", '"[')):
        return False
    quote, place = "", -1
    for found in _QUOTE.finditer(text):
        if not quote:
            quote, place = found[0], found.end()
        elif found[0] == quote:
            quote = ""
    return bool(quote) and text[place : place + 1] in {"{", "["}


def with_kept_texts(raw: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    """Yield a script's lines, a text that it reads into a variable (``read -r -d '' command <<EOF``) as one that sets it."""
    name = end = ""
    kept: list[str] = []
    start = 0
    for number, line in raw:
        if end:
            if line.strip() != end and len(kept) < MAX_KEPT:
                kept.append(line.strip().rstrip("\\").strip())
                continue
            text = " ".join(part for part in kept if not part.startswith("#"))
            quote = "'" if '"' in text else '"'
            yield start, f"{name}={quote}{text.replace(quote, '')}{quote}", ""
            name, end, kept = "", "", []
        elif (found := _READS.match(line)) is not None:
            name, end, start = found[1], found[2], number
        else:
            yield number, line, ""
