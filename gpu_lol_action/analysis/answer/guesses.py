"""Which settings are guesses: sizes, models and number formats that a module sets which the run's program only imports.

They are as often a helper's as the run's: of 72 such that readers judged one by one 24 were right, where of all others of medium
confidence 53 of 61 were (``benchmarks/data/judged_statements.jsonl``). There is nothing better to decide by, so they decide; but they
are told as what they are. A typed field (``n_layer: int = 12``) is what programs call a configuration, and left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.told_confidence import OF_HELPERS

_TYPED_FIELD = regex(r"[ \t]+\w{1,60}[ \t]*:[ \t]*[\w.\[\], |]{1,60}=(?!=)[^#]*[^,#\s](?:[ \t]*#.*)?")


def guesses_of(checkout: Checkout, run: Run | None, findings: Sequence[Finding]) -> frozenset[Evidence]:
    """Return the places of the settings that are guesses."""
    script = run.script.path if run is not None and run.script is not None else ""
    places = {f.evidence for f in findings if f.field in OF_HELPERS and f.confidence is Confidence.MEDIUM}
    named = {place.path for place in places if place.path.endswith((".py", ".ipynb")) and place.path != script}
    lines = {source.path: source.text.split("\n") for source in checkout.sources if source.path in named}
    return frozenset(place for place in places if place.path in lines and not _is_typed(lines[place.path], place.line))


def _is_typed(lines: Sequence[str], line: int) -> bool:
    return 0 < line <= len(lines) and _TYPED_FIELD.fullmatch(lines[line - 1][:200]) is not None
