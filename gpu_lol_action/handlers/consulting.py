"""Read a checkout, and ask the Hub and a language model about it where they may be asked; without them it works too."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.handlers.askable import Lookups


def consult(checkout: Checkout, lookups: Lookups, run: str = "") -> Analysis:
    """Return the analysis of a checkout, with what may be asked from outside. Raises SpecError for an invalid spec.

    ``run`` is a run to provision for in place of the first; no language model is asked which one is meant then.
    """
    if lookups.hub is None and (lookups.llm is None or run):
        return analyze(checkout, checkout.spec_text, run_name=run)
    # Late: who asks nobody need not load what reads the answers.
    from gpu_lol_action.handlers.lookups import FromHub, advised, look_up

    found = look_up(checkout, lookups.hub) if lookups.hub is not None else FromHub({})
    analysis = analyze(checkout, checkout.spec_text, found.facts, () if run else found.hints, run)
    analysis = replace(analysis, not_understood=(*analysis.not_understood, *found.gaps))
    return advised(checkout, analysis, found, lookups.llm) if lookups.llm is not None and not run else analysis
