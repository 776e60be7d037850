"""What `gpu-lol analyze ROOT` costs: wall time with interpreter start, peak memory, files and bytes read; one search beside it.

    python benchmarks/analyze.py [ROOT] [--runs 5] [--curve]

Every run is a child process of its own; its peak memory is what the kernel counted (`ru_maxrss`). Beside it stands one
case-insensitive count over the same tree by ripgrep, or by `grep -r` where that is missing: what looking at every byte
once costs. Our modules are compiled beforehand, as an installation does. `--curve` analyzes growing subsets of the tree, so that one sees that the cost grows with the bytes that are
read and no faster. Without ROOT the examples of this repository are measured, small as most repositories are.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CURVE = (8, 4, 2, 1)
WORD = "from_pretrained"
_CHILD = "import sys; from gpu_lol_action.cli import main; sys.exit(main())"
_COUNT = """
import json, sys
from pathlib import Path
from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.checkout import read_checkout
checkout = read_checkout(Path(sys.argv[1]))
analyze(checkout)
print(json.dumps({"files": checkout.files_read, "bytes": checkout.bytes_read, "parsed": checkout.bytes_parsed}))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """One measured child: seconds of wall time, seconds of processor time, peak memory in MiB."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def run_child(words: list[str], environment: Mapping[str, str] | None = None) -> Cost:
    """Run a program to its end and return what it cost."""
    began = time.perf_counter()
    child = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):  # grep: 1 is "nothing found"
        raise SystemExit(f"{' '.join(words[:3])} ended with {child.returncode}")
    # Linux counts KiB, macOS bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / unit)


def measure_analyze(root: Path, runs: int) -> tuple[Cost, ...]:
    """Return the cost of each of several runs; a first one, not counted, writes the bytecode that the others load."""
    words = [sys.executable, "-c", _CHILD, "analyze", str(root), "--format", "json"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as compiled:
        environment["PYTHONPYCACHEPREFIX"] = compiled
        run_child(words, environment)
        return tuple(run_child(words, environment) for _ in range(runs))


def count_read(root: Path) -> dict[str, int]:
    """Return how many files and bytes an analysis reads, and how many bytes it parses as Python."""
    words = [sys.executable, "-c", _COUNT, str(root)]
    found: dict[str, int] = json.loads(subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout)
    return found


def search(root: Path) -> tuple[str, Cost]:
    """Return the cost of one case-insensitive count over the tree, and by which program."""
    finder = shutil.which("rg")
    if finder is not None:
        return "rg", run_child([finder, "--no-ignore", "--hidden", "-i", "-c", WORD, str(root)])
    return "grep -r", run_child(["grep", "-r", "-i", "-c", WORD, str(root)])


def tree_size(root: Path) -> tuple[int, int]:
    """Return files and bytes of a tree as they lie there."""
    sizes = [path.lstat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    return len(sizes), sum(sizes)


def report(root: Path, runs: int) -> None:
    """Print the figures of one tree."""
    costs = measure_analyze(root, runs)
    read = count_read(root)
    files, size = tree_size(root)
    tool, found = search(root)
    walls = [cost.wall_s for cost in costs]
    print(root)
    print(f"  tree                {files:>7} files  {size / 1e6:8.2f} MB")
    print(
        f"  read                {read['files']:>7} files  {read['bytes'] / 1e6:8.2f} MB, parsed {read['parsed'] / 1e6:.2f} MB"
    )
    print(
        f"  analyze, wall       min {min(walls):.3f} s  median {statistics.median(walls):.3f} s  max {max(walls):.3f} s  ({runs} runs)"
    )
    print(f"  analyze, processor  median {statistics.median(cost.cpu_s for cost in costs):.3f} s")
    print(f"  analyze, memory     peak {max(cost.peak_mib for cost in costs):.0f} MiB")
    print(
        f"  {tool + ' -i -c':<19} {found.wall_s:.3f} s wall, {found.cpu_s:.3f} s processor, peak {found.peak_mib:.0f} MiB"
    )


def subset(root: Path, target: Path, part: int) -> None:
    """Copy every part-th file of a tree into a folder, in the order of paths."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    for path in files[::part]:
        place = target / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def curve(root: Path, runs: int) -> None:
    """Print the cost of growing subsets of a tree."""
    print("  curve: every n-th file")
    print(f"  {'part':>6} {'MB read':>9} {'MB parsed':>10} {'wall s':>8} {'cpu s':>8} {'per MB':>9} {'peak MiB':>9}")
    empty = statistics.median(cost.cpu_s for cost in _of_nothing(runs))
    for part in CURVE:
        with tempfile.TemporaryDirectory() as folder:
            subset(root, Path(folder), part)
            read = count_read(Path(folder))
            costs = measure_analyze(Path(folder), runs)
        wall = statistics.median(cost.wall_s for cost in costs)
        processor = statistics.median(cost.cpu_s for cost in costs)
        megabytes = read["bytes"] / 1e6
        print(
            f"  {'1/' + str(part):>6} {megabytes:>9.2f} {read['parsed'] / 1e6:>10.2f} {wall:>8.3f} "
            f"{processor:>8.3f} {(processor - empty) / max(megabytes, 1e-3):>9.4f} {max(cost.peak_mib for cost in costs):>9.0f}"
        )
    print(f"  an empty tree takes {empty:.3f} s of processor time; per MB is what is over that")


def _of_nothing(runs: int) -> tuple[Cost, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return measure_analyze(Path(folder), runs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What `gpu-lol analyze ROOT` costs.")
    parser.add_argument("root", nargs="*", type=Path, help="folders to analyze; the examples where none is named")
    parser.add_argument("--runs", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--curve", action="store_true", help="also growing subsets of each tree")
    asked = parser.parse_args()
    roots = asked.root or sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir())
    for root in roots:
        report(root.resolve(), asked.runs)
        if asked.curve:
            curve(root.resolve(), asked.runs)


if __name__ == "__main__":
    main()
