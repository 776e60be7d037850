"""How right the difference to base is on real commits of public repositories, and what reading base and head costs against one.

    python benchmarks/changes.py CLONES [--only ID ...] [--comments FOLDER] [--speed] [--runs 3]

``benchmarks/data/changes.jsonl`` names the repositories, base and head, and the verdict of a knowledgeable reader of the diff:
whether anything is to be said, whether the run that changed needs more, less or the same, and the lines that a cause may be
put down to. It was written before the first of them was played. CLONES holds one git clone (bare or not) per repository, as
``<owner>+<name>`` (or one level below); what is missing is counted and left out. Nothing of a repository is executed.

``--speed`` times whole runs of the program, from its start to the text: the head alone, then head and base. Processor time, the
median of ``--runs``, so that a busy machine changes little.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from gpu_lol_action.analysis.files.checkout import read_checkout  # noqa: E402 - run as a file, from anywhere
from gpu_lol_action.domain.change import RunChange, is_worth_saying  # noqa: E402
from gpu_lol_action.domain.policy import Policy  # noqa: E402
from gpu_lol_action.domain.request import PullRequest, Repository  # noqa: E402
from gpu_lol_action.domain.spec_text import write_spec  # noqa: E402
from gpu_lol_action.handlers.concluding import Compared, Fetched, conclude_change  # noqa: E402
from gpu_lol_action.render import comments  # noqa: E402

CASES = ROOT / "benchmarks" / "data" / "changes.jsonl"


def clone_of(root: Path, repository: str) -> Path | None:
    """Return the git directory of a repository; None where there is none."""
    folder = root / repository.replace("/", "+")
    places = [folder, folder / ".git", *(sorted(folder.iterdir()) if folder.is_dir() else ())]
    return next((place for place in places if (place / "objects").is_dir()), None)


def unpack(clone: Path, commit: str, into: Path) -> None:
    """Write the regular files of a commit; blobs that a partial clone lacks are left out."""
    listed = git(clone, "ls-tree", "-r", "-z", commit).decode().split("\0")[:-1]
    entries = [(line.split("\t", 1)[1], line.split(" ")[2].split("\t")[0]) for line in listed if line.startswith("100")]
    asked = "".join(f"{sha}\n" for _, sha in entries).encode()
    answered = git(clone, "cat-file", "--batch", stdin=asked)
    at = 0
    for path, _ in entries:
        end = answered.index(b"\n", at)
        words = answered[at:end].decode().split(" ")
        at = end + 1
        if words[-1] == "missing":
            continue
        size = int(words[2])
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(answered[at : at + size])
        at += size + 1


def git(clone: Path, *words: str, stdin: bytes = b"") -> bytes:
    """Return what git prints."""
    return subprocess.run(["git", "-C", str(clone), *words], input=stdin, capture_output=True, check=True).stdout


def compare(folder: Path, case: Mapping[str, Any]) -> Compared:
    """Return the proposal's own comparison."""
    head = read_checkout(folder / "head")
    base = read_checkout(folder / "base", head)
    return conclude_change(Fetched(case["head"], head), Fetched(case["base"], base), Policy())


def runs_of(compared: Compared) -> Iterator[RunChange]:
    """Yield the runs that differ, the one that is provisioned for first."""
    priced = compared.change
    if priced is not None:
        yield from (priced.change.first,) if priced.change.first is not None else ()
        yield from (each.change for each in priced.others)


def says_anything(compared: Compared) -> bool:
    """Return whether a pull request would get a comment under the default policy."""
    policy = Policy()
    if compared.change is None or compared.base is None:
        return True
    prices = [
        side.ladder.best.price_usd_per_hour if side.ladder.best else None for side in (compared.base, compared.head)
    ]
    is_said = is_worth_saying(
        compared.change.change, least_percent=policy.least_change_percent, says_parts=policy.says_environment
    )
    return is_said or prices[0] != prices[1]


def need_of(run: RunChange) -> str:
    """Return more, less, known now or new run."""
    if not run.before.gpu_count and run.after.gpu_count:
        return "new run" if run.kind.value == "new" and run.before.total_gib == 0 else "more"
    if run.before.expected_gib is None and run.after.expected_gib is not None:
        return "known now"
    if run.percent < Policy().least_change_percent and run.before.gpu_count == run.after.gpu_count:
        return "same"
    return "more" if run.is_more else "less"


def faults(case: Mapping[str, Any], compared: Compared) -> list[str]:
    """Return what is wrong with a verdict; nothing where it is right."""
    found = []
    if says_anything(compared) is not case["speaks"]:
        found.append("speaks" if not case["speaks"] else "is silent")
    runs, causes = list(runs_of(compared)), set(case["causes"])
    explained = [run for run in runs if causes & _places(run)]
    needs = {need_of(run) for run in explained} or {need_of(run) for run in runs} or {"same"}
    first = compared.change.change.first if compared.change else None
    if first is not None and not first.before.gpu_count and first.after.gpu_count:
        needs = {"more"}
    parts = compared.change.change.parts if compared.change else ()
    is_part = bool(causes & {str(part.evidence) for part in parts})
    if is_part and not explained:
        needs = {"same"}
    if not needs & set(case["need"]):
        found.append(f"need: {'/'.join(sorted(needs))} for {'/'.join(case['need'])}")
    if causes and not explained and not is_part:
        found.append("cause")
    return found


def _places(run: RunChange) -> set[str]:
    """Return where a run's change is put down to: the strongest cause's line and file, or the new run's program."""
    places = {str(cause.evidence) for cause in run.causes[:1]} | {cause.evidence.path for cause in run.causes[:1]}
    return places | ({run.evidence.path, *run.command.split()} if run.kind.value == "new" else set())


def comment_of(compared: Compared, case: Mapping[str, Any]) -> str:
    """Return the comment that a pull request with this change would get on GitHub."""
    repository = Repository(case["repo"], 1, "main")
    pull_request = PullRequest(1, case["id"], "open", False, False, "author", False, case["head"], "change", case["repo"],
                               case["base"], "main")  # fmt: skip
    head, base = compared.head, compared.base
    return comments.proposal(
        comments.proposal_case(
            pull_request=pull_request,
            repository=repository,
            server_url="https://github.com",
            analysis=head.analysis,
            ladder=head.ladder,
            base_sha=base.sha if base else None,
            base_analysis=base.analysis if base else None,
            base_ladder=base.ladder if base else None,
            policy=Policy(),
            month_usd=Decimal(0),
            environment=None,
            spec_yaml=write_spec(head.analysis.proposed),
            now=datetime(2026, 11, 20, tzinfo=timezone.utc),
            change=compared.change,
            base_problem=compared.problem,
            what_ifs=head.what_ifs,
            spot=head.spot,
        )
    )


def seconds_of(folder: Path, case: Mapping[str, Any], runs: int) -> tuple[float, float]:
    """Return the processor time of whole runs of the program for the head alone, and for head and base."""
    found = []
    for sides in (["head"], ["head", "base"]):
        words = [sys.executable, "-c", _CHILD, str(ROOT), str(folder), case["head"], case["base"], *sides]
        found.append(statistics.median(_child_seconds(words) for _ in range(runs)))
    return found[0], found[1]


# The terminal's own way, with a folder in place of a commit of a checkout: start, read, conclude, render.
_CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from datetime import datetime, timezone
from pathlib import Path
from gpu_lol_action.handlers.analyze import Printing, describe_folder
folder, base = Path(sys.argv[2]), sys.argv[4]
compared = (base, folder / "base") if "base" in sys.argv[5:] else None
print(describe_folder(folder / "head", Printing("markdown"), datetime(2026, 11, 20, tzinfo=timezone.utc), compared))
"""


def _child_seconds(words: list[str]) -> float:
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"the analysis ended with {child.returncode}")
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Play the cases; exit with 1 where a verdict is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--comments", type=Path, help="write each comment as Markdown into this folder")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    cases = [case for case in cases if not asked.only or case["id"] in asked.only]
    right, missing, times = 0, 0, []
    for case in cases:
        clone = clone_of(asked.clones, case["repo"])
        if clone is None:
            missing += 1
            continue
        with tempfile.TemporaryDirectory() as name:
            for side in ("base", "head"):
                (Path(name) / side).mkdir()
                unpack(clone, case[side], Path(name) / side)
            compared = compare(Path(name), case)
            if asked.comments is not None:
                (asked.comments / f"{case['id']}.md").write_text(comment_of(compared, case), encoding="utf-8")
            wrong = faults(case, compared)
            right += not wrong
            text = f"{case['id']:26} {case['kind']:28} {'right' if not wrong else 'WRONG: ' + ', '.join(wrong)}"
            if asked.speed:
                one, two = seconds_of(Path(name), case, asked.runs)
                times.append((one, two))
                text += f"  alone {one:5.2f} s, both {two:5.2f} s, {two / one:4.2f} x"
            print(text, flush=True)
    played = len(cases) - missing
    print(f"\n{right} of {played} right" + (f", {missing} without a clone" if missing else ""))
    if times:
        together = sum(two for _, two in times) / sum(one for one, _ in times)
        print(
            f"head and base: {together:.2f} times the head alone; median {statistics.median(t / o for o, t in times):.2f}"
        )
    return 0 if right == played and played else 1


if __name__ == "__main__":
    sys.exit(main())
