"""What the documentation says of hardware: memory that is asked for, cards that were used, how many."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.gpus import find_accelerator

_SIZE = r"(\d{1,3}(?:\.\d{1,2})?)\s?(?:GB|GiB|G)"
_KIND = r"(?:GPU\s+)?(?:VRAM|GPU[- ]memory|GPU\s+RAM|video memory|memory|GPU)"
_MEMORY = (
    re.compile(rf"\b{_SIZE}\b[^.|\n]{{0,20}}?\b{_KIND}\b", re.IGNORECASE),
    re.compile(rf"\b(?:VRAM|GPU[- ]memory|GPU\s+RAM|video memory)\b[^.\n]{{0,40}}?\b{_SIZE}\b", re.IGNORECASE),
)
_ASKS = re.compile(r"\b(?:requir\w*|need\w*|at least|minimum|min\.?|about|approximately|around|uses?|using|only|consum\w*|takes?|"
                   r"occup\w*|fits?|less than|under|peak)\b|[~≥>]", re.IGNORECASE)  # fmt: skip
_MAIN_MEMORY = re.compile(
    r"(?:CPU|system|main|host)\s+(?:RAM|memory)|\bdisk\b|storage|dataset|download|\bRAM\b(?<!VRAM)(?<!GPU RAM)",
    re.IGNORECASE,
)
_CARD = (r"(?:NVIDIA\s+)?(?:Tesla\s+|GeForce\s+)?(A100|A800|H100|H800|H200|B200|V100|A6000|RTX\s?A6000|A40|A10G?|A30|L40S?|L4|T4|P100|"
         r"(?:RTX\s?)?(?:2080\s?Ti|3080|3090|4080|4090|5090)|RTX\s?6000\s?Ada)")  # fmt: skip
_CARD_SIZE = r"(?:[\s(-]{0,3}(?:SXM\d?|PCIe)?[\s(-]{0,3}(\d{2,3})\s?GB?\b)?"
_COUNTED = re.compile(
    rf"\b(\d{{1,3}}|one|two|four|eight|single|a)\s?(?:[x×*]\s?|\s)(?:(\d{{2,3}})\s?GB?\s+)?{_CARD}s?{_CARD_SIZE}",
    re.IGNORECASE,
)
_BARE = re.compile(rf"\b{_CARD}{_CARD_SIZE}\b(?!\w)", re.IGNORECASE)
_GPUS = re.compile(rf"\b(\d{{1,3}}|one|two|four|eight|single)\s+GPUs?\b(?:[^.\n]{{0,12}}?{_SIZE})?", re.IGNORECASE)
_WORDS = {"one": 1, "single": 1, "a": 1, "two": 2, "four": 4, "eight": 8}
MAX_LINES = 4000


def detect(checkout: Checkout) -> list[Finding]:
    """Return statements on memory, cards and counts, in the order of the documents."""
    found: list[Finding] = []
    for source in _documents(checkout):
        for number, line in enumerate(source.text.split("\n")[:MAX_LINES], 1):
            if "|" not in line[:3] and len(line) < 4000:
                found.extend(_statements(line, Evidence(source.path, number)))
    return found


def _documents(checkout: Checkout) -> tuple[Source, ...]:
    """Return the documents beside the code, shallowest first; only those of the two shallowest depths speak for the run."""
    documents = [s for s in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,)) if s.name.startswith("readme")]
    depth = min((source.depth for source in documents), default=0)
    return tuple(source for source in documents if source.depth == depth)[:4]


def _statements(line: str, where: Evidence) -> Iterator[Finding]:
    memory = _memory(line)
    if memory is not None:
        why = f"the documentation speaks of {memory:g} GB of GPU memory"
        yield Finding("documented.memory_gb", f"{memory:g}", why, Confidence.MEDIUM, where)
    for match in _COUNTED.finditer(line):
        count = _count(match[1])
        card = _card(match[3], match[4] or match[2])
        if card is None or count is None:
            continue
        yield Finding("documented.card", card, f"the documentation names {count} × {card}", Confidence.MEDIUM, where)
        if match[1].lower() != "a":
            yield Finding(
                "documented.gpu_count",
                str(count),
                f"the documentation names {count} × {card}",
                Confidence.MEDIUM,
                where,
            )
        return
    plain = _GPUS.search(line)
    count = _count(plain[1]) if plain else None
    if count is not None:
        yield Finding(
            "documented.gpu_count", str(count), f"the documentation names {count} GPUs", Confidence.LOW, where
        )
    bare = _BARE.search(line)
    card = _card(bare[1], bare[2]) if bare else None
    if card is not None:
        yield Finding("documented.card", card, f"the documentation names {card}", Confidence.LOW, where)


def _memory(line: str) -> float | None:
    """Return the memory that a sentence asks of a GPU; None where it speaks of main memory, disks or only of a card's size."""
    if _MAIN_MEMORY.search(line) and not re.search(r"VRAM|GPU memory", line, re.IGNORECASE):
        return None
    for pattern in _MEMORY:
        for match in pattern.finditer(line):
            around = line[max(0, match.start() - 90) : match.end() + 10]
            if _ASKS.search(around) and 1 <= float(match[1]) <= 400:
                return float(match[1])
    return None


def _count(word: str | None) -> int | None:
    if not word:
        return None
    number = _WORDS.get(word.lower()) or (int(word) if word.isdigit() else 0)
    return number if 1 <= number <= 64 else None


def _card(name: str, size: str | None) -> str | None:
    """Return the table's name of a card; A100 without a size stays the one with 40 GB."""
    bare = re.sub(r"^([AH])800$", r"\g<1>100", re.sub(r"\s+", " ", name.strip().upper()))
    found = find_accelerator(f"{bare}-{size}GB") if size else None
    found = found or find_accelerator(bare) or find_accelerator(f"RTX{bare}")
    return found.name if found else None
