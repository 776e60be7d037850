"""A README that tells of the work being done on a CPU ("The runtime for 1200 steps on CPU is ...") and never of a card that helps."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.documents.silent_readme import root_readmes, speaks_of_a_card
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.promised_without import ELSEWHERE, PROMISE
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

LINES_OF_README = 400
_ON_CPU = regex(r"\bon Intel\W{0,4}(?:\(R\)\s?)?Xeon\b|\bon (?:(?:a|the|your|any|one|just|standard|normal|single|ordinary|modest|desktop|multi-?core) ){0,3}CPUs?\b", re.IGNORECASE)  # fmt: skip
_WORK = regex(
    r"\b(?:train(?:ed|ing|s)?|fit(?:ted|ting)?|infer(?:ence)?|models?|networks?|classifiers?|runtime|takes?|steps|epochs?|seconds|minutes|hours|(?:can|may) be run|runs? (?:fast|well|fine))\b",
    re.IGNORECASE,
)
_DENIES = regex(
    r"\b(?:does|do|did)(?: not|n't) (?:need|require) (?:a |any |an? \w{1,12} )?GPUs?\b|\bwithout (?:the need (?:for|of) a |needing a )GPU\b"
    r"|(?:不需要|无需|不用|不依赖|無需|不需)(?:任何|独立|高性能)?\s?(?:的\s?)?(?:GPU|显卡)|没有\s?(?:GPU|显卡)\s?(?:也|亦)\s?(?:可|能)"
    r"|GPU\s?(?:は|が)?\s?(?:不要|必要ありません|必要ない|なしで)|GPU\s?(?:가|는|이)?\s?(?:필요\s?없|불필요)"
    r"|\b(?:a |the )?CPU (?:is|are|will be) (?:enough|sufficient|all you need)\b|\bCPUs? (?:suffices?|only is sufficient)\b",
    re.IGNORECASE,
)
_ALL_ON_CORES = regex(
    r"\b(?:all|every|the) computations? (?:is|are|will be|runs?) (?:performed |done |executed |run |carried out )?on (?:the |a )?CPUs?\b"
    r"|\bdefaults? to run(?:ning)? in an? (?:pure |plain )?CPU environment\b",
    re.IGNORECASE,
)
# So it is where there is no card, or where a switch says so.
# What needs none is one step, or somebody else's page; what comes next needs one.
_OF_A_PART = regex(
    r"\b(?:build|prepar|pre-?process|download|install|convert|pars|collect|label|annotat|visuali[sz]|evaluat|test)\w{0,8}\b|\b(?:web|page|UI|client|demo|step|colab|hosted|online)\b"
    r"|\b(?:does|must|(?:needs?|requires?) (?:a|an|one|at least|\d))\b",
    re.IGNORECASE,
)
_ON_CONDITION = regex(
    r"\b(?:if|when|unless|otherwise|else|without|instead|fall(?:s)? ?back|until|no (?:[A-Za-z]{1,20} )?(?:GPUs?|CUDA|device)|flags?|options?|slow\w*|not)\b"
    r"|(?<!\w)--?[a-z]",
    re.IGNORECASE,
)
LINES_OF_TITLE = 30
_TITLE = regex(r"\s{0,4}(?:#{1,2}\s|<h[12]\b)", re.IGNORECASE)
_ADDRESS = regex(r"!?\[[^\]]{0,200}\]\([^)]{0,400}\)|<[^>]{0,300}>")
_FOR_CORES = regex(r"\bCPUs?\b")
# Parts of the work, or what a card's program is set beside.
_FOR_MORE = regex(
    r"\b(?:GPUs?|CUDA|TPUs?|NPUs?|off-?load\w*|bench\w*|profil\w*|vs\.?|versus|hybrid|heterogeneous)\b", re.IGNORECASE
)
_ENDS = regex(r"\.(?=\s)|\n\s*\n|\n(?=\s{0,8}(?:[-*+#>|]|\d{1,3}\.)\s)")
_REACH = 300
_TRAINS = regex(r"\btrain", re.IGNORECASE)
# What is done there because nothing better is at hand, or beside the work.
_ASIDE = regex(
    r"\bnot\b|n't\b|slow|otherwise|instead|fall(?:s)? ?back|debug|offload|pre-?process|decod|data ?load|environments? runs?|simulat|"
    r"\bif\b|\bonly (?:supports?|works?)\b|\bcolab\b",
    re.IGNORECASE,
)


def done_on_cores(checkout: Checkout, *, is_training: bool) -> Evidence | None:
    """Return where the README at the root says so, if nothing in a README there speaks of a card; else None.

    ``is_training``: of a training, a promise that no GPU is needed says something only where it speaks of training.
    """
    readmes = root_readmes(checkout)
    if not any(source.mentions(word) for source in readmes for word in ("CPU", "GPU", "Xeon")):
        return None
    found: Evidence | None = None
    for readme in readmes:
        lines = readme.text.split("\n")
        promised = [
            number
            for number, line in enumerate(lines[:LINES_OF_README], 1)
            if _is_promise(line, is_training=is_training)
        ]
        rest = "\n".join(
            _DENIES.sub("", PROMISE.sub("", line)) if "GPU" in line or "显卡" in line else line for line in lines
        )
        if speaks_of_a_card(rest):
            return None
        found = found or (Evidence(readme.path, promised[0]) if promised else None)
    return found


def all_on_cores(checkout: Checkout) -> Evidence | None:
    """Return where a README at the root says that all computations are done on the CPU, whatever an experiment beside them does."""
    for readme in root_readmes(checkout):
        if not readme.mentions("CPU"):
            continue
        for said in _ALL_ON_CORES.finditer(readme.text):
            if _ON_CONDITION.search(_sentence(readme.text, said.start(), said.end())) is None:
                return Evidence(readme.path, readme.text.count("\n", 0, said.start()) + 1)
    return None


def titled_for_cores(checkout: Checkout) -> Evidence | None:
    """Return where the title of the README at the root says that it is made for a CPU ("Running Llama 2 on CPU inference")."""
    for readme in root_readmes(checkout):
        lines = readme.text.split("\n", LINES_OF_TITLE)[:LINES_OF_TITLE]
        number, title = next(((n, line) for n, line in enumerate(lines, 1) if _TITLE.match(line)), (0, ""))
        title = _ADDRESS.sub("", title)
        if _FOR_CORES.search(title) is not None and _FOR_MORE.search(title) is None:
            return Evidence(readme.path, number)
    return None


def _sentence(text: str, start: int, end: int) -> str:
    """Return the sentence around a place of a text, as far as it goes in some lines."""
    before, behind = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    return _ENDS.split(before)[-1] + text[start:end] + _ENDS.split(behind)[0]


def denies_need(checkout: Checkout) -> Evidence | None:
    """Return where a README at the root says in so many words that no GPU is needed, whatever else one would speed up."""
    for readme in root_readmes(checkout):
        for number, line in enumerate(readme.text.split("\n")[:LINES_OF_README], 1):
            plain = line.replace("*", "")
            if "GPU" in line and _DENIES.search(plain) is not None and not _OF_A_PART.search(_DENIES.sub("", plain)):
                return Evidence(readme.path, number)
    return None


def _is_promise(line: str, *, is_training: bool) -> bool:
    if PROMISE.search(line) is not None or _DENIES.search(line) is not None:
        return ELSEWHERE.search(line) is None and (not is_training or _TRAINS.search(line) is not None)
    return _ON_CPU.search(line) is not None and _WORK.search(line) is not None and _ASIDE.search(line) is None
