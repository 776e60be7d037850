"""Models of another kind that one program loads beside its own: a vision tower under a language model, speech in front of it.

Their weights lie on the card as well. What belongs to the model anyway (a pipeline's text encoder, a multimodal model's tower)
is not counted twice, and models of the same kind are taken for alternatives, not for company.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models.model_loads import loads_of, model_name
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import scope_of
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm, with_terms
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.media_facts import find_pipeline
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.shown_size import parameters
from gpu_lol_action.estimation.vram import GB, GIB, VramQuestion

FIELD = "model.beside"
MOST, SEVERAL = 4, 2
_TOWER = regex(
    r"(?:\w{1,20}_)?(?:vision|image|visual|audio|speech|video)_(?:tower|encoder|backbone|model)"
    r"(?:_(?:name|path|id|name_or_path))?"
    # What draws the answers of a model that writes them.
    r"|(?:\w{1,20}_)?(?:diffusion|sd|sdxl|ldm)(?:_model|_pipeline)?_(?:name|path|id|dir|name_or_path|ckpt_path)"
)
_GROUPS = (
    ("language", regex(r"llm|vlm|seq2seq|ssm|hybrid|omni|audio-llm")),
    ("diffusion", regex(r"diffusion|controlnet")),
    ("sound", regex(r"asr|audio|tts|speech")),
    ("pictures", regex(r"vision|segmentation|detection|depth")),
    ("text", regex(r"embedding|encoder|reranker")),
)
# A configuration alone, or weights that are left in main memory.
_IS_ELSEWHERE = regex(r"Config\.from_pretrained|device(?:_map)?\s?=\s?[\"']cpu|\.to\([\"']cpu|\.cpu\(\)")
# What a model of that group has of its own: whose weights are counted with it.
_OWN_PARTS = {"diffusion": ("text", "pictures", "language")}
_WHOLE = regex(r"vlm|omni|audio-llm")  # have towers of their own


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return models that the run names as towers, and what its program loads where that is of several kinds; which is the main one is decided later."""
    if run is None:
        return []
    found: dict[str, Finding] = {}
    for finding in (*_towers(checkout, run), *_loaded(run)):
        found.setdefault(finding.value, finding)
    return list(found.values())


def _towers(checkout: Checkout, run: Run) -> Iterator[Finding]:
    for confidence, settings in scope_of(checkout, run).tiers[:3]:
        for setting in settings:
            name = model_name(setting.text) if _TOWER.fullmatch(setting.key) else None
            if name is not None:
                yield Finding(FIELD, name, f"`{setting.key}` is `{name}`", confidence, setting.evidence)


def _loaded(run: Run) -> Iterator[Finding]:
    """Yield what the program loads, of several kinds; a notebook shows one thing after the other."""
    if run.script is None or run.script.form is not Form.PYTHON:
        return
    loaded = list(loads_of(run.script, Confidence.MEDIUM))
    kinds = {_group(facts.kind) for finding in loaded if (facts := find_model(finding.value)) is not None}
    yield from (replace(finding, field=FIELD) for finding in loaded if len(kinds - {""}) > 1)


def largest_first(found: Iterable[Finding], run: Run | None) -> list[Finding]:
    """Return findings with the largest first of the models that one program surely loads, where these are of several kinds.

    An embedder in front of the model that answers, speech in front of the one that hears: the smaller ones lie beside it.
    """
    found = list(found)
    lines = run.script.text.split("\n") if run is not None and run.script is not None else []
    loaded = (
        f
        for f in found
        if f.confidence is Confidence.HIGH and "` loads `" in f.why and 0 < (f.evidence.line or 0) <= len(lines)
    )
    sure = {f.value: find_model(f.value) for f in loaded if not _IS_ELSEWHERE.search(lines[(f.evidence.line or 1) - 1])}
    known = {name: facts for name, facts in sure.items() if facts is not None and _group(facts.kind)}
    if len({_group(facts.kind) for facts in known.values()}) < SEVERAL:
        return found
    largest = max(known, key=lambda name: known[name].parameters_b)
    return sorted(found, key=lambda each: each.value != largest)


def with_models_beside(
    breakdown: MemoryBreakdown, question: VramQuestion, findings: tuple[Finding, ...]
) -> MemoryBreakdown:
    """Return the breakdown with the weights of the models beside the run's own, as they are computed with."""
    terms = []
    for model, finding in (*_beside(question.model, findings), *_guides(findings)):
        width = 4 if question.is_float32 else 2
        gib = round(model.parameters_b * width * GB / GIB, 2)
        basis = f"{model.name}, {parameters(model.parameters_b)}, loaded beside it"
        terms.append(MemoryTerm("models beside", gib, basis, finding.evidence))
    is_elsewhere = question.is_parameters_offloaded or question.is_one_part_at_a_time
    return breakdown if is_elsewhere else with_terms(breakdown, terms)


def _beside(model: ModelFacts, findings: tuple[Finding, ...]) -> list[tuple[ModelFacts, Finding]]:
    group = _group(model.kind)
    if group not in {"language", "diffusion", "sound"}:
        return []
    found: dict[str, tuple[ModelFacts, Finding]] = {}
    for finding in findings:
        facts = find_model(finding.value) if finding.field == FIELD else None
        other = _group(facts.kind) if facts is not None else ""
        if facts is None or other in {"", group, *_OWN_PARTS.get(group, ())} or facts.parameters_b > model.parameters_b:
            continue
        if not (_WHOLE.match(model.kind) and other in {"pictures", "sound"}):
            found.setdefault(facts.name, (facts, finding))
    return list(found.values())[:MOST]


def _guides(findings: tuple[Finding, ...]) -> Iterator[tuple[ModelFacts, Finding]]:
    """Yield the further diffusion models that guide a scene: all of their parts look at its pictures."""
    for finding in findings:
        pipeline = find_pipeline(finding.value) if finding.field == "model.guide" else None
        if pipeline is not None:
            parameters_b = (pipeline.denoiser_m + pipeline.text_m + pipeline.decoder_m) / 1000
            yield ModelFacts(pipeline.name, "diffusion-image", parameters_b), finding


def _group(kind: str) -> str:
    return next((name for name, pattern in _GROUPS if pattern.match(kind)), "")
