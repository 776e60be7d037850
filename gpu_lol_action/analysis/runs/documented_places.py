"""Which lines of a document speak of the run's very command: sentences that point at it, the table's row that names what it names, its section.

"This configuration requires 38 GB" below a block of code, "the command below needs 14 GB" or "on 8 V100:" above one: such a sentence
is about that block and no other. Of a table of models and methods, the row is meant whose words the command says too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from gpu_lol_action.analysis.documents.document_layout import code_blocks, headings_of, section_around
from gpu_lol_action.analysis.documents.documented_batches import batches_told
from gpu_lol_action.analysis.documents.documented_tables import TableFigure, table_figures
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.documents.wrapped_lines import paragraphs
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "documented.about"
"""Field of findings whose line is about the run; their value is one of the kinds below."""
AT_COMMAND, IN_ROW, IN_SECTION, OF_ANOTHER = "command", "row", "section", "another"
_WHY = {
    AT_COMMAND: "the sentence points at the run's own command, or stands behind it",
    IN_ROW: "of its table the row that says most of what the command says",
    IN_SECTION: "it stands in the section of the run's command",
    OF_ANOTHER: "it speaks of models of another size than the command's",
}
MAX_LINES = 4000
MAX_LINE_CHARACTERS = 2000
LINES_BETWEEN = 4
MAX_GOES_ON = 40  # lines over which one command goes on
MAX_VALUES = 400
LINES_OF_REMARKS = 6
_NAMED = r"(?:commands?|configurations?|configs?|scripts?|settings?|examples?|recipes?|demos?|code|snippet|run)"
_ABOVE = regex(
    rf"\b(?:this|the\s+(?:default|above))\s+(?:\w{{1,20}}\s+){{0,2}}{_NAMED}\b|\b{_NAMED}\s+above\b", re.IGNORECASE
)
_BELOW = regex(rf"\b(?:following|below)\s+(?:\w{{1,20}}\s+){{0,2}}{_NAMED}\b|\b{_NAMED}\s+below\b", re.IGNORECASE)
_LEADS_IN = regex(r"[:\uFF1A][\s*_]{0,4}$")
_SIZE_OF_MODEL = regex(
    r"(?<![\d.])(\d{1,4}(?:\.\d{1,2})?)(?:[bB]|[ -]billion)(?![A-Za-z0-9])(?! ?-?(?:tokens?|examples?|samples?|rows|images|pairs|words)\b)"
)
_HARDWARE = regex(r"\b(?:GPUs?|VRAM|memory|\d{1,3} ?G(?:i?B)?)\b|\b[AHBVP]\d{2,3}s?\b", re.IGNORECASE)
_SENTENCE_END = regex(r"(?<=[.!?;])\s{1,4}|\]\([^()\s]{1,400}\)")
_QUOTED = regex(r"['\"]([\w./:-]{3,120})['\"]")
# What a program takes where it is not told: the default of an option or of a setting, and the model that it loads by name.
_DEFAULT = regex(
    r"\bdefault\s?=\s?[\"']([^\"'\n]{2,120})[\"']|\.get\(\s?[\"'][^\"'\n]{1,60}[\"'],\s?[\"']([^\"'\n]{2,120})[\"']|\bfrom_pretrained\(\s{0,40}[\"']([^\"'\n]{2,120})[\"']"
)
_SIZE_IN_NAME = regex(r"(?<![A-Za-z0-9.])(\d{1,3}(?:\.\d{1,2})?[bB])(?=v\d|[^A-Za-z0-9]|$)")
ALIKE = 1.5
_TOKEN = regex(r"[a-z0-9]+(?:\.[0-9]+)*")
_VISION = regex(r"(?<![a-z])vit[-_ ]?([tsblhg])(?![a-z])")
_SIZES = {"t": "tiny", "s": "small", "b": "base", "l": "large", "h": "huge", "g": "giant"}
_SIDES = regex(r"[0-9]{2,5}(?:x[0-9]{2,5}){1,2}")


def about_run(documents: Iterable[Source], run: Run | None, stated: Iterable[Finding]) -> list[Finding]:
    """Return a finding for each line on which something is ``stated`` of memory or cards that is about the run's very command."""
    if run is None:
        return []
    by_path: dict[str, set[int]] = {}
    amounts: dict[str, set[int]] = {}
    for finding in stated:
        if finding.field.endswith(("memory_gb", "card")):
            by_path.setdefault(finding.evidence.path, set()).add(finding.evidence.line)
        if finding.field.endswith("memory_gb"):
            amounts.setdefault(finding.evidence.path, set()).add(finding.evidence.line)
    words = words_of(run)
    words |= _default_sizes(run) if not any(map(_SIZE_OF_MODEL.fullmatch, words)) else frozenset()
    starts = {run.evidence} | ({run.command.said} if run.command is not None else set())
    found: list[Finding] = []
    for source in documents:
        numbers = by_path.get(source.path, set())
        if not numbers:
            continue
        own = [start.line for start in starts if start.path == source.path]
        section = {number for start in own for number in numbers & set(_section(source, start))}
        pointing = {number for number in numbers if any(line in _pointers(source).get(number, ()) for line in own)}
        pointing |= numbers & {number for line in own for number in _lines_of_command(source, line)}
        pointing |= numbers & {number for line in own for number in _remarks_above(source, line)}
        # In another document a number (a picture's side) may be of anything; there names count.
        telling = words if own else frozenset(word for word in words if not word.replace(".", "").isdigit())
        rows = numbers & {row.line for row in rows_meant(_figures(source), telling)}
        # Tables of other sections are about other runs where the run's own section has figures.
        rows = rows & section if section & amounts.get(source.path, set()) else rows
        if section == numbers and len(by_path) == 1:
            section = set()  # it tells none from another
        kinds = dict.fromkeys(of_other_sizes(source, numbers, words), OF_ANOTHER)
        kinds |= dict.fromkeys(section - kinds.keys(), IN_SECTION)
        kinds |= dict.fromkeys(rows, IN_ROW) | dict.fromkeys(pointing, AT_COMMAND)
        for number, kind in sorted(kinds.items()):
            found.append(Finding(FIELD, kind, _WHY[kind], Confidence.LOW, Evidence(source.path, number)))
        found += batches_told(source, numbers)
    return found


def of_other_sizes(source: Source, numbers: Iterable[int], words: Iterable[str]) -> set[int]:
    """Return the lines of prose whose sentences on hardware name sizes of models, and none about as large as one that the command names."""
    own = {float(size) for word in words for size in _SIZE_OF_MODEL.findall(word)}
    lines = source.text.split("\n")[:MAX_LINES] if own else []
    found: set[int] = set()
    for number in numbers:
        line = lines[number - 1][:MAX_LINE_CHARACTERS] if 0 < number <= len(lines) else ""
        told = [sentence for sentence in _SENTENCE_END.split(line) if _HARDWARE.search(sentence)]
        named = [{float(size) for size in _SIZE_OF_MODEL.findall(sentence)} for sentence in told]
        if (
            "|" not in line
            and all(named)
            and not any(_alike(one, size) for each in named for one in each for size in own)
        ):
            found |= {number} if named else set()
    return found


def _alike(one: float, other: float) -> bool:
    return max(one, other) <= ALIKE * min(one, other)


@remembered
def _section(source: Source, number: int) -> range:
    return section_around(source.text.split("\n")[:MAX_LINES], number)


def _lines_of_command(source: Source, first: int) -> range:
    """Return the lines over which a command goes on: behind any of them a remark may say what it takes."""
    lines = source.text.split("\n")[: min(MAX_LINES, first + MAX_GOES_ON)]
    last = first
    while last < len(lines) and lines[last - 1].rstrip().endswith("\\"):
        last += 1
    return range(first, last + 1)


def _remarks_above(source: Source, first: int) -> range:
    """Return the remarks right above a command, in its block of code: ``# QLoRA (1x48GB @ ~24GiB)``; one that is put out is none."""
    lines = [line.strip() for line in source.text.split("\n")[: min(MAX_LINES, first - 1)][-LINES_OF_REMARKS:]]
    remarks = list(itertools.takewhile(lambda line: line.startswith("# ") and " #" not in line, reversed(lines)))
    return range(first - len(remarks), first)


@remembered
def _figures(source: Source) -> tuple[TableFigure, ...]:
    lines = source.text.split("\n")[:MAX_LINES]
    return tuple(table_figures(lines, headings_of(lines)))


@remembered
def _pointers(source: Source) -> dict[int, range]:
    """Return the block of code that a line points at, for each line of a paragraph that does."""
    lines = source.text.split("\n")[:MAX_LINES]
    code = code_blocks(lines)
    found: dict[int, range] = {}
    for paragraph in paragraphs(lines) if code else ():
        meant = block_meant(" ".join(lines[number - 1] for number in paragraph), paragraph, code)
        found |= dict.fromkeys(paragraph, meant) if meant is not None else {}
    return found


def block_meant(text: str, numbers: range, code: Sequence[range]) -> range | None:
    """Return the block of code that a paragraph points at ("this command", "the script below"); None without one near.

    ``numbers`` are the paragraph's lines, ``code`` the blocks of its document.
    """
    before = [block for block in code if 0 < numbers.start - block.stop <= LINES_BETWEEN]
    behind = [block for block in code if 0 < block.start - numbers.stop <= LINES_BETWEEN]
    if not (before or behind) or any(numbers.start in block for block in code):
        return None
    above, below = _ABOVE.search(text), _BELOW.search(text) or _LEADS_IN.search(text)
    if not (above or below):
        return None
    if not (before and behind):
        return before[-1] if before else behind[0] if behind else None
    is_behind = below is not None or behind[0].start - numbers.stop < numbers.start - before[-1].stop
    return behind[0] if is_behind else before[-1]


def words_of(run: Run) -> frozenset[str]:
    """Return the words that a run's command says: options' values (of ``vitl`` the size in full), the names of its program and configurations; of a program in a document its texts."""
    said = [run.evidence.path.rsplit("/", 1)[-1], *(source.name for source in run.configs[:4])]
    said += [f"{name} {value}" if value == "True" else value for name, value in run.options.items()]
    if run.command is not None:
        said += [run.command.text, run.command.section]
    elif run.script is not None and is_shown(run.script):  # what a document's program says is in its texts
        said += _QUOTED.findall(run.script.text[: MAX_LINES * 10])
    texts = [text[:2000].lower() for text in said[:MAX_VALUES]]
    sizes = [_SIZES[letter] for text in texts if "vit" in text for letter in _VISION.findall(text)]
    return frozenset([*sizes, *(word for text in texts for word in tokens(text))])


def _default_sizes(run: Run) -> frozenset[str]:
    """Return the size of model (``20b``) that the defaults of a run's program name, where they name one size only."""
    text = run.script.text[: MAX_LINES * 10] if run.script is not None else ""
    said = (found[1] or found[2] or found[3] for found in _DEFAULT.finditer(text))
    sizes = {size.lower() for value in said for size in _SIZE_IN_NAME.findall(value)}
    return frozenset(sizes) if len(sizes) == 1 else frozenset()


def tokens(text: str) -> list[str]:
    """Return the words of a text in small letters; of ``576x1024`` the sides too. Of two characters only such as ``7b`` are words."""
    small = text.lower()
    found = _TOKEN.findall(small)
    found += [side for sides in _SIDES.findall(small) for side in sides.split("x")]
    return [each for each in found if len(each) > 2 or (len(each) == 2 and not each.isdigit() and not each.isalpha())]


def rows_meant(figures: Sequence[TableFigure], words: frozenset[str]) -> list[TableFigure]:
    """Return the rows of each table that have most words in common with the command; none of a table of which all have as many."""
    found: list[TableFigure] = []
    for _, rows in itertools.groupby(figures, key=lambda figure: figure.table):
        table = list(rows)
        scores = [_score(row, words) for row in table]
        if max(scores) != min(scores) and max(scores)[0]:
            found.extend(row for row, score in zip(table, scores, strict=True) if score == max(scores))
    return found


def _score(row: TableFigure, words: frozenset[str]) -> tuple[int, bool, int]:
    """Return how many words of a row the command says, whether it says the row's whole name, and how little it says else (``-lite``)."""
    name = set(tokens(row.name))
    return len(set(tokens(row.label)) & words), name <= words, -len(name - words)
