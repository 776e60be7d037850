"""What the Hub and a language model say of a checkout; apart from :mod:`gpu_lol_action.handlers.consulting`, as most runs ask neither.

Whatever fails out there leaves what the code alone says, and a sentence in ``not_understood``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpu_lol_action.analysis.answer.assemble import (
    analyze,
    detect_all,
    models_of_profiles,
    named_models,
    unlisted_models,
)
from gpu_lol_action.analysis.answer.llm_advice import Refused, read_advice
from gpu_lol_action.analysis.answer.llm_guard import apply_advice, claim, hints_of
from gpu_lol_action.analysis.answer.llm_packages import read_packages
from gpu_lol_action.analysis.answer.llm_question import build_question
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.lookup import HubPage, Unanswered
from gpu_lol_action.estimation.hub_model import HubModel, adapter_base, is_adapter, is_hub_id, read_model
from gpu_lol_action.estimation.hub_pipeline import is_pipeline, read_pipeline
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model, is_known_model
from gpu_lol_action.estimation.shown_size import parameters

if TYPE_CHECKING:
    from gpu_lol_action.analysis.files.checkout import Checkout
    from gpu_lol_action.domain.analysis import Analysis
    from gpu_lol_action.handlers.ports_lookups import LanguageModel, ModelHub

MAX_MODELS = 4
"""So many are looked up for one tree: the figure rests on one, the others are what it might have been."""


_UNSIZED = Unanswered("it says no number of parameters", is_final=True)


@dataclass(frozen=True, slots=True)
class FromHub:
    """What the Hub says of models by name, what it hints at, and a sentence for each that it could not be asked about."""

    facts: Mapping[str, ModelFacts]
    hints: tuple[Finding, ...] = ()
    gaps: tuple[str, ...] = ()


def look_up(checkout: Checkout, hub: ModelHub) -> FromHub:
    """Ask the Hub for the models that the code names and the table lacks, surest first."""
    named = named_models(detect_all(checkout))
    unlisted = {hint.value: hint for hint in unlisted_models(checkout)}
    candidates = dict.fromkeys((*named, *unlisted, *models_of_profiles(checkout)))
    asked = [name for name in candidates if is_hub_id(name) and not is_known_model(name)][:MAX_MODELS]
    facts: dict[str, ModelFacts] = {}
    hints: list[Finding] = []
    gaps: list[str] = []
    for name in asked:
        model = look_up_model(hub, name)
        if isinstance(model, Unanswered):
            known = find_model(name)
            instead = f"; {parameters(known.parameters_b)} were taken from its name" if known else ""
            gaps.append(f"the size of `{name}` could not be looked up on the Hugging Face Hub: {model.what}{instead}")
            continue
        facts[name] = model.facts
        if name in unlisted:
            hints.append(unlisted[name])
        if model.weight_bits is not None and name == next(iter(candidates)):
            why = f"the Hub's config.json of `{name}` says that its weights are quantized"
            hints.append(Finding("model.weight_bits", str(model.weight_bits), why, Confidence.LOW, Evidence("")))
    return FromHub(facts, tuple(hints), tuple(gaps))


def look_up_model(hub: ModelHub, name: str, *, is_base: bool = False) -> HubModel | Unanswered:
    """Return what the Hub says of a model; an adapter counts as the model that it is laid over."""
    info = hub.read(name, HubPage.INFO)
    if isinstance(info, Unanswered):
        return info
    if is_pipeline(info):
        files = hub.read(name, HubPage.FILES)
        facts = read_pipeline(name, info, files) if not isinstance(files, Unanswered) else None
        return HubModel(facts) if facts is not None else _UNSIZED
    config = hub.read(name, HubPage.CONFIG)
    if not is_base and (is_adapter(info) or isinstance(config, Unanswered)):
        adapter = hub.read(name, HubPage.ADAPTER)
        base = adapter_base(info, None if isinstance(adapter, Unanswered) else adapter)
        if base is not None:
            return _base(hub, name, base)
    model = read_model(name, info, None if isinstance(config, Unanswered) else config)
    return model if model is not None else _UNSIZED


def _base(hub: ModelHub, name: str, base: str) -> HubModel | Unanswered:
    known = find_model(base) if is_known_model(base) else None
    model = HubModel(known) if known is not None else look_up_model(hub, base, is_base=True)
    if isinstance(model, Unanswered):
        return replace(model, what=f"it is an adapter over `{base}`, and of that {model.what}")
    facts = replace(model.facts, name=name, source="hub", note=f"an adapter over {base}")
    return replace(model, facts=facts)


def advised(checkout: Checkout, analysis: Analysis, found: FromHub, llm: LanguageModel) -> Analysis:
    """Return the analysis as a language model corrects it; what it may not change, or a fault, leaves it as it is."""
    answer = llm.ask(build_question(checkout, analysis))
    if isinstance(answer, Unanswered):
        return _without(analysis, f"the language model was asked and gave no answer: {answer.what}")
    advice = read_advice(answer)
    if isinstance(advice, Refused):
        return _without(analysis, f"the language model's answer was not taken: {advice.what}")
    packages = read_packages(checkout, analysis, advice, claim(llm.name, advice))
    hints = (*hints_of(advice, llm.name), *packages.hints, *found.hints)
    hinted = analyze(checkout, checkout.spec_text, found.facts, hints, advice.run or "")
    hinted = replace(hinted, not_understood=(*hinted.not_understood, *found.gaps))
    advised = apply_advice(analysis, hinted, advice, llm.name, checkout.spec_text, packages)
    if isinstance(advised, Refused):
        return _without(analysis, f"the language model's answer was not taken: {advised.what}")
    return advised


def _without(analysis: Analysis, gap: str) -> Analysis:
    """Return what the code alone says, and that it stands alone."""
    return replace(analysis, not_understood=(*analysis.not_understood, f"{gap}; what the code says stands"))
