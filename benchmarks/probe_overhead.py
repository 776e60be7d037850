"""What the sampler costs the process beside which it runs: `python benchmarks/probe_overhead.py [ROUNDS [SECONDS]]`.

A process that computes all the time is run with and without the sampler by turns, each round in another order. Told are its
wall and processor time (of both kinds the median of the rounds' quotients), and what the sampler itself took: that figure
holds on a busy machine too, where the others are noise. A stand-in for `nvidia-smi` that computes for 0.15 s at each look is
the worst case: then the sampler has to look more seldom to stay under half a percent of a core. How much of one it takes beside
a process that sleeps is told for several lengths; its start and its first look weigh more, the shorter that is.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SAMPLER = Path(__file__).resolve().parents[1] / "gpu_lol_action" / "launch" / "remote" / "gpu_lol_sampler.py"
WORK = "import sys\nfor number in range(int(sys.argv[1])): sum(range(1000))\n"
SLOW_SMI = """#!{python}
import time
until = time.process_time() + 0.15
while time.process_time() < until: pass
print("0, NVIDIA A100-SXM4-80GB, 40536, 81920, 97")
"""


def spent(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process and return its processor seconds, its children's included."""
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


def work(amount: int, folder: Path, path: str, *, is_sampled: bool) -> tuple[float, float, float, int]:
    """Run the process; return its wall and processor seconds, the sampler's processor seconds, and how often it looked."""
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", WORK, str(amount)])
    answer = folder / "samples.json"
    sampler = None
    if is_sampled:
        answer.unlink(missing_ok=True)
        command = [sys.executable, "-I", str(SAMPLER), str(answer), str(folder), str(process.pid)]
        sampler = subprocess.Popen(command, env={"PATH": path})
    own = spent(process)
    wall = time.monotonic() - began
    if sampler is None:
        return wall, own, 0.0, 0
    cost = spent(sampler)
    looks = json.loads(answer.read_text())["samples"] if answer.exists() else 0
    return wall, own, cost, int(looks)


def measure(title: str, rounds: int, amount: int, folder: Path, path: str) -> None:
    """Print the figures of one driver."""
    walls, owns, shares, looks = [], [], [], []
    for number in range(rounds):
        order = (False, True) if number % 2 else (True, False)
        found = {is_sampled: work(amount, folder, path, is_sampled=is_sampled) for is_sampled in order}
        walls.append(found[True][0] / found[False][0] - 1)
        owns.append(found[True][1] / found[False][1] - 1)
        shares.append(found[True][2] / found[True][0])
        looks.append(found[True][3])
    print(
        f"{title}: wall {statistics.median(walls):+.2%} (rounds {min(walls):+.1%} to {max(walls):+.1%}), "
        f"its processor time {statistics.median(owns):+.2%} ({min(owns):+.1%} to {max(owns):+.1%}), "
        f"the sampler itself {statistics.median(shares):.2%} of one core (at most {max(shares):.2%}), {sum(looks)} looks"
    )


def share_of(seconds: int, folder: Path, path: str) -> tuple[float, int]:
    """Return the sampler's share of a core beside a process that sleeps so long, and how often it looked."""
    own = folder / f"asleep-{seconds}"
    own.mkdir()
    sleeping = subprocess.Popen(["sleep", str(seconds)])
    command = [sys.executable, "-I", str(SAMPLER), str(own / "samples.json"), str(own), str(sleeping.pid)]
    cost = spent(subprocess.Popen(command, env={"PATH": path}))
    sleeping.wait()
    return cost / seconds, int(json.loads((own / "samples.json").read_text())["samples"])


def main(arguments: list[str]) -> int:
    """Print the figures without a driver and with a slow one."""
    rounds, seconds = (int(arguments[0]) if arguments else 6), (float(arguments[1]) if len(arguments) > 1 else 30.0)
    amount = int(20_000 * seconds / max(work(20_000, Path.cwd(), "", is_sampled=False)[1], 0.01))
    with tempfile.TemporaryDirectory(prefix="gpu-lol-") as name:
        folder = Path(name)
        slow = folder / "slow"
        slow.mkdir()
        fake = slow / "nvidia-smi"
        fake.write_text(SLOW_SMI.format(python=sys.executable))
        fake.chmod(0o700)
        lengths = (15, 30, 60, 120, 240)
        with ThreadPoolExecutor(len(lengths)) as beside:
            shares = list(beside.map(lambda seconds: share_of(seconds, folder, str(slow)), lengths))
        told = ", ".join(
            f"{seconds} s {share:.2%} ({looks} looks)" for seconds, (share, looks) in zip(lengths, shares, strict=True)
        )
        print(f"beside a process that sleeps, with that nvidia-smi: {told}", flush=True)
        print(f"{rounds} rounds of {seconds:g} processor seconds each, with and without, {os.cpu_count()} cores")
        measure("no driver", rounds, amount, folder, str(folder))
        measure("nvidia-smi that computes for 0.15 s", rounds, amount, folder, str(slow))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
