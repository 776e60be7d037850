"""Which of a RunPod account's templates may stand for the image that was chosen: RunPod's hosts hold it already.

An image of 8 to 12 GB takes minutes to arrive; one that the host has, seconds. Preference as in gpu-lol: a template whose name
holds the account's own pattern, then RunPod's own for PyTorch, then none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_lol_action.domain.gpus import Accelerator
from gpu_lol_action.domain.images import is_image_allowed
from gpu_lol_action.domain.market import Template
from gpu_lol_action.estimation.image_contents import image_contents, image_refusal

_PYTHON = re.compile(r"(?:^|[-:])py(?:thon)?(\d\.\d{1,2})(?:\D|$)")

_TOOLKIT = re.compile(r"cuda(\d{2})\.(\d)|[-:]cu(\d{2})(\d)\d?-")


@dataclass(frozen=True, slots=True)
class TemplateWish:
    """What a template has to stand for: the chosen image, its Python, the card; and what the policy lets run.

    ``pattern`` is the account's own word for its templates; empty: it has none.
    """

    image: str
    python: str | None = None
    card: Accelerator | None = None
    allowed_images: tuple[str, ...] = ()
    pattern: str = ""


def choose_template(templates: Sequence[Template], wish: TemplateWish) -> Template | None:
    """Return the template to take, or None where none fits or none is preferred."""
    fitting = [template for template in templates if not template_refusal(template, wish)]
    return next(iter([*_own(fitting, wish.pattern), *_official(fitting, wish.image)]), None)


def template_refusal(template: Template, wish: TemplateWish) -> str:
    """Return why a template cannot stand for the image, in one clause; an empty text where it can."""
    if template.is_private:
        return "its image needs a registry login"
    if wish.allowed_images and not is_image_allowed(template.image, wish.allowed_images):
        return "the policy allows no such image"
    if wish.card is not None and (refusal := image_refusal(template.image, wish.card)):
        return refusal
    return "" if template.image == wish.image else _difference(template.image, wish)


def _difference(image: str, wish: TemplateWish) -> str:
    """Return how an image differs from the chosen one in what code would notice."""
    has, needs = image_contents(image).torch, image_contents(wish.image).torch
    if needs is None:
        return "the chosen image is not one for PyTorch"
    if has is None:
        return "its name does not say which PyTorch it holds"
    if has[:2] != needs[:2]:
        return f"it holds torch {_minor(has)}, {_minor(needs)} is needed"
    python = _PYTHON.search(image)
    if python and wish.python and python[1] != ".".join(wish.python.split(".")[:2]):
        return f"it holds Python {python[1]}, {wish.python} is needed"
    if "-devel" in wish.image and "-runtime" in image:
        return "it has no compiler, and one is needed"
    return ""


def _own(templates: Sequence[Template], pattern: str) -> list[Template]:
    """Return those whose name holds the pattern; the very name first."""
    word = pattern.lower()
    found = [template for template in templates if word and word in template.name.lower()]
    return sorted(found, key=lambda template: template.name.lower() != word)


def _official(templates: Sequence[Template], image: str) -> list[Template]:
    """Return RunPod's own, the newest first: it lists them by age.

    Not with a newer CUDA toolkit than the chosen image has: SkyPilot cannot ask RunPod for a host's driver, and a container
    whose toolkit is newer than that does not start.
    """
    limit = _toolkit(image)
    own = [template for template in reversed(templates) if template.is_official]
    return [template for template in own if limit is None or (_toolkit(template.image) or limit) <= limit]


def _toolkit(image: str) -> tuple[int, ...] | None:
    """Return the CUDA toolkit that an image's name says (not what its torch was built for); None where it says none."""
    found = _TOOLKIT.search(image)
    return (int(found[1] or found[3]), int(found[2] or found[4])) if found else None


def _minor(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version[:2]))
