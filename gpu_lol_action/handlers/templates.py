"""RunPod's templates: which one an ``up`` takes in place of the chosen image, and ``gpu-lol templates``, which lists them."""

from __future__ import annotations

import json
from dataclasses import replace

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.lookup import Unanswered
from gpu_lol_action.domain.market import Template
from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.request import Command, Outcome
from gpu_lol_action.errors import OperatorError, TransientError
from gpu_lol_action.handlers.concluding import Reading
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.ports_lookups import Market
from gpu_lol_action.launch.templates import TemplateWish, choose_template
from gpu_lol_action.render.templates_text import templates_text

RUNPOD = "runpod"


def template_for(context: Context, order: Order, reading: Reading, ladder: Ladder) -> Template | None:
    """Return the template that stands for the image on RunPod; None where a person chose the image, or none fits.

    What RunPod does not answer in time is no reason to wait: the chosen image is pulled then.
    """
    best = next((each for each in ladder.candidates if each.offer.cloud == RUNPOD), None)
    image = reading.asked.environment.base_image
    if best is None or image is None or context.market is None or RUNPOD not in context.settings.clouds:
        return None
    if order.command.image is not None or is_image_chosen(reading.analysis):
        return None
    templates = context.market().templates()
    if isinstance(templates, Unanswered):
        return None
    card = find_accelerator(best.offer.accelerator)
    python = reading.asked.environment.python_version
    pattern = context.settings.template_pattern
    return choose_template(templates, TemplateWish(image, python, card, order.policy.images, pattern))


def is_image_chosen(analysis: Analysis) -> bool:
    """Whether a person chose the image: in the file, or as the base of a Dockerfile; else it comes from our own table."""
    if any(finding.field == "environment.base_image" for finding in analysis.findings):
        return True
    return analysis.spec.environment.base_image != analysis.proposed.environment.base_image


def with_template(ladder: Ladder, template: Template | None) -> Ladder:
    """Return the ladder with the template named where it would be used."""
    if template is None:
        return ladder
    return replace(ladder, candidates=tuple(_told(each, template) for each in ladder.candidates))


def template_words(template: Template) -> str:
    """Return what a template changes, as the end of a sentence."""
    return f"image of your RunPod template `{template.name}`, which boots faster where the host holds it"


def describe_templates(command: Command, market: Market, pattern: str) -> Outcome:
    """Return what ``gpu-lol templates`` prints. Raises OperatorError without a key, TransientError without an answer."""
    found = market.templates()
    if isinstance(found, Unanswered):
        if "key" in found.what:
            raise OperatorError(
                "cloud_credentials_refused", f"RunPod's templates cannot be listed: {found.what}.",
                fix="Set RUNPOD_API_KEY to a key that RunPod accepts; `gpu-lol doctor` checks it.",
            )  # fmt: skip
        raise TransientError("cloud_unreachable", f"RunPod's templates cannot be listed: {found.what}.")
    word = (command.pattern or "").lower()
    shown = tuple(template for template in found if word in template.name.lower())
    if command.output_format == "json":
        text = json.dumps([_template_json(template, pattern) for template in shown], indent=2, ensure_ascii=False)
    else:
        text = templates_text(shown, len(found), pattern)
    return Outcome("done", "templates_shown", text=text)


def _told(candidate: Candidate, template: Template) -> Candidate:
    if candidate.offer.cloud != RUNPOD:
        return candidate
    return replace(candidate, why=f"{candidate.why}; {template_words(template)}")


def _template_json(template: Template, pattern: str) -> dict[str, object]:
    return {
        "id": template.template_id,
        "name": template.name,
        "image": template.image,
        "disk_gb": template.disk_gb,
        "is_private": template.is_private,
        "is_official": template.is_official,
        "is_own": bool(pattern) and pattern.lower() in template.name.lower(),
    }
