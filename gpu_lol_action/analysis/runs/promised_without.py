"""A README that opens with the promise that no GPU is needed: it outweighs a run that only a sub-folder's own document tells of.

An application in another language brings its weights with it; how these were once trained is told in a folder beside it, for the few.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

LINES_OF_OPENING = 60
_CHAPTER = regex(r"##[^#]")
PROMISE = regex(
    r"\bno (?:[A-Za-z]{1,20},? ){0,4}(?:dedicated |special )?GPUs? (?:is |are )?(?:required|needed|necessary)\b"
    r"|\b(?:a )?GPUs? (?:is|are) not (?:required|needed|necessary)\b",
    re.IGNORECASE,
)
# What needs none there is somebody else's page, or one of several ways.
ELSEWHERE = regex(r"colab|spaces|online|hosted|cloud|demo|\bbut\b|slow", re.IGNORECASE)


def promised_without(checkout: Checkout, run: Run) -> str | None:
    """Return the root's README where it opens with the promise, and the run is told of and lies in a folder that it never names."""
    command = run.command
    folder, _, rest = run.evidence.path.partition("/")
    if command is None or run.script is None or not rest or not run.script.path.startswith(f"{folder}/"):
        return None
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    readme = next((source for source in documents if source.depth == 0 and source.name.startswith("readme.")), None)
    if readme is None or not readme.mentions("GPU") or readme.mentions(f"{folder}/") or readme.mentions(f"({folder})"):
        return None
    for line in readme.text.split("\n")[:LINES_OF_OPENING]:
        if _CHAPTER.match(line):
            return None
        if PROMISE.search(line) and not ELSEWHERE.search(line):
            return readme.path
    return None
