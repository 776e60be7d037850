"""What one line of prose states of hardware: the amounts of memory that it asks for, the cards that it names, how many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gpu_lol_action.analysis.documents.clause_purposes import clauses
from gpu_lol_action.analysis.documents.counted_cases import is_of_none, told_as
from gpu_lol_action.analysis.documents.documented_amounts import (
    MemoryPhrase,
    in_plain_amounts,
    memory_phrases,
    tells_a_saving,
)
from gpu_lol_action.analysis.documents.documented_cells import field_of
from gpu_lol_action.analysis.documents.documented_phrases import (
    ANY_CARD,
    CardPhrase,
    card_phrases,
    gpu_number,
    gpus_of_size,
    is_quantized,
    purpose,
)
from gpu_lol_action.analysis.documents.sized_cards import is_sum, with_size
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

SENTENCE_END = regex(r"(?<=[A-Za-z)*`])(?<!\bi\.e)(?<!\be\.g)(?<!\bw\.r\.t)[.;!?]\s+|。")
# An entry of a list of news speaks of what was released on that day, mostly another model or size.
NEWS = regex(
    r"^\s{0,6}[-*+]?[\s\[(*_`~]{0,6}\W{0,4}(?:\d{4}[./-]\d{1,2}(?:[./-]\d{1,2})?|"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?\s+\d{1,2},?\s+\d{4}|"
    r"\d{1,2}\s+(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?,?\s+\d{4})\b",
    re.IGNORECASE,
)
# Whoever thanks for cards tells what was lent to them, not what a run needs.
_THANKS = regex(
    r"\b(?:grateful|gratitude|generous(?:ly)?|sponsor(?:s|ed|ing|ship)?|acknowledg\w{0,8}|donat(?:ed|ing|ion))\b"
    r"|\bthank(?:s|ful)?\b.{0,160}\b(?:provid|support|grant|offer|lend|lent|access|resource|comput)|致谢|感谢|鸣谢",
    re.IGNORECASE,
)
_OF_NEWS = regex(r"\b(?:change\s?log|release notes?|what'?s new|news|history)\b", re.IGNORECASE)
# What else its authors, or others, have made.
_OF_OTHERS = regex(
    r"\b(?:other|related|similar)\s(?:\w{1,14}\s)?(?:applications?|projects?|works?|tools?|repositor(?:y|ies)|repos)\b|友情链接|相关项目",
    re.IGNORECASE,
)
# "may not run on a consumer GPU like Tesla T4": the card that does not do.
_DOES_NOT_DO = regex(
    rf"\b(?:(?:may|does|do|will|can|could|might|would)\s?not|(?:does|do|wo|ca)n['’]t)\s(?:\w{{1,12}}\s)?(?:run|work|fit|train|suffice)\b[^.;,]{{0,60}}{ANY_CARD.pattern}",
    re.IGNORECASE,
)
# An item that is but a link says the title of something else.
_ELSEWHERE = regex(r"\s{0,6}[-*+]\s{1,4}\[[^\]]{0,300}\]\([^)\s]{0,500}\)[.\s]*$")
# An item that begins with a link to a repository speaks of that one.
_OF_ANOTHER = regex(r"\s{0,6}[-*+]\s[^\[\n]{0,20}\[[^\]\n]{1,80}\]\(https?://github\.com/[\w.-]{1,60}/[\w.-]{1,80}/?\)")
# Every statement has a number or a card with one in its name, but for the Titans, or counts GPUs in a word: a first look at each line.
MAY_STATE = regex(r"\d|GPU|titan", re.IGNORECASE)
_ON_THE_HOST = regex(r"^(?!.*\bGPUs?\b).*\bCPU\b", re.IGNORECASE)
_ON_A_CARD = regex(r"\bGPUs?\b|\bVRAM\b|显存", re.IGNORECASE)
# A chapter on an extension that is built: cards named there are those that its builds were tried on.
_OF_AN_EXTENSION = regex(
    r"\W{0,6}(?:(?:install|build|compil)\w{0,6}\W(?:\w{1,20}\W){0,2})?(?:xformers|flash[ -]?att(?:n|ention)(?:[ -]?[234])?|tiny-?cuda-?nn|natten|sage-?attention)(?:\W(?:memory[ -])?efficient attention)?\W{0,6}",
    re.IGNORECASE,
)
# A chapter that says what everything here was run on: what stands in it needs no verb.
_OF_HARDWARE = regex(
    r"[\W\d]{0,12}(?:(?:our|my|the|training|system|minimum|recommended)\s)?(?:hardware|compute|computing|platform|devices?|machine|testbed)(?:\s(?:environment|set-?up|used|requirements?|resources?|specs?|specifications?))?\W{0,4}"
    r"|[\W\d]{0,12}(?:(?:our|test(?:ed|ing)?|experimental|the)\s)?environments?\W{0,4}|[\W\d]{0,12}(?:硬件|运行|实验|训练|测试)?(?:环境|配置|要求|需求|设备)\W{0,4}",
    re.IGNORECASE,
)
# "For example, for 2 GPUs each will see 16 samples": how the work is divided, whatever the number.
_ILLUSTRATED = regex(r"\b(?:for (?:example|instance)|e\.g\.)(?=[\s,:]).{0,120}\b(?:each|per|every)\b", re.IGNORECASE)
# "If you have an A100 80GB, you can raise the batch size": an offer to those with more than is needed.
_WITH_MORE = regex(
    r"(?:^|[,(:>*-]\s{0,4}|(?<=[.;!])\s{1,2})(?:if\s(?:you|your)|(?:users?|those)\swith|with\s(?:an?|your))\b(?![^.;]{0,80}(?:<|\b(?:less|below|under|fewer|only|lower|smaller)\b))[^.;]{0,80}"
    r"\d[^.;]{0,60}\b(?:larger|bigger|higher|increas(?:e|ing)|rais(?:e|ing)|disabl(?:e|ing)|turn(?:ing)?\soff|doubl(?:e|ing))\b",
    re.IGNORECASE,
)
# "a sample from a model trained for 4,000 steps on 8 A100 GPUs"
_TRAINED_ON = regex(
    rf"\b(?:pre-?|fine-?)?(?:trained|tuned)\b(?:(?!\son\s)[^.;,]|(?<=\d)[.,](?=\d)){{0,60}}\son\s(?:(?:an?|one|single|the|our|\d{{1,3}}|two|four|eight)\s|[x×]\s?){{0,3}}{ANY_CARD.pattern}",
    re.IGNORECASE,
)
_COUNT = "documented.gpu_count"


def statements_of(line: str, heading: str, where: Evidence) -> Iterator[Finding]:
    """Yield what one line of prose states, for the purpose that it or the heading above it names."""
    if not MAY_STATE.search(line) or _ELSEWHERE.match(line):
        return
    said = _stated(line, heading, where)
    if NEWS.match(line) or _OF_ANOTHER.match(line) or _OF_NEWS.search(heading) or _OF_OTHERS.search(heading):
        yield from (replace(each, confidence=Confidence.LOW) for each in said if each.field != _COUNT)
    elif _THANKS.search(heading) or _THANKS.search(line):
        for each in said:
            if each.field != _COUNT:
                yield replace(each, confidence=Confidence.LOW) if each.field.endswith("card") else each
    else:
        yield from said


def _stated(line: str, heading: str, where: Evidence) -> Iterator[Finding]:
    line = in_plain_amounts(_without(_WITH_MORE, line))  # what those may do who have more than is needed
    use = purpose(line) or purpose(heading)
    amounts = list(_amounts(line, heading, use))
    named = [
        (card, _use_of(card, part.text) or part.purpose or use)
        for part in clauses(_without(_DOES_NOT_DO, line))
        for card in card_phrases(part.text, heading)
    ]
    said = {phrase.size_gb for phrase, _ in amounts}
    named = [(with_size(card, said), of) for card, of in named]
    for phrase, of in amounts:
        if not is_sum(phrase.size_gb, (card for card, _ in named)):
            why = f"the documentation {'asks for' if phrase.is_demanded else 'speaks of'} {phrase.size_gb:g} GB of GPU memory"
            confidence = Confidence.HIGH if phrase.is_demanded else Confidence.MEDIUM
            yield Finding(field_of("memory_gb", of), f"{phrase.size_gb:g}", why, confidence, where)
    for card, of in named:
        yield from _of_card(card, line, heading, of, where)
    is_counted = any(card.count for card, _ in named)
    sized = None if is_counted else gpus_of_size(line)
    count = None if is_counted else sized or gpu_number(line)
    if count is not None and not _ILLUSTRATED.search(line) and not is_of_none(_naming(line, count), count):
        yield Finding(
            _COUNT,
            str(count),
            f"the documentation names {count} {'GPU' if count == 1 else 'GPUs'}{told_as(_naming(line, count))}",
            Confidence.LOW if sized is None else Confidence.MEDIUM,
            where,
        )


def _use_of(card: CardPhrase, text: str) -> str:
    """Return what a card is named for by its own sentence, where that names one purpose or that something was trained on it."""
    for sentence in SENTENCE_END.split(text):
        if any(each.card.startswith(card.card.split("-")[0]) for each in card_phrases(sentence)):
            return purpose(sentence) or ("training" if _TRAINED_ON.search(sentence) else "")
    return ""


def _naming(line: str, count: int) -> str:
    """Return the sentences of a line that name a number of GPUs."""
    sentences = SENTENCE_END.split(line)
    naming = [s for s in sentences if gpu_number(s) == count or any(card.count == count for card in card_phrases(s))]
    return ". ".join(naming) or line


def _without(words: re.Pattern[str], line: str) -> str:
    """Return a line without the sentences that have such words."""
    if not words.search(line):
        return line
    return " ".join(sentence for sentence in SENTENCE_END.split(line) if not words.search(sentence))


def _amounts(line: str, heading: str, use: str) -> Iterator[tuple[MemoryPhrase, str]]:
    """Yield the amounts of memory that the sentences of a line ask for, each with what it is for: ``use`` where its own words do not say."""
    is_saving = False
    sentences = SENTENCE_END.split(line)
    # Where a sentence of the line says what its own amount is for, that does not hold for the amounts of the others.
    others = purpose(heading) if len(sentences) > 1 and any(map(_states_use, sentences)) else use
    for sentence in sentences:
        parts = clauses(sentence)
        # Under "CPU deployment" memory is the machine's, unless a sentence says whose else.
        is_of_host = _ON_THE_HOST.search(heading) is not None and _ON_A_CARD.search(sentence) is None
        for phrase in () if is_of_host else memory_phrases(sentence, heading):
            of = next(part for part in reversed(parts) if part.begin <= phrase.at)
            otherwise = others if len(parts) == 1 else purpose(heading)
            trained = "training" if _TRAINED_ON.search(of.text) else ""
            own = "quantized" if is_quantized(of.text) else of.purpose or trained or otherwise
            yield phrase, "offloaded" if phrase.is_offloaded or is_saving else own
        is_saving |= tells_a_saving(sentence)


def _states_use(sentence: str) -> bool:
    """Whether a sentence tells an amount and what it is for."""
    return bool(purpose(sentence)) and next(memory_phrases(sentence), None) is not None


def _of_card(card: CardPhrase, line: str, heading: str, use: str, where: Evidence) -> Iterator[Finding]:
    """Yield a card that is named, and how many of it."""
    named = f"{card.count} × {card.shown}" if card.count else card.shown
    why = f"the documentation names {named}"
    is_of_build = _OF_AN_EXTENSION.fullmatch(heading) is not None
    is_run = card.is_run or _OF_HARDWARE.fullmatch(heading) is not None
    is_sure = is_run and (card.count or card.is_sized or card.is_had) and not is_of_build
    confidence = Confidence.MEDIUM if is_sure else Confidence.LOW
    if card.is_demanded and confidence is Confidence.MEDIUM:
        confidence = Confidence.HIGH
    yield Finding(field_of("card", use), card.card, why, confidence, where)
    if card.count:
        yield Finding(_COUNT, str(card.count), f"{why}{told_as(_naming(line, card.count))}", Confidence.MEDIUM, where)
