"""What a person corrects in a proposal (`set vram=48 gpu=A100-80GB`): typed values, remembered for the pull request."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping

from gpu_lol_action.domain import gpus
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_GIB = 1024  # as `vram_required_gb` in the spec
MAX_COUNT = 16  # as `gpu_count` in the spec
FORGET = "auto"
"""The value that takes a correction back: what the code says counts again."""

_GIB = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,2})?)(?:gib|gb|g)?", re.IGNORECASE)


@record(frozen=True, slots=True)
class Corrections:
    """What holds over the analysis of this pull request; None where nothing was corrected.

    ``vram_gib`` is GB per GPU as cards are sold, ``gpu`` a name of the accelerator table, ``gpu_count`` cards per machine
    (0: none), ``image`` a container image without ``docker:``, ``project`` the folder of the project that is meant.
    """

    vram_gib: int | None = None
    gpu: str | None = None
    gpu_count: int | None = None
    image: str | None = None
    project: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the machine is corrected."""
        return dataclasses.replace(self, project=None) == Corrections()

    def with_changes(self, changes: Iterable[Correction]) -> Corrections:
        """Return these with the changes of one more command over them, later ones over earlier ones."""
        return dataclasses.replace(self, **{FIELDS[change.key]: change.value for change in changes})  # type: ignore[arg-type]  # each key's reader gives its field's type


@record(frozen=True, slots=True)
class Correction:
    """One word of ``set``: its key (``vram``, ``gpu``, ``count``, ``image``, ``project``) and its value; None takes it back."""

    key: str
    value: int | str | None


NO_CORRECTIONS = Corrections()

FIELDS: Mapping[str, str] = {
    "vram": "vram_gib",
    "gpu": "gpu",
    "count": "gpu_count",
    "image": "image",
    "project": "project",
}
"""The field of Corrections behind each key that ``set`` takes."""


def read_gib(text: str) -> int | None:
    """Return a number of GiB, rounded up to a whole one: ``48``, ``22.5``, ``48GB``; None where it is none."""
    found = _GIB.fullmatch(text)
    gib = math.ceil(float(found[1])) if found else 0
    return gib if 1 <= gib <= MAX_GIB else None


def read_count(text: str) -> int | None:
    """Return a number of cards per machine, 0 for none; None where no machine has so many."""
    return int(text) if regex(r"[0-9]{1,2}").fullmatch(text) and int(text) <= MAX_COUNT else None


def read_gpu(text: str) -> tuple[Correction, ...] | UnknownAccelerator:
    """Return the card, and the count where one stands behind a colon."""
    asked = gpus.parse_accelerator(text)
    if isinstance(asked, UnknownAccelerator):
        return asked
    card = Correction("gpu", asked.accelerator.name)
    return (card,) if asked.count is None else (card, Correction("count", asked.count))
