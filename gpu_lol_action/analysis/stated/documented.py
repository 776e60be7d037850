"""What the documentation says of hardware: memory that is asked for, cards that were used, how many."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gpu_lol_action.analysis.documents.card_names import named_as
from gpu_lol_action.analysis.documents.component_tables import said_of_cards, told_in_cells
from gpu_lol_action.analysis.documents.document_layout import code_blocks, headings_of, labels_of
from gpu_lol_action.analysis.documents.documented_amounts import (
    asks_for_memory,
    in_use,
)
from gpu_lol_action.analysis.documents.documented_cells import field_of, tabled
from gpu_lol_action.analysis.documents.documented_phrases import gpu_number, purpose
from gpu_lol_action.analysis.documents.project_descriptions import project_descriptions
from gpu_lol_action.analysis.documents.silent_documents import silence
from gpu_lol_action.analysis.documents.wrapped_lines import paragraphs
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role, form_of
from gpu_lol_action.analysis.formats.texts import without_remarks
from gpu_lol_action.analysis.runs.documented_places import about_run, block_meant
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.stated.hardware_guides import hardware_guides, is_in_documentation, names_of
from gpu_lol_action.analysis.stated.stated_sentences import MAY_STATE, NEWS, SENTENCE_END, statements_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_GUIDES = ("docs", "doc")
MAX_LINES = 4000
MAX_LINE_CHARACTERS = 4000
MAX_DOCUMENTS = 10
_NOT_HARDWARE = regex(
    r"change|history|release|contribut|conduct|license|licence|security|citation|faq|notes?\b", re.IGNORECASE
)
_ABOUT_RUNNING = regex(
    r"readme|train|tun|infer|demo|install|start|usage|hardware|require|gpu|model|run|reproduc|recipe", re.IGNORECASE
)
_LANGUAGE = regex(r"[._-](?:zh|cn|en|ja|jp|ko|kr|fr|es|de|ru|pt|vi|hi|ar|tr)(?:[._-]?\w{2,4})?$")
# A command in a block of code: its words are arguments (`./prepare.sh 15 GPU`), but for the remark behind it.
_COMMAND = regex(
    r"\s{0,8}(?:[$%>]\s{1,4}\S|(?:[.~]{0,2}/[\w./-]{1,120}|[\w./-]{1,120}\.(?:sh|bash|py)|python3?|bash|sh|sbatch|srun)(?:\s|$))"
)
# Behind a command that trains or runs a model, an amount by itself is what that takes: `axolotl train x.yml  # ~83.1 GiB`.
_STARTS = regex(r"\b(?:train|finetune|infer|generate|serve|torchrun|accelerate|deepspeed|python3?)\b", re.IGNORECASE)
_FETCHES = regex(
    r"download|fetch|convert|prepar|preprocess|extract|dataset", re.IGNORECASE
)  # what lies on the disk then
_BESIDE = regex(r"\s?~?(\d{1,3}(?:\.\d{1,2})?)\s?Gi?B", re.IGNORECASE)


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return statements on memory, cards and counts, those of the document that names the run first.

    Fields: ``documented.memory_gb``, ``documented.card``, ``documented.gpu_count``; the first two also as
    ``documented.training.…`` and ``documented.inference.…`` where sentence or heading says what they are for, and as
    ``documented.quantized.…`` where they hold for quantized weights, as ``documented.offloaded.…`` for weights in main memory.
    ``documented.about`` marks lines that speak of the run's very command.
    """
    documents = _documents(checkout, run)
    found = [finding for source in _without_translations(documents) for finding in _of_document(source)]
    if not any(_tells_how_much(finding) for finding in found):
        found += [finding for source in hardware_guides(checkout, documents) for finding in _demands(source)]
    found += [*about_run(documents, run, found), *silence(documents, found)]
    for text, where in project_descriptions(checkout):
        found += [finding for finding in statements_of(text, "", where) if finding.field.endswith("memory_gb")]
    return found


@remembered
def _of_document(source: Source) -> tuple[Finding, ...]:
    """Return the statements of one document, those of its sentences first, then those of its tables."""
    found: list[Finding] = []
    text = source.text.replace("\\*", "*")  # `8 \* A100`: how Markdown writes a star
    lines = [line for _, line in without_remarks(enumerate(text.split("\n")[:MAX_LINES], 1))]
    labels = labels_of(lines)
    # What introduces a list says what its items are for, whatever the section is called.
    pairs = zip(headings_of(lines), labels, strict=True)
    headings = [label if purpose(label) or asks_for_memory(label) else heading for heading, label in pairs]
    code = code_blocks(lines)
    coded = {number for block in code for number in block}
    for numbers in paragraphs(lines):
        number, line = numbers.start, lines[numbers.start - 1]
        if "MiB" in line and (used := in_use(line)) is not None:
            why = f"what nvidia-smi printed shows {used:.1f} GB in use"
            field = field_of("memory_gb", purpose(headings[number - 1]))
            found.append(Finding(field, f"{used:.1f}", why, Confidence.MEDIUM, Evidence(source.path, number)))
        if "|" in line[:3] or len(line) >= MAX_LINE_CHARACTERS:
            continue
        whole = line if len(numbers) == 1 else " ".join(lines[index - 1].strip() for index in numbers)
        if not MAY_STATE.search(whole):
            continue
        meant = block_meant(whole, numbers, code)
        pointed = purpose(" ".join(lines[index - 1] for index in meant)[:MAX_LINE_CHARACTERS]) if meant else ""
        heading = pointed or headings[number - 1]
        if len(numbers) == 1:
            stated = statements_of(line, heading, Evidence(source.path, number))
            is_command = number in coded and _COMMAND.match(line) is not None
            found.extend(_beside(line, heading, Evidence(source.path, number)) if number in coded else ())
            found.extend(_without_arguments(line, stated) if is_command else stated)
        else:
            found.extend(_of_paragraph(whole, heading, source.path, {n: lines[n - 1] for n in numbers}))
    for part in said_of_cards(lines, headings):
        found.extend(statements_of(part.item, part.heading, Evidence(source.path, part.line)))
    for cell in told_in_cells(lines, headings):
        told = statements_of(cell.item, cell.heading, Evidence(source.path, cell.line))
        found.extend(said for said in told if said.confidence >= Confidence.MEDIUM)
    found.extend(tabled(lines, headings, source.path))
    return tuple(found)


def _without_arguments(line: str, stated: Iterator[Finding]) -> Iterator[Finding]:
    """Yield what a command's line states without counts of no named card that only its arguments make."""
    remark = line.partition(" #")[2]
    for finding in stated:
        is_bare = finding.field == "documented.gpu_count" and finding.confidence is Confidence.LOW
        if not is_bare or str(gpu_number(remark)) == finding.value:
            yield finding


def _beside(line: str, heading: str, where: Evidence) -> Iterator[Finding]:
    """Yield the memory that a remark behind a command says, and nothing else."""
    command, _, remark = line.rstrip().partition(" #")
    noted = _BESIDE.fullmatch(remark)
    if noted is not None and _STARTS.search(command) and not _FETCHES.search(command):
        why = f"a remark behind the command says {noted[1]} GB"
        field = field_of("memory_gb", purpose(line) or purpose(heading))
        yield Finding(field, noted[1], why, Confidence.MEDIUM, where)


def _tells_how_much(finding: Finding) -> bool:
    """Whether it is an amount, or a card that was used."""
    return finding.field.endswith(("memory_gb", "card")) and finding.confidence >= Confidence.MEDIUM


def _demands(source: Source) -> Iterator[Finding]:
    """Yield what a document that is not about the run in particular demands: what it only mentions may be another run's."""
    for finding in _of_document(source):
        if finding.field.endswith("memory_gb") and finding.confidence is Confidence.HIGH:
            yield finding


def _of_paragraph(text: str, heading: str, path: str, lines: Mapping[int, str]) -> Iterator[Finding]:
    """Yield what the sentences of a paragraph state, each on the line where its number or card stands."""
    is_news = NEWS.match(text) is not None
    for sentence in SENTENCE_END.split(text):
        told = list(statements_of(sentence, "news" if is_news else heading, Evidence(path, min(lines))))
        places = [_place(said, lines) for said in told]
        # A count in a word ("a single 16GB GPU") stands where its sentence names the rest.
        otherwise = next((place for place in places if place), min(lines))
        for said, place in zip(told, places, strict=True):
            yield replace(said, evidence=Evidence(path, place or otherwise))


def _place(said: Finding, lines: Mapping[int, str]) -> int:
    """Return the first line on which a stated number or card stands; 0 where none does."""
    stated = named_as(said.value)
    return next((number for number, line in lines.items() if stated.search(line)), 0)


def _documents(checkout: Checkout, run: Run | None) -> tuple[Source, ...]:
    """Return what speaks for the run: the document that names it, those in its folder and above, the root's."""
    named = run.evidence.path if run is not None else ""
    naming = {named} | ({run.command.said.path} if run is not None and run.command is not None else set())
    folder = run.script.folder if run is not None and run.script is not None else named.rpartition("/")[0]
    # A part of a checkout may have guides of its own (``tools/docs``).
    told = next((said for path in naming if (said := path.rpartition("/")[0]).endswith(("/docs", "/doc"))), "docs")
    # A launch script's own folder is nearer to what it starts than that of a program which serves many.
    is_launched = run is not None and run.command is not None and form_of(named) is Form.SHELL
    launched = _upwards(named.rpartition("/")[0]) if is_launched else []
    above = _upwards(folder)
    above = [each for each in launched if each not in above] + above
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    shallowest = min((source.depth for source in documents if source.name.startswith("readme")), default=0)
    chosen_names = names_of(run) if run is not None else frozenset()
    chosen = []
    for source in documents:
        stem = _stem(source)
        is_near = source.folder in above or (source.depth == shallowest and source.name.startswith("readme"))
        is_guide = source.folder in {*_GUIDES, told} and not source.name.startswith("readme")
        if stem in chosen_names and is_in_documentation(source):
            naming.add(source.path)
        # What tells how to start the run speaks for it, whatever it is called (``RESULTS.md``).
        if source.path not in naming and (
            _NOT_HARDWARE.search(stem) or not (is_near or is_guide) or not _ABOUT_RUNNING.search(stem)
        ):
            continue
        is_guide |= is_in_documentation(source)
        place = above.index(source.folder) if source.folder in above else len(above)
        chosen.append(((source.path != named, is_guide, place, _is_translation(stem), source.path), source))
    return tuple(source for _, source in sorted(chosen, key=lambda item: item[0]))[:MAX_DOCUMENTS]


def _upwards(folder: str) -> list[str]:
    """Return a folder and those above it, the root last."""
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]


def _without_translations(documents: tuple[Source, ...]) -> Iterator[Source]:
    """Yield the documents without translations that tell no more than what they are made of: they say the same twice."""
    told = {(s.folder, _stem(s)): sum(map(_tells_how_much, _of_document(s))) for s in documents}
    for source in documents:
        original = told.get((source.folder, _LANGUAGE.sub("", _stem(source))), 0)
        if not _is_translation(_stem(source)) or told[source.folder, _stem(source)] > original:
            yield source


def _stem(source: Source) -> str:
    return source.name.rpartition(".")[0]


def _is_translation(stem: str) -> bool:
    return _LANGUAGE.search(stem) is not None
