"""How much work a card does in an hour, by its maker's published peaks: what makes dollars per unit of work of dollars per hour.

Training is bound by arithmetic: the dense peak (no sparsity, sums in 32 bit) in the numbers that the code computes in.
Serving one request at a time is bound by reading the weights: the memory's bandwidth. No card reaches its peaks; that one
card's share of them is much like another's is what a comparison of peaks rests on, and all that it can say.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping

from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.domain.tables import table_rows


class Work(enum.Enum):
    """What bounds a run; the value is the column of the table."""

    FP16 = "fp16_tflops"
    BF16 = "bf16_tflops"
    FP8 = "fp8_tflops"
    FP32 = "fp32_tflops"
    BANDWIDTH = "memory_gb_per_s"

    @property
    def words(self) -> str:
        """What is compared, for a reader."""
        return "memory bandwidth" if self is Work.BANDWIDTH else f"dense {self.value.partition('_')[0]} peak"


def work_of(workload: WorkloadType, precision: str = "") -> Work:
    """Return what bounds a run of that kind; ``precision`` is what the analysis found (``bf16``, ``bf16-mixed``, ...)."""
    if workload is WorkloadType.INFERENCE:
        return Work.BANDWIDTH
    kinds = {"fp8": Work.FP8, "fp16": Work.FP16, "fp32": Work.FP32}
    return next((work for name, work in kinds.items() if precision.startswith(name)), Work.BF16)


def throughput(accelerator: str, count: int, work: Work) -> float | None:
    """Return the published peak of so many cards together; None where no figure is published for this card."""
    known = find_accelerator(accelerator)
    row = _table().get(accelerator) or (_table().get(known.name) if known is not None else None)
    return float(row[work.value]) * count if row is not None and row[work.value] else None


def source_of(accelerator: str) -> str:
    """Return where a card's figures were published; empty where there are none."""
    known = find_accelerator(accelerator)
    row = _table().get(known.name) if known is not None else None
    return row["source"] if row is not None else ""


@functools.cache
def _table() -> Mapping[str, Mapping[str, str]]:
    return {row["sky_name"]: row for row in table_rows("gpu_speeds.csv")}
