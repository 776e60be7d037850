"""How many parameters a document says that the model has: the last resort where neither a name nor code tells its size."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.stated.own_weights import own_size
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model

LEAST_B, MOST_B = 0.01, 400  # larger ones no single machine holds: a README tells news of them
MAX_LINES = 400
MAX_LINE_CHARACTERS = 2000
_SIZE = regex(
    r"(?<![\w.])(\d{1,4}(?:\.\d{1,2})?)[\s-]?(B|billion|M|million)\b[\s-]{1,2}(?:\w+[\s-]){0,1}?param(?:eter)?s?\b",
    re.IGNORECASE,
)
_OPENS_TITLE = regex(r"<h1[^>\n]{0,80}>[ \t]{0,20}\n\s{0,20}")
MAX_TITLE_CHARACTERS = 8000
_FOOTNOTE = regex(r"\s{0,6}\[\^[\w-]{1,20}\]:")
MAX_TITLE_LINES = 30
_TITLE = regex(r"^#\s+(.{1,200})|<h1[^>]{0,100}>\s*([^<]{1,200})")
_IN_TITLE = regex(r"([A-Za-z]\w{0,30})[- ](\d{1,4}(?:\.\d{1,2})?)([BM])\b")
# A link to published weights, and a size in its words.
_LINK = regex(
    r"\[([^\[\]]{2,120})\]\(https?://(?:huggingface\.co|(?:www\.)?modelscope\.cn/models)/([\w.-]{1,60}/[\w.-]{1,90})/?\)"
)
_IN_WORDS = regex(r"(?<![\w.])(?:[A-Za-z][\w.]{0,30}[- ])?(\d{1,3}(?:\.\d{1,2})?)B\b")
_IN_WEIGHTS = regex(r"(?<=[-_])(\d{1,3}(?:\.\d{1,2})?)[bB](?=$|[-_])")
DOCUMENTED, BY_TITLE = "the documented model", "the title of the documentation says"
BY_LINK = "the weights that the documentation links to bear the size"
LEAST_LINKED_B, LINES_TO_LINK = 0.5, 20
# Another model, beside which this one is shown.
_COMPARES = regex(
    r"\b(?:than|compared|versus|vs\.?|unlike|outperform\w*|surpass\w*|competitive|rival\w*|larger|smaller)\b",
    re.IGNORECASE,
)
# This one's own size, whatever the line compares it with: "with only 6B parameters, it surpasses larger models".
_OWN = regex(r"\b(?:with|has|have|having|at)\s+(?:only|just)\s+[*_]{0,2}$", re.IGNORECASE)

# How large models may be, not how large this one is: "for models beyond 100 billion parameters".
_BOUND = regex(r"\b(?:beyond|exceed\w*|over|up to|above)\s+$", re.IGNORECASE)
# Sections that name the works of others.
_OF_OTHERS = regex(
    r"^(?:#{1,6}\s|<h[1-6]).{0,40}(?:references?\b|acknowledg|related|credits|citation|致谢|参考)", re.IGNORECASE
)
_HEADING = regex(r"^(?:#{1,6}\s|<h[1-6])")


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return ``documented.parameters_b`` of a run that infers: the first number that a README near the root states."""
    if run is None or run.behavior is not Behavior.INFERS:
        return []
    readmes = [s for s in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,)) if s.name.startswith("readme")]
    readmes = sorted(readmes, key=lambda s: (s.depth, s.path))[:2]
    for source in readmes:
        told = _linked(source, run.script) or _titled(source, run.script) or own_size(source, run.script)
        if told is not None:
            return [told]
        is_of_others = False
        for number, line in enumerate(source.text.split("\n")[:MAX_LINES], 1):
            if _FOOTNOTE.match(line):
                continue
            if _HEADING.match(line):
                is_of_others = _OF_OTHERS.match(line) is not None
            if is_of_others:
                continue
            found = _SIZE.search(line) if len(line) <= MAX_LINE_CHARACTERS else None
            if found is None or _BOUND.search(line[: found.start()]):
                continue
            if _COMPARES.search(line) and not _OWN.search(line[: found.start()]):
                continue
            size = float(found[1]) / (1 if found[2][0].lower() == "b" else 1000)
            if LEAST_B <= size <= MOST_B:
                why = f"the documentation says {found[0].strip()}"
                return [
                    Finding("documented.parameters_b", f"{size:g}", why, Confidence.LOW, Evidence(source.path, number))
                ]
    return [told for source in readmes[:1] if (told := _of_one_size(source, run)) is not None]


def _linked(source: Source, script: Source | None) -> Finding | None:
    """Return the size in the words of a link to the weights that the program loads (``[Net-13B](https://huggingface.co/us/Net)``)."""
    if script is None or not (source.mentions("huggingface.co") or source.mentions("modelscope.cn")):
        return None
    for number, line in enumerate(source.text.split("\n")[:MAX_LINES], 1):
        for words, name in _LINK.findall(line) if len(line) <= MAX_LINE_CHARACTERS else ():
            sizes = set(_IN_WORDS.findall(words))
            if len(sizes) == 1 and LEAST_B <= float(size := next(iter(sizes))) <= MOST_B and name in script.text:
                why = f"the documentation links to `{name}` as {words.strip()[:60]}"
                where = Evidence(source.path, number)
                return Finding("documented.parameters_b", f"{float(size):g}", why, Confidence.LOW, where)
    return None


def _of_one_size(source: Source, run: Run) -> Finding | None:
    """Return the size in the name of the weights that a document links to shortly above the run's command, or of all that it links to."""
    if not (source.mentions("huggingface.co") or source.mentions("modelscope.cn")):
        return None
    linked: list[tuple[int, frozenset[float]]] = []
    for number, line in enumerate(source.text.split("\n")[:MAX_LINES], 1):
        for words, name in _LINK.findall(line) if len(line) <= MAX_LINE_CHARACTERS else ():
            sizes = frozenset(map(float, (*_IN_WORDS.findall(words), *_IN_WEIGHTS.findall(name))))
            linked += [(number, sizes)] if sizes else []
    command = run.command
    told = command.said.line if command is not None and command.said.path == source.path else 0
    above = [each for each in linked if told - LINES_TO_LINK < each[0] < told]
    said = above or linked
    every = frozenset[float]().union(*(sizes for _, sizes in said))
    if len(every) != 1 or not LEAST_LINKED_B <= (size := next(iter(every))) <= MOST_B:
        return None
    where = Evidence(source.path, said[0][0])
    return Finding("documented.parameters_b", f"{size:g}", f"{BY_LINK} {size:g}B", Confidence.LOW, where)


def _titled(source: Source, script: Source | None) -> Finding | None:
    """Return the size that a README's own title says: the repository is then about this one model (``# Net-13B``).

    Data are counted in millions too (``WebVid-10M``): these count where the program loads what bears the title's name.
    """
    text = _OPENS_TITLE.sub("<h1>", source.text[:MAX_TITLE_CHARACTERS], count=1)  # on a line of its own
    for number, line in enumerate(text.split("\n")[:MAX_TITLE_LINES], 1):
        title = _TITLE.search(line) if len(line) <= MAX_LINE_CHARACTERS else None
        named = _IN_TITLE.findall(title[1] or title[2] or "") if title is not None else []
        sizes = {
            (digits, unit)
            for name, digits, unit in named
            if unit == "B" or (script is not None and script.mentions(f"/{name}"))
        }
        digits, unit = next(iter(sizes)) if len(sizes) == 1 else ("0", "B")
        size = float(digits) / (1 if unit == "B" else 1000)
        if LEAST_B <= size <= MOST_B:
            why = f"{BY_TITLE} {digits}{unit}"
            return Finding("documented.parameters_b", f"{size:g}", why, Confidence.LOW, Evidence(source.path, number))
        if title is not None:
            return None
    return None


def is_titled(findings: Iterable[Finding]) -> bool:
    """Whether a document's own title states the size: no class that is for many sizes says more."""
    return any(f.field == "documented.parameters_b" and f.why.startswith(BY_TITLE) for f in findings)


def is_linked(findings: Iterable[Finding]) -> bool:
    """Whether all weights that a document links to are of one size."""
    return any(f.field == "documented.parameters_b" and f.why.startswith(BY_LINK) for f in findings)


def documented_model(findings: Iterable[Finding]) -> ModelFacts | None:
    """Return a model of the size that a document states, in the shape of the nearest one that is known."""
    stated = next((finding for finding in findings if finding.field == "documented.parameters_b"), None)
    if stated is None:
        return None
    # Names count what is less than a billion in millions: of `0.0504b` the digits behind the zero would be read.
    size = float(stated.value)
    facts = find_model(f"documented/model-{size:g}b" if size >= 1 else f"documented/model-{1000 * size:g}m")
    return replace(facts, name=DOCUMENTED) if facts is not None else None
