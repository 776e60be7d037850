"""How sure the memory is, by what stands behind it: the levels are those that repositories nobody had tried bore out.

Of 201 that need a GPU, read once and judged by two readers, the amount was accepted in 91 % where documentation states it or names
the card that was used, in 82 % where a card is only named or all of a sum was read, and in 71 % where a part of the sum, or all of
the amount, was assumed (``docs/analysis-figures.md``). What a sum rests on says little without a statement beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.stated.reconcile import Agreement, Statement
from gpu_lol_action.domain.finding import Confidence, Finding

_STATED = (".memory_gb", ".card")


def sureness(
    findings: tuple[Finding, ...],
    agreed: Agreement | Statement | None,
    model: Finding | None = None,
    assumed: Sequence[str] = (),
) -> Confidence:
    """Return how sure an amount is that rests on a statement (``agreed``), on a sum for a model, or on neither.

    ``assumed`` is what the sum was computed with because nothing says it. No memory is surer than what the run is for.
    """
    purpose = best(findings, "workload")
    weighed = agreed.finding if agreed is not None else None
    most = purpose.confidence if purpose is not None else Confidence.LOW
    if weighed is not None and weighed.field.startswith("documented") and weighed.field.endswith(_STATED):
        return min(most, Confidence.HIGH if weighed.confidence >= Confidence.MEDIUM else Confidence.MEDIUM)
    if model is None or assumed:
        return Confidence.LOW
    return min(most, Confidence.MEDIUM, model.confidence)
