"""How right gpu-lol speaks and keeps quiet on commits of public repositories that were drawn by chance and judged by readers.

    python benchmarks/judged_changes.py CLONES [--only ID ...]

``benchmarks/data/judged_changes.jsonl`` holds 261 commits of as many pull requests and plain commits, drawn from 1,914 of 964
repositories: those of which something would be said more often than the others. A reader who had seen no answer of ours says of
each whether a pull request's author is to be told anything of the machine (``speaks``: yes, no, either), whether a run needs
``memory`` otherwise, whether programs that use a GPU came or went, whether another PyTorch, CUDA or Python is taken, which
packages differ, and why. ``read``: 1 was learned from at once, 2 was read once before; since then something was learned from both.
CLONES is as for ``changes.py``; what is missing is counted and left out. Nothing of a repository is executed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from changes import clone_of, compare, need_of, runs_of, says_anything, unpack

CASES = Path(__file__).parent / "data" / "judged_changes.jsonl"


def judge(case: dict[str, Any], clone: Path) -> dict[str, bool]:
    """Return what of one commit's comparison is as the reader says."""
    with tempfile.TemporaryDirectory() as name:
        for side in ("base", "head"):
            (Path(name) / side).mkdir()
            unpack(clone, case[side], Path(name) / side)
        compared = compare(Path(name), case)
    runs = list(runs_of(compared))
    needs = {need_of(run) for run in runs if run.kind.value == "changed"} - {"same"}
    parts = {part.what for part in compared.change.change.parts} if compared.change is not None else set()
    said = says_anything(compared)
    is_same = case["memory"] == "same" and not needs
    return {
        "says": said,
        "speaks": case["speaks"] in {"either", "yes" if said else "no"},
        "memory": case["memory"] == "unknown" or is_same or bool(needs & {case["memory"], "known now"}),
        "programs that came": case["comes"]
        is any(run.kind.value == "new" or need_of(run) == "new run" for run in runs),
        "programs that went": case["goes"] is any(run.kind.value == "gone" for run in runs),
        "image": case["image"] is bool(parts & {"image", "CUDA", "Python"}),
    }


def main() -> int:
    """Play the cases and print, by whether something is said, how often what is right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", nargs="*", default=())
    asked = parser.parse_args()
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    cases = [case for case in cases if not asked.only or case["id"] in asked.only]
    right: Counter[tuple[int, bool, str]] = Counter()
    missing = 0
    for case in cases:
        clone = clone_of(asked.clones, case["repo"])
        if clone is None:
            missing += 1
            continue
        found = judge(case, clone)
        for field, is_right in found.items():
            right[case["read"], found["says"], "all" if field == "says" else field] += is_right or field == "says"
        wrong = [field for field, is_right in found.items() if field != "says" and not is_right]
        if wrong:
            print(
                f"{case['id']:40} {'says' if found['says'] else 'is silent':9}  otherwise: {', '.join(wrong)}",
                flush=True,
            )
    print()
    for read, says in sorted({key[:2] for key in right}):
        count = right[read, says, "all"]
        shares = (f"{field} {100 * number / count:.0f} %" for (r, s, field), number in sorted(right.items())
                  if (r, s) == (read, says) and field != "all")  # fmt: skip
        print(f"read {read}, {'says something' if says else 'silent':14} {count:3}: {', '.join(shares)}")
    if missing:
        print(f"{missing} without a clone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
