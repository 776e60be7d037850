"""Try on a real cloud what a loopback cannot: `make live CLOUD=runpod`, with the account's key in RUNPOD_API_KEY.

For maintainers. It rents five of the cheapest machines for some minutes each, one after the other, for less than $1
together, and dates the row of docs/clouds.md. What it rents is on record below `~/.local/state/gpu-lol-live`; when it is
interrupted, the next run (or the line that it prints) ends what was left. `make live CLOUD=loopback` (root) plays the same
steps on the loopback cloud, dates nothing, and proves these steps themselves.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import report
import steps
from player import Player
from provider import RunPod

MOST_USD = Decimal(1)


@contextlib.contextmanager
def player(cloud: str, folder: Path) -> Iterator[Player]:
    """Yield somebody at a terminal with a key for this cloud."""
    if cloud == "runpod":
        key = os.environ.get("RUNPOD_API_KEY", "").strip()
        if not key:
            raise SystemExit("RUNPOD_API_KEY is not set: the key of an account of its own, prepaid, without top-up.")
        yield Player(folder, RunPod(key), {"RUNPOD_API_KEY": key})
        return
    from gpu_lol_action.rehearsal.catalog import write_catalog
    from gpu_lol_action.rehearsal.cloud import API_KEY, LoopbackCloud

    with LoopbackCloud(folder / "cloud") as loopback:
        write_catalog(folder / "skypilot")
        variables = {**loopback.environment, "RUNPOD_API_KEY": API_KEY}
        variables["GPU_LOL_SKYPILOT_HOME"] = str(folder / "skypilot")
        yield Player(folder, RunPod(API_KEY, loopback.url), variables)


def main() -> int:
    """Play the steps; return 1 where one of them showed something else than expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cloud", choices=("runpod", "loopback"), required=True)
    parser.add_argument("--only", default="", help="names of steps, with commas: for work on these steps themselves")
    asked = parser.parse_args()
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    folder = state / "gpu-lol-live" / asked.cloud
    names = asked.only.split(",") if asked.only else [step.name for step in steps.STEPS]
    with player(asked.cloud, folder) as someone:
        someone.settle_in()
        rows = steps.play(someone, names, MOST_USD)
    print(report.table(rows))
    is_good = all(row.is_good for row in rows)
    if asked.cloud != "loopback" and not asked.only:
        report.write(asked.cloud, rows)
        print("docs/clouds.md has these rows: look at them, then commit.")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
