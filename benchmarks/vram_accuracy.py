"""How far the memory model is from published figures: mean absolute error per method, and how often a run would have fitted.

    python benchmarks/vram_accuracy.py            # the table of docs/vram-model.md
    python benchmarks/vram_accuracy.py --worst 5  # and the rows it misses most

`benchmarks/data/vram_points.csv` holds the figures, each with its source.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpu_lol_action.estimation.model_facts import ModelFacts
from gpu_lol_action.estimation.vram import GB, GIB, Method, Sharding, VramQuestion, estimate_vram

POINTS = Path(__file__).parent / "data" / "vram_points.csv"
METHODS = {"inference": Method.INFERENCE, "lora": Method.LORA, "qlora": Method.QLORA, "full_ft": Method.FULL}
STAGES = {
    "": Sharding.NONE,
    "0": Sharding.NONE,
    "1": Sharding.ZERO1,
    "2": Sharding.ZERO2,
    "3": Sharding.ZERO3,
    "tp": Sharding.TENSOR,
}
BITS = {"nf4": 4, "nf4-dq": 4, "int4": 4, "int8": 8, "fp32": 32}


@dataclass(frozen=True, slots=True)
class Score:
    """One published figure against ours, both in the unit of its source."""

    method: str
    label: str
    published: float
    expected: float
    required: float

    @property
    def error(self) -> float:
        """Absolute error of the expected value, as a share of the published one."""
        return abs(self.expected - self.published) / self.published


def scores() -> Iterator[Score]:
    """Yield a score for each figure whose run can be asked of the model: one kind of sharding, and a known shape."""
    with POINTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            method = METHODS.get(row["method"])
            if method is None or row["zero_stage"] not in STAGES or not row["reported_gb_per_gpu"] or not row["hidden"]:
                continue
            found = estimate_vram(_question(row, method))
            unit = GIB / GB if row["unit"] == "GB" else 1.0
            label = f"{row['model']} {row['precision']} {row['source'][:50]}"
            yield Score(
                method.value,
                label,
                float(row["reported_gb_per_gpu"]),
                found.expected_gib * unit,
                found.required_gib * unit,
            )


def _question(row: Mapping[str, str], method: Method) -> VramQuestion:
    def whole(key: str, default: int) -> int:
        return int(float(row[key])) if row[key] else default

    heads = whole("heads", 1)
    model = ModelFacts(row["model"], "llm", float(row["params_B"]), whole("hidden", 0), whole("layers", 0), heads,
                       whole("kv_heads", heads), whole("vocab", 0))  # fmt: skip
    precision = row["precision"]
    return VramQuestion(
        model=model,
        method=method,
        precision="fp32" if precision == "fp32" else "bf16",
        weight_bits=BITS.get(precision, 16),
        optimizer=row["optimizer"] or "adamw",
        batch_size=whole("batch", 1),
        sequence_length=whole("seq_len", 256),
        is_checkpointing=row["grad_ckpt"] in {"1", "1.0"},
        sharding=STAGES[row["zero_stage"]],
        gpu_count=whole("n_gpus", 1),
        lora_rank=whole("lora_rank", 16),
        is_pure_low_precision=method is Method.FULL and precision in {"bf16", "fp16"},
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worst", type=int, default=0)
    worst = parser.parse_args().worst
    found = list(scores())
    print("| method | figures | mean absolute error | required covers |\n|---|---:|---:|---:|")
    for method in dict.fromkeys(score.method for score in found):
        rows = [score for score in found if score.method == method]
        error = statistics.mean(score.error for score in rows)
        covered = sum(score.required >= score.published for score in rows)
        print(f"| {method} | {len(rows)} | {error:.0%} | {covered} of {len(rows)} |")
        for score in sorted(rows, key=lambda score: -score.error)[:worst]:
            print(f"    {score.error:.0%}  published {score.published:g}, expected {score.expected:.1f}: {score.label}")


if __name__ == "__main__":
    main()
