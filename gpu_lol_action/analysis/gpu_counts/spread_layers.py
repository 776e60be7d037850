"""How many cards documentation shows a model on whose layers the program itself spreads over all that it sees."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.domain.finding import Confidence, Finding

FIELD = "hardware.gpu_count"
_PLACES = frozenset({"auto", "balanced", "balanced_low_0", "sequential"})
# What cuts a model into stages, one per process, or its matrices over all cards.
_SPLITS = ("prepare_pippy", "ScheduleGPipe", "Schedule1F1B", "tensor_parallel", "TensorParallelPreTrainedModel")


def shown_on(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the number of cards that documentation demands of a run that infers with layers spread over all that it sees."""
    if run.behavior is not Behavior.INFERS or (where := _placed_over_all(checkout, run)) is None:
        return []
    found = [f for f in documented.detect(checkout, run) if not f.field.startswith("documented.training.")]
    asked = {f.evidence for f in found if f.field.endswith(".card") and f.confidence >= Confidence.MEDIUM}
    asked |= {f.evidence for f in found if f.field.endswith("memory_gb") and f.confidence is Confidence.HIGH}
    about = {
        f.evidence for f in found if f.field == "documented.about"
    }  # what stands beside the run's own command first
    for said in sorted(found, key=lambda f: f.evidence not in about):
        is_count = said.field == "documented.gpu_count" and said.confidence is Confidence.MEDIUM
        if is_count and said.evidence in asked and 1 < int(said.value) <= 8:
            why = f"{said.why}, and `{where}` spreads the model's layers over them"
            return [Finding(FIELD, said.value, why, Confidence.LOW, said.evidence)]
    return []


def _placed_over_all(checkout: Checkout, run: Run) -> str | None:
    """Return the words with which the run's program spreads a model's layers over all GPUs that it sees; None without."""
    if run.script is None:
        return None
    for source in import_closure(checkout, run.script):
        for call in source.code.calls_named("from_pretrained", "dict") if source.code else ():
            placed = call.keyword("device_map")
            if placed is not None and placed.text in _PLACES:
                return f"device_map={placed.text}"
        for call in source.code.calls_named(*_SPLITS) if source.code else ():
            return call.last
    return None
