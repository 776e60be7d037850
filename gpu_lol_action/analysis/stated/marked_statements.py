"""What else is known of a documented amount or card: how many GPUs it was said of, and whether it is said of the run's own command."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.runs.documented_places import AT_COMMAND, IN_ROW
from gpu_lol_action.analysis.stated.reconcile import WEIGHT_OF_MEMORY, WEIGHT_OF_NAMED_CARD, Statement
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.gpus import accelerators

LINES_ABOVE = 10  # a heading or a sentence before the command, and the fence
_DOCUMENTS = (".md", ".mdx", ".rst", ".txt")
_SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch")
WEIGHT_IN_SCRIPT = 0.9
"""Of an amount in a script right above what it starts (``# 2 * 30GiB``): who wrote it has seen that very run."""
MANY_CARDS = 4
_TWO_SIZES, _TWIN = "A100", "A100-80GB"


def large_enough(stated: Iterable[Statement], weights_gib: float) -> tuple[Statement, ...]:
    """Return the statements, a card that cannot hold the weights alone put as the larger one of its name (A100: 40 or 80 GB)."""
    table = accelerators()
    return tuple(
        replace(s, memory_gib=table[_TWIN].memory_gib)
        if s.is_card and s.finding.value == _TWO_SIZES and s.memory_gib < weights_gib <= table[_TWIN].memory_gib
        else s
        for s in stated
    )


def of_one_size(stated: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return the statements, a script's A100 put as the larger one where documents tell of that size alone: it names the cluster that they describe."""
    said, table = tuple(stated), accelerators()
    told = {s.finding.value for s in said if s.is_card and _is_told(s)}
    if _TWIN not in told or _TWO_SIZES in told:
        return said
    return tuple(
        replace(s, memory_gib=table[_TWIN].memory_gib, finding=replace(s.finding, value=_TWIN))
        if s.is_card and s.finding.value == _TWO_SIZES and not s.finding.evidence.path.endswith(_DOCUMENTS)
        else s
        for s in said
    )


def _is_told(said: Statement) -> bool:
    return said.finding.evidence.path.endswith(_DOCUMENTS) and said.finding.confidence >= Confidence.MEDIUM


def on_the_same_count(stated: Iterable[Statement], findings: Iterable[Finding], count: int) -> tuple[Statement, ...]:
    """Return the statements, those marked that stand beside the very count of GPUs that the run takes.

    What ran on a single card says little of a run that takes many: it is weighed like a card that is only named.
    """
    counts = _counts(findings)
    return tuple(_counted(each, counts.get(each.finding.evidence, set()), count) for each in stated)


def of_as_many(stated: Iterable[Statement], findings: Iterable[Finding], count: int) -> tuple[Statement, ...]:
    """Return the statements without amounts that stand beside other counts of GPUs, where one stands beside the run's own.

    "Our setting is 4 cards with 32 GB; a smaller configuration trains on a single one with 16" tells of two runs.
    """
    said, counts = tuple(stated), _counts(findings)
    beside = {each.finding.evidence for each in said if str(count) in counts.get(each.finding.evidence, ())}
    if count == 1 or not beside:  # one is also what is taken where nothing says how many
        return said
    return tuple(s for s in said if s.is_card or s.finding.evidence in beside or s.finding.evidence not in counts)


def _counts(findings: Iterable[Finding]) -> dict[Evidence, set[str]]:
    """Return which counts of GPUs each place names."""
    counts: dict[Evidence, set[str]] = {}
    for finding in findings:
        if finding.field == "documented.gpu_count":
            counts.setdefault(finding.evidence, set()).add(finding.value)
    return counts


def _counted(said: Statement, counts: set[str], count: int) -> Statement:
    if said.is_card and count >= MANY_CARDS and counts == {"1"}:
        return replace(said, weight=min(said.weight, WEIGHT_OF_NAMED_CARD))
    return replace(said, is_counted=True) if count > 1 and str(count) in counts else said


def at_the_batch(stated: Iterable[Statement], findings: tuple[Finding, ...]) -> tuple[Statement, ...]:
    """Return the statements, a remark that stands at the run's own batch, or right above it, taken for the memory that this one was chosen for."""
    if (batch := best(findings, "training.batch_size")) is None:
        return tuple(stated)
    where = batch.evidence
    own = (Evidence(where.path, where.line), Evidence(where.path, where.line - 1))
    return tuple(_of_this_run(each) if not each.is_card and each.finding.evidence in own else each for each in stated)


def _of_this_run(said: Statement) -> Statement:
    finding = replace(said.finding, confidence=max(said.finding.confidence, Confidence.MEDIUM))
    return replace(said, weight=max(said.weight, WEIGHT_OF_MEMORY), is_at_command=True, finding=finding)


def at_the_command(stated: Iterable[Statement], command: Finding | None) -> tuple[Statement, ...]:
    """Return the statements, those marked whose line is about the run's own command, or stands right above it."""
    found = []
    for each in stated:
        where = each.finding.evidence
        above = command.evidence.line - where.line if command and where.path == command.evidence.path else -1
        is_at = each.is_at_command or each.place in {AT_COMMAND, IN_ROW} or 0 <= above <= LINES_ABOVE
        # The card that the run's own script orders from a scheduler holds it, wherever in the script that stands.
        is_at = is_at or (
            each.is_card and above >= 0 and where.path.endswith(_SCRIPTS) and each.finding.confidence is Confidence.HIGH
        )
        is_own = not each.is_card and 0 <= above <= LINES_ABOVE and where.path.endswith(_SCRIPTS)
        least = WEIGHT_IN_SCRIPT if is_own and each.weight >= WEIGHT_OF_MEMORY else WEIGHT_OF_MEMORY
        weight = max(each.weight, least) if is_at and not each.is_card else each.weight
        # Its count is the run's own, too.
        found.append(replace(each, is_at_command=is_at, weight=weight, is_counted=each.is_counted or is_own))
    return tuple(found)
