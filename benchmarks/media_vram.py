"""How far the terms for pictures, video and sound are from published figures: mean absolute error per family.

    python benchmarks/media_vram.py            # the table of docs/vram-model.md
    python benchmarks/media_vram.py --rows     # and each figure beside ours

`benchmarks/data/media_points.csv` holds the figures, each with its source; `allocated` marks those that leave out the CUDA
context. A few are what a card of a size was published to take (the largest batch), so they are upper bounds.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import GB, GIB, Method, VramQuestion, estimate_vram

POINTS = Path(__file__).parent / "data" / "media_points.csv"


@dataclass(frozen=True, slots=True)
class Score:
    """One published figure against ours, both in GB."""

    family: str
    label: str
    published: float
    expected: float
    required: float

    @property
    def error(self) -> float:
        """Absolute error of the expected value, as a share of the published one."""
        return abs(self.expected - self.published) / self.published


def scores() -> Iterator[Score]:
    """Yield a score for each figure."""
    with POINTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = estimate_vram(_question(row))
            context = next((t.gib for t in found.terms if t.name == "overhead"), 0.0)
            expected = found.expected_gib - (context if "allocated" in row["options"] else 0.0)
            label = f"{row['model']} {row['method']} {row['precision']} batch {row['batch']} {row['options']}"
            required = found.required_gib * GIB / GB
            yield Score(row["family"], label, float(row["reported_gb"]), expected * GIB / GB, required)


def _question(row: Mapping[str, str]) -> VramQuestion:
    model = find_model(row["model"])
    if model is None:
        raise LookupError(row["model"])
    options = row["options"]
    return VramQuestion(
        model=model,
        method=Method(row["method"]),
        precision=row["precision"] if row["precision"] in {"fp32", "fp16", "bf16"} else "fp16",
        weight_bits={"fp32": 32, "int8": 8}.get(row["precision"], 16),
        optimizer=row["optimizer"] or "adamw",
        batch_size=int(row["batch"]),
        is_checkpointing=row["checkpointing"] == "1",
        image_height=int(row["height"] or 0),
        image_width=int(row["width"] or 0),
        frames=int(row["frames"] or 0),
        audio_seconds=float(row["seconds"] or 0),
        runtime="openai-whisper" if "openai-whisper" in options else "",
        is_one_part_at_a_time="offload=parts" in options,
        is_text_encoder_elsewhere="+text" in options,
        are_latents_cached="latents=cached" in options,
        output_classes=150 if "classes=150" in options else 0,
        is_parameters_offloaded="offload=layers" in options,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", action="store_true")
    shows_rows = parser.parse_args().rows
    found = list(scores())
    print("| family | figures | mean absolute error | worst | required covers |\n|---|---:|---:|---:|---:|")
    for family in [*dict.fromkeys(score.family for score in found), "all"]:
        rows = [score for score in found if family in {score.family, "all"}]
        error = statistics.mean(score.error for score in rows)
        worst = max(max(s.expected / s.published, s.published / s.expected) for s in rows)
        covered = sum(score.required >= score.published for score in rows)
        print(f"| {family} | {len(rows)} | {error:.0%} | x{worst:.2f} | {covered} of {len(rows)} |")
    for score in found if shows_rows else ():
        print(f"{score.expected / score.published:5.2f}  {score.published:6.2f} {score.expected:6.2f}  {score.label}")


if __name__ == "__main__":
    main()
