"""What `gpu-lol analyze ROOT` costs: wall time with interpreter start, peak memory, files and bytes read; one search beside it.

    python benchmarks/analyze.py [ROOT] [--runs 5] [--curve]

Every run is a child process of its own; its peak memory is what the kernel counted (`ru_maxrss`). Beside it stands one
case-insensitive count over the same tree by ripgrep, or by `grep -r` where that is missing: what looking at every byte
once costs. Our modules are compiled beforehand, as an installation does. Without ROOT the examples of this repository are
measured, small as most repositories are.

`--curve` shows that the cost grows with the bytes and no faster. It is the sum of two, so there are two curves, each with the
straight line nearest to it. What is read: every share holds what the whole tree's analysis parses (what can be started, and what
that imports), so that this part is the same in all, and every n-th of the other files. A share of just every n-th file would
hold what can be started or not, by chance, and with it parse much or nothing. What is parsed: a program that imports the first n
modules of the tree; the analyzer follows no more than sixty.
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
SHARES = (0, 8, 4, 2, 1)
MODULES = (0, 7, 15, 30, 58)
WORD = "from_pretrained"
_CHILD = "import sys; from gpu_lol_action.cli import main; sys.exit(main())"
_COUNT = """
import json, sys
from pathlib import Path
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
checkout = read_checkout(Path(sys.argv[1]))
analyze(checkout)
print(json.dumps({"files": checkout.files_read, "bytes": checkout.bytes_read, "parsed": checkout.bytes_parsed}))
"""
# Python itself tells what it is made to parse.
_PARSED = """
import json, sys
from pathlib import Path
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
checkout, texts = read_checkout(Path(sys.argv[1])), set()
sys.addaudithook(lambda event, words: texts.add(words[0]) if event == "compile" and isinstance(words[0], bytes) else None)
analyze(checkout)
print(json.dumps([source.path for source in checkout.sources if source.code is not None and source.text.encode() in texts]))
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


def parsed_files(root: Path) -> list[Path]:
    """Return the programs that an analysis of the whole tree parses."""
    words = [sys.executable, "-c", _PARSED, str(root)]
    found = json.loads(subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout)
    return [root / path for path in found]


def share(root: Path, target: Path, kept: list[Path], part: int) -> None:
    """Copy what is kept, and every part-th other file (none for 0) in the order of paths, into a folder."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    others = sorted(set(files) - set(kept))
    for path in (*kept, *(others[::part] if part else ())):
        place = target / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def program(target: Path, modules: list[Path]) -> None:
    """Write a program that trains and imports these modules, and the modules."""
    for number, path in enumerate(modules):
        shutil.copyfile(path, target / f"module{number}.py")
    imports = "".join(f"import module{number}\n" for number in range(len(modules)))
    trains = 'import torch\n\nif __name__ == "__main__":\n    torch.optim.AdamW([]).step()\n'
    (target / "train.py").write_text(f"{imports}{trains}", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Point:
    """One tree of a curve: megabytes read and parsed, and what its analysis cost."""

    read_mb: float
    parsed_mb: float
    cpu_s: float
    wall_s: float
    peak_mib: float


def point(folder: Path, runs: int) -> Point:
    """Measure one tree. Of the processor's time the least counts: whatever else the machine does only adds to it."""
    read, costs = count_read(folder), measure_analyze(folder, runs)
    return Point(
        read["bytes"] / 1e6,
        read["parsed"] / 1e6,
        min(cost.cpu_s for cost in costs),
        min(cost.wall_s for cost in costs),
        max(cost.peak_mib for cost in costs),
    )


def curves(root: Path, runs: int) -> None:
    """Print the cost of growing shares of a tree, and of programs that import more and more of it."""
    kept = parsed_files(root)
    reading, parsing = [], []
    for part in SHARES:
        with tempfile.TemporaryDirectory() as folder:
            share(root, Path(folder), kept, part)
            reading.append(point(Path(folder), runs))
    named = [f"1/{part}" if part else "none" for part in SHARES]
    table(f"what is read: {len(kept)} programs that are parsed, with a share of the other files", named, reading)
    line("MB read", [each.read_mb for each in reading], [each.cpu_s for each in reading])
    modules = [path for path in sorted(root.rglob("*.py")) if 20_000 < path.stat().st_size < 200_000]
    for number in MODULES:
        with tempfile.TemporaryDirectory() as folder:
            program(Path(folder), modules[:number])
            parsing.append(point(Path(folder), runs))
    table("what is parsed: a program that imports the first modules of the tree", [str(n) for n in MODULES], parsing)
    line("MB parsed", [each.parsed_mb for each in parsing], [each.cpu_s for each in parsing])


def table(title: str, named: list[str], points: list[Point]) -> None:
    """Print the points of one curve."""
    print(f"  {title}")
    print(f"  {'':>6} {'MB read':>9} {'MB parsed':>10} {'wall s':>8} {'cpu s':>8} {'peak MiB':>9}")
    for name, each in zip(named, points, strict=True):
        print(
            f"  {name:>6} {each.read_mb:>9.2f} {each.parsed_mb:>10.2f} {each.wall_s:>8.3f} {each.cpu_s:>8.3f} {each.peak_mib:>9.0f}"
        )


def line(unit: str, sizes: list[float], seconds: list[float]) -> None:
    """Print the straight line nearest to the points, and how far the furthest lies from it."""
    if len(set(sizes)) < 2:
        return
    slope, start = statistics.linear_regression(sizes, seconds)
    furthest = max(abs(s - (start + slope * x)) for x, s in zip(sizes, seconds, strict=True))
    print(f"  = {start:.3f} s + {slope:.4f} s per {unit}; no point is further from that than {furthest:.3f} s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What `gpu-lol analyze ROOT` costs.")
    parser.add_argument("root", nargs="*", type=Path, help="folders to analyze; the examples where none is named")
    parser.add_argument("--runs", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--curve", action="store_true", help="also how the cost grows with what is read and parsed")
    asked = parser.parse_args()
    roots = asked.root or sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir())
    for root in roots:
        report(root.resolve(), asked.runs)
        if asked.curve:
            curves(root.resolve(), asked.runs)


if __name__ == "__main__":
    main()
