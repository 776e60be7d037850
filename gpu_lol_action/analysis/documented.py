"""What the documentation says of hardware: memory that is asked for, cards that were used, how many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.documented_phrases import (
    card_phrases,
    gpu_number,
    gpus_of_size,
    is_offloaded,
    is_quantized,
    memory_phrases,
    purpose,
)
from gpu_lol_action.analysis.documented_tables import TableCard, table_cards, table_figures
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.analysis.project_descriptions import project_descriptions
from gpu_lol_action.analysis.texts import is_fence
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

MAX_LINES = 4000
MAX_LINE_CHARACTERS = 4000
_HEADING = re.compile(r"\s{0,3}(?:#{1,6}\s+(.{1,200})|<summary>\s*(\S[^<]{0,200}))")
MAX_DOCUMENTS = 10
_NOT_HARDWARE = re.compile(
    r"change|history|release|contribut|conduct|license|licence|security|citation|faq|notes?\b", re.IGNORECASE
)
_ABOUT_RUNNING = re.compile(
    r"readme|train|tun|infer|demo|install|start|usage|hardware|require|gpu|model|run|reproduc|recipe", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[A-Za-z)*`])[.;!?]\s+|。")
# An entry of a list of news speaks of what was released on that day, mostly another model or size.
_NEWS = re.compile(
    r"^\s{0,6}[-*+]?[\s\[(*_`~]{0,6}\W{0,4}(?:\d{4}[./-]\d{1,2}(?:[./-]\d{1,2})?|"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?\s+\d{1,2},?\s+\d{4}|"
    r"\d{1,2}\s+(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?,?\s+\d{4})\b",
    re.IGNORECASE,
)
# An item that begins with a link to a repository speaks of that one.
_ELSEWHERE = re.compile(
    r"\s{0,6}[-*+]\s[^\[\n]{0,20}\[[^\]\n]{1,80}\]\(https?://github\.com/[\w.-]{1,60}/[\w.-]{1,80}/?\)"
)
# Every statement has a number or a card with one in its name, or counts GPUs in a word: a first look at each line.
_MAY_STATE = re.compile(r"\d|GPU", re.IGNORECASE)


_MEBIBYTES = re.compile(r"(?<![\w.,])(\d{1,3},\d{3}|\d{4,6})\s?(?:MiB|MB|M)(?![\w.])")


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return statements on memory, cards and counts, those of the document that names the run first.

    Fields: ``documented.memory_gb``, ``documented.card``, ``documented.gpu_count``; the first two also as
    ``documented.training.…`` and ``documented.inference.…`` where sentence or heading says what they are for, and as
    ``documented.quantized.…`` where they hold for quantized weights, as ``documented.offloaded.…`` for weights in main memory.
    """
    found = [finding for source in _documents(checkout, run) for finding in _of_document(source)]
    for text, where in project_descriptions(checkout):
        found += [finding for finding in statements_of(text, "", where) if finding.field.endswith("memory_gb")]
    return found


@remembered
def _of_document(source: Source) -> tuple[Finding, ...]:
    """Return the statements of one document, those of its sentences first, then those of its tables."""
    found: list[Finding] = []
    lines = source.text.split("\n")[:MAX_LINES]
    headings = _headings(lines)
    for number, line in enumerate(lines, 1):
        if "|" not in line[:3] and len(line) < MAX_LINE_CHARACTERS:
            found.extend(statements_of(line, headings[number - 1], Evidence(source.path, number)))
    for figure in table_figures(lines, headings):
        why = f"a table of the documentation says {figure.memory_gb:g} GB for {figure.label or 'a row'}"
        field = _field("memory_gb", _table_use(figure.label, headings[figure.line - 1]))
        found.append(
            Finding(field, f"{figure.memory_gb:g}", why, Confidence.MEDIUM, Evidence(source.path, figure.line))
        )
    for card in table_cards(lines):
        found.extend(_of_cell(card, headings[card.line - 1], Evidence(source.path, card.line)))
    return tuple(found)


def _of_cell(card: TableCard, heading: str, where: Evidence) -> Iterator[Finding]:
    """Yield the card, and how many of it, that a table's column of GPUs names."""
    phrase = card.phrase
    named = f"{phrase.count} × {phrase.card}" if phrase.count else phrase.card
    why = f"a table of the documentation names {named}"
    is_sure = not card.is_measured and bool(phrase.count or phrase.is_sized)
    use = purpose(card.column) or purpose(heading)
    yield Finding(_field("card", use), phrase.card, why, Confidence.MEDIUM if is_sure else Confidence.LOW, where)
    if phrase.count and is_sure and use != "inference":
        yield Finding("documented.gpu_count", str(phrase.count), why, Confidence.LOW, where)


def _table_use(label: str, heading: str) -> str:
    if is_offloaded(label):
        return "offloaded"
    return "quantized" if is_quantized(label) else purpose(label) or purpose(heading)


def _documents(checkout: Checkout, run: Run | None) -> tuple[Source, ...]:
    """Return what speaks for the run: the document that names it, those in its folder and above, the root's."""
    named = run.evidence.path if run is not None else ""
    naming = {named} | ({run.command.said.path} if run is not None and run.command is not None else set())
    folder = run.script.folder if run is not None and run.script is not None else named.rpartition("/")[0]
    parts = folder.split("/") if folder else []
    above = ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    shallowest = min((source.depth for source in documents if source.name.startswith("readme")), default=0)
    chosen = []
    for source in documents:
        stem = source.name.rpartition(".")[0]
        is_near = source.folder in above or (source.depth == shallowest and source.name.startswith("readme"))
        is_guide = source.folder in {"docs", "doc"} and not source.name.startswith("readme")
        # What tells how to start the run speaks for it, whatever it is called (``RESULTS.md``).
        if source.path not in naming and (
            _NOT_HARDWARE.search(stem) or not (is_near or is_guide) or not _ABOUT_RUNNING.search(stem)
        ):
            continue
        place = above.index(source.folder) if source.folder in above else len(above)
        chosen.append(((source.path != named, is_guide, place, _is_translation(stem), source.path), source))
    return tuple(source for _, source in sorted(chosen, key=lambda item: item[0]))[:MAX_DOCUMENTS]


def _is_translation(stem: str) -> bool:
    return bool(re.search(r"[._-](?:zh|cn|ja|jp|ko|kr|fr|es|de|ru|pt|vi|hi|ar|tr)(?:[._-]?\w{2,4})?$", stem))


def _headings(lines: list[str]) -> list[str]:
    """Return the heading that each line stands under; code blocks have none of their own."""
    found: list[str] = []
    heading, is_code = "", False
    for line in lines:
        if is_fence(line, is_code=is_code):
            is_code = not is_code
        elif not is_code and (match := _HEADING.match(line)):
            heading = match[1] or match[2]
        found.append(heading)
    return found


_ON_THE_HOST = re.compile(r"^(?!.*\bGPUs?\b).*\bCPU\b", re.IGNORECASE)
_ON_A_CARD = re.compile(r"\bGPUs?\b|\bVRAM\b|显存", re.IGNORECASE)


def _field(name: str, use: str) -> str:
    return f"documented.{use}.{name}" if use else f"documented.{name}"


def statements_of(line: str, heading: str, where: Evidence) -> Iterator[Finding]:
    """Yield what one line of prose states, for the purpose that it or the heading above it names."""
    if not _MAY_STATE.search(line):
        return
    if _NEWS.match(line) or _ELSEWHERE.match(line):
        yield from (replace(said, confidence=Confidence.LOW) for said in _stated(line, heading, where)
                    if said.field != "documented.gpu_count")  # fmt: skip
    else:
        yield from _stated(line, heading, where)


def _in_gib(line: str) -> str:
    """Return a line with amounts as nvidia-smi prints them (``48346MiB``) in GiB."""
    return _MEBIBYTES.sub(lambda found: f"{int(found[1].replace(',', '')) / 1024:.1f} GiB", line)


def _stated(line: str, heading: str, where: Evidence) -> Iterator[Finding]:
    line = _in_gib(line)
    use = purpose(line) or purpose(heading)
    for sentence in _SENTENCE_END.split(line):
        own = "quantized" if is_quantized(sentence) else purpose(sentence) or use
        # Under "CPU deployment" memory is the machine's, unless a sentence says whose else.
        is_of_host = _ON_THE_HOST.search(heading) is not None and _ON_A_CARD.search(sentence) is None
        for phrase in () if is_of_host else memory_phrases(sentence, heading):
            size = phrase.size_gb
            why = f"the documentation {'asks for' if phrase.is_demanded else 'speaks of'} {size:g} GB of GPU memory"
            confidence = Confidence.HIGH if phrase.is_demanded else Confidence.MEDIUM
            field = _field("memory_gb", "offloaded" if phrase.is_offloaded else own)
            yield Finding(field, f"{size:g}", why, confidence, where)
    is_counted = False
    for card in card_phrases(line):
        named = f"{card.count} × {card.card}" if card.count else card.card
        why = f"the documentation names {named}"
        confidence = Confidence.MEDIUM if card.is_run and (card.count or card.is_sized) else Confidence.LOW
        if card.is_demanded and confidence is Confidence.MEDIUM:
            confidence = Confidence.HIGH
        yield Finding(_field("card", use), card.card, why, confidence, where)
        if card.count:
            is_counted = True
            yield Finding("documented.gpu_count", str(card.count), why, Confidence.MEDIUM, where)
    sized = None if is_counted else gpus_of_size(line)
    count = None if is_counted else sized or gpu_number(line)
    if count is not None:
        yield Finding(
            "documented.gpu_count",
            str(count),
            f"the documentation names {count} {'GPU' if count == 1 else 'GPUs'}",
            Confidence.LOW if sized is None else Confidence.MEDIUM,
            where,
        )
