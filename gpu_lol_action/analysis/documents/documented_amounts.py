"""Phrases in which documentation states an amount of GPU memory that something takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.documents.documented_phrases import NAMED_BEFORE
from gpu_lol_action.analysis.formats.required_architectures import REQUIREMENTS
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_SIZE = r"(\d{1,3}(?:\.\d{1,6})?)\s?(?:GB|GiB|gigabytes?|gigs?|G)"
_KIND = r"(?:GPU\s+)?(?:VRAM|GPU[- ]mem(?:ory)?|GPU[- ]RAM|(?:video|graphics?) (?:memory|RAM)|memory|GPU|HBM|显存)"
# Where a number and its unit begin and end, also between letters of languages that put no spaces between words.
_FROM, _TO = r"(?<![A-Za-z0-9_.])", r"(?![A-Za-z0-9_])"
# What tells an amount only beside a word such as "needs" or "about".
_PLAIN = (
    regex(rf"{_FROM}{_SIZE}{_TO}[^.|\n]{{0,20}}?(?:\b|(?<=\s)|(?=显)){_KIND}", re.IGNORECASE),
    regex(
        rf"\b(?:VRAM|GPU[- ]mem(?:ory)?|GPU[- ]RAM|(?:video|graphics?) (?:memory|RAM))\b[^.\n]{{0,40}}?{_FROM}{_SIZE}{_TO}(?!\s+(?:of\s+)?(?:system\s+|CPU\s+)?RAM)",
        re.IGNORECASE,
    ),
    regex(rf"显存[^。\n]{{0,20}}?{_SIZE}", re.IGNORECASE),
    regex(rf"{_FROM}{_SIZE}\s?的?显存", re.IGNORECASE),
)
# "consumer GPUs (24GB+)", "GPUs with 40GB to train", "8 GPUs (80GB of VRAM)", "one GPU with 16 GB memory", "GPUs with 40GB each", "a GPU with 24GB or more"
_SIZED = regex(
    rf"\bGPUs?\s?(?:\(|(?:with|having)\s+(?:at\s+least\s+)?)\s?[~≥>]?\s?{_SIZE}\+?"
    r"(?:\s+(?:of\s+)?(?:dedicated\s+)?(?:VRAM|memory|mem|D?RAM|HBM)\b|\s+or\s+more\b|\s+each\b|\s?\)|\s+(?:to|for)\s+(?:train|tun|run|infer))",
    re.IGNORECASE,
)
# "9 GB of GPU memory, compared to 27 GB without offloading"
_COMPARED = regex(
    rf"\b(?:compared\s+(?:to|with)|instead\s+of|down\s+from)\s+(?:about\s+|around\s+)?[~]?{_SIZE}\b", re.IGNORECASE
)
# "works on a GPU card with 12 GB", "a graphics card with at least 8 GB"
_WITH_CARD = regex(
    rf"\b(?:GPU|graphics|video|NVIDIA)\s+cards?\s+(?:with|having)\s+(?:at\s+least\s+|about\s+)?[~≥>]?\s?{_SIZE}\b",
    re.IGNORECASE,
)
# "you should have eight 80G GPUs", "and a 48GB gpu", "32GB GPUs"
_OF_GPUS = regex(rf"(?<![\w.]){_SIZE}\s+GPUs?\b(?!\s+(?:mem|RAM|VRAM))", re.IGNORECASE)
# What can only be an amount that something takes or has to be there.
_TELLING = (
    # "VRAM: 24GB+", "- **GPU memory**: 24 GB" as a line of its own
    regex(
        rf"^[\s*•+-]{{0,8}}(?:minimum\s+|required\s+)?(?:GPU\s+)?(?:VRAM|GPU[- ]memory|GPU[- ]RAM|显存)(?:\s+\w{{1,12}})?[*\s]{{0,4}}[:\uff1a][*\s]{{0,4}}[~≥>]?=?\s?{_SIZE}{_TO}",
        re.IGNORECASE,
    ),
    # "24GB+ VRAM", "VRAM of 16 GB+"
    regex(rf"{_FROM}{_SIZE}\s?\+\s?(?:of\s+)?(?:GPU\s+)?(?:VRAM|GPU[- ]mem(?:ory)?|video memory|显存)", re.IGNORECASE),
    # "an NVIDIA GPU with CUDA support and 24GB of memory"
    regex(
        rf"\bGPUs?\s+with\b[^.,;\n\d]{{0,40}}\band\s+(?:at\s+least\s+)?{_SIZE}\+?\s+(?:of\s+)?(?:memory|VRAM|RAM)\b",
        re.IGNORECASE,
    ),
    # "GPUs: 4x24GB", "4 GPUs x 24GB"
    regex(rf"\bGPUs?\s?(?:[:\uff1a]\s?\d{{1,2}}\s?)?[x×*]\s?{_SIZE}{_TO}", re.IGNORECASE),
    # "on two 24GB GPUs", "on a single 48 GB GPU", "supports a 12GB graphic card", "fits a 24GB card"
    regex(
        rf"\b(?:on|with|fits?|supports?)\s+(?:just\s+|only\s+)?(?:(?:an?|one|a\s+single|single|two|dual|four|eight|\d{{1,2}})[\sx×]+)?(?:consumer\s+)?{_SIZE}\s+"
        r"(?:GPUs?|(?:(?:graphics?|video|GPU|consumer)\s+)?cards?)\b",
        re.IGNORECASE,
    ),
    regex(rf"(?<![A-Za-z0-9_.]){_SIZE}\s?的?显卡", re.IGNORECASE),
    _SIZED,
    # "4 GPUs, each with 80GB of VRAM", "2 GPUs each having at least 24 GB"
    regex(
        rf"\bGPUs?\b[^.;\n]{{0,20}}?\beach\s+(?:with|has|have|having|of)\s+(?:(?:at\s+least|about|around)\s+)?[~≥>]?\s?{_SIZE}\b",
        re.IGNORECASE,
    ),
    # "80GB*8 GPUs are required"
    regex(rf"(?<![\w.]){_SIZE}\s?[x×*]\s?\d{{1,2}}\s+GPUs?\b", re.IGNORECASE),
    _OF_GPUS,
    # "35GiB VRAM per GPU", "Single GPU @ 48GB VRAM"
    regex(
        rf"(?<![\w.]){_SIZE}\s+(?:of\s+)?(?:VRAM|GPU[- ]memory)\s+(?:per|for\s+each|on\s+each)\s+(?:GPU|card)\b",
        re.IGNORECASE,
    ),
    regex(rf"\bGPUs?\s?@\s?{_SIZE}\b", re.IGNORECASE),
    # "(1x48GB @ ~25GiB)", "8x80GB @ ~49GiB/GPU": on which cards, and how much of each
    regex(rf"(?<![\w.])\d{{1,2}}\s?[x×]\s?\d{{2,3}}\s?GB\s?@\s?~?{_SIZE}{_TO}", re.IGNORECASE),
    # "2x 16GB GPUs", "4 × 32 GB GPU"
    regex(rf"(?<![\w.])\d{{1,2}}\s?[x×]\s?{_SIZE}\s+GPUs?\b", re.IGNORECASE),
    # "requires 8 x GPU 32GB"
    regex(rf"(?<![\w.])\d{{1,2}}\s?[x×]\s?GPUs?\s+(?:with\s+|of\s+)?{_SIZE}\b", re.IGNORECASE),
    # "GPU memory: ≥3×80GB (4×80GB recommended)", "VRAM: 2x24 GB"
    regex(rf"\b(?:VRAM|GPU[- ]memory|显存)\b[^.\n\d]{{0,20}}?\d{{1,2}}\s?[x×*]\s?{_SIZE}\b", re.IGNORECASE),
    # "within the memory budget of 16GB and 1 GPU card"
    regex(
        rf"\bmemory\s+(?:budget|limit|footprint)s?\s+(?:of|is)\s+(?:about\s+)?{_SIZE}\b(?=.{{0,40}}GPU)", re.IGNORECASE
    ),
    # "bring the memory consumption down to ~8 GB", "Memory used: 13.9 GB"
    regex(
        rf"\bmemory\s+(?:consumption|usage|requirements?|needs?|used)\b[^.,;|\n]{{0,30}}?(?<!\bby )(?<!\bby ~)[~≥>]?\b{_SIZE}\b",
        re.IGNORECASE,
    ),
    # "a GPU with a significant amount of memory (24GB)"
    regex(rf"\bGPUs?\b[^.\n]{{0,60}}?\bmemory\s?\(\s?[~≥>]?\s?{_SIZE}\+?\s?\)", re.IGNORECASE),
    # "NVIDIA GPU with compute capability >= 75 and memory > 6GB"
    regex(rf"\bGPUs?\b[^.\n]{{0,60}}?\bmemory\s?[≥>]=?\s?{_SIZE}\b", re.IGNORECASE),
    _WITH_CARD,
    # "10000 residues in bf16 with 61GB memory on an A100"
    regex(
        rf"\b(?:with|in|within|using|takes?)\s+(?:about\s+|around\s+)?[~]?{_SIZE}\s+(?:(?:of\s+)?memory\s+)?on\s+(?:an?|one|the|each)\s",
        re.IGNORECASE,
    ),
    # "a GPU with at least 10 GB (RTX 2080 Ti or better)"
    regex(rf"\bGPUs?\s+(?:with|having)\s+(?:at\s+least|a\s+minimum\s+of)\s+{_SIZE}\b", re.IGNORECASE),
    # "Reserved memory: 22.5 GB", "Max memory allocated: 11 GB", as torch.cuda's figures are printed
    regex(
        rf"\b(?:(?:reserved|allocated)\s+memory|memory\s+(?:reserved|allocated))\b[^.|\n]{{0,12}}?\b{_SIZE}\b",
        re.IGNORECASE,
    ),
    # "about 20GB of RAM on a single GPU", "35GB of RAM per GPU"
    regex(rf"\b{_SIZE}\s+of\s+RAM\s+(?:on|per|in)\s+(?:(?:a|the|one|each)\s+)?(?:single\s+)?GPU\b", re.IGNORECASE),
    _COMPARED,
)
# "If your GPU has less than 24GB of memory, set …": what the run takes as it is; what follows is told of it with that saving.
_IF_LESS = regex(
    rf"(?:\b(?:if|when|for)\b[^.,;\n]{{0,60}}?\b(?:GPUs?|cards?|VRAM|memory)\b[^.,;\n]{{0,40}}?(?:\b(?:less|smaller|lower|fewer)\s+than|\bbelow|\bunder|<)\s?{_SIZE}{_TO}"
    rf"|(?:如果|若|当)[^。\n]{{0,30}}?(?:显存|显卡|GPU)[^。\n\d]{{0,10}}?(?:不足|小于|低于|少于|不够)\s?{_SIZE})",
    re.IGNORECASE,
)
# "can be reduced to 5 GB": by a setting that the run as it stands does not have.
_CAN_BE_LESS = regex(
    r"\b(?:can|could|may)\s+be\s+(?:further\s+)?(?:reduced|lowered|decreased|brought\s+down)\s+to\b[^.\d]{0,20}$|(?:降至|降到|降低到|降低至|减少到)[^。\d]{0,6}$",
    re.IGNORECASE,
)
_OF_CARDS = (_SIZED, _WITH_CARD, _OF_GPUS)
_ASKS = regex(r"\b(?:requir\w*|need\w*|at least|minimum|min\.?|about|approximately|around|nearly|roughly|uses?|used|using|usage|only|just(?=\s+\*{0,2}\d)|consum\w*|takes?|"
                   r"occup\w*|fits?|within|(?:trains?|training|trained|works?|running)\s+(?:in|on|with)(?=\s+\*{0,2}\d{1,3}\s?G)|(?<=[\w)`*]\s)(?:on|for)\s+(?:an?\s+|any\s+)?(?:machine|computer|workstation|server|laptop|desktop|PC)s?\s+(?:with|having)|less than|larger than|as (?:little|few|low) as|under|peak|recommend\w*|enough|sufficient\w*|runs?\s+(?:in|on|with)(?=\s+(?:just\s+|only\s+)?\*{0,2}\d))\b"
                   r"|[~≥>]|需要|至少|约|占用|只需|仅需|以上|左右|大概|建议|推荐|不少于|不低于|即可|足够|消耗|이상|필요|mindestens|al menos|au moins", re.IGNORECASE)  # fmt: skip
_DEMANDS = regex(
    r"\b(?:requir\w*|need\w*|at least|minimum|min\.?|recommend\w*|or (?:more|larger))\b|≥|>=|需要|至少|以上|建议|推荐|不少于|不低于|이상|필요|mindestens|al menos|au moins",
    re.IGNORECASE,
)
# Right behind an amount: "each with 60GB, is recommended".
_IS_ASKED = regex(
    r",?\s+(?:of\s+\w{1,10}\s+)?(?:is|are|in\s+the)\s+(?:strongly\s+|highly\s+)?(?:required|recommended|needed)\b",
    re.IGNORECASE,
)
_SUFFICES = regex(r"\s+(?:should|would|will)\s+be\s+(?:enough|sufficient)\b", re.IGNORECASE)
# What turns it round: "does not run on less than 24 GB", "unless you have 24 GB".
_LESS = r"(?:less|fewer|smaller|under|below|without|unless|until|if|except|only|but|beyond|minimum|lacking)\b"
# "does not work with 8GB", "won't fit on a 16GB GPU", "OOM on a 24 GB card": the size of a card that is too small.
_TOO_SMALL = regex(
    rf"(?:\b(?:not|cannot)|n['\u2019]t)\s+(?:\w{{1,12}}\s+)?(?:works?|fits?|run|train|load)\b(?:\s(?!{_LESS})[A-Za-z-]{{1,12}}){{0,4}}[\s~(]{{0,3}}$"
    rf"|\b(?:OOMs?|out[ -]of[ -]memory)\s(?:errors?\s)?(?:on|with|in)\s(?:(?!{_LESS})[A-Za-z-]{{1,12}}\s){{0,3}}$",
    re.IGNORECASE,
)
_LESS_THAN = regex(rf"(?<!\w){_LESS}\s(?:than\s)?(?:an?\s)?[~(]?$", re.IGNORECASE)
_IS_TOO_SMALL = regex(
    r"\s?G\w{0,9}\s+(?:of\s+)?(?:[A-Za-z-]{1,12}\s+){0,2}(?:(?:is|are|was|will|would|may|might)\s+not\s+(?:be\s+)?(?:enough|sufficient)|(?:isn|aren|wasn)['\u2019]t\s+(?:enough|sufficient)|(?:is|are|was)\s+(?:insufficient|too\s+(?:little|small)))\b",
    re.IGNORECASE,
)
_ITEM = regex(r"\s*(?:[-*•+]|\d{1,2}[.)])\s|[^.]{1,80}\.?$")  # of a list, or no more than a few words
# A question of a FAQ: its answer need not say what the amount is of.
_ASKED = regex(
    r"\bhow much\s+(?:GPU|VRAM|video|graphics)\b|\b(?:GPU|VRAM|GPU[- ]memory|memory)\s+(?:guidelines?|recommendations?)\b"
    r"|\b(?:VRAM|GPU(?:[- ]memory)?|^memory)\s+requirements?\b",
    re.IGNORECASE,
)
_MAIN_MEMORY = regex(
    r"(?:CPU|system|main|host)\s+(?:RAM|memory)|\bdisk\b|storage|dataset|download|\bRAM\b(?<!VRAM)(?<!GPU[ -]RAM)(?<!video RAM)(?<!graphics RAM)|\bsav(?:e|es|ed|ing)\b"
    r"|\bunified memory\b|\bMac(?:s|Books?|OS)?\b|\bApple\b|\bMPS\b|\bon (?:a )?CPU\b|\bIntel\b|\bXeon\b|\bCore i\d\b|\bRyzen\b",
    re.IGNORECASE,
)
# An amount of this in a sentence that also tells a card's: "less than 128GB CPU memory and less than 12GB GPU memory".
_OF_THE_MACHINE = regex(r"(?<!-)\b(?:CPU|system|host|main|disk)\b", re.IGNORECASE)
_BEHIND_GPUS = regex(
    r"\b(?:machine|server|node|instance|workstation|computer)s?\s(?:with|that has|having)\b[^.;]{0,60}\bGPUs?(?:,|,? and)\s{1,3}(?:at least\s)?$",
    re.IGNORECASE,
)
CHARACTERS_BEFORE = 160
_COMPARED_WORDS = regex(r"\b(?:compared\s+(?:to|with)|instead\s+of|down\s+from)\b", re.IGNORECASE)
_CARD_MEMORY = regex(
    r"VRAM|GPU[- ](?:mem|RAM)|RAM (?:on|per|in) (?:the |a |one |each )?(?:single )?GPU|\b(?:GPUs?|(?:graphics|video)\s+cards?)\s+(?:with|having)\b|显存",
    re.IGNORECASE,
)
_ANY_SIZE = regex(rf"(?<![\w.]){_SIZE}\b", re.IGNORECASE)
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
ONE_CARD = 80
# As every amount begins, whichever expression reads it: most sentences hold none, and are asked no more.
_MAY_SAY = regex(r"\d[\s-]?G", re.IGNORECASE)
BEFORE = 90  # characters in which what is said of an amount stands before it


@record(frozen=True, slots=True)
class MemoryPhrase:
    """An amount in GB that a sentence asks for. ``is_demanded``: with a word such as "requires"; ``is_offloaded``: it holds where weights wait in main memory."""

    size_gb: float
    is_demanded: bool
    is_offloaded: bool


def memory_phrases(line: str, heading: str = "") -> Iterator[MemoryPhrase]:
    """Yield the amounts of GPU memory that a sentence asks for, an item of a list of requirements, or the answer of a FAQ.

    None where it speaks of main memory or disks, or of no more than a card's size.
    """
    if not _MAY_SAY.search(line):
        return
    is_listed = bool(_ITEM.match(line)) and bool(REQUIREMENTS.search(heading))
    is_answer = bool(_ASKED.search(heading))
    if _MAIN_MEMORY.search(line) and not _CARD_MEMORY.search(line):
        return
    seen: set[float] = set()
    if (asked := _IF_LESS.search(line)) is not None:
        yield MemoryPhrase(float(asked[1] or asked[2]), is_demanded=True, is_offloaded=False)
        return
    for pattern in (*_PLAIN, *_TELLING, *((_ANY_SIZE,) if is_answer else ())):
        if pattern is _COMPARED and not _CARD_MEMORY.search(line):
            continue
        for match in pattern.finditer(line):
            around = line[max(0, match.start() - BEFORE) : match.end() + 10]
            size = float(match[1])
            is_asked = _IS_ASKED.match(line, match.end()) is not None
            is_told = is_listed or is_answer or is_asked or pattern in _TELLING
            asks = is_told or bool(_ASKS.search(around) or _SUFFICES.match(line, match.end()))
            if _is_too_small(line, match) or _is_of_the_machine(line, match, is_plain=pattern in _PLAIN):
                continue
            # More than a card holds is all cards' together, or, where no card is spoken of, the machine's.
            if size > ONE_CARD and (_OF_ALL_CARDS.search(line) or not _ON_CARDS.search(line)):
                continue
            if (
                pattern in _OF_CARDS
                and not match[0].endswith(")")
                and NAMED_BEFORE.search(line[: match.start()].rstrip(", "))
            ):
                continue  # "an A40 GPU (48GB VRAM)" tells the card, which ``card_phrases`` reads
            if asks and 1 <= size <= 400 and size not in seen:
                is_demanded = (is_listed or is_asked or bool(_DEMANDS.search(around))) and pattern is not _COMPARED
                if not is_demanded and _is_of_a_name(line[: match.start(1)]):
                    continue
                seen.add(size)
                yield MemoryPhrase(size, is_demanded, _is_offloaded(line, match.start(1), match.end(1)))


def _is_too_small(line: str, amount: re.Match[str]) -> bool:
    before = line[: amount.start(1)][-BEFORE:]
    if _LESS_THAN.search(before) is not None:
        return False
    return _TOO_SMALL.search(before) is not None or _IS_TOO_SMALL.match(line, amount.end(1)) is not None


def _is_of_the_machine(line: str, amount: re.Match[str], *, is_plain: bool) -> bool:
    """Whether an amount is said of the machine, or stands behind the GPUs that it has: "a machine with 4 GPUs, 64GB memory"."""
    if is_plain and _OF_THE_MACHINE.search(line[amount.start(1) : amount.end()][:40]) is not None:
        return True
    return _BEHIND_GPUS.search(line[: amount.start(1)][-CHARACTERS_BEFORE:]) is not None


def tells_a_saving(sentence: str) -> bool:
    """Whether a sentence says what to do where a card has less than the run takes: the sentences behind it are of that."""
    return _IF_LESS.search(sentence) is not None


def asks_for_memory(label: str) -> bool:
    """Whether a heading or label asks how much memory a card needs: what stands below it need not say so again."""
    return _ASKED.search(label) is not None


def in_gib(line: str) -> str:
    """Return a line with amounts as nvidia-smi prints them (``48346MiB``) in GiB."""
    return _MEBIBYTES.sub(lambda found: f"{int(found[1].replace(',', '')) / 1024:.1f} GiB", line)


def _is_of_a_name(before: str) -> bool:
    """Whether an amount is a part of a card's name ("measured on a V100-SXM2-32GB GPU"): it says which card, and not what was taken of it."""
    return before.endswith("-") and NAMED_BEFORE.search(before[-60:]) is not None


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
