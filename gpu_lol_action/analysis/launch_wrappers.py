"""Programs that only hand a command on behind `--`, to a cluster or another machine, and texts that scripts keep a command in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gpu_lol_action.analysis.launch_tools import COUNT_FLAGS, is_program, without_runners

MAX_KEPT = 80  # lines of a text that a script keeps in a variable
_READS = re.compile(r"\s*(?:IFS=\S*\s+)?read\b[^<#]{0,80}?\b([A-Za-z_]\w*)\s*<<-?\s*[\"']?(\w+)[\"']?\s*$")


def past_wrapper(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of a program that hands on what stands behind its `--`, and that command; none of the first without one.

    Of several steps behind it (``-- source setup.sh && python train.py``) the last is the work.
    """
    if "--" not in words[1:] or words[0].rsplit("/", 1)[-1] in COUNT_FLAGS:
        return [], list(words)
    place = list(words).index("--", 1)
    handed = list(words[place + 1 :])
    while "&&" in handed:
        handed = handed[handed.index("&&") + 1 :]
    _, _, inner = without_runners(handed)
    if not inner or not is_program(inner[0].rsplit("/", 1)[-1]):
        return [], list(words)
    return list(words[:place]), inner


def with_kept_texts(raw: Iterable[tuple[int, str, str]]) -> Iterator[tuple[int, str, str]]:
    """Yield a script's lines, a text that it reads into a variable (``read -r -d '' command <<EOF``) as one that sets it."""
    name = end = ""
    kept: list[str] = []
    start = 0
    for number, line, section in raw:
        if end:
            if line.strip() != end and len(kept) < MAX_KEPT:
                kept.append(line.strip().rstrip("\\").strip())
                continue
            text = " ".join(part for part in kept if not part.startswith("#"))
            quote = "'" if '"' in text else '"'
            yield start, f"{name}={quote}{text.replace(quote, '')}{quote}", section
            name, end, kept = "", "", []
        elif (found := _READS.match(line)) is not None:
            name, end, start = found[1], found[2], number
        else:
            yield number, line, section
