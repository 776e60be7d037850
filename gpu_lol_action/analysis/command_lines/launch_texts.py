"""Texts over several lines: those that a script keeps in a variable and starts, and objects that a command is handed in quotes.

``read -r -d '' command <<EOF`` keeps a command; ``ray job submit --runtime-env-json='{`` goes on until its quote is closed; so does
``CMD="train.py --config "a.yaml"`` with more lines to come, whose inner quotes close and open it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpu_lol_action.analysis.command_lines.shell_defaults import first_turn
from gpu_lol_action.domain.patterns import regex

MAX_KEPT = 80  # lines of a text that a script keeps in a variable
_READS = regex(r"\s*(?:IFS=\S*\s+)?read\b[^<#]{0,80}?\b([A-Za-z_]\w*)\s*<<-?\s*[\"']?(\w+)[\"']?\s*$")

_QUOTE = regex(r"(?<!\\)[\"']")
_KEEPS = regex(r"\s*(?:export\s+|local\s+)?[A-Za-z_]\w{0,60}=\"")
_MARK = regex(r"(?<!\\)\"")
MOST_MARKS = 40


def one_value(text: str) -> str:
    """Return a line that sets a variable to words of which some are in quotes of their own with the outer quotes alone, as a shell joins them."""
    start = _KEEPS.match(text)
    if (
        start is None
        or not 4 <= len(marks := list(_MARK.finditer(text, start.end() - 1))) <= MOST_MARKS
        or len(marks) % 2
    ):
        return text
    last = marks[-1].start()
    between = [text[one.end() : two.start()] for one, two in zip(marks[1:-1:2], marks[2:-1:2], strict=True)]
    # A blank outside of the quotes ends the value: what follows is a command (`A="1" B="2" python train.py`).
    if any(" " in outside for outside in between):
        return text
    return text[: start.end()] + _MARK.sub("", text[start.end() : last]) + text[last:]


def is_open_text(text: str) -> bool:
    """Whether a line ends within a value or an object in quotes, which the next lines go on with (``--env-json='{``)."""
    if text.count('"') > 2 and _KEEPS.match(text) and len(_MARK.findall(text)) % 2 and "'" not in text:
        return True
    return _has_open_object(text)


def _has_open_object(text: str) -> bool:
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
            yield number, first_turn(line), ""
