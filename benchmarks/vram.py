"""How far the memory model is from published figures, beside the formulas of other tools.

    python benchmarks/vram.py            # the tables of docs/vram-model.md
    python benchmarks/vram.py --worst 5  # and the rows it misses most, per method
    python benchmarks/vram.py --sources  # and per source, which is what carries over
    python benchmarks/vram.py --leave-out  # and each source against the choices that the other sources make

`benchmarks/data/vram_points.csv` holds the figures, each with its source. No constant was computed from them, but alternatives
(which formula, which bytes, how wide a spread) were chosen while looking at these rows, so they are no blind test. The column
`notes`, prose on how a figure came about, is not shown to the model.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from _vram_choices import leave_one_out
from _vram_peers import PEERS

from gpu_lol_action.estimation.vram import GB, GIB, estimate_vram
from gpu_lol_action.intake.estimate_cells import Estimated, question_from_cells
from gpu_lol_action.intake.estimate_table import estimate_row

POINTS = Path(__file__).parent / "data" / "vram_points.csv"
ANSWER = frozenset({"reported_gb_per_gpu", "unit", "source", "confidence", "assumed_not_in_source", "notes"})
METHODS = ("inference", "lora", "qlora", "full_ft")
SHORTFALL = 0.10  # a high figure so far under the measured one is a run that dies


@dataclass(frozen=True, slots=True)
class Score:
    """One published figure against ours and the peers', in GB per card."""

    method: str
    source: str
    label: str
    published: float
    expected: float
    high: float
    required: float
    peers: dict[str, float] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """Error of the expected value, as a share of the published one."""
        return self.expected / self.published - 1


def scores() -> list[Score]:
    """Return a score for each row of the table."""
    with POINTS.open(encoding="utf-8", newline="") as file:
        return [_score(row) for row in csv.DictReader(file)]


def _score(row: dict[str, str]) -> Score:
    cells = {column: text for column, text in row.items() if column not in ANSWER}
    answer, _ = estimate_row(cells)
    found = question_from_cells(cells)
    if answer is None or not isinstance(found, Estimated):
        raise LookupError(f"row {row['id']} has no estimate")
    unit = GIB / GB if row["unit"] == "GiB" else 1.0
    said = {name: value for name, peer in PEERS.items() if (value := peer(row)) is not None}
    return Score(
        method=row["method"],
        source=row["source"],
        label=f"{row['id']} {row['model']} {row['precision']} {row['kind']}, {row['source'][:40]}",
        published=float(row["reported_gb_per_gpu"]) * unit,
        expected=answer[0],
        high=answer[2],
        required=estimate_vram(found.question).required_gib * GIB / GB,
        peers=said,
    )


def accuracy(found: Sequence[Score]) -> list[str]:
    """Return the table of our own figures, a row for each method and one for all."""
    lines = [
        "| method | rows | mean error | median | high too low | required covers |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for method in (*METHODS, "all"):
        rows = [score for score in found if method in {score.method, "all"}]
        errors = [abs(score.error) for score in rows]
        low = sum(score.high < score.published * (1 - SHORTFALL) for score in rows)
        covered = sum(score.required >= score.published for score in rows)
        lines.append(
            f"| {method} | {len(rows)} | {statistics.mean(errors):.1%} | {statistics.median(errors):.1%} "
            f"| {low} ({low / len(rows):.1%}) | {covered} ({covered / len(rows):.0%}) |"
        )
    return lines


def comparison(found: Sequence[Score]) -> list[str]:
    """Return mean errors beside the peers', each pair over the rows that the peer answers."""
    lines = [f"| method | {' | '.join(PEERS)} |", f"|---|{'---:|' * len(PEERS)}"]
    for method in METHODS:
        cells = []
        for name in PEERS:
            rows = [score for score in found if score.method == method and name in score.peers]
            theirs = _mean(rows, lambda score, name=name: score.peers[name])  # type: ignore[misc]  # the name is bound at once
            ours = _mean(rows, lambda score: score.expected)
            cells.append(f"{theirs:.0%} (ours {ours:.0%}, {len(rows)} rows)" if rows else "–")
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def by_source(found: Iterable[Score]) -> list[str]:
    """Return mean error and bias per method and source."""
    groups: dict[tuple[str, str], list[float]] = {}
    for score in found:
        groups.setdefault((score.method, score.source[:48]), []).append(score.error)
    return [
        f"{method:<10} {source:<48} {len(errors):>3} rows  {statistics.mean(map(abs, errors)):>5.0%}  bias {statistics.mean(errors):>+5.0%}"
        for (method, source), errors in sorted(groups.items())
    ]


def _mean(rows: Sequence[Score], value: Callable[[Score], float]) -> float:
    return statistics.mean(abs(value(row) / row.published - 1) for row in rows) if rows else 0.0


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--sources", action="store_true")
    parser.add_argument("--leave-out", action="store_true")
    asked = parser.parse_args()
    found = scores()
    print("\n".join([*accuracy(found), "", *comparison(found)]))
    if asked.sources:
        print("\n".join(["", *by_source(found)]))
    if asked.leave_out:
        print("\n".join(["", *leave_one_out(scores)]))
    for method in METHODS if asked.worst else ():
        print(f"\n{method}")
        rows = [score for score in found if score.method == method]
        for score in sorted(rows, key=lambda score: -abs(score.error))[: asked.worst]:
            print(f"  {score.error:+.0%}  published {score.published:g}, expected {score.expected:.1f}: {score.label}")


if __name__ == "__main__":
    main()
