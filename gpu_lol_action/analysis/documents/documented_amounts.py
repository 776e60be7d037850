"""Phrases in which documentation states an amount of GPU memory that something takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from gpu_lol_action.analysis.documents.amount_wordings import COMPARED, OF_CARDS, PLAIN, SIZE, TELLING, TO
from gpu_lol_action.analysis.documents.documented_phrases import NAMED_BEFORE
from gpu_lol_action.analysis.documents.nearest_nouns import amounts_of_cards
from gpu_lol_action.analysis.formats.required_architectures import REQUIREMENTS
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

# "If your GPU has less than 24GB of memory, set …": what the run takes as it is; what follows is told of it with that saving.
_IF_LESS = regex(
    rf"(?:\b(?:if|when|for)\b[^.,;\n]{{0,60}}?\b(?:GPUs?|cards?|VRAM|memory)\b[^.,;\n]{{0,40}}?(?:\b(?:less|smaller|lower|fewer)\s+than|\bbelow|\bunder|<)\s?{SIZE}{TO}"
    rf"|(?:如果|若|当)[^。\n]{{0,30}}?(?:显存|显卡|GPU)[^。\n\d]{{0,10}}?(?:不足|小于|低于|少于|不够)\s?{SIZE})",
    re.IGNORECASE,
)
# "can be reduced to 5 GB": by a setting that the run as it stands does not have.
_CAN_BE_LESS = regex(
    r"\b(?:can|could|may)\s+be\s+(?:further\s+)?(?:reduced|lowered|decreased|brought\s+down)\s+to\b[^.\d]{0,20}$|(?:降至|降到|降低到|降低至|减少到)[^。\d]{0,6}$",
    re.IGNORECASE,
)
_ASKS = regex(r"\b(?:requir\w*|need\w*|at least|minimum|min\.?|about|approximately|around|nearly|roughly|uses?|used|using|usage|only|just(?=\s+\*{0,2}\d)|consum\w*|takes?|"
                   r"occup\w*|fits?|within|(?:trains?|training|trained|works?|running)\s+(?:in|on|with)(?=\s+\*{0,2}\d{1,3}\s?G)|(?<=[\w)`*]\s)(?:on|for)\s+(?:an?\s+|any\s+)?(?:machine|computer|workstation|server|laptop|desktop|PC)s?\s+(?:with|having)|less than|more than|larger than|(?:below|over)(?=\s[~*]{0,2}\d)|must\s+(?:be|have)|should\s+have|make\s+sure|ensure\w*|max(?:imum|imal|\.)?|minimal|costs?|demands?|requier\w*|n[ée]cess(?:it|aire|[áa]ri)\w*|ben[öo]tig\w*|erforder\w*|or (?:more|higher|above|better|larger|greater)|as (?:little|few|low) as|under|peak|recommend\w*|enough|sufficient\w*|(?:tuned|designed|optimi[sz]ed|intended|targets?|targeting)|runs?\s+(?:in|on|with)(?=\s+(?:just\s+|only\s+)?\*{0,2}\d))\b"
                   r"|[~≥>]|需要|至少|约|占用|只需|仅需|以上|左右|大概|建议|推荐|不少于|不低于|即可|足够|消耗|必要|推奨|이상|필요|최소|권장|треб\w*|минимум|не менее|mindestens|minstens|al menos|pelo menos|almeno|au moins|ít nhất|\ben az\b|co najmniej|m[ií]nim[oa]s?\b", re.IGNORECASE)  # fmt: skip
_DEMANDS = regex(
    r"\b(?:requir\w*|need\w*|at least|minimum|min\.?|recommend\w*|must\s+(?:be|have)|should\s+have|make\s+sure|ensure\w*|requier\w*|n[ée]cess(?:it|aire|[áa]ri)\w*|ben[öo]tig\w*|erforder\w*|or (?:more|higher|above|better|larger|greater))\b"
    r"|≥|>=|需要|至少|以上|建议|推荐|不少于|不低于|必要|推奨|이상|필요|최소|권장|треб\w*|минимум|не менее|mindestens|minstens|al menos|pelo menos|almeno|au moins|ít nhất|\ben az\b|co najmniej|m[ií]nim[oa]s?\b",
    re.IGNORECASE,
)
# Right behind an amount: "each with 60GB, is recommended".
_IS_ASKED = regex(
    r",?\s+(?:of\s+\w{1,10}\s+)?(?:is|are|in\s+the)\s+(?:strongly\s+|highly\s+)?(?:required|recommended|needed)\b",
    re.IGNORECASE,
)
# "8GB VRAM and 16GB RAM required"
_ASKED_BEHIND = regex(r"[^.;|\n]{0,30}?\b(?:required|recommended|needed|minimum)\b(?!\s(?:for|by|to)\b)", re.IGNORECASE)
_SUFFICES = regex(r"\s+(?:should|would|will)\s+be\s+(?:enough|sufficient)\b", re.IGNORECASE)
# What turns it round: "does not run on less than 24 GB", "unless you have 24 GB".
_LESS = r"(?:less|fewer|smaller|under|below|without|unless|until|if|except|only|but|beyond|minimum|lacking)\b"
# "does not work with 8GB", "won't fit on a 16GB GPU", "OOM on a 24 GB card": the size of a card that is too small.
_TOO_SMALL = regex(
    rf"(?:\b(?:not|cannot)|n['\u2019]t)\s+(?:\w{{1,12}}\s+)?(?:works?|fits?|run|train|load)\b(?:\s(?!{_LESS})[A-Za-z-]{{1,12}}){{0,4}}[\s~(]{{0,3}}$"
    rf"|\b(?:OOMs?|out[ -]of[ -]memory)\s(?:errors?\s)?(?:on|with|in)\s(?:(?!{_LESS})[A-Za-z-]{{1,12}}\s){{0,3}}$",
    re.IGNORECASE,
)
_NOT_NEEDED = regex(
    r"\b(?:not|don['\u2019]t|doesn['\u2019]t)\s(?:need|require)\s(?:an?\s|any\s)?(?:[A-Za-z-]{1,12}\s){0,3}$",
    re.IGNORECASE,
)
# "which saves about 10GB of GPU memory", "reduces it by 4 GB", "could save between 1GB of VRAM and 5GB": what is not taken.
_IS_SAVED = regex(
    r"(?:\bsav(?:e|es|ed|ing|ings)|\b(?:reduc|lower|decreas|shr[iu]nk|cut)\w{0,4}\b[^.;,]{0,60}\sby)\s(?:you\s|of\s|up\sto\s|about\s|around\s|roughly\s|approximately\s|nearly\s|almost\s|over\s|more\sthan\s|at\sleast\s|an?\s(?:additional|extra|further)\s|between\s(?:\d{1,3}\s?G\w{0,2}\s(?:of\s\w{1,10}\s)?and\s)?)*[~(*]{0,3}$",
    re.IGNORECASE,
)
# "~2GB of GPU memory for each million gaussians", "1 GB per billion parameters": a rate.
_IS_A_RATE = regex(
    r"\s?G\w{0,9}\s(?:of\s)?(?:(?:GPU|video|graphics)\s)?(?:memory|VRAM|RAM)?\s?(?:/|per|for\s(?:each|every))\s?(?:(?:additional|extra|further)\s)?(?:\d{1,4}\s?[kKMB]?\s|one\s|a\s)?(?:million|billion|thousand|1B|1M)\b",
    re.IGNORECASE,
)
_GPU_BEHIND = regex(r"\s?G(?:i?B)?\s(?:GPUs?|cards?)\b(?!\s(?:mem|RAM|VRAM))", re.IGNORECASE)
_LESS_THAN = regex(rf"(?<!\w){_LESS}\s(?:than\s)?(?:an?\s)?[~(]?$", re.IGNORECASE)
_IS_TOO_SMALL = regex(
    r"\s?G\w{0,9}\s+(?:of\s+)?(?:[A-Za-z-]{1,12}\s+){0,2}(?:(?:is|are|was|will|would|may|might)\s+not\s+(?:be\s+)?(?:enough|sufficient)|(?:isn|aren|wasn)['\u2019]t\s+(?:enough|sufficient)|(?:is|are|was)\s+(?:insufficient|too\s+(?:little|small)))\b",
    re.IGNORECASE,
)
_IS_ITEM, _ENDS_ITEM = regex(r"\s*(?:[-*•+]|\d{1,2}[.)])\s"), regex(r"(?<=VRAM)[\s.)*]{0,4}$", re.IGNORECASE)
_ITEM = regex(r"\s*(?:[-*•+]|\d{1,2}[.)])\s|[^.]{1,80}\.?$")  # of a list, or no more than a few words
# A question of a FAQ: its answer need not say what the amount is of.
_ASKED = regex(
    r"\bhow much\s+(?:GPU|VRAM|video|graphics)\b|\b(?:GPU|VRAM|GPU[- ]memory|memory)\s+(?:guidelines?|recommendations?)\b"
    r"|\b(?:VRAM|GPU(?:[- ]memory)?|^memory)\s+requirements?\b",
    re.IGNORECASE,
)
_MAIN_MEMORY = regex(
    r"(?:CPU|system|main|host)\s+(?:RAM|memory)|\bdisk\b|storage|dataset|download|\bRAM\b(?<!VRAM)(?<!GPU[ -]RAM)(?<!video RAM)(?<!graphics RAM)|\bsav(?:e|es|ed|ing)\b"
    r"|\bunified memory\b|\bMac(?:s|Books?|OS)?\b|\bApple\b|\bMPS\b|\bon (?:a )?CPU\b|\bIntel\b|\bXeon\b|\b(?:no|without(?:\s+an?y?)?)\s+GPUs?\b|\b(?:logical|virtual)\s+(?:CPU|core|processor)s?\b|\bCPU\s+cores\b|\bvCPUs?\b|\bCore i\d\b|\bRyzen\b",
    re.IGNORECASE,
)
# An amount of this in a sentence that also tells a card's: "less than 128GB CPU memory and less than 12GB GPU memory".
_OF_THE_MACHINE = regex(r"(?<!-)\b(?:CPU|system|host|main|disk)\b", re.IGNORECASE)
_BEHIND_GPUS = regex(
    r"\b(?:machine|server|node|instance|workstation|computer)s?\s(?:with|that has|having)\b[^.;]{0,60}\bGPUs?(?:,|,? and)\s{1,3}(?:at least\s)?$",
    re.IGNORECASE,
)
# "Each card requires 128GB of RAM and 24GB of GPU memory"
_OF_RAM = regex(r"\s?G\w{0,2}\s(?:of\s)?(?:system\s|CPU\s|host\s)?RAM\b(?!\s(?:on|per|in|of)\b)", re.IGNORECASE)
_GPU_WITH = regex(r"\b(?:GPU|card)s?\s(?:cards?\s)?(?:with|having)\s(?:[a-z]{1,10}\s){0,2}[~≥>]?\s?$", re.IGNORECASE)
CHARACTERS_BEFORE = 160
_COMPARED_WORDS = regex(r"\b(?:compared\s+(?:to|with)|instead\s+of|down\s+from)\b", re.IGNORECASE)
_CARD_MEMORY = regex(
    r"VRAM|GPU[- ](?:mem|RAM)|RAM (?:on|per|in) (?:the |a |one |each )?(?:single )?GPU|\b(?:GPUs?|(?:graphics|video)\s+cards?)\s+(?:with|having)\b|显存",
    re.IGNORECASE,
)
_ANY_SIZE = regex(rf"(?<![\w.]){SIZE}\b", re.IGNORECASE)
_OFFLOADS = regex(r"off-?load", re.IGNORECASE)
_NOT_OFFLOADS = regex(
    r"\b(?:without|no|not|disabl\w+)\b[^,;]{0,30}off-?load|off-?load\w*\b[^,;.]{0,20}\b(?:not|disabled|off)\b",
    re.IGNORECASE,
)
# What is said to be the sum over several cards.
_OF_ALL_CARDS = regex(
    r"\b(?:total|combined|aggregate)\b[^.]{0,30}\bmemory|memory (?:in total|across (?:your|all|the|several|multiple))\b",
    re.IGNORECASE,
)
_ON_CARDS = regex(r"\bGPUs?\b|VRAM|\bvideo\b|\bHBM\b|\bcards?\b|显存|显卡|[ABH]\d{2,3}\b", re.IGNORECASE)
_MEBIBYTES = regex(r"(?<![\w.,])(\d{1,3},\d{3}|\d{4,6})\s?(?:MiB|MB|M)(?![\w.])")
_IN_BOLD = regex(r"\*\*\s?([~≥>]?\s?\d{1,3}(?:\.\d{1,2})?\s?\+?\s?Gi?B?\+?)\s?\*\*", re.IGNORECASE)
_OR_MORE = regex(r"(?<![\w.])(?:at\s+least\s+)?(\d{1,3})\s?\+\s?(?:GB|GiB|G)(?![A-Za-z0-9_])", re.IGNORECASE)
_OF_SMI = regex(r"\|\s{1,8}(\d{1,6})MiB\s{0,3}/\s{0,3}\d{4,6}MiB\s{1,3}\|")
IDLE_GIB = 2.0  # a desktop and its pages take as much
LEAST_CARD, ONE_CARD, MOST_GB = 4, 80, 400
# As every amount begins, whichever expression reads it: most sentences hold none, and are asked no more.
_MAY_SAY = regex(r"\d[\s-]?[GГ]", re.IGNORECASE)
# "8GBs of V-RAM": as everybody else spells it.
_HYPHENED = regex(r"\bV-RAM\b", re.IGNORECASE)
_SEVERAL = regex(r"(\d\s?Gi?B)s\b")
BEFORE = 90  # characters in which what is said of an amount stands before it


@record(frozen=True, slots=True)
class MemoryPhrase:
    """An amount in GB that a sentence asks for. ``is_demanded``: with a word such as "requires"; ``is_offloaded``: it holds where weights wait in main memory.

    ``at``: where its number stands in the sentence.
    """

    size_gb: float
    is_demanded: bool
    is_offloaded: bool
    at: int = field(default=0, compare=False)


def memory_phrases(line: str, heading: str = "") -> Iterator[MemoryPhrase]:
    """Yield the amounts of GPU memory that a sentence asks for, an item of a list of requirements, or the answer of a FAQ.

    None where it speaks of main memory or disks, or of no more than a card's size.
    """
    if not _MAY_SAY.search(line):
        return
    line = _plain(line)
    is_listed = bool(_ITEM.match(line)) and bool(REQUIREMENTS.search(heading))
    is_answer = bool(_ASKED.search(heading))
    if _MAIN_MEMORY.search(line) and not _CARD_MEMORY.search(line):
        return
    seen: set[float] = set()
    if (asked := _IF_LESS.search(line)) is not None:
        yield MemoryPhrase(float(asked[1] or asked[2]), is_demanded=True, is_offloaded=False)
        return
    for pattern in (*PLAIN, *TELLING, *((_ANY_SIZE,) if is_answer else ())):
        if pattern is COMPARED and not _CARD_MEMORY.search(line):
            continue
        for match in pattern.finditer(line):
            phrase = _phrase(line, match, pattern, is_listed=is_listed, is_answer=is_answer)
            if phrase is not None and phrase.size_gb not in seen:
                seen.add(phrase.size_gb)
                yield phrase
    if not seen:
        yield from _by_nearest_noun(line, is_listed=is_listed)


def _phrase(
    line: str, match: re.Match[str], pattern: re.Pattern[str], *, is_listed: bool, is_answer: bool
) -> MemoryPhrase | None:
    """Return what one wording tells of an amount; None where nobody asks for it, or it is of something else."""
    size = float(match[1])
    if _is_not_taken(line, match) or _is_of_the_machine(line, match, is_plain=pattern in PLAIN):
        return None
    # More than a card holds is all cards' together, or, where no card is spoken of, the machine's.
    if size > ONE_CARD and (_OF_ALL_CARDS.search(line) or not _ON_CARDS.search(line)):
        return None
    before = line[: match.start()].rstrip(", ")
    if pattern in OF_CARDS and not match[0].endswith(")") and NAMED_BEFORE.search(before):
        return None  # "an A40 GPU (48GB VRAM)" tells the card, which ``card_phrases`` reads
    around = line[max(0, match.start() - BEFORE) : match.end() + 10]
    is_asked = _IS_ASKED.match(line, match.end()) is not None or _ASKED_BEHIND.match(line, match.end()) is not None
    is_item = _ENDS_ITEM.match(line, match.end()) is not None and _IS_ITEM.match(line) is not None
    is_told = is_listed or is_item or is_answer or is_asked or pattern in TELLING
    if not (is_told or _ASKS.search(around) or _SUFFICES.match(line, match.end())) or not 1 <= size <= MOST_GB:
        return None
    is_demanded = (is_listed or is_asked or bool(_DEMANDS.search(around))) and pattern is not COMPARED
    if not is_demanded and _is_of_a_card(line, match):
        return None
    return MemoryPhrase(size, is_demanded, _is_offloaded(line, match.start(1), match.end(1)), match.start(1))


def _by_nearest_noun(line: str, *, is_listed: bool) -> Iterator[MemoryPhrase]:
    """Yield amounts that no known wording tells, but that the sentence demands and the nearest noun says to be of a card."""
    for match in amounts_of_cards(line):
        size = float(match[1])
        around = line[max(0, match.start() - BEFORE) : match.end() + 10]
        is_asked = is_listed or _DEMANDS.search(around) or _ASKED_BEHIND.match(line, match.end())
        if not is_asked or not LEAST_CARD <= size <= ONE_CARD or _is_not_taken(line, match):
            continue
        if _is_of_the_machine(line, match, is_plain=True) or NAMED_BEFORE.search(line[: match.start()].rstrip(", (")):
            continue
        yield MemoryPhrase(size, True, _is_offloaded(line, match.start(1), match.end(1)), match.start(1))


def _is_not_taken(line: str, amount: re.Match[str]) -> bool:
    """Whether an amount is none that is taken: one that does not do, that is saved, or is taken of each of many."""
    before = line[: amount.start(1)][-BEFORE:]
    if _NOT_NEEDED.search(before) is not None or _IS_SAVED.search(before) is not None:
        return True
    if _IS_A_RATE.match(line, amount.end(1)) is not None:
        return True
    if _LESS_THAN.search(before) is not None:
        return False
    return _TOO_SMALL.search(before) is not None or _IS_TOO_SMALL.match(line, amount.end(1)) is not None


def _is_of_the_machine(line: str, amount: re.Match[str], *, is_plain: bool) -> bool:
    """Whether an amount is said of the machine, or stands behind the GPUs that it has: "a machine with 4 GPUs, 64GB memory"."""
    if is_plain and _OF_THE_MACHINE.search(line[amount.start(1) : amount.end()][:40]) is not None:
        return True
    if _OF_RAM.match(line, amount.end(1)) and not _GPU_WITH.search(line[: amount.start(1)][-CHARACTERS_BEFORE:]):
        return True
    return _BEHIND_GPUS.search(line[: amount.start(1)][-CHARACTERS_BEFORE:]) is not None


def tells_a_saving(sentence: str) -> bool:
    """Whether a sentence says what to do where a card has less than the run takes: the sentences behind it are of that."""
    return _IF_LESS.search(sentence) is not None


def asks_for_memory(label: str) -> bool:
    """Whether a heading or label asks how much memory a card needs: what stands below it need not say so again."""
    return _ASKED.search(label) is not None


def in_plain_amounts(line: str) -> str:
    """Return a line with its amounts as most people write them: in GiB what nvidia-smi prints (``48346MiB``), "24+ GB" as "at least 24 GB", about as ``~``, not in bold."""
    line = (_IN_BOLD.sub(r"\1", line) if "**" in line else line).replace("\u2248", "~")
    line = _plain(_OR_MORE.sub(r"at least \1 GB", line))
    return _MEBIBYTES.sub(lambda found: f"{int(found[1].replace(',', '')) / 1024:.1f} GiB", line)


def _plain(line: str) -> str:
    return _SEVERAL.sub(r"\1", _HYPHENED.sub("VRAM", line))


def in_use(line: str) -> float | None:
    """Return the GiB in use that a line of nvidia-smi's table shows (``20480MiB / 24576MiB``); None without one, and of a card that idles."""
    found = _OF_SMI.search(line)
    used = int(found[1]) / 1024 if found is not None else 0.0
    return used if used >= IDLE_GIB else None


def _is_of_a_card(line: str, amount: re.Match[str]) -> bool:
    """Whether an amount is what a card that is named before it is sold with ("a V100-SXM2-32GB", "an A100 40GB GPU"), not what was taken of it."""
    before = line[: amount.start(1)]
    is_behind = before.endswith("-") or _GPU_BEHIND.match(line, amount.end(1)) is not None
    return is_behind and NAMED_BEFORE.search(before[-60:]) is not None


def _is_offloaded(line: str, begin: int, end: int) -> bool:
    """Whether an amount in a sentence is that of a run whose weights wait in main memory.

    The words that belong to it stand between the amount before it and the one behind it.
    """
    sizes = [found.span(1) for found in _ANY_SIZE.finditer(line)]
    before = max((there for _, there in sizes if there <= begin), default=0)
    behind = min((there for there, _ in sizes if there >= end), default=len(line))
    near = line[before:behind]
    if _COMPARED_WORDS.search(line[before:begin]):
        near = line[begin:behind]  # what stands before it is of the amount that it is compared with
    return is_offloaded(near) or _CAN_BE_LESS.search(line[:begin]) is not None


def is_offloaded(text: str) -> bool:
    """Whether a row or heading speaks of weights that wait in main memory."""
    return bool(_OFFLOADS.search(text)) and not _NOT_OFFLOADS.search(text)
