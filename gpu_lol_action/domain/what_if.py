"""Another configuration of the same run that needs less memory: what it is, where it would be written, what it costs."""

from __future__ import annotations

import enum
from decimal import Decimal

from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.records import record


class Lever(enum.Enum):
    """What can be changed; the order is from what costs nothing to what may cost quality."""

    HALF_PRECISION = "bf16"
    HALF_BATCH = "half the batch"
    EIGHT_BIT_OPTIMIZER = "8-bit optimizer"
    CHECKPOINTING = "gradient checkpointing"
    SHARDING = "sharding"
    EIGHT_BIT_WEIGHTS = "8-bit weights"
    LORA = "LoRA"
    QLORA = "QLoRA"
    FOUR_BIT_WEIGHTS = "4-bit weights"


@record(frozen=True, slots=True)
class LineEdit:
    """One line of a file, as it stands and as it would be; 1-based."""

    path: str
    line: int
    old: str
    new: str


@record(frozen=True, slots=True)
class Alternative:
    """A configuration that differs in one lever, or in two where one is not enough.

    ``words`` say the change, ``setting`` what is written for it, ``costs`` what is given up, each in a phrase. ``evidence``
    is the line that says the present value; None where nothing does. ``edit`` is there where one literal of that line is all.
    """

    levers: tuple[Lever, ...]
    words: str
    setting: str
    costs: str
    expected_gib: float
    required_gib: int
    gpu_count: int
    evidence: Evidence | None = None
    edit: LineEdit | None = None


@record(frozen=True, slots=True)
class WhatIf:
    """An alternative with the machine that it would do with; ``saves_usd_per_hour`` is None where nothing fits without it."""

    alternative: Alternative
    candidate: Candidate
    saves_usd_per_hour: Decimal | None
