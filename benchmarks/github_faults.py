"""Every request of every story fails once and twice in a row with every fault, and nothing may be lost by it.

    python benchmarks/github_faults.py                        # every 40th trial: a minute or two
    python benchmarks/github_faults.py --share 1/1            # everything: half an hour of two cores
    python benchmarks/github_faults.py --share 1/1 --log matrix.jsonl   # goes on where an earlier run was ended
    python benchmarks/github_faults.py --stories up,down --kinds lost_502,permission --share 1/4

The stories' requests are recorded while all goes well, and played again with a fault at each (tests/support/fault_stories.py
has stories and judge; cloud, machine and clock are scripted, GitHub is spoken to over HTTP). Prints each failure, and as
its last line the size of the matrix and the failures as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gpu_lol_action.rehearsal.github_faults import KINDS  # noqa: E402 - the repository's root comes first
from tests.support.fault_stories import STORIES, Trial, good_requests, run_trial, trials  # noqa: E402 - the same


def judged(trial: Trial) -> list[str]:
    """What one trial left that must not be; a trial that breaks is a failure too."""
    try:
        return run_trial(trial)
    except Exception:  # noqa: BLE001 - the matrix goes on, and says so
        return [f"{trial}: the trial broke: {traceback.format_exc(limit=-3)}"]


def known_results(log: Path | None) -> dict[str, list[str]]:
    """What an earlier run has found, by trial; a line that was cut off by its end counts for nothing."""
    found: dict[str, list[str]] = {}
    if log is None or not log.exists():
        return found
    for line in log.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        found[entry["trial"]] = entry["problems"]
    return found


def main() -> int:
    """Play the matrix and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stories", default=",".join(STORIES), help="which stories, by name")
    parser.add_argument("--kinds", default=",".join(KINDS), help="which faults, by name")
    parser.add_argument("--share", default="1/40", help="the n-th of m equal parts, as 2/5")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--log", type=Path, help="a line of JSON per trial; what stands there already is not played again"
    )
    options = parser.parse_args()
    kinds, (part, parts) = set(options.kinds.split(",")), map(int, options.share.split("/"))
    requests = {name: good_requests(name) for name in options.stories.split(",")}
    matrix = [trial for name, found in requests.items() for trial in trials(name, found)]
    chosen = [trial for trial in matrix if trial.kind in kinds][part - 1 :: parts]
    began, failed = time.monotonic(), Counter[str]()
    known = known_results(options.log)
    left = [trial for trial in chosen if str(trial) not in known]
    with ProcessPoolExecutor(options.workers) as pool:
        played = zip(left, pool.map(judged, left, chunksize=4), strict=True)
        for trial, problems in chain(((each, known[str(each)]) for each in chosen if str(each) in known), played):
            failed[trial.story] += bool(problems)
            for problem in problems:
                print(problem, flush=True)
            if options.log is not None and str(trial) not in known:
                with options.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps({"trial": str(trial), "problems": problems}) + "\n")
    result = {
        "stories": {name: len(found) for name, found in requests.items()},
        "kinds": sorted(kinds),
        "matrix": len(matrix),
        "played": len(chosen),
        "failed": sum(failed.values()),
        "seconds": round(time.monotonic() - began),
    }
    print(json.dumps(result))
    return 1 if result["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
