"""Phrases in which documentation states hardware: an amount of GPU memory, a card, a number of GPUs, and what they are for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.named_cards import find_named_card

_SIZE = r"(\d{1,3}(?:\.\d{1,6})?)\s?(?:GB|GiB|G)"
_KIND = r"(?:GPU\s+)?(?:VRAM|GPU[- ]memory|GPU\s+RAM|video memory|memory|GPU|显存)"
_MEMORY = (
    re.compile(rf"\b{_SIZE}\b[^.|\n]{{0,20}}?(?:\b|(?<=\s)){_KIND}", re.IGNORECASE),
    re.compile(
        rf"\b(?:VRAM|GPU[- ]memory|GPU\s+RAM|video memory)\b[^.\n]{{0,40}}?\b{_SIZE}\b(?!\s+(?:of\s+)?(?:system\s+|CPU\s+)?RAM)",
        re.IGNORECASE,
    ),
    # "on two 24GB GPUs", "on a single 48 GB GPU"
    re.compile(
        rf"\b(?:on|with)\s+(?:just\s+|only\s+)?(?:an?|one|a\s+single|single|two|dual|four|eight|\d{{1,2}})[\sx×]+(?:consumer\s+)?{_SIZE}\s+GPUs?\b",
        re.IGNORECASE,
    ),
    # "consumer GPUs (24GB+)", "8 GPUs (80GB of VRAM)", "one GPU with 16 GB memory", "GPUs with 40GB each"
    re.compile(
        rf"\bGPUs?\s?(?:\(|(?:with|having)\s+(?:at\s+least\s+)?)\s?[~≥>]?\s?{_SIZE}\+?(?:\s+(?:of\s+)?(?:VRAM|memory)\b|\s+each\b|\s?\))",
        re.IGNORECASE,
    ),
    # "2x 16GB GPUs", "4 × 32 GB GPU"
    re.compile(rf"(?<![\w.])\d{{1,2}}\s?[x×]\s?{_SIZE}\s+GPUs?\b", re.IGNORECASE),
    # "GPU memory: ≥3×80GB (4×80GB recommended)", "VRAM: 2x24 GB"
    re.compile(rf"\b(?:VRAM|GPU[- ]memory|显存)\b[^.\n\d]{{0,20}}?\d{{1,2}}\s?[x×*]\s?{_SIZE}\b", re.IGNORECASE),
    # "within the memory budget of 16GB and 1 GPU card"
    re.compile(
        rf"\bmemory\s+(?:budget|limit|footprint)s?\s+(?:of|is)\s+(?:about\s+)?{_SIZE}\b(?=.{{0,40}}GPU)", re.IGNORECASE
    ),
    re.compile(rf"显存[^。\n]{{0,20}}?{_SIZE}", re.IGNORECASE),
    # "a GPU with a significant amount of memory (24GB)"
    re.compile(rf"\bGPUs?\b[^.\n]{{0,60}}?\bmemory\s?\(\s?[~≥>]?\s?{_SIZE}\+?\s?\)", re.IGNORECASE),
    # "Reserved memory: 22.5 GB", as torch.cuda.max_memory_reserved() is printed
    re.compile(rf"\b(?:reserved|allocated)\s+memory\b[^.|\n]{{0,12}}?\b{_SIZE}\b", re.IGNORECASE),
    # "about 20GB of RAM on a single GPU", "35GB of RAM per GPU"
    re.compile(rf"\b{_SIZE}\s+of\s+RAM\s+(?:on|per|in)\s+(?:(?:a|the|one|each)\s+)?(?:single\s+)?GPU\b", re.IGNORECASE),
    # "9 GB of GPU memory, compared to 27 GB without offloading"
    re.compile(
        rf"\b(?:compared\s+(?:to|with)|instead\s+of|down\s+from)\s+(?:about\s+|around\s+)?[~]?{_SIZE}\b", re.IGNORECASE
    ),
)
_ASKS = re.compile(r"\b(?:requir\w*|need\w*|at least|minimum|min\.?|about|approximately|around|uses?|used|using|only|consum\w*|takes?|"
                   r"occup\w*|fits?|less than|as little as|under|peak|recommend\w*|enough|sufficient\w*)\b|[~≥>]|需要|至少|约|占用", re.IGNORECASE)  # fmt: skip
_DEMANDS = re.compile(r"\b(?:requir\w*|need\w*|at least|minimum|min\.?|recommend\w*)\b|≥|需要|至少", re.IGNORECASE)
_ITEM = re.compile(r"\s*[-*•]\s")
_REQUIREMENTS = re.compile(r"\brequirements?\b", re.IGNORECASE)
_MAIN_MEMORY = re.compile(
    r"(?:CPU|system|main|host)\s+(?:RAM|memory)|\bdisk\b|storage|dataset|download|\bRAM\b(?<!VRAM)(?<!GPU RAM)|\bsav(?:e|es|ed|ing)\b"
    r"|\bunified memory\b|\bMac(?:s|Books?|OS)?\b|\bApple\b|\bMPS\b",
    re.IGNORECASE,
)
_CARD = (r"(?:NVIDIA[\s-]+)?(?:Tesla\s+|GeForce\s+|Quadro\s+)?(A100|A800|H100|H800|H20|H200|B200|V100|RTX\s?PRO\s?6000|A6000|RTX[\s-]?A6000|A5000|A40|"
         r"A10G?|A30|L40S?|L4|T4|P100|P40|K80|(?:GTX[\s-]?)?1080\s?Ti|RTX\s?8000|(?:RTX[\s-]?)?(?:2080\s?Ti|3060|3070|3080\s?Ti|3080|3090|4060|4070|4080|4090|5090)|RTX\s?6000\s?Ada|"
         r"(?:GTX\s?)?Titan\s?(?:RTX|Xp|X|V|Black)|GTX[\s-]?(?:9[78]0|10[678]0|1660)(?:\s?Ti)?|RTX[\s-]?20[678]0(?:\s?SUPER)?|(?<=Quadro )RTX[\s-]?[456]000|K40|M40|M60|GV100|(?<=Quadro )P[56]000|P6000)")  # fmt: skip
_CARD_SIZE = r"(?:[\s(-]{0,3}(?:SXM\d?|PCIe)?s?[\s(-]{0,3}(?:GPUs?\s+with\s+\*{0,2})?(\d{2,3})\s?GB?\b)?"
_NUMBER = r"\d{1,3}|one|two|three|four|five|six|seven|eight|ten|sixteen|single|dual|pair\s+of"
_COUNTED = re.compile(
    rf"(?<![A-Za-z0-9_.])({_NUMBER}|a)\s?(?:[x×*张块卡]\s?|\s)(?:GPUs?\s)?(?:(\d{{2,3}})\s?GB?[\s-]+)?{_CARD}s?{_CARD_SIZE}",
    re.IGNORECASE,
)
_COUNTED_BEHIND = re.compile(
    rf"\b{_CARD}{_CARD_SIZE}\)?\s?\(?\s?[x×*]\s?(\d{{1,2}})\b(?!\s?(?:GB|speed|faster))", re.IGNORECASE
)
_BARE = re.compile(rf"\b{_CARD}{_CARD_SIZE}\b(?!\w)", re.IGNORECASE)
_GPUS = re.compile(
    rf"(?<![\w.])(?<![a-z]-)({_NUMBER})(?:\s?[x×]\s?\d{{2,3}}\s?GB)?(?:\s+(?:(?-i:[A-Z])\w+\s+)?|-?)GPUs?\b(?:[^.\n]{{0,12}}?{_SIZE})?",
    re.IGNORECASE,
)
_NODES = re.compile(
    r"\s*(?:GPU\s+)?(?:nodes?|machines?|servers?)\b(?:\s*\(\s*(?:with\s+)?(\d{1,4})\s+GPUs?)?", re.IGNORECASE
)
# "8卡", "单卡训练", "4张显卡", "两块GPU"
_GPUS_OF_SIZE = re.compile(
    rf"\b(?:VRAM|GPU[- ]memory|显存)\b[^.\n\d]{{0,20}}?(\d{{1,2}})\s?[x×*]\s?{_SIZE}\b", re.IGNORECASE
)
_GPUS_IN_CHINESE = re.compile(r"(?<![A-Za-z0-9_.])(\d{1,2}|[单双两四八])\s?(?:[张块]\s?(?:显卡|GPU)|卡)")
_WORDS = {"one": 1, "single": 1, "a": 1, "two": 2, "dual": 2, "pair of": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
          "ten": 10, "sixteen": 16, "单": 1, "双": 2, "两": 2, "四": 4, "八": 8}  # fmt: skip
_USED = re.compile(
    r"\b(?:train\w*|pre-?train\w*|fine-?tun\w*|experiments?|conducted|configured|node|machine|setup|tested|recommend\w*|requir\w*|need\w*|"
    r"run(?:s|ning)?|reproduc\w*|fits?|us(?:e|es|ed|ing)|perform\w*|batch)\b",
    re.IGNORECASE,
)
_MEASURES = re.compile(
    r"\b(?:FPS|latency|throughput|tokens?/s\w*|it/s|img/s|ms\b|milliseconds?|speed(?:up)?|faster|profiling|TensorRT|ONNX)",
    re.IGNORECASE,
)
_TRAINING = re.compile(
    r"\b(?:pre-?train\w*|(?:re)?train\w*|fine-?tun\w*|finetun\w*|reproduc\w*|SFT|DPO|GRPO|QLoRA|LoRA|dreambooth)\b|训练|微调",
    re.IGNORECASE,
)
_INFERENCE = re.compile(
    r"\b(?:infer\w*|generat\w*|sampl(?!\w{1,4} (?:lengths?|sizes?|rates?|data|code)\b)\w*|demo|serv(?:e|ing)|chat|deploy\w*|predict\w*|text-to-\w+|transcri\w+)\b|推理|部署",
    re.IGNORECASE,
)
_QUANTIZED = re.compile(
    r"\bquanti[sz]\w*|\bint-?[48]\b|\b[48][- ]?bits?\b|\bQ[48]_\w+|\bGPTQ\b|\bAWQ\b|\bGGUF\b|\bNF4\b|量化",
    re.IGNORECASE,
)


_NOT_QUANTIZED = re.compile(r"\b(?:without|no|not|n't)\b(?:\s+\w+){0,2}\s+quanti[sz]\w*", re.IGNORECASE)
_COMPARED, _SIZED = _MEMORY[-1], _MEMORY[3]
_NAMED_BEFORE = re.compile(rf"{_CARD}[\s-]*$", re.IGNORECASE)
_COMPARED_WORDS = re.compile(r"\b(?:compared\s+(?:to|with)|instead\s+of|down\s+from)\b", re.IGNORECASE)
_CARD_MEMORY = re.compile(
    r"VRAM|GPU[- ]memory|RAM (?:on|per|in) (?:the |a |one |each )?(?:single )?GPU|显存", re.IGNORECASE
)
_ANY_SIZE = re.compile(rf"(?<![\w.]){_SIZE}\b", re.IGNORECASE)
_OFFLOADS = re.compile(r"off-?load", re.IGNORECASE)
_NOT_OFFLOADS = re.compile(
    r"\b(?:without|no|not|disabl\w+)\b[^,;]{0,30}off-?load|off-?load\w*\b[^,;.]{0,20}\b(?:not|disabled|off)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MemoryPhrase:
    """An amount in GB that a sentence asks for. ``is_demanded``: with a word such as "requires"; ``is_offloaded``: it holds where weights wait in main memory."""

    size_gb: float
    is_demanded: bool
    is_offloaded: bool


@dataclass(frozen=True, slots=True)
class CardPhrase:
    """A card that a sentence names. ``count`` None: no number stands with it; ``is_run``: it is said to have run this; ``is_demanded``: it is asked for."""

    card: str
    count: int | None
    is_sized: bool
    is_run: bool
    is_demanded: bool = False


# What is said to be the sum over several cards.
_OF_ALL_CARDS = re.compile(
    r"\b(?:total|combined|aggregate)\b[^.]{0,30}\bmemory|memory (?:in total|across (?:your|all|the|several|multiple))\b",
    re.IGNORECASE,
)
ONE_CARD = 80


def is_quantized(text: str) -> bool:
    """Whether a sentence speaks of quantized weights."""
    return bool(_QUANTIZED.search(text)) and not _NOT_QUANTIZED.search(text)


def purpose(text: str) -> str:
    """Return ``training`` or ``inference`` where a sentence or heading speaks of one of them only, else an empty text."""
    trains, infers = _TRAINING.search(text), _INFERENCE.search(text)
    if trains and not infers:
        return "training"
    return "inference" if infers and not trains else ""


def memory_phrases(line: str, heading: str = "") -> Iterator[MemoryPhrase]:
    """Yield the amounts of GPU memory that a sentence asks for, or an item of a list of requirements.

    None where it speaks of main memory or disks, or of no more than a card's size.
    """
    is_listed = bool(_ITEM.match(line)) and bool(_REQUIREMENTS.search(heading))
    if _MAIN_MEMORY.search(line) and not _CARD_MEMORY.search(line):
        return
    seen: set[float] = set()
    for pattern in _MEMORY:
        if pattern is _COMPARED and not _CARD_MEMORY.search(line):
            continue
        for match in pattern.finditer(line):
            around = line[max(0, match.start() - 90) : match.end() + 10]
            size = float(match[1])
            asks = bool(_ASKS.search(around)) or pattern in _MEMORY[2:7] or pattern in _MEMORY[-3:]
            if size > ONE_CARD and _OF_ALL_CARDS.search(line):
                continue
            if pattern is _SIZED and not match[0].endswith(")") and _NAMED_BEFORE.search(line[: match.start()]):
                continue  # "an A40 GPU (48GB VRAM)" tells the card, which ``card_phrases`` reads
            if (asks or is_listed) and 1 <= size <= 400 and size not in seen:
                seen.add(size)
                is_demanded = (is_listed or bool(_DEMANDS.search(around))) and pattern is not _COMPARED
                yield MemoryPhrase(size, is_demanded, _is_offloaded(line, match.start(1), match.end(1)))


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
    return bool(_OFFLOADS.search(near)) and not _NOT_OFFLOADS.search(near)


def is_offloaded(text: str) -> bool:
    """Whether a row or heading speaks of weights that wait in main memory."""
    return bool(_OFFLOADS.search(text)) and not _NOT_OFFLOADS.search(text)


def card_phrases(line: str) -> Iterator[CardPhrase]:
    """Yield the cards that a sentence names: those with a number, else the first one."""
    is_run = bool(_USED.search(line)) and not _MEASURES.search(line)
    is_demanded = is_run and bool(re.search(r"\b(?:requir|need|at least|minimum)\w*", line, re.IGNORECASE))
    counted = False
    before = [
        (match[3], match[4] or match[2], _per_machine(match[1], line[match.end() :]))
        for match in _COUNTED.finditer(line)
    ]
    behind = [(match[1], match[2], match[3]) for match in _COUNTED_BEHIND.finditer(line)]
    for name, size, number in before or behind:
        card, count = find_card(name, size), count_of(number)
        if card is not None and count is not None:
            counted = True
            yield CardPhrase(card, None if number.lower() == "a" else count, bool(size), is_run, is_demanded)
    if counted:
        return
    bare = _BARE.search(line)
    card = find_card(bare[1], bare[2]) if bare else None
    if bare is not None and card is not None:
        yield CardPhrase(card, None, bool(bare[2]), is_run, is_demanded)


def _per_machine(number: str, behind: str) -> str:
    """Return a count of cards as it stands; of "4 A100 nodes (32 GPUs)", whose number counts machines, the cards of each."""
    of_machines = _NODES.match(behind)
    if of_machines is None:
        return number
    nodes, cards = count_of(number) or 0, int(of_machines[1] or 0)
    return str(cards // nodes) if nodes and cards and cards % nodes == 0 else "a"


def gpu_number(line: str) -> int | None:
    """Return the number of GPUs that a sentence names without a card."""
    plain = _GPUS.search(line) or _GPUS_IN_CHINESE.search(line)
    return count_of(plain[1]) if plain else None


def gpus_of_size(line: str) -> int | None:
    """Return the number of cards by which a sentence multiplies the memory of one (``GPU memory: 3 × 80 GB``)."""
    found = _GPUS_OF_SIZE.search(line)
    return count_of(found[1]) if found else None


def count_of(word: str | None) -> int | None:
    """Return a number from 1 to 64 written as digits or as a word."""
    if not word:
        return None
    number = _WORDS.get(" ".join(word.lower().split())) or (int(word) if word.isdigit() else 0)
    return number if 1 <= number <= 64 else None


def find_card(name: str, size: str | None) -> str | None:
    """Return the table's name of a card; A100 without a size stays the one with 40 GB."""
    bare = re.sub(r"^([AH])800$", r"\g<1>100", re.sub(r"[\s-]+", " ", name.strip().upper()))
    found = find_accelerator(f"{bare}-{size}GB") if size else None
    found = found or find_accelerator(bare) or find_accelerator(f"RTX{bare}") or find_accelerator(bare.replace(" ", ""))
    return found.name if found else find_named_card(bare)
