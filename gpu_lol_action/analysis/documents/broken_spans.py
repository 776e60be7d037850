"""Code between backticks that a document breaks over several lines: a long command in a sentence, filled to a width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpu_lol_action.domain.patterns import regex

MAX_LINES = 8
MAX_SPAN = 600  # characters
# What is still open at the end of a line; marks of a fence, and code in code, are none.
_OPEN = regex(r"(?:[^`]|`[^`]{1,300}`){0,400}`([^`]{6,300})")


def broken_spans(lines: Sequence[tuple[int, str]], place: int) -> Iterator[str]:
    """Yield the code that the numbered line at a place begins and a later one ends."""
    begun = open_span(lines[place][1][:2000])
    whole = whole_span(begun, (text for _, text in lines[place + 1 : place + 1 + MAX_LINES])) if begun else None
    if whole is not None:
        yield whole


def open_span(line: str) -> str | None:
    """Return the code that a line of prose opens with a backtick and does not end; None where it ends all."""
    if line.count("`") % 2 == 0 or "``" in line:
        return None
    found = _OPEN.fullmatch(line)
    return found[1] if found is not None else None


def whole_span(begun: str, behind: Iterator[str]) -> str | None:
    """Return code that was begun, with what the next lines add until they end it; None where a paragraph, or what is given, ends before it does."""
    said = [begun.strip()]
    for line in behind:
        head, mark, _ = line.partition("`")
        if not head.strip():
            return None
        said.append(head.strip())
        if mark or sum(map(len, said)) > MAX_SPAN:
            return " ".join(said) if mark else None
    return None
