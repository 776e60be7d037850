"""Whether a pull request of one literal is told in the right direction, with the line as its cause, and at the price that was promised.

    python benchmarks/one_literal.py ROOT [--every 8] [--show]

ROOT is as for ``repositories.py``; what is missing is left out. An answer names the line that says its batch, its model, its precision:
that one literal is changed in a copy, and both are compared as a pull request's base and head are. Whether more or less is needed then
is known, so nobody has to judge: four times the batch never needs less, and a machine that becomes cheaper for it is wrong. Cheaper
configurations that an answer proposes are written into a copy, and must come to the machine that was promised. Files that change nothing
(a test that loads a large model, a workflow, a log of changes) must be passed over in silence. Nothing is executed.

``same``: by less than the least that a comment is written for; ``not told``: no difference is found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from _literal_changes import COUNT, DOWN, PROMISED, SILENT, UP, Literal, beside, changes_of
from changes import need_of, says_anything
from repositories import analyze, folder_of, read_cases

from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.handlers.concluding import Compared, Fetched, Reading, conclude_change

RIGHT = {UP: {"more"}, DOWN: {"less"}, COUNT: {"more", "less"}}
CLOSE = 0.03


def copied(folder: Path, into: Path) -> Path:
    """Return a copy whose files are the same ones on the disk: what is written in it has to be unlinked before."""
    target = into / folder.name
    shutil.copytree(folder.resolve(), target, symlinks=True, ignore_dangling_symlinks=True, copy_function=os.link)
    return target


def write(copy: Path, name: str, text: str) -> bool:
    """Write a file of a copy, and of nothing else; False where a link of the checkout leads out of it."""
    path = copy / name
    if not path.parent.resolve().is_relative_to(copy.resolve()):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


def compared(base: Path, head: Path) -> Compared:
    """Return the proposal's own comparison."""
    new = read_checkout(head)
    return conclude_change(Fetched("1" * 40, new), Fetched("0" * 40, read_checkout(base, new)), Policy())


def edited(folder: Path, change: Literal) -> str | None:
    """Return the text of a file with its one line changed; None where it is not clear which word is meant."""
    try:
        lines = (folder / change.path).read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError):
        return None
    if change.line > len(lines):
        return None
    old = lines[change.line - 1].rstrip("\r\n")
    new = change.edit(old)
    if new is None or new == old:
        return None
    lines[change.line - 1] = new + lines[change.line - 1][len(old) :]
    return "".join(lines)


def verdict(found: Compared, change: Literal) -> str:
    """Return right, right but for its cause, cheaper though more (or dearer though less), or what was said instead."""
    if change.expected == SILENT:
        return "said" if says_anything(found) else "right"
    if change.expected == PROMISED:
        promise, best = change.detail or {}, found.head.ladder.best
        got = (best.offer.accelerator, best.offer.accelerator_count) if best is not None else None
        return "right" if got == (promise["accelerator"], promise["count"]) else "another machine"
    first = found.change.change.first if found.change is not None else None
    if first is None:
        return "not told"
    prices = [_price(side) for side in (found.base, found.head)]
    needs = need_of(first)
    if needs not in RIGHT[change.expected]:
        return needs
    if prices[0] and prices[1] and change.expected != COUNT:
        is_against = prices[1] < prices[0] * (1 - CLOSE) if needs == "more" else prices[1] > prices[0] * (1 + CLOSE)
        if is_against:
            return "price against it"
    is_cause = any(str(cause.evidence) == f"{change.path}:{change.line}" for cause in first.causes)
    return "right" if is_cause else "another cause"


def _price(side: Reading | None) -> float:
    best = side.ladder.best if side is not None else None
    return float(best.price_usd_per_hour) if best is not None else 0.0


def played(folder: Path, answer: Mapping[str, Any], work: Path) -> Iterator[tuple[str, str, str]]:
    """Yield kind, verdict and place of each change of a folder; ``work`` is where copies are made."""
    edits = ((change, edited(folder, change)) for change in changes_of(answer))
    files = ((Literal(kind, path, 1, str, SILENT), text) for kind, path, text in beside(answer))
    new = ((change, text) for change, text in files if not (folder / change.path).exists())
    for change, text in (*edits, *new):
        if text is None:
            continue
        with tempfile.TemporaryDirectory(dir=work) as place:
            head = copied(folder, Path(place))
            if write(head, change.path, text):
                yield change.kind, verdict(compared(folder, head), change), f"{change.path}:{change.line}"


def main() -> int:
    """Print a row of verdicts for each kind of change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every n-th folder")
    parser.add_argument("--start", type=int, default=0, help="and begin with this one")
    parser.add_argument("--show", action="store_true", help="name each change that is not right")
    asked = parser.parse_args()
    folders = list(dict.fromkeys(folder_of(asked.root, case) for case in read_cases(None)))
    folders = [each for each in folders if each.is_dir() and any(each.iterdir())][asked.start :: asked.every]
    rows: dict[str, Counter[str]] = {}
    # Hard links need the same disk, and nothing may be left behind in a checkout.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(dir=asked.root, prefix=".one-literal-") as work:
        for folder in folders:
            answer = analyze(folder)
            if answer is None or not answer["gpu_count"]:
                continue
            for kind, said, place in played(folder, answer, Path(work)):
                rows.setdefault(kind, Counter())[said] += 1
                if asked.show and said != "right":
                    print(f"{kind}: {said}: {folder.relative_to(asked.root)} {place}", flush=True)
    for kind, counts in sorted(rows.items()):
        print(
            f"{kind:32} {counts['right']:4} of {sum(counts.values()):4} right",
            dict(counts - Counter(right=counts["right"])),
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
