"""Texts that scripts read into a variable and start as a command (``read -r -d '' command <<EOF``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpu_lol_action.domain.patterns import regex

MAX_KEPT = 80  # lines of a text that a script keeps in a variable
_READS = regex(r"\s*(?:IFS=\S*\s+)?read\b[^<#]{0,80}?\b([A-Za-z_]\w*)\s*<<-?\s*[\"']?(\w+)[\"']?\s*$")


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
