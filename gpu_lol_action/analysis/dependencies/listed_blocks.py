"""Blocks of code in documents that are lists of requirements: what would stand in a file, without a command that installs it."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.dependencies.install_prose import OF_REQUIREMENTS
from gpu_lol_action.analysis.documents.document_layout import code_blocks, headings_of
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.package_lists.glued_names import is_published
from gpu_lol_action.domain.patterns import regex

_SPEC = regex(
    r"([A-Za-z][\w.-]{1,40})(?:\[[\w,-]{1,40}\])?(?:\s?[=<>!~]=?\s?[\w.*+]{1,24}(?:,\s?[<>!]=?[\w.]{1,20})?)?"
)
LEAST_OF_A_BLOCK = 3
"""Requirements from which on a block is a list of them."""
MAX_LINES = 4000


def listed_blocks(document: Source) -> Iterator[tuple[int, str, str]]:
    """Yield line, requirement and heading of each entry of a block, under a heading on requirements, that holds nothing else."""
    lines = document.text.split("\n")[:MAX_LINES]
    headings = headings_of(lines)
    for block in code_blocks(lines):
        heading = headings[block.start - 1] if block.start <= len(headings) else ""
        told = {number: lines[number - 1].partition("#")[0].strip() for number in block}
        told = {number: text for number, text in told.items() if text}
        if OF_REQUIREMENTS.search(heading) is None or len(told) < LEAST_OF_A_BLOCK:
            continue
        specs = {number: spec for number, text in told.items() if (spec := _SPEC.fullmatch(text)) is not None}
        known = [number for number, spec in specs.items() if is_published(spec[1])]
        if len(specs) == len(told) and len(known) >= LEAST_OF_A_BLOCK:
            yield from ((number, told[number].replace(" ", ""), heading) for number in known)
