"""Which findings tell most: one for each question that a reader asks, packages as one line, the rest counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpu_lol_action.analysis.training.relaxed import AGAINST
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.records import record

PACKAGE_FIELDS = frozenset({"dependencies.requirements", "dependencies.pip"})

# What a reader asks, in the order of asking; the first field that has a finding answers.
_QUESTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("starts", ("entry_point",)),
    ("workload", ("workload",)),
    ("model", ("model.id", "model.unsized_id")),
    ("layers", ("model.layers",)),
    ("family", ("model.family",)),
    ("method", ("training.method",)),
    ("weights, bit", ("model.weight_bits",)),
    ("precision", ("training.precision",)),
    ("optimizer", ("training.optimizer",)),
    ("batch", ("training.batch_size",)),
    ("sequence", ("training.sequence_length",)),
    ("checkpointing", ("training.gradient_checkpointing",)),
    ("sharding", ("training.sharding",)),
    ("GPUs", ("hardware.gpu_count",)),
    ("machines", ("hardware.num_nodes",)),
    ("card", ("hardware.gpu_type",)),
    ("image", ("environment.base_image",)),
    ("Python", ("environment.python_version", "environment.fitting_python")),
    ("set-up", ("dependencies.setup_commands",)),
    ("system", ("dependencies.system_packages",)),
)
# What says less of a model than its name does.
_LESS_THAN_A_NAME = frozenset({"layers", "family"})


@record(frozen=True, slots=True)
class Telling:
    """One answer. ``others``: how many other values of the same field were found and set aside."""

    label: str
    finding: Finding
    others: int


@record(frozen=True, slots=True)
class Packages:
    """All packages in one: their names in order, the file that names most of them, how many others do, the least sure."""

    names: tuple[str, ...]
    evidence: Evidence
    other_files: int
    confidence: Confidence


def telling_findings(findings: Sequence[Finding]) -> tuple[Telling, ...]:
    """Return at most one finding for each question: the surest, as the analysis itself takes it."""
    found: list[Telling] = []
    for label, fields in _QUESTIONS:
        if label in _LESS_THAN_A_NAME and any(each.label in {"model", "layers"} for each in found):
            continue
        for field in fields:
            own = [finding for finding in findings if finding.field == field]
            if own:
                chosen = max(own, key=lambda finding: finding.confidence)
                found.append(Telling(label, chosen, len({finding.value for finding in own} - {chosen.value})))
                break
    return tuple(found)


def package_line(findings: Sequence[Finding]) -> Packages | None:
    """Return the packages folded into one; None where there are none."""
    named = [finding for finding in findings if finding.field in PACKAGE_FIELDS]
    if not named:
        return None
    files = Counter(finding.evidence.path for finding in named)
    path = files.most_common(1)[0][0]
    first = next(finding.evidence for finding in named if finding.evidence.path == path)
    return Packages(
        tuple(finding.value for finding in named), first, len(files) - 1, min(finding.confidence for finding in named)
    )


def is_assumption(gap: str) -> bool:
    """Whether a sentence on a gap says what was assumed instead; the analysis words all of them that way."""
    return " assumed" in gap or " was taken" in gap


def is_set_aside(gap: str) -> bool:
    """Whether such a sentence is of something that was read and is not believed: the answer is then not for the code as it is written."""
    return f" {AGAINST}: " in gap
