"""What the tables of a document state of memory, cards and counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.documents.documented_amounts import is_offloaded
from gpu_lol_action.analysis.documents.documented_phrases import is_quantized, purpose
from gpu_lol_action.analysis.documents.documented_tables import TableCard, table_cards, table_counts, table_figures
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

TABLED = "a table of the documentation names"
"""How the reason of a table's finding begins."""


def field_of(name: str, use: str) -> str:
    """Return the field of what is stated for a use, or for none in particular."""
    return f"documented.{use}.{name}" if use else f"documented.{name}"


def tabled(lines: Sequence[str], headings: Sequence[str], path: str) -> Iterator[Finding]:
    """Yield what the tables of a document state: figures, counts, then cards."""
    for figure in table_figures(lines, headings):
        why = f"a table of the documentation says {figure.memory_gb:g} GB for {figure.label or 'a row'}"
        field = field_of("memory_gb", _table_use(figure.label, headings[figure.line - 1]))
        yield Finding(field, f"{figure.memory_gb:g}", why, Confidence.MEDIUM, Evidence(path, figure.line))
    for count, number in table_counts(lines):
        why = f"{TABLED} {count} GPU{'s' if count > 1 else ''}"
        yield Finding("documented.gpu_count", str(count), why, Confidence.LOW, Evidence(path, number))
    for card in table_cards(lines):
        yield from _of_cell(card, headings[card.line - 1], Evidence(path, card.line))


def _of_cell(card: TableCard, heading: str, where: Evidence) -> Iterator[Finding]:
    """Yield the card, and how many of it, that a table's column of GPUs names."""
    phrase = card.phrase
    named = f"{phrase.count} × {phrase.shown}" if phrase.count else phrase.shown
    why = f"{TABLED} {named}"
    is_sure = not card.is_measured and bool(phrase.count or phrase.is_sized)
    use = purpose(card.column) or purpose(heading)
    yield Finding(field_of("card", use), phrase.card, why, Confidence.MEDIUM if is_sure else Confidence.LOW, where)
    if phrase.count and is_sure and use != "inference":
        yield Finding("documented.gpu_count", str(phrase.count), why, Confidence.LOW, where)


def _table_use(label: str, heading: str) -> str:
    if is_offloaded(label):
        return "offloaded"
    return "quantized" if is_quantized(label) else purpose(label) or purpose(heading)
