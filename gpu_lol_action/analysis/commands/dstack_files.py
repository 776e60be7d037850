"""What a dstack configuration asks of a GPU: `gpu: 16GB..24GB`, `gpu: A100:80GB:2`, beside the program that it starts.

The forms are those of dstack's reference of `.dstack.yml` (section "resources.gpu"): name, size and count behind one another, each
with a range where two dots stand; or the same as a mapping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.documents.card_names import find_card
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_ENDINGS = (".dstack.yml", ".dstack.yaml")
_GPU = regex(r"^\s*gpu:\s*[\"']?([A-Za-z0-9][\w.:,-]{0,60})[\"']?\s*(?:#.*)?$")
_PART = regex(r"^\s*(?:name|memory|count):\s*[\"']?([A-Za-z0-9][\w.-]{0,40})")
_SIZE = regex(r"(\d{1,3})GB(?:\.\.(?:\d{1,3}GB)?)?", re.IGNORECASE)
_COUNT = regex(r"(\d{1,2})(?:\.\.\d{0,2})?")
MAX_FILES, MAX_LINES = 8, 400


def dstack_orders(checkout: Checkout, folder: str) -> Iterator[Finding]:
    """Yield the card, the memory and the number of cards that configurations in a program's folder, or above it, ask for."""
    files = [source for source in checkout.sources if source.name.endswith(_ENDINGS)]
    near = [source for source in files if source.folder == folder or f"{folder}/".startswith(f"{source.folder}/")]
    for source in [each for each in files if each in near or not each.folder][:MAX_FILES]:
        yield from _of_file(source)


def _of_file(source: Source) -> Iterator[Finding]:
    parts: list[str] | None = None
    depth, place = 0, 0
    for number, line in enumerate(source.text.split("\n")[:MAX_LINES], 1):
        indent = len(line) - len(line.lstrip())
        if parts is not None and line.strip() and indent <= depth:
            yield from _asked(parts, Evidence(source.path, place))
            parts = None
        if (asked := _GPU.match(line)) is not None:
            yield from _asked(asked[1].split(":"), Evidence(source.path, number))
        elif line.strip() == "gpu:":
            parts, depth, place = [], indent, number
        elif parts is not None and (part := _PART.match(line)) is not None:
            parts.append(part[1])
    yield from _asked(parts or [], Evidence(source.path, place))


def _asked(words: list[str], where: Evidence) -> Iterator[Finding]:
    """Yield what the parts of one order say: a card by its name (and size), else an amount; and how many."""
    sizes = [size[1] for word in words if (size := _SIZE.fullmatch(word)) is not None]
    counts = [count[1] for word in words if (count := _COUNT.fullmatch(word)) is not None]
    cards = [card for word in words if (card := find_card(word.split(",")[0], sizes[0] if sizes else None)) is not None]
    why = f"dstack is asked for `{':'.join(words)[:60]}`"
    if cards:
        yield Finding("documented.card", cards[0], why, Confidence.HIGH, where)
    elif sizes:
        yield Finding("documented.memory_gb", sizes[0], why, Confidence.HIGH, where)
    if counts:
        yield Finding("documented.gpu_count", counts[0], why, Confidence.MEDIUM, where)
