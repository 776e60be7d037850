"""How right the single statements are behind an answer: settings of the run, and what documents say of hardware, each with its line.

    python benchmarks/judged_statements.py ROOT [--only ID ...]

``benchmarks/data/judged_statements.jsonl`` holds statements that `gpu-lol analyze` made of public repositories, each judged by one
reader who had the line, what stands around it, and the repository: ``right``; ``place``, where the value is right and stands on
another line; ``wrong``, of another program, a branch that is not taken, a condition, somebody else's hardware; ``open``, where nobody
can tell. ``read``: 1 was learned from, 2 was read once, before or after the work as ``by`` says (``old``, ``new``, ``both``).
ROOT is as for ``repositories.py``; what is missing is counted and left out. Nothing of a repository is executed.

It prints how many of each are still stated, of the same line and of another: the right ones should stay, the wrong ones go, those of
the wrong place move. What is stated now and was not then has no judge here.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from repositories import analyze, folder_of

STATEMENTS = Path(__file__).parent / "data" / "judged_statements.jsonl"


def read_statements(only: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the statements by the folder that they are of."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in STATEMENTS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not only or row["id"] in only:
            found[row["id"]].append(row)
    return found


def state_of(row: dict[str, Any], answer: dict[str, Any]) -> str:
    """Return whether an answer states the same of the same file, and of the ``same`` line or of ``another``; ``gone`` if it does not."""
    path = row["place"].rpartition(":")[0]
    said = [
        each["where"]
        for each in answer["findings"]
        if (each["field"], each["value"], each["path"]) == (row["field"], row["value"], path)
    ]
    return "gone" if not said else "same" if row["place"] in said else "another"


def main() -> None:
    """Judge the statements of what is checked out, and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    counts: Counter[tuple[str, int, str, str]] = Counter()
    missing = 0
    for rows in read_statements(asked.only).values():
        folder = folder_of(asked.root, rows[0])
        answer = analyze(folder) if folder.is_dir() else None
        if answer is None:
            missing += 1
            continue
        for row in rows:
            kind = "documents" if row["field"].startswith("documented.") else "settings"
            counts[kind, row["read"], row["judged"], state_of(row, answer)] += 1
    for kind, read in sorted({key[:2] for key in counts}):
        print(f"{kind}, read {read}:")
        for judged in ("right", "place", "wrong", "open"):
            same, another, gone = (counts[kind, read, judged, state] for state in ("same", "another", "gone"))
            print(
                f"  {judged:6} {same + another + gone:4}: stated of that line {same:4}, of another {another:3}, gone {gone:3}"
            )
    print(f"{missing} folders not checked out")


if __name__ == "__main__":
    main()
