"""What the memory of a run was computed with because nothing says it: the model, the batch, the length of a sample."""

from __future__ import annotations

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.media.open_sizes import Bound
from gpu_lol_action.analysis.memory import padded_texts
from gpu_lol_action.analysis.memory.headroom import SMALLER
from gpu_lol_action.analysis.memory.memory_question import has_batch, tokens_taken_for_samples
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import VramQuestion


def is_assumed(findings: tuple[Finding, ...], model: ModelFacts) -> bool:
    """Whether nothing names the model, so that the usual one of its family stands for it: others of the family are larger."""
    family = best(findings, "model.family")
    if family is None or model.name != getattr(find_model(family.value), "name", None):
        return False
    # A model has names beside the one in the table (`large-v3`).
    return not any(
        f.field == "model.id" and (f.value in {family.value, model.name} or _bears(f.value, model)) for f in findings
    )


def _bears(name: str, model: ModelFacts) -> bool:
    found = find_model(name)
    return found is not None and found.name == model.name


def _is_instead(findings: tuple[Finding, ...], model: ModelFacts) -> bool:
    """Whether a smaller model stands for the usual one of its family."""
    return model.name in SMALLER and all(f.value != model.name for f in findings)


def _is_the_users(findings: tuple[Finding, ...], family: Finding, model: ModelFacts) -> bool:
    """Whether the model is one that only stands for the user's: no more than a default, or another program, names it."""
    is_it = model.name == getattr(find_model(family.value), "name", None)
    return is_it and not any(f.field == "model.id" and f.confidence > Confidence.LOW for f in findings)


def gaps_of(findings: tuple[Finding, ...], question: VramQuestion, bound: Bound) -> tuple[str, ...]:
    """Return what was assumed because nothing said it."""
    gaps = []
    family = best(findings, "model.family")
    if family is not None and is_assumed(findings, question.model):
        gaps.append(f"no model is named; {family.value} was assumed, the usual one of its family")
    elif family is not None and _is_instead(findings, question.model):
        instead = question.model.name
        gaps.append(
            f"no model is named; {instead} was assumed, for {family.value} fits on no card that is widely rented"
        )
    elif family is not None and _is_the_users(findings, family, question.model):
        gaps.append(f"the model is left to whoever starts it; {family.value} was assumed ({family.evidence})")
    tokens = tokens_taken_for_samples(findings, question.model) if question.method.trains else None
    if tokens is not None:
        gaps.append(f"a batch of {tokens.value} was taken as counted in tokens ({tokens.evidence})")
    if question.method.trains and not has_batch(findings):
        gaps.append(f"no batch size was found; {question.batch_size} was assumed")
    if (
        not bound.gap
        and question.model.has_shape
        and question.model.kind.startswith(("llm", "vlm"))
        and best(findings, "training.sequence_length") is None
    ):
        gaps.append(f"no sequence length was found; {question.sequence_length} tokens were assumed")
    gaps += padded_texts.gaps(findings, question.model) if question.method.trains else []
    return (*gaps, *([bound.gap] if bound.gap else []))
