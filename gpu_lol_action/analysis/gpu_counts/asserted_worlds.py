"""The number of processes that a program insists on: ``assert world_size == 4``."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.domain.patterns import regex

# The world of a part (`tp_world_size`, `dcp_world_size`) is not the whole. The leading line feed lets the expression engine leap from line to line.
_ASSERTED = regex(
    r"\n[ \t]*assert[ \t]+[^#\n]{0,80}(?<![a-z0-9_])_{0,2}(?:get_)?(?:local_|global_|distributed_|dist_|ddp_|fsdp_|torch_|expected_)?world_size[^#\n]{0,20}==\s*(\d{1,3})\b",
    re.IGNORECASE,
)
_BRANCH = regex(r"[ \t]{0,80}(?:if|elif|else|except)\b")
BEFORE = 4000
"""Characters in which the line that a statement stands under is looked for."""


@remembered
def asserted_world(source: Source) -> tuple[str, int]:
    """Return the number of processes that a program insists on first, whatever happens, and the line; nothing in most."""
    text = f"\n{source.text}"
    asserted = _ASSERTED.finditer(text) if "world_size" in text.lower() else ()
    found = next((each for each in asserted if not _is_in_a_branch(text, each.start() + 1)), None)
    return (found[1], text.count("\n", 0, found.start(1))) if found is not None else ("", 0)


def _is_in_a_branch(text: str, begin: int) -> bool:
    """Whether a statement holds only under a condition: without CUDA, for another backend."""
    lines = text[max(0, begin - BEFORE) : begin].split("\n")[:-1]
    indent = _indent(text[begin : begin + 200])
    outer = next((line for line in reversed(lines) if line.strip() and _indent(line) < indent), "")
    return _BRANCH.match(outer) is not None and "__name__" not in outer


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
