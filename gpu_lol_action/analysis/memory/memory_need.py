"""Findings to the memory a card must offer: the question for the estimator, its answer, and what documentation adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.documents.silent_documents import SILENCE
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.media.open_sizes import DEFAULT_GIB, up_to
from gpu_lol_action.analysis.memory.headroom import fitting, spread_for_family, with_room
from gpu_lol_action.analysis.memory.machine_need import MemoryNeed
from gpu_lol_action.analysis.memory.memory_gaps import gaps_of, is_assumed
from gpu_lol_action.analysis.memory.memory_model import EXPLAINS, model_of
from gpu_lol_action.analysis.memory.memory_question import has_batch, question_of, stated_count
from gpu_lol_action.analysis.memory.on_cards import is_of_one_card, placed, shared
from gpu_lol_action.analysis.memory.saved_runs import with_floor
from gpu_lol_action.analysis.memory.sureness import sureness
from gpu_lol_action.analysis.memory.term_places import place_of_model, with_places
from gpu_lol_action.analysis.memory.unrecognized import without_model
from gpu_lol_action.analysis.models.models_beside import with_models_beside
from gpu_lol_action.analysis.stated.documented_sizes import DOCUMENTED, is_titled
from gpu_lol_action.analysis.stated.marked_statements import (
    at_the_batch,
    at_the_command,
    large_enough,
    of_one_size,
    on_the_same_count,
)
from gpu_lol_action.analysis.stated.ordinary_cards import COMMON_GIB, ordinary
from gpu_lol_action.analysis.stated.reconcile import (
    WEIGHT_OF_NAMED_CARD,
    WEIGHT_OVER_ROUGH,
    Agreement,
    Statement,
    as_agreed,
    is_amount,
    reconcile,
    statements,
)
from gpu_lol_action.analysis.training.placement import ALL_FIELDS, MOST_CARDS, machines_of, need_of
from gpu_lol_action.analysis.training.rl_need import with_engine
from gpu_lol_action.analysis.training.serving import SHARE_FIELD, with_share
from gpu_lol_action.analysis.training.untold_trainers import as_told
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.domain.sums import added
from gpu_lol_action.estimation.calibration import workload_of
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.media import is_counted
from gpu_lol_action.estimation.shown_size import parameters
from gpu_lol_action.estimation.vram import VramQuestion, estimate_vram

# The context and the libraries' workspaces take 1 GiB on some cards before a model is loaded; no rented card has less than 8.
LEAST_GIB = 2
WIDE_BITS, UNSEEN_4_BIT = 32, 4


def memory_need(
    findings: tuple[Finding, ...],
    workload: WorkloadType,
    known: Mapping[str, ModelFacts],
    *,
    is_as_said: bool = False,
) -> MemoryNeed:
    """Return the need of a GPU workload. ``known`` holds facts looked up elsewhere (the Hub); they win over the table.

    ``is_as_said``: nothing is assumed so that it fits a card; two commits are compared as they are written.
    """
    stated, model = stated_count(findings), model_of(findings, known)
    if model is None:
        trains = workload is WorkloadType.TRAINING
        said = statements(findings, trains=trains)
        return without_model(findings, said if trains else _of_inference(said), stated or 1, trains=trains)
    said_fields = ALL_FIELDS if is_as_said else _said(findings)
    asked, untold = as_told(question_of(findings, workload, model), findings, said_fields)
    asked, stated, bound = shared(asked, stated, findings)
    question, count, relaxed = placed(asked, stated, findings, said_fields)
    # A server's cache takes what its card has left, whichever model of the family it is.
    is_guessed = is_assumed(findings, question.model) and best(findings, "serving.engine") is None
    if is_guessed:
        question, count = fitting(question, count, findings) if stated else spread_for_family(question, count)
    estimated = up_to(with_models_beside(with_places(estimate_vram(question), findings), question, findings), bound)
    breakdown = with_engine(with_share(estimated, best(findings, SHARE_FIELD)), question, findings)
    breakdown = replace(breakdown, required_gib=need_of(breakdown), workload=workload_of(question, breakdown.terms))
    finding, where = best(findings, "model.id") or best(findings, "model.layers"), place_of_model(findings)
    why = f"{model.name} ({parameters(model.parameters_b)}), {question.method.value}: the sum of the memory terms"
    confidence = min(Confidence.MEDIUM, finding.confidence if finding else Confidence.LOW)
    is_managed = best(findings, "memory.managed") is not None
    said = statements(
        findings,
        trains=question.method.trains,
        is_quantized=question.weight_bits < 16,
        is_offloaded=is_managed or _is_offloaded(question),
    )
    is_rough = _is_rough(findings, question) or bool(bound.gap)
    if is_rough and not _is_of_title(model, findings) and _is_only_a_part(said, breakdown):
        return without_model(
            findings,
            said if question.method.trains else _of_whole(said),
            stated or 1,
            trains=question.method.trains,
            part=f"{model.name} ({parameters(model.parameters_b)}) needs {breakdown.required_gib:.0f} GiB",
        )
    said = _of_the_run(said, findings, breakdown, question, is_rough=is_rough)
    # What stands for a family is usually not the model whose authors published a figure.
    said = (*on_the_same_count(said, findings, count), *(() if is_guessed else _card_of_model(model, question, where)))
    agreed = reconcile(breakdown.required_gib, said, is_rough=is_rough, is_managed=is_managed)
    if agreed is None and is_guessed:
        breakdown = _roomy(breakdown, question)
    agreed = agreed or ordinary(
        breakdown,
        question,
        findings,
        confidence,
        said,
        is_for_batch=stated is None and _is_for_batch(question, findings),
    )
    alone = _undivided(question, asked) if stated is None else question
    one = _one_card(agreed, alone) if alone is not question and agreed is not None else None
    if one is not None:
        return memory_need((*findings, one), workload, known, is_as_said=is_as_said)
    if agreed is not None:
        breakdown, why, where = as_agreed(breakdown, agreed), f"{why}; {agreed.why}", agreed.evidence
        # What is only guessed is not spread over several cards against what is said of one.
        is_of_one = agreed.finding.field == SILENCE or (is_guessed and is_amount(agreed.finding))
        count = 1 if is_of_one and stated_count(findings) is None else count
    breakdown, saved = with_floor(breakdown, asked, question, said)
    required = max(LEAST_GIB, int(breakdown.required_gib))
    assumed = (*gaps_of(findings, question, bound), *untold, *relaxed)
    told = why if saved is None else f"{why}; {breakdown.notes[-1]}"
    need = Finding(
        "hardware.vram_required_gb", str(required), told, sureness(findings, agreed, finding, assumed), where
    )
    return MemoryNeed(
        required,
        count,
        breakdown,
        model,
        need,
        assumed,
        alone,
        bool(relaxed),
        machines_of(question, count),
        saved,
        asked.batch_size if has_batch(findings) else 0,
    )


def _is_for_batch(question: VramQuestion, findings: tuple[Finding, ...]) -> bool:
    """Whether more than the common card is asked for because of the batch that is written: a single sample would do with that card, or with more of them."""
    if not has_batch(findings) or question.batch_size == 1:
        return False
    single = estimate_vram(replace(question, batch_size=1))
    return need_of(single) <= COMMON_GIB + 1 or question.gpu_count < MOST_CARDS


def _roomy(breakdown: MemoryBreakdown, question: VramQuestion) -> MemoryBreakdown:
    """Return the sum of a model that only stands for its family, with room for a larger one."""
    roomy = with_room(breakdown, question)
    return replace(roomy, required_gib=need_of(roomy))


def _undivided(question: VramQuestion, asked: VramQuestion) -> VramQuestion:
    """Return the question over the fewest cards that the code takes: it is divided only because these are too small, and another configuration starts from them again."""
    return (
        replace(question, gpu_count=asked.gpu_count, sharding=asked.sharding)
        if question.gpu_count > asked.gpu_count
        else question
    )


def _one_card(agreed: Agreement, question: VramQuestion) -> Finding | None:
    """Return that one card has it all, where what is documented is the whole sum."""
    if not is_amount(agreed.finding) or not is_of_one_card(float(agreed.finding.value), question):
        return None
    return Finding("hardware.gpu_count", "1", agreed.why, Confidence.LOW, agreed.evidence)


def _said(findings: tuple[Finding, ...]) -> frozenset[str]:
    """Return the fields that somebody decided: a program's own ``off`` or 32 bit is what it starts with when nobody did."""
    return frozenset(
        finding.field
        for finding in findings
        if not (finding.value in {"off", "fp32"} and finding.evidence.path.endswith((".py", ".ipynb")))
    )


def _is_rough(findings: tuple[Finding, ...], question: VramQuestion) -> bool:
    """Whether the sum rests on a guess: a model without a shape or only hinted at, or a batch that nothing says."""
    named = best(findings, "model.id")
    model = question.model
    # A size that only a name says is of the part that the name counts: not of an encoder or a codec beside it.
    is_told = named is not None and named.confidence is Confidence.HIGH and model.source != "name"
    is_sure = model.source == "shape" or is_told
    is_sized = has_batch(findings) or not question.method.trains
    return not ((model.has_shape or is_counted(question)) and is_sure and is_sized)


def _is_offloaded(question: VramQuestion) -> bool:
    """Whether weights or the optimizer wait in main memory."""
    return question.is_parameters_offloaded or question.is_optimizer_offloaded or question.is_one_part_at_a_time


def _holding_the_weights(
    said: tuple[Statement, ...], findings: tuple[Finding, ...], breakdown: MemoryBreakdown, question: VramQuestion
) -> tuple[Statement, ...]:
    """Return the statements without amounts that could not even hold the weights, where the run itself says how wide these lie.

    Below a model at 16 bit most READMEs praise how little it takes at 4: another run's need. Remarks of a program that trains any
    model of its kind were written for a smaller one.
    """
    least, named = _weights_gib(breakdown), best(findings, "model.id")
    if _is_offloaded(question):
        return said
    if question.method.trains:
        # What is trained may be loaded at 4 bit where nothing shows it; an amount of less than that is another model's.
        is_known = named is not None and named.confidence > Confidence.LOW and question.model.source != "name"
        enough = least / UNSEEN_4_BIT if is_known and not is_assumed(findings, question.model) else 0.0
        return tuple(s for s in said if s.is_card or s.memory_gib >= (least if _is_in_program(s) else enough))
    precision = best(findings, "training.precision")
    is_said = precision is not None and precision.confidence is Confidence.HIGH and question.weight_bits in {16, 32}
    if not is_said or question.model.source == "shape" or is_assumed(findings, question.model):
        return said  # what only stands for a family disproves no document
    if question.weight_bits == WIDE_BITS:
        # Who asks for 32 bit quantizes nothing: what holds less than half of that ran another width, or another model.
        return tuple(s for s in said if s.memory_gib >= least / 2)
    return tuple(s for s in said if s.is_card or s.memory_gib >= least)


def _is_in_program(said: Statement) -> bool:
    return said.finding.evidence.path.endswith(".py")


def _of_the_run(
    said: tuple[Statement, ...],
    findings: tuple[Finding, ...],
    breakdown: MemoryBreakdown,
    question: VramQuestion,
    *,
    is_rough: bool,
) -> tuple[Statement, ...]:
    """Return the statements that can be about this run, those at its command marked."""
    said = of_one_size(said if is_rough else large_enough(said, _weights_gib(breakdown)))
    said = at_the_batch(_holding_the_weights(said, findings, breakdown, question), findings)
    return at_the_command(said, best(findings, "entry_point"))


def _weights_gib(breakdown: MemoryBreakdown) -> float:
    return added(term.gib for term in breakdown.terms if term.name == "weights")


def _is_only_a_part(said: Sequence[Statement], breakdown: MemoryBreakdown) -> bool:
    """Whether everything that is stated is far over the sum: what was recognized (an encoder) is not the whole model."""
    # Cards of another purpose still say that a small sum is a part's; who trains on large ones infers with half of it.
    mine = [s for s in said if s.rank < 2 or breakdown.expected_gib < DEFAULT_GIB]
    sizes = [s.memory_gib for s in mine if s.weight > WEIGHT_OF_NAMED_CARD and not _is_ordered(s)]
    return bool(sizes) and min(sizes) > EXPLAINS * breakdown.expected_gib


def _is_of_title(model: ModelFacts, findings: tuple[Finding, ...]) -> bool:
    """Whether a README's own title says how large the model is: that counts the whole of it."""
    return model.name == DOCUMENTED and is_titled(findings)


def _of_inference(said: Sequence[Statement]) -> list[Statement]:
    """Return what speaks of a run that infers with a model that is not known: not the cards that trained it, nor one that is only named (for its speed)."""
    return [s for s in said if s.rank < 2 and (not s.is_card or s.weight > WEIGHT_OF_NAMED_CARD)]


def _of_whole(said: Sequence[Statement]) -> list[Statement]:
    """Return what speaks of a run that infers with more than was recognized: cards that trained the model as if they were only named.

    Running it asks for less than they have: such a card moves what is assumed, and does not replace it. So does the size of one
    that is only said beside it ("four GPUs (80G)"); what a training is said to ask for counts, where nothing else is said.
    """
    mine = [
        s for s in said if s.is_card or ".training." not in s.finding.field or s.finding.confidence is Confidence.HIGH
    ]
    return [replace(s, weight=WEIGHT_OF_NAMED_CARD) if s.is_card and s.rank > 1 else s for s in mine]


def _is_ordered(statement: Statement) -> bool:
    """Whether a card is what a script orders from a scheduler: what there is, not what is needed."""
    return statement.is_card and statement.finding.evidence.path.endswith((".sh", ".slurm", ".sbatch"))


def _card_of_model(model: ModelFacts, question: VramQuestion, where: Evidence) -> list[Statement]:
    """Return the memory that the model's own authors publish for running it."""
    if not model.published_gb or question.method.trains:
        return []
    why = f"the card of {model.name} says {model.published_gb:g} GB"
    finding = Finding("documented.memory_gb", f"{model.published_gb:g}", why, Confidence.HIGH, where)
    return [Statement(model.published_gb, False, WEIGHT_OVER_ROUGH, 0, finding)]
