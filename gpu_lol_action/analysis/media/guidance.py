"""Scenes that are learned from what a frozen diffusion model says of their pictures: score distillation.

DreamFusion (Poole et al. 2022) and its successors render a scene, ask a diffusion model in which direction the picture should
change, and train the scene alone. The model is computed with as for inference, whatever the program's name and configuration
say of training; some have a second one beside it that knows other views (Zero-1-to-3, Liu et al. 2023). A picture is rendered
whole: each of its pixels is a ray, followed at so many points through a grid of features and two small networks.

Findings: ``media.trained_part`` (``scene``), ``model.id`` (the guide), ``model.guide`` (further ones), ``media.text_encoder``
(``elsewhere`` where prompts are encoded before), ``media.scene_points`` (points of a step whose values are kept).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.media.scenes import MOST_POINTS, SAMPLES
from gpu_lol_action.analysis.models.model_loads import MODEL_KEYS, loads_of
from gpu_lol_action.analysis.runs.settings import Scope, as_number
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.media_facts import find_pipeline
from gpu_lol_action.estimation.model_facts import find_model

_SECTION = regex(r"(?:^|[._/])guidance(?=$|[._/\d])")
_BEFORE = regex(r"(?:^|\.)prompt_processor(?=\.)")
_FROZEN = regex(r"requires_grad_\(False\)|requires_grad\s*=\s*False|no_grad\(")
_DISTILLS = regex(r"\*\s?\(\s?noise_pred\w{0,20}\s?-\s?noise\s?\)|\bSpecifyGradient\b|\.backward\(gradient=")
MOST_GUIDES, MOST_PIXELS = 3, 2048


def guidance_findings(scope: Scope, sources: Sequence[Source]) -> list[Finding]:
    """Return what a run that is guided by a frozen diffusion model is; nothing for any other."""
    guides = _configured(scope) or _loaded(sources)
    if not guides:
        return []
    first, *others = guides
    why = f"the scene is trained, and `{first.value}` guides it frozen"
    found = [first, Finding("media.trained_part", "scene", why, first.confidence, first.evidence)]
    found += [Finding("model.guide", other.value, other.why, other.confidence, other.evidence) for other in others]
    before = _first(scope, _BEFORE)
    if before is not None:
        why = "prompts are encoded before the scene is trained"
        found.append(Finding("media.text_encoder", "elsewhere", why, Confidence.MEDIUM, before.evidence))
    points = _points(scope)
    return [*found, *([points] if points is not None else [])]


def _configured(scope: Scope) -> list[Finding]:
    """Return the diffusion models that sections on guidance name, of the nearest tier and the first file that have any."""
    for confidence, settings in scope.tiers:
        found: dict[str, Finding] = {}
        for setting in settings:
            if setting.key not in MODEL_KEYS or not _SECTION.search(setting.path):
                continue
            if any(finding.evidence.path != setting.evidence.path for finding in found.values()):
                continue
            pipeline = find_pipeline(setting.text)
            if pipeline is not None and (found or find_model(setting.text) is not None):
                # What lies beside the program and names a guide says it of the program, whichever of them is started.
                sure = max(confidence, Confidence.MEDIUM)
                why = f"`{setting.path}` is `{setting.text[:80]}`"
                found.setdefault(pipeline.name, Finding("model.id", setting.text, why, sure, setting.evidence))
        if found:
            return list(found.values())[:MOST_GUIDES]
    return []


def _loaded(sources: Sequence[Source]) -> list[Finding]:
    """Return the diffusion model that a module about guidance, or one that distills scores, loads and freezes, where it is one."""
    found: dict[str, Finding] = {}
    for source in sources[1:]:
        is_guide = _SECTION.search(source.path.lower().removesuffix(".py")) or _distills(source)
        if is_guide and _FROZEN.search(source.text):
            for finding in loads_of(source, Confidence.MEDIUM):
                pipeline = find_pipeline(finding.value)
                if pipeline is not None:
                    found.setdefault(pipeline.name, finding)
    return list(found.values())[:1]


@remembered
def _distills(source: Source) -> bool:
    """Whether a module hands on how far predicted noise is off as the gradient itself, whatever it is called."""
    return source.mentions("noise_pred") and _DISTILLS.search(source.text) is not None


def _first(scope: Scope, pattern: re.Pattern[str]) -> Setting | None:
    settings = (setting for _, settings in scope.tiers for setting in settings)
    return next((setting for setting in settings if pattern.search(setting.path)), None)


def _points(scope: Scope) -> Finding | None:
    """Return the points of a step: the pixels of the largest picture that is rendered, times the points along each ray."""
    for confidence, settings in scope.tiers:
        samples = next((s for s in settings if s.key in SAMPLES and (as_number(s.text) or 0) > 1), None)
        sides = [max((_side(s) for s in settings if s.key == key), default=0) for key in ("height", "width")]
        if samples is not None and all(sides):
            points = min(sides[0] * sides[1] * (as_number(samples.text) or 1), MOST_POINTS)
            why = (
                f"{sides[0]} x {sides[1]} rays are followed at {samples.text} points each, as far as they hit something"
            )
            return Finding("media.scene_points", str(points), why, min(confidence, Confidence.MEDIUM), samples.evidence)
    return None


def _side(setting: Setting) -> int:
    sides = [int(digits) for digits in regex(r"\d{1,4}").findall(setting.text[:100])]
    return max((side for side in sides if side <= MOST_PIXELS), default=0)
