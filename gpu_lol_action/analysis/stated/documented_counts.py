"""Which documented number of GPUs speaks for a run: the one beside its command, else one that speaks of training.

It may be all that tells of one: a recipe is a page and a configuration, whose program a library has installed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.analysis.documents.documented_cells import TABLED
from gpu_lol_action.analysis.documents.documented_phrases import card_phrases, gpu_number
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.notebooks import PROSE
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.analysis.stated.lines_around import SENTENCE_END, head_of_table, introduction, line_at, section_of
from gpu_lol_action.analysis.stated.stated_sentences import statements_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

NEAR_LINES = 12
MOST_CARDS, USUAL_NODE = 16, 8  # of one machine
# What one machine may have: another number is no number of cards, or one of several machines.
_OF_MACHINES = frozenset({*range(1, 9), 10, 12, MOST_CARDS})
# "If you have 16 GPUs": what could be.
_CONDITION = regex(r"\b(?:if|in case|suppos(?:e|ing)|assum(?:e|ing)|imagine|would)\b|如果|假如|假设", re.IGNORECASE)
# "single-gpu training is not supported": what cannot be is no count of what is.
_DENIED = regex(
    r"\bnot (?:be )?(?:supported|possible|recommended|work\w*|tested)\b|\bunsupported\b|不支持", re.IGNORECASE
)
# "even on a single GPU", "in a non-distributed environment, i.e. on a single GPU": one does as well, and is not what is told; "batch size
# for a single GPU" is that of each.
_ONE_AS_WELL = regex(
    r"\beven\s(?:on|with|for|if)\b[^.,;]{0,40}\b(?:one|1|single)[- ]|\bnon-?distributed\b|"
    r"\bbatch[ _-]?sizes?\s(?:for|per|of|in)\s(?:an?\s|each\s)?(?:one|1|single)[- ]GPU",
    re.IGNORECASE,
)
_README = regex(r"readme(?:_en)?\.\w{2,4}", re.IGNORECASE)
# What was done, not what could be: "were trained with", "Training was done on".
_TRAINED = regex(
    r"\b(?:pre-?|fine-?)?(?:trained|tuned)\b|\btraining\s+(?:of\s[^.]{1,60}\s)?(?:has been|was|were|is|took|takes|requires?|required|needs?|needed)\b|"
    r"\bepochs?\s+of\s+(?:pre-?)?training\b|\bwe\s+(?:pre-?|fine-?)?(?:train|tune)\b"
    r"|\bexperiments?\b[^.|]{0,40}\b(?:ran|run|conducted|performed|done|carried\s+out)\b",
    re.IGNORECASE,
)
# What could be, or is but one of several ways.
_OFFERED = regex(
    r"\b(?:can|could|may|might|should|e\.g\.|(?:for\s+)?(?:example|instance)|such\s+as|up\s+to|multi-?gpus?|multiple|either|to\s+(?:train|run|fine-?tune)\b[^.;]{0,40}\b(?:on|with|using))\b|可以|例如|比如",
    re.IGNORECASE,
)
_ASKED = regex(r"\bhardware\b|\brequirements?\b", re.IGNORECASE)  # a heading over what a run needs
_TRAINS = regex(
    r"\btrain|\bepochs?\b|\b(?:each|every|all)\s+(?:the\s+)?runs?\s+used\b|\bexperiments?\b[^.|]{0,30}\b(?:ran|run|conducted|performed|done)\b|\b(?:fine-?)?tun(?:es?\b|ing)|pre-?train|训练|微调",
    re.IGNORECASE,
)
# The whole of what is here was run on it: "This example has been tested on 8 x 24GB A5000 GPUs".
_RUN_ON = regex(
    r"\b(?:example|recipe|code|repo(?:sitory)?|scripts?|project)\s(?:has been|have been|was|were)\s(?:\w{1,12}\s)?(?:tested|run)\s(?:on|with|using)\b",
    re.IGNORECASE,
)
# "a server with 8 V100 GPUs, using one GPU per run": what the machine has is not what a run takes.
_ONE_OF_THEM = regex(r"\b(?:one|1|a single|single)\s(?:GPU|card)\b", re.IGNORECASE)
_INFERS = regex(r"infer|generat|evaluat|\btest|sampl|demo\b|serv|deploy|推理|部署", re.IGNORECASE)
_BEGINS_TO_INFER = regex(
    r"[\s\W\d]{0,12}(?:to\s+)?(?:evaluat|test|infer|sampl|generat|serv|deploy)(?:e|ing|ion)?\b", re.IGNORECASE
)


def documented_count(checkout: Checkout, run: Run, *, is_free: bool) -> Finding | None:
    """Return the statement that speaks for a run that trains; None where none does.

    ``is_free``: nothing but the documentation says how many, so a statement elsewhere on training counts too.
    """
    notebook = run.script if run.command is None and run.script and run.script.form is Form.NOTEBOOK else None
    if notebook is not None and (between := _between_cells(notebook)) is not None:
        return Finding("hardware.gpu_count", between.value, between.why, Confidence.LOW, between.evidence)
    stated = counts_for_training(documented.detect(checkout, run))
    stated = [f for f in stated if not _is_said_where(checkout, f, _DENIED)]
    stated = [f for f in stated if f.value != "1" or not _is_said_where(checkout, f, _ONE_AS_WELL)]
    certain = [f for f in stated if not _is_said_where(checkout, f, _CONDITION)]
    found = _chosen(checkout, run, certain, is_free=is_free)
    if found is None and len(certain) < len(stated):
        found = _chosen(checkout, run, stated, is_free=is_free)
    if found is None:
        return None
    return Finding("hardware.gpu_count", found.value, found.why, Confidence.LOW, found.evidence)


def counts_for_training(said: Sequence[Finding]) -> list[Finding]:
    """Return the documented numbers of cards without those of cards that are named for inference.

    "At least one A100 (80GB) to support the inference" stands in a paragraph that speaks of training as well.
    """
    to_infer = {(f.evidence, f.why) for f in said if f.field == "documented.inference.card"}
    return [f for f in said if f.field == "documented.gpu_count" and (f.evidence, f.why) not in to_infer]


def told_training(checkout: Checkout) -> list[Finding]:
    """Return that a document tells on how many cards was trained what a configuration or a module here describes, and the number; [] where none does.

    A card that is only named may be any reader's: it is told with its number, and not for inference.
    """
    if not checkout.of(Form.YAML, Form.JSON, Form.PYTHON):
        return []
    stated = documented.detect(checkout, None)
    counts = {finding.evidence: finding for finding in stated if finding.field == "documented.gpu_count"}
    for finding in stated:
        is_card = finding.field in {"documented.card", "documented.training.card"}
        count = counts.get(finding.evidence)
        if is_card and finding.confidence >= Confidence.MEDIUM and count is not None:
            why = f"{finding.why}, and nothing here says what else is done on them"
            said = Finding("workload", "training", why, Confidence.LOW, finding.evidence)
            return [said, replace(count, field="hardware.gpu_count", confidence=Confidence.LOW)]
    return []


def ran_on_a_card(checkout: Checkout) -> bool:
    """Whether a document surely names a card that what lies here was run on, though nothing here is started."""
    stated = documented.detect(checkout, None)
    return any(each.field.endswith("card") and each.confidence >= Confidence.MEDIUM for each in stated)


def _between_cells(notebook: Source) -> Finding | None:
    """Return the count that a notebook's author says between its cells, of a card's kind before one of "GPUs" alone; None without one."""
    found: list[Finding] = []
    for number, line in enumerate(notebook.text.split("\n"), 1):
        said = line.removeprefix(PROSE)
        if said == line or _CONDITION.search(said) or _DENIED.search(said) or _tells_of_inference(said):
            continue
        where = Evidence(notebook.path, notebook.code.line_of_file(number) if notebook.code is not None else number)
        counts = (f for f in statements_of(said, "", where) if f.field == "documented.gpu_count")
        found += [each for f in counts if int((each := per_machine(f)).value) in _OF_MACHINES]
    return max(found, key=lambda finding: finding.confidence, default=None)


def _chosen(checkout: Checkout, run: Run, stated: list[Finding], *, is_free: bool) -> Finding | None:
    """Return the statement that stands beside the run's command, else, where ``is_free``, the one on training that is said most."""
    machines = [(f, each) for f in stated if int((each := per_machine(f)).value) in _OF_MACHINES]
    statements = [each for _, each in machines]
    said = run.command.said if run.command is not None else run.evidence
    near = next((f for f in statements if _is_near(checkout, f.evidence, said)), None)
    if near is not None or not is_free:
        return near
    # Other documents speak of other programs, where one names this run.
    is_any = run.command is None or not run.command.is_documented
    own = [f for f in statements if is_any or f.evidence.path == said.path]
    trained = [f for f in own if speaks_of_training(checkout, f.evidence)]
    # What takes several machines is what others took, where a document tells of one, too.
    on_one = [each for f, each in machines if each is f]
    return _said_most([f for f in trained if f in on_one] or trained)


def said_to_train(checkout: Checkout, run: Run, *, spreads: bool) -> Finding | None:
    """Return the first statement of the run's own document that training took several cards of a kind: "trained on 8 V100 GPUs".

    ``spreads``: the program can run on several, so that any card said to have been used or asked for with its number counts.
    """
    said = run.command.said if run.command is not None else run.evidence
    stated = documented.detect(checkout, run)
    cards = [f for f in stated if f.field in {"documented.card", "documented.training.card"}]
    demanded = {f.evidence for f in cards if f.confidence is Confidence.HIGH and (spreads or ".training." in f.field)}
    used = {
        f.evidence
        for f in cards
        if f.confidence is Confidence.MEDIUM
        and (".training." in f.field or _ASKED.search(section_of(checkout, f.evidence)[1]))
    }
    for found in stated:
        is_counted = found.field == "documented.gpu_count" and found.confidence is Confidence.MEDIUM
        is_own = found.evidence.path == said.path or _README.fullmatch(found.evidence.path) is not None
        if not is_counted or not is_own or int(found.value) < 2:
            continue
        line, each = line_at(checkout, found.evidence), per_machine(found)
        line = f"{introduction(checkout, found.evidence)} {line}".strip()
        is_used = spreads and found.evidence in used and not _OFFERED.search(line) and not _tells_of_inference(line)
        is_done = _TRAINED.search(line) is not None or found.evidence in demanded or is_used
        is_done = is_done and not _BEGINS_TO_INFER.match(line)
        if is_done and int(each.value) in _OF_MACHINES and not _is_said_where(checkout, found, _CONDITION):
            return Finding("hardware.gpu_count", each.value, each.why, Confidence.LOW, each.evidence)
    return None


def asked_of_one(checkout: Checkout, run: Run) -> list[Finding]:
    """Return that one GPU is all that is asked for, where a sentence demands an amount of memory on one: "requires only one GPU with 24G memory"."""
    stated = documented.detect(checkout, run)
    demanded = {f.evidence for f in stated if f.field.endswith("memory_gb") and f.confidence is Confidence.HIGH}
    ones = (f for f in stated if f.field == "documented.gpu_count" and f.value == "1" and f.evidence in demanded)
    found = next((f for f in ones if not _is_said_where(checkout, f, _ONE_AS_WELL)), None)
    return [Finding("hardware.gpu_count", "1", found.why, Confidence.LOW, found.evidence)] if found is not None else []


def tabled_count(checkout: Checkout, run: Run) -> Finding | None:
    """Return the number of cards of a kind that all rows of the tables name which the run's own document has: a recipe's results."""
    said = run.command.said if run.command is not None else run.evidence
    rows = [
        f for f in documented.detect(checkout, run) if f.field == "documented.gpu_count" and f.why.startswith(TABLED)
    ]
    own = [per_machine(f) for f in rows if f.evidence.path == said.path]
    counts = {f.value for f in own}
    if len(counts) != 1 or int(own[0].value) not in _OF_MACHINES - {1}:
        return None
    return Finding("hardware.gpu_count", own[0].value, own[0].why, Confidence.LOW, own[0].evidence)


def _is_said_where(checkout: Checkout, statement: Finding, words: re.Pattern[str]) -> bool:
    """Whether each sentence that names the number has such words: "If you have 16 GPUs", "single-gpu training is not supported"."""
    line = line_at(checkout, statement.evidence)
    if not words.search(line):
        return False
    naming = [sentence for sentence in SENTENCE_END.split(line) if _names(sentence, statement.value)]
    return bool(naming) and all(map(words.search, naming))


def _names(sentence: str, count: str) -> bool:
    return str(gpu_number(sentence)) == count or any(str(card.count) == count for card in card_phrases(sentence))


def per_machine(statement: Finding) -> Finding:
    """Return a statement as one on a machine: of 32 or 64 cards that a training took each machine had eight."""
    count = int(statement.value)
    if count <= MOST_CARDS or count % USUAL_NODE:
        return statement
    return replace(statement, value=str(USUAL_NODE), why=f"{statement.why}, {USUAL_NODE} of each machine")


def _said_most(statements: list[Finding]) -> Finding | None:
    """Return the first statement of the number that most of them name: a remark in passing names another."""
    votes = Counter(statement.value for statement in statements)
    return max(statements, key=lambda statement: votes[statement.value], default=None)


def _is_near(checkout: Checkout, where: Evidence, said: Evidence) -> bool:
    """Whether a statement stands in the section of the command, or a few lines above it, and is no word on inference."""
    if where.path != said.path:
        return False
    line = line_at(checkout, where)
    if _tells_of_inference(line):
        return False
    same = section_of(checkout, where) == section_of(checkout, said)
    return same and abs(where.line - said.line) <= 4 * NEAR_LINES


def speaks_of_training(checkout: Checkout, where: Evidence) -> bool:
    """Whether a line of a document, or the heading above it, speaks of training."""
    if _BEGINS_TO_INFER.match(line_at(checkout, where)):
        return False
    line = f"{line_at(checkout, where)} {head_of_table(checkout, where)}"
    if _TRAINS.search(line) or _is_run_whole(line):
        return True
    heading = section_of(checkout, where)[1]
    return bool(_TRAINS.search(heading) or _ASKED.search(heading)) and not _INFERS.search(line)


def _tells_of_inference(line: str) -> bool:
    """Whether a sentence is one on inference: "Evaluate the fine-tuned model on one GPU" is, whatever else it names."""
    return _BEGINS_TO_INFER.match(line) is not None or bool(_INFERS.search(line) and not _TRAINS.search(line))


def _is_run_whole(line: str) -> bool:
    """Whether a line tells on what all that is here was run, and not a part that only uses what was trained (``the inference code``)."""
    return _RUN_ON.search(line) is not None and not any(
        p.search(_RUN_ON.sub("", line)) for p in (_INFERS, _ONE_OF_THEM)
    )
