"""Phrases in which documentation states hardware: a card, a number of GPUs, and what they are for."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import field

from gpu_lol_action.analysis.documents.card_names import export_name, find_card
from gpu_lol_action.analysis.documents.typed_words import without_typed
from gpu_lol_action.analysis.formats.cloud_instances import instance_in
from gpu_lol_action.analysis.formats.required_architectures import required_card
from gpu_lol_action.domain.named_cards import named_card_gib
from gpu_lol_action.domain.patterns import may_match, regex
from gpu_lol_action.domain.records import record

_SIZE = r"(\d{1,3}(?:\.\d{1,6})?)\s?(?:GB|GiB|G)"
_CARD = (r"(?:NVIDIA[\s-]+)?(?:(?:Kepler|Maxwell|Pascal|Volta|Turing|Ampere|Hopper|Blackwell)\s+)?(?:Tesla\s+|GeForce\s+|Quadro\s+)?(A100|A800|H100|H800|H200|H20|B[23]00|V100|RTX\s?PRO\s?6000|(?:RTX[\s-]?)?A(?:6000|5500|5000|4500|4000)|(?:RTX[\s-]?)?A40|"
         r"A10G?|A30|L40S?|L20|L4|T4|P100|P40|K80|(?:GTX[\s-]?)?1080\s?Ti|RTX[\s-]?8000|RTX[\s-]?6000(?=[\s(-]{0,3}24\s?GB)|(?:RTX[\s-]?)?(?:2080\s?Ti|(?:3060|3070|3080|3090|4060|4070|5060|5070)(?:\s?Ti\b)?|4080|4090D?|5080|5090D?)|RTX[\s-]?[2456]000[\s-]?Ada|"
         r"(?:GTX\s?)?Titan\s?(?:RTX|Xp|X|V|Black)|G[HB]200|GTX[\s-]?(?:9[78]0|10[678]0|1660)(?:\s?Ti)?|RTX[\s-]?20[678]0(?:\s?SUPER)?|(?<=Quadro )RTX[\s-]?[456]000|K40|M40|M60|GV100|(?<=Quadro )P[56]000|P6000)")  # fmt: skip
_CARD_SIZE = r"(?:(?:[\s(-]{0,3}|,\s(?=\d{2,3}\s?GB\sGPU))(?:SXM\d?|PCIe|Volta|Ampere|Hopper|Turing)?s?[\s(-]{0,3}(?:(?:GPUs?|graphics\s+cards?|cards?)(?:\s+with|,?\s+each\s+(?:with|having))\s+\*{0,2}|with\s+(?=\d{2,3}\s?GB?\s+(?:of\s+)?(?:GPU\s+)?(?:memory|VRAM)))?(\d{2,3})\s?GB?\b)?"
_LATIN = r"[A-Za-z0-9_]"  # Chinese and Japanese have no blank before a card's name
_MEDIA = r"\.(?:gif|png|jpe?g|svg|webp|mp4|mov|avi|wav|mp3|pdf)\b"  # the fourth picture of a README is `t4.gif`
_NUMBER = r"\d{1,3}|one|two|three|four|five|six|seven|eight|ten|sixteen|single|dual|pair\s+of"
# "1~2 V100", "one to four GPUs": of a range the smaller number is what a run needs.
_UP_TO = r"(?:\s?[~\uff5e]\s?|[-–—]|\s(?:to|or)\s|\s?[至到或]\s?)"
_COUNTED = regex(
    rf"(?<![A-Za-z0-9_.])((?:{_NUMBER}|a|[一单双两四八](?=[张块卡]))(?:{_UP_TO}(?:{_NUMBER}))?)\s?(?:[x×*张块卡]\s?|\s|,\s(?=\d{{2,3}}\s?GB\s))(?:(?:consumer|commodity|desktop|gaming|datacenter)(?:[- ]grade)?\s)?(?:GPUs?\s(?:of\s(?:type\s)?|\(\s?)?)?(?:(?:NVIDIA\s)?(\d{{2,3}})[\s-]?GB?[\s-]*(?:[\s-]|的)\s?)?{_CARD}s?{_CARD_SIZE}",
    re.IGNORECASE,
)
_COUNTED_BEHIND = regex(
    rf"(?<!{_LATIN}){_CARD}(?:s|\sGPUs?)?{_CARD_SIZE}\)?\s?\(?\s?[x×*]\s?(\d{{1,2}})\b(?!\s?(?:GB|speed|faster))",
    re.IGNORECASE,
)
_BARE = regex(
    rf"(?:(?<!{_LATIN})(?<!\.)(\d{{2,3}})[\s-]?GB?[\s-]*(?:[\s-]|的)\s?)?(?<!{_LATIN}){_CARD}{_CARD_SIZE}(?:(?<=0)s)?(?!{_LATIN}|{_MEDIA})",
    re.IGNORECASE,
)
NAMED_BEFORE = regex(rf"{_CARD}(?:[\s-]?(?:SXM\d?|PCIe))?[\s-]*$", re.IGNORECASE)
"""A card's name right before something else."""
_GPUS = regex(
    rf"(?<![\w.])(?<![a-z]-)((?:{_NUMBER})(?:{_UP_TO}(?:{_NUMBER}))?)(?:\s?[x×]\s?\d{{2,3}}\s?GB|\s\d{{2,3}}\s?GB?(?=\sGPU))?(?:\s?[x×]\s?|\s+(?:(?-i:[A-Z](?!i?B\b))\w+\s+)?|-?)GPUs?\b(?:[^.\n]{{0,12}}?{_SIZE})?",
    re.IGNORECASE,
)
_NODES = regex(r"\s*(?:GPU\s+)?(?:nodes|machines|servers)\b(?:\s*\(\s*(?:with\s+)?(\d{1,4})\s+GPUs?)?", re.IGNORECASE)
# "GPU memory: 3 × 80 GB", "fits on 4x24GB cards", "(2x48GB @ ~29GiB/GPU)", "8x80GB uses ~78GiB/gpu"
_GPUS_OF_SIZE = regex(
    rf"\b(?:VRAM|GPU[- ]memory|显存|GPUs?(?=\s?[:\uff1a]))[^.\n\d]{{0,20}}?(\d{{1,2}})\s?[x×*]\s?{_SIZE}\b"
    r"|(?<![\w.])(\d{1,2})\s?[x×*]\s?(?:16|24|32|40|48|64|80|96|141|180|192)\s?G(?:i?B)?\b"
    r"(?!\s?(?:files?|RAM|DDR\w*|disks?|SSDs?))(?=\s?@|\s+uses\b|[^.\n]{0,40}\b(?:GPUs?|VRAM|cards?)\b)",
    re.IGNORECASE,
)
# "8卡", "单卡训练", "4张显卡", "两块GPU"
_IN_CHINESE = r"(?:\d{1,2}|[一单双两四八])"
_GPUS_IN_CHINESE = regex(
    rf"(?<![A-Za-z0-9_.第每另同])({_IN_CHINESE}(?:{_UP_TO}{_IN_CHINESE})?)\s?(?:[张块]\s?(?:显卡|GPU)|卡(?!片))"
)
_RANGE = regex(rf"({_NUMBER}|{_IN_CHINESE}){_UP_TO}({_NUMBER}|{_IN_CHINESE})", re.IGNORECASE)
_WORDS = {"one": 1, "single": 1, "a": 1, "two": 2, "dual": 2, "pair of": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
          "ten": 10, "sixteen": 16, "一": 1, "单": 1, "双": 2, "两": 2, "四": 4, "八": 8}  # fmt: skip
_USED = regex(
    r"\b(?:train\w*|pre-?train\w*|fine-?tun\w*|experiments?|conducted|configured|node|machine|setup|our\s+hardware|single|tested|recommend\w*|requir\w*|need\w*|"
    r"run(?:s|ning)?|ran|serv(?:es?|ed|ing)|target(?:s|ed|ing)?|reproduc\w*|fits?|us(?:e|es|ed|ing)|utili[sz]\w*|employ(?:s|ed|ing)?|perform\w*|batch|benchmark(?:s|ed)?\s+on|Colab\w*|Kaggle|runtime\s+type|hours?|days?|minutes?|mins?|hrs?|\d{1,4}h|h(?=\s+on\b)|it/s|(?:steps|iters|images|samples|tokens)/s(?:ec)?"
    r"|entrenad\w+|treinad\w+|entra[iî]n\w+|trainiert\w*|обуч\w+)\b|训练|微调|采用|使用|需要|推荐|建议|要求|需求|租用|学習|使用|학습|훈련|사용|huấn luyện",
    re.IGNORECASE,
)
# "was tested on a machine with an A100", "for results in the paper we use 3090 GPUs": the card that the authors had.
_HAD = regex(
    r"\b(?:trained|tested|conducted|performed|fine-?tuned|experiments)\b(?:[^.;]|\.(?=\d))*$|\bwe\s+(?:used?|utili[sz]ed?|employ(?:ed)?)\b[^.;,]{0,40}$"
    r"|\b(?:ran|(?:was|were|been|is|are)\s+run)\s+on\b[^.;]{0,40}$|\b(?:run(?:s|ning)?|train(?:ing)?)\s+(?:\w{1,12}\s+){0,4}on\b[^.;]{0,30}$|\brecommend\w*\s+(?:to\s+use\s+|using\s+|on\s+)?(?:an?\s+|the\s+)?(?:NVIDIA\s+)?$|(?:\b(?:hours?|hrs?|days?|minutes?|mins?|weeks?|(?:it|(?:steps|iters|images|samples|tokens))/s(?:ec)?)|\d\s?h)\b[^.;]{0,24}\b(?:on|with|using)\b[^.;]{0,30}$"
    r"|\b(?:Colab\w*|Kaggle|runtime\s+type)\b[^.;]{0,24}$|\b(?:entrenad\w+|treinad\w+|entra[iî]n[ée]\w*|trainiert|обуч\w+)\b[^.;]{0,60}$|(?:huấn luyện|학습|훈련|学習)[^.;。]{0,30}$"
    r"|(?:训练|微调|实验|测试)[^。;]{0,16}(?:使用|采用|在|用)[^。;]{0,12}$|(?:使用|采用)[^。;]{0,12}$",
    re.IGNORECASE,
)
_TESTED = regex(r"\btested\b[^.;]{0,40}\b(?:GPUs?|cards?|on|with)\b", re.IGNORECASE)
# "4x A100 for training and an RTX 3090 for inference"
_HAD_FOR = regex(
    r"s?(?:\s(?:GPUs?|cards?))?\s(?:(?:is|are)\s)?(?:strongly\s|highly\s)?recommended\b|s?(?:\s?\(?\d{2,3}\s?GB?\)?)?(?:\s(?:GPUs?|cards?|machines?|nodes?))?\s(?:(?:was|were|is|are)\sused\s)?(?:for|during)\s(?:model\s|the\s)?(?:pre-?training|training|fine-?tuning|inference|evaluation|testing)\b",
    re.IGNORECASE,
)
# "- GPU: RTX 3090", "Hardware: 1 x A100 80GB": what the label is of needs no verb.
_LABELLED = regex(
    r"[\s*•+>-]{0,8}(?:(?:our|my|the|training|test(?:ing)?)\s)?(?:GPUs?|graphics?\scards?|hardware|machine|device|accelerator|environment|硬件|显卡|环境)"
    r"(?:\s(?:used|model|type|environment|set-?up))?(?:\*{0,2}\s{0,2}[:\uff1a]|\*{0,2}\s{1,2}[-–—]\s)",
    re.IGNORECASE,
)
_SENTENCE_END = regex(r"[.!?]\s+(?=[A-Z])|。")
CHARACTERS_BEFORE = 200
_MAY_NAME = regex(r"\d|titan", re.IGNORECASE)
# "a beefy GPU (RTX 3090 or higher)": the least that its author would take. A newer one is asked for of its generation.
_LEAST_CARD = regex(
    rf"\b{_CARD}s?(?:\s\d{{2,3}}\s?GB)?(?:\s(?:GPUs?|cards?))?\s(?:or|and)\s(?:higher|better|above|larger|bigger|more powerful)\b",
    re.IGNORECASE,
)
# "Training requires an A100", "an A100 is needed to run it": the work asks for it, and not a kernel or a number format.
_REQUIRED = regex(
    rf"\b(?:training|fine-?tuning|inference|it|you|this|we|models?|code|scripts?|running)\b(?:\s[\w-]{{1,14}}){{0,4}}\s(?:requires?|needs?)\s(?:at\sleast\s)?(?:an?|one)\s(?:single\s)?(?:NVIDIA\s|Tesla\s)?{_CARD}"
    rf"|\b{_CARD}(?:\s\d{{2,3}}\s?GB)?(?:\s(?:GPU|card))?\s(?:is|will\sbe)\s(?:required|needed|necessary)\s(?:for|to)\s(?:train|fine-?tun|run|infer|reproduc)",
    re.IGNORECASE,
)
ANY_CARD = regex(rf"(?<![/_-])(?<!{_LATIN}){_CARD}", re.IGNORECASE)
"""A card's name."""
_MEASURES = regex(
    r"\b(?:FPS|latency|throughput|tokens?/s\w*|it/s|img/s|ms\b|milliseconds?|speed(?:-?ups?)?\b|faster|profiling|TensorRT|ONNX)",
    re.IGNORECASE,
)
_TRAINING = regex(
    r"\b(?:(?:pre-?|re)?train(?!ed\s(?:\w{1,20}\s)?(?:models?|checkpoints?|weights?|networks?|adapters?|tokenizers?)\b)\w*|fine-?tun\w*|finetun\w*|reproduc\w*|SFT|DPO|GRPO|QLoRA|LoRA|dreambooth|entrenar|entrenad\w+|entrenamiento|trein(?:ar|o|ad\w+|amento)|entra[iî]n(?:er|ée?s?|ement)|trainiert\w*|(?:до)?обуч\w{2,})\b|训练|微调|学習(?!済)|학습(?!된)|훈련|huấn luyện|eğit(?:im|il)",
    re.IGNORECASE,
)
_INFERENCE = regex(
    r"\b(?:inf[eéê]r\w*|инференс\w*|generat\w*|server (?:requires|needs|takes)|sampl(?!\w{1,4} (?:lengths?|sizes?|rates?|data|code)\b)\w*|demo|serv(?:e|ing)|model[ _-]worker|chat|deploy\w*|predict\w*|text-to-\w+|transcri\w+|(?<=for )(?:testing|evaluation))\b|^\W{0,8}evaluat(?:e|ing|ion)\b|推理|推論|추론|部署|suy luận",
    re.IGNORECASE,
)
_QUANTIZED = regex(
    r"\bquanti[sz]\w*|\bint-?[48]\b|\b[48][- ]?bits?\b|\bQ[48]_\w+|\bGPTQ\b|\bAWQ\b|\bGGUF\b|\bNF4\b|量化",
    re.IGNORECASE,
)


_NOT_QUANTIZED = regex(
    r"\b(?:without|no|not|n't)\b(?:\s+\w+){0,2}\s+quanti[sz]\w*|(?:无|不|未|非|没有)(?:经过?)?量化", re.IGNORECASE
)


@record(frozen=True, slots=True)
class CardPhrase:
    """A card that a sentence names. ``count`` None: no number stands with it; ``is_run``: it is said to have run this; ``is_demanded``: it is asked for.

    ``is_had``: it is the card that the authors had, whether or not they say how many. ``export``: the name of one made for export.
    """

    card: str
    count: int | None
    is_sized: bool
    is_run: bool
    is_demanded: bool = False
    is_had: bool = field(default=False, compare=False)
    export: str = field(default="", compare=False)

    @property
    def shown(self) -> str:
        """The card, of one made for export with the name that stands there: ``A800 (an A100-80GB for export)``."""
        return f"{self.export} (an {self.card} for export)" if self.export else self.card


# "8x A100/H100 GPUs": what an H100 may take the place of has 80 GB as well.
_LIKE_AN_H100 = regex(
    r"\bA100s?(?=\s?(?:/|or|and)\s?(?:NVIDIA\s)?H[18]00s?\b(?![^.\n]{0,30}\b40\s?GB?\b))", re.IGNORECASE
)


def is_quantized(text: str) -> bool:
    """Whether a sentence speaks of quantized weights."""
    return bool(_QUANTIZED.search(text)) and not _NOT_QUANTIZED.search(text)


@functools.lru_cache(maxsize=256)  # a heading is asked about for each line below it
def purpose(text: str) -> str:
    """Return ``training`` or ``inference`` where a sentence or heading speaks of one of them only, else an empty text."""
    trains, infers = _TRAINING.search(text), _INFERENCE.search(text)
    if trains and not infers:
        return "training"
    return "inference" if infers and not trains else ""


def purposes_in(text: str) -> tuple[tuple[int, str], ...]:
    """Return each word of training or of running a model by where it stands."""
    words = [(found.start(), "training") for found in _TRAINING.finditer(text)]
    return tuple(sorted([*words, *((found.start(), "inference") for found in _INFERENCE.finditer(text))]))


def may_name(line: str) -> bool:
    """Whether a line may name a card, a type of machine, or an amount: all have a number, but for the Titans."""
    return _MAY_NAME.search(line) is not None


# Who writes of water or of a version writes so, too; of a fourth tensor or norm in small letters (``t4``, ``l4``).
_LIKE_OTHER_THINGS = frozenset({"H20", "L20"})
_SHORT = 2
_OF_CARDS = regex(r"\bGPUs?\b|NVIDIA|\bcards?\b|\bVRAM\b|[显张]卡|\bCUDA\b", re.IGNORECASE)
_DGX = regex(r"\b[DH]GX[\s-](?:A100|H[12]00|B200)\b")
CARDS_OF_A_DGX = 8  # NVIDIA's data sheets; the station has four, and another name
_TWICE = regex(r"\b(?:one|two|four|eight|sixteen)\s\((\d{1,2})\)(?=\s)", re.IGNORECASE)  # "eight (8) A100 GPUs"
_MAKER = regex(r"(?<!\w)(NVIDIA|Tesla|GeForce|Quadro)_(?=[A-Z])", re.IGNORECASE)  # as a path or a label spells it


def card_phrases(line: str, heading: str = "") -> Iterator[CardPhrase]:
    """Yield the cards that a sentence names: those with a number, else the first one, or that of the architecture which it requires."""
    if (least := required_card(line, heading)) is not None:
        yield CardPhrase(least, None, is_sized=True, is_run=True, is_demanded=True, is_had=True)
        return
    if not may_name(line):
        return
    line = _TWICE.sub(r"\1", _MAKER.sub(r"\1 ", without_typed(line)))
    is_named = may_match(ANY_CARD, line)
    if not is_named and instance_in(line) is None:
        return
    line = _LIKE_AN_H100.sub(r"\g<0> 80GB", line)
    is_labelled = _LABELLED.match(line) is not None
    is_run = (is_labelled or bool(_USED.search(line))) and not _measures(line)
    is_least = is_named and is_run and (_LEAST_CARD.search(line) or _REQUIRED.search(line)) is not None
    is_demanded = is_least or (
        is_run and bool(regex(r"\b(?:requir|need|at least|minimum)\w*", re.IGNORECASE).search(line))
    )
    is_had = is_least or (is_named and is_run and (is_labelled or _is_had(line)))
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
            each = None if number.lower() == "a" else count
            yield CardPhrase(card, each, bool(size), is_run, is_demanded, is_had, export_name(name))
    if counted:
        return
    bare = _BARE.search(line)
    size = (bare[3] or bare[1]) if bare else None
    card = find_card(bare[2], size) if bare else None
    if (smallest := _least_tested(line)) is not None:
        card, size = smallest
    is_short = bare is not None and len(bare[2]) == _SHORT and bare[2].islower()
    if (card in _LIKE_OTHER_THINGS or is_short) and not size and _OF_CARDS.search(line) is None:
        card = None
    if card is not None:
        count = CARDS_OF_A_DGX if _DGX.search(line) is not None else None
        named = export_name(bare[2]) if bare is not None and smallest is None else ""
        yield CardPhrase(card, count, bool(size), is_run, is_demanded, is_had, named)
    elif (instance := instance_in(line)) is not None:
        yield CardPhrase(instance[1], instance[2], True, is_run, is_demanded, is_had)


def _measures(line: str) -> bool:
    """Whether the sentences of a line that name a card tell how fast something is."""
    naming = [sentence for sentence in _SENTENCE_END.split(line) if ANY_CARD.search(sentence)]
    return any(map(_MEASURES.search, naming or (line,)))


def _least_tested(line: str) -> tuple[str, str | None] | None:
    """Return the smallest of several cards that a program was tested on, and its size if that is said: "Tested GPUs: A100(80G) / RTX 4090 (24G)"."""
    if _TESTED.search(line) is None:
        return None
    named = [(find_card(found[2], found[3] or found[1]), found[3] or found[1]) for found in _BARE.finditer(line)]
    known = [(card, size) for card, size in named if card is not None]
    return min(known, key=lambda pair: named_card_gib(pair[0])) if len(known) > 1 else None


def _is_had(line: str) -> bool:
    """Whether words such as "tested on" stand before a card in its sentence, or right behind it what it was used for."""
    named = ANY_CARD.finditer(line)
    return any(
        _HAD.search(line[max(0, found.start() - CHARACTERS_BEFORE) : found.start()])
        or _HAD_FOR.match(line, found.end())
        for found in named
    )


def _per_machine(number: str, behind: str) -> str:
    """Return a count of cards as it stands; of "4 A100 nodes (32 GPUs)", whose number counts machines, the cards of each."""
    of_machines = _NODES.match(behind)
    if of_machines is None:
        return number
    nodes, cards = count_of(number) or 0, int(of_machines[1] or 0)
    return str(cards // nodes) if nodes and cards and cards % nodes == 0 else "a"


def gpu_number(line: str) -> int | None:
    """Return the number of GPUs that a sentence names without a card."""
    line = without_typed(line)
    plain = _GPUS.search(line) or _GPUS_IN_CHINESE.search(line)
    return count_of(plain[1]) if plain else None


def gpus_of_size(line: str) -> int | None:
    """Return the number of cards by which a sentence multiplies the memory of one (``GPU memory: 3 × 80 GB``)."""
    found = _GPUS_OF_SIZE.search(line)
    return count_of(found[1] or found[found.re.groups]) if found else None


def count_of(word: str | None) -> int | None:
    """Return a number from 1 to 64 written as digits or as a word; of a range the smaller one."""
    if not word:
        return None
    if (ends := _RANGE.fullmatch(word)) is not None:
        return min((number for end in ends.groups() if (number := count_of(end))), default=None)
    number = _WORDS.get(" ".join(word.lower().split())) or (int(word) if word.isdigit() else 0)
    return number if 1 <= number <= 64 else None
