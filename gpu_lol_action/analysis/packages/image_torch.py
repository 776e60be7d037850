"""Packages whose newest releases do not work with the PyTorch that the image holds, where no list pins one.

A list that pins it is read by ``paired_releases`` alone; here the image's stands for the pin.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.package_lists.paired_releases import with_paired_releases
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.estimation.package_pairs import pinned, specifier_of
from gpu_lol_action.estimation.torch_companions import settled_torch

_FIELD = "dependencies.requirements"
_IMAGE = Evidence("the image")


def with_image_torch(requirements: Sequence[str], image: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirements as the image's PyTorch needs them, and a sentence on each that it bounds."""
    specifier = specifier_of(requirements, "torch")
    torch, _ = settled_torch(specifier, image)
    if not torch or pinned(specifier):
        return tuple(requirements), ()
    listed = [Finding(_FIELD, text, "", Confidence.HIGH, _IMAGE) for text in requirements]
    without = [each for each in listed if specifier_of([each.value], "torch") is None]
    held = Finding(_FIELD, f"torch=={torch}", "", Confidence.HIGH, _IMAGE)
    paired = [each for each in with_paired_releases([held, *without]) if each is not held]
    names = iter(paired)
    kept = [each.value if specifier_of([each.value], "torch") is not None else next(names).value for each in listed]
    notes = [f"{each.value} is taken: {each.why}" for each in paired if each.why.startswith(f"`{held.value}`")]
    return (*kept, *(each.value for each in names)), tuple(notes)
