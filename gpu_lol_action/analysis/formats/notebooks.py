"""A notebook to one program: its code cells in order, with the line of the file for each line, and its prose on hardware as remarks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from gpu_lol_action.domain.patterns import regex

MAX_CONTAINERS = 500_000
"""Objects and lists in the file. Pictures are one string each; a file of nothing but ``{}`` would fill the memory."""
MAX_MISSES = 20
REACH = 2000
PROSE = "#> "
"""Begins a line of the author's prose. Only lines that may state hardware are kept: the rest says nothing of what runs."""
_ON_HARDWARE = regex(r"\d\s?Gi?B?\b|\bGPUs?\b|VRAM", re.IGNORECASE)
ON_COLAB = "#@runtime "
"""Begins the last line of a notebook that was set to a GPU on Colab; the card's name follows where it is said."""
_CARD = regex(r"[A-Z]{1,2}\d{1,4}")
CELL = "#%%"
"""Begins a code cell, as in programs that editors show as notebooks: one that is broken leaves the others as they are."""
# `!pip install x`, `%cd x`, `?name`, `name?`, and what needs no mark at a line's beginning; `%(a, b)` goes on with a text's format.
_MAGIC = regex(
    r"([ \t]*)((?:!|%{1,2}[A-Za-z]|\?{1,2}[A-Za-z]).*|[A-Za-z_][\w.]*\?{1,2}[ \t]*"
    r"|(?:pip3?|conda|cd|ls|git|wget|mkdir|apt|apt-get|curl|rm|cp|mv)[ \t]+(?![=+*/%&|^<>-]*=|(?:in|is|and|or|if|else|not|for)\b)[\w./~$-].*)$"
)
_ASSIGNED = regex(r"([ \t]*)([A-Za-z_][\w, ]{0,80}?)[ \t]{0,8}=[ \t]{0,8}((?:!|%[A-Za-z]).*)$")
# Cells in another language; `%%time`, `%%capture` and `%%writefile x.py` hold Python.
_OTHER_LANGUAGE = regex(
    r"%%(bash|sh|script|shell|html|HTML|js|javascript|latex|markdown|svg|SVG|sql|cython|perl|ruby|R|cpp|cu|writefile(?=\s+(?!\S*\.py\b)))\b"
)
_SHELLS = frozenset({"bash", "sh", "script", "shell"})
MAX_PROSE_LINES = 200
MAX_PROSE_CHARACTERS = 1000

BROKEN = "not a notebook in valid JSON, so not understood"
TOO_COSTLY = "a notebook with too many values, so not understood"


def read_notebook(text: str) -> tuple[str, tuple[int, ...]] | str:
    """Return the code and the file's line of each of its lines, or why there is none. Magics become comments."""
    if text.count("{") + text.count("[") > MAX_CONTAINERS:
        return TOO_COSTLY
    try:
        document = json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError):
        return BROKEN
    cells = document.get("cells", []) if isinstance(document, dict) else []
    code: list[str] = []
    lines: list[int] = []
    position = misses = counted = 0
    number = 1
    for line, written in _lines(cells):
        needle = json.dumps(written, ensure_ascii=False)[1:-1]
        # Cells follow each other in the file. Those that are written otherwise (`\\u005a`) are looked for in vain, each of
        # them through the rest of the file: after a few of these only nearby.
        end = len(text) if misses < MAX_MISSES else position + REACH
        found = text.find(needle, position, end) if needle else position
        misses += found < 0
        place = found if found >= 0 else position
        position = position if found < 0 else found + len(needle)
        number += text.count("\n", counted, place)
        counted = place
        code.append(line)
        lines.append(number)
    asked = _asked_of_colab(document)
    if asked is not None:
        code.append(f"{ON_COLAB}{asked}")
        lines.append(text.count("\n", 0, max(text.rfind('"accelerator"'), 0)) + 1)
    return "\n".join(code), tuple(lines)


def _asked_of_colab(document: object) -> str | None:
    """Return the card that Colab is asked for, "" where only a GPU is; None without one."""
    told = document.get("metadata") if isinstance(document, dict) else None
    if not isinstance(told, dict) or told.get("accelerator") != "GPU":
        return None
    colab = told.get("colab")
    card = colab.get("gpuType") if isinstance(colab, dict) else None
    return card if isinstance(card, str) and _CARD.fullmatch(card) else ""


def _whole(digits: str) -> int:
    """Return an integer; one that nothing here could mean is none (Python refuses, or takes long over, thousands of digits)."""
    return int(digits) if len(digits) <= 30 else 0


def _lines(cells: object) -> Iterator[tuple[str, str]]:
    """Yield the program's lines, each with what stands in the file for it."""
    left = MAX_PROSE_LINES
    for cell in cells if isinstance(cells, list) else []:
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if not isinstance(cell, dict) or kind not in {"code", "markdown"}:
            continue
        source = cell.get("source", "")
        whole = "".join(part for part in source if isinstance(part, str)) if isinstance(source, list) else source
        if not isinstance(whole, str):
            continue
        if kind == "code":
            yield CELL, ""
            yield from _as_python(whole.split("\n"))
            continue
        said = [line for line in whole.split("\n") if len(line) <= MAX_PROSE_CHARACTERS and _ON_HARDWARE.search(line)]
        yield from ((PROSE + line, line) for line in said[:left])
        left -= len(said[:left])


def _as_python(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield a cell's lines with magics and shell commands as remarks, which leave a block that holds nothing else its body."""
    first = next((line.strip() for line in lines if line.strip()), "")
    foreign = _OTHER_LANGUAGE.match(first)
    shell = foreign is not None and foreign[1] in _SHELLS
    goes_on = False
    for line in lines:
        found = _MAGIC.match(line)
        assigned = _ASSIGNED.match(line) if found is None else None
        if goes_on or (shell and not line.lstrip().startswith("%%")):
            yield f"#!{line}", line
        elif foreign is not None:
            yield f"#{line}", line
        elif found is not None:
            yield f"{found[1]}pass  #{found[2]}" if found[1] else f"#{line}", line
        elif assigned is not None:
            yield f"{assigned[1]}{assigned[2]} = None  #{assigned[3]}", line
        else:
            yield line, line
        is_command = found is not None or goes_on
        goes_on = is_command and line.rstrip().endswith("\\")
