"""What an amount in a sentence is of, told by the noun that stands nearest: a card's memory, or a disk, main memory, a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.documents.amount_wordings import AMOUNT
from gpu_lol_action.analysis.documents.documented_phrases import ANY_CARD
from gpu_lol_action.domain.patterns import regex

_OF_CARD = regex(
    r"\b(?:VRAM|GPUs?|(?:graphics|video)\s(?:cards?|memory)|HBM)\b|显存|显卡|顯存|顯示卡|グラフィックボード|그래픽\s?카드"
    r"|видеопамят\w*|видеокарт\w*|\bplacas?\sde\sv[ií]deo\b|\btarjetas?\sgr[áa]ficas?\b|\bcartes?\sgraphiques?\b|\bGrafikkarten?\b|\bekran\skart\w*",
    re.IGNORECASE,
)
_OF_ELSE = regex(
    r"\bRAM\b|\b(?:disks?|SSDs?|HDDs?|NVMe|storage|space|swap|DDR\d?|CPUs?|hosts?|datasets?|data|corpus|checkpoints?|weights?|files?|images?|downloads?|caches?|model\ssize|params?|parameters|bandwidth"
    r"|archives?|artifacts?|logs?|uploads?|quota|shm|traffic|system\smemory|unified\smemory|tokens?|texts?|videos?|audio|tar|zip|bucket|overhead|features?|activations?)\b"
    r"|内存|硬盘|磁盘|数据|下载|文件|メモリ(?<!GPUメモリ)|ストレージ|디스크|диск\w*|оперативн\w*",
    re.IGNORECASE,
)
BEHIND, BEFORE = 28, 60
"""Characters behind and before an amount in which the noun that it belongs to stands."""
_STOPS = regex(r"[;|]|\.\s|。")


def amounts_of_cards(sentence: str) -> Iterator[re.Match[str]]:
    """Yield the amounts of a sentence whose nearest noun is a card or its memory; what stands behind comes before what stands ahead."""
    if not (_OF_CARD.search(sentence) or ANY_CARD.search(sentence)):
        return
    found = list(AMOUNT.finditer(sentence))
    for index, amount in enumerate(found):
        last = found[index - 1].end() if index else 0
        following = found[index + 1].start() if index + 1 < len(found) else len(sentence)
        behind = _within(sentence, amount.end(), min(following, amount.end() + BEHIND))
        nearest = _first(behind)
        if nearest is None:
            before = sentence[max(last, amount.start() - BEFORE) : amount.start()]
            stops = [stop.end() for stop in _STOPS.finditer(before)]
            nearest = _last(before[stops[-1] if stops else 0 :])
        if nearest == "card":
            yield amount


def _within(sentence: str, begin: int, end: int) -> str:
    stop = _STOPS.search(sentence, begin, end)
    return sentence[begin : stop.start() if stop is not None else end]


def _first(text: str) -> str | None:
    return min(_kinds(text), default=(0, None))[1]


def _last(text: str) -> str | None:
    return max(_kinds(text), default=(0, None))[1]


def _kinds(text: str) -> list[tuple[int, str]]:
    """Return the nouns of a text by where they stand: ``card``, or ``else``."""
    cards = [found.span() for found in _OF_CARD.finditer(text)]
    others = (found.start() for found in _OF_ELSE.finditer(text))
    apart = (at for at in others if not any(begin <= at < end for begin, end in cards))  # a video card is no video
    return [*((begin, "card") for begin, _ in cards), *((at, "else") for at in apart)]
