"""How rightly networks of one's own are read: weights, and what a sample keeps, beside what PyTorch counted.

    python benchmarks/own_networks.py ROOT            # a line per repository, and all together
    python benchmarks/own_networks.py ROOT --rows     # and a line per network

ROOT holds the repositories of `benchmarks/data/own_networks.jsonl` at their commits, as ROOT/<owner>+<name>; those that are not
there are left out, and said. Each row has a program that builds one network of the repository, and two numbers that PyTorch 2.5.1
gave for it: its weights, and what autograd saved per sample in one run (distinct storages that are no weights, in numbers of
four bytes, and what is dropped as a mask of one byte, as on a GPU). Nothing of the repositories is executed here, so that these
two numbers cannot be counted again by it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_lol_action.analysis.answer.assemble import detect_run
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.analysis.runs.runs import primary_run

NETWORKS = Path(__file__).parent / "data" / "own_networks.jsonl"
LENGTH = 256
"""Positions that numbers are said per, where there is a sequence."""
NEAR_WEIGHTS, NEAR_KEPT = 1.05, 1.5
LEFT_OUT = frozenset({"main.py", "train.py", "test.py", "run.py"})
"""Programs at the root of a repository that would be started in place of the row's."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of one network, as multiples of what PyTorch counted; 0 where nothing was."""

    repository: str
    name: str
    weights: float
    kept: float


def read_rows(root: Path) -> Iterator[Read]:
    """Yield what is read of each network whose repository is there."""
    for line in NETWORKS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        source = root / row["repo"].replace("/", "+") / row["folder"]
        if source.is_dir():
            with tempfile.TemporaryDirectory() as folder:
                yield _read(row, source, Path(folder))


def _read(row: Mapping[str, Any], source: Path, folder: Path) -> Read:
    for path in sorted(source.rglob("*")):
        inner = path.relative_to(source)
        is_start = len(inner.parts) == 1 and inner.name in LEFT_OUT
        if path.is_file() and path.suffix in {".py", ".json"} and inner.parts[0] != "tests" and not is_start:
            (folder / inner).parent.mkdir(parents=True, exist_ok=True)
            (folder / inner).write_bytes(path.read_bytes())
    (folder / "train.py").write_text(row["start"], encoding="utf-8")
    (folder / "README.md").write_text("```\npython train.py\n```\n", encoding="utf-8")
    (folder / "requirements.txt").write_text("torch\n", encoding="utf-8")
    checkout = read_checkout(folder)
    run = primary_run(checkout)
    found = {f.field: f.value for f in reversed(detect_run(checkout, run))} if run is not None else {}
    positions = row["positions"] if "media.own_sequence" in found else 1
    weights = float(found.get("media.own_parameters", 0)) / row["parameters"]
    kept = float(found.get("media.own_outputs", 0)) * positions / max(row["saved_numbers"], 1)
    return Read(row["repo"], row["id"], weights, kept)


def _share(reads: Sequence[Read], near: float, part: str) -> str:
    right = sum(1 / near <= getattr(read, part) <= near for read in reads)
    return f"{right} of {len(reads)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, metavar="ROOT")
    parser.add_argument("--rows", action="store_true")
    asked = parser.parse_args()
    reads = list(read_rows(asked.root))
    for read in reads if asked.rows else ():
        print(f"{read.name:12} weights x{read.weights:.2f}  kept x{read.kept:.2f}")
    groups: dict[str, list[Read]] = defaultdict(list)
    for read in reads:
        groups[read.repository].append(read)
    print(f"| repository | weights within x{NEAR_WEIGHTS} | kept per sample within x{NEAR_KEPT} |\n|---|---:|---:|")
    for name, group in [*groups.items(), ("all", reads)]:
        print(f"| {name} | {_share(group, NEAR_WEIGHTS, 'weights')} | {_share(group, NEAR_KEPT, 'kept')} |")
    total = len(NETWORKS.read_text(encoding="utf-8").splitlines())
    if len(reads) < total:
        print(f"{total - len(reads)} of {total} networks are not under {asked.root}")


if __name__ == "__main__":
    main()
