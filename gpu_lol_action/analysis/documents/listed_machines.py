"""A machine that the README lists part by part (``- CPU >= 4 cores``, ``- RAM >= 16 GB``), and no GPU among the parts: none is needed."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MAX_LINES = 2000
MAX_LINE = 300
_HEADING = regex(r"^#{1,6}\s")
_ASKS = (
    "requirement", "prerequisite", "hardware", "before you begin", "what you need", "system",
)  # fmt: skip
_ITEM = regex(r"[ \t>]*[-*+][ \t]+")
_CORES = regex(r"\bv?CPUs?\b[^\n]{0,40}?\d|\b\d{1,3}\+?[ -](?:v?CPUs?|(?:CPU[ -])?cores?)\b", re.IGNORECASE)
_MEMORY = regex(
    r"\b(?:RAM|memory)\b[^\n]{0,30}?\d{1,4}[ \t]?Gi?B|\b\d{1,4}[ \t]?Gi?B\+?[ \t](?:of[ \t])?(?:RAM|memory)\b",
    re.IGNORECASE,
)
_CARD = regex(r"GPU|CUDA|NVIDIA|VRAM|graphics|video memory", re.IGNORECASE)


def listed_without_gpu(checkout: Checkout) -> Evidence | None:
    """Return where the README at the root lists the cores and the memory that are required, if it names no GPU in that section."""
    readmes = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    readme = next((s for s in readmes if s.depth == 0 and s.name in {"readme.md", "readme_en.md"}), None)
    if readme is None or not readme.mentions("CPU"):
        return None
    section: list[tuple[int, str]] = []
    is_asking = False
    for number, line in enumerate([*readme.text.split("\n")[:MAX_LINES], "# "], 1):
        if not _HEADING.match(line):
            section += [(number, line[:MAX_LINE])] if is_asking else []
            continue
        found = _cores_of(section)
        if found is not None:
            return Evidence(readme.path, found)
        section, is_asking = [], any(word in line.lower() for word in _ASKS)
    return None


def _cores_of(section: list[tuple[int, str]]) -> int | None:
    """Return the line of the item that asks for cores, of a section that asks for memory as well and speaks of no card."""
    items = [(number, line) for number, line in section if _ITEM.match(line)]
    cores = next((number for number, line in items if _CORES.search(line)), None)
    if cores is None or not any(_MEMORY.search(line) for _, line in items):
        return None
    return None if any(_CARD.search(line) for _, line in section) else cores
