"""Kill `up`, `down`, `extend` and `sweep` at random moments and count what is left: ``chaos.py --kills N --seed S``.

Each round is a process of its own (our handlers, our ledger on a folder, a simulated provider and GitHub in another process,
time ``--scale`` times as fast) that is killed with SIGKILL, cancelled as GitHub does it, cut off from the network, or given
lost and refused answers, at a random moment; two environments of others run beside it, and a sweeper comes by. Afterwards the
clock is put past every lease but the others', a fresh process sweeps twice, and what is left is counted. The last line is
JSON; each count in it but `kills` is to be 0. The lines before it say how often each harm was done to each command.

``--real`` does it to the action's real steps with the real SkyPilot on the loopback cloud instead (_chaos_real.py): as root,
about two minutes for each kill.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from _chaos_hands import REPOSITORY_ID, FastClock, SimulatedCloud, Stage, context_of, order_of
from _chaos_real import play_for_real
from _chaos_world import Line, serve

from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.names import environment_name
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers import journal
from gpu_lol_action.handlers.down import handle_down, mark_down
from gpu_lol_action.handlers.extend import handle_extend
from gpu_lol_action.handlers.sweep import handle_sweep
from gpu_lol_action.handlers.up import handle_up

SPEC = """hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: chaos, workload_type: training}
"""
LIVE = (9001, 9002)
LEASE = timedelta(hours=1)
POLICY = Policy(
    max_lease=timedelta(days=90),
    environments_per_person=10**6,
    environments_per_repository=10**6,
    month_usd=Decimal(10**9),
    requires_recent_sweep=False,
)
MODES = {"kill": 5, "terminate": 2, "cancel": 2, "cut": 1, "faults": 1, "lost": 1}
"""SIGKILL at once; SIGTERM; SIGINT, SIGTERM, SIGKILL as a runner sends them; no network from now on; requests that are refused,
or done and not answered, throughout. With how often each is chosen beside the others."""
PATIENCE_SECONDS = 120.0


@dataclass
class Tally:
    """What was done, and how the processes ended."""

    done: Counter[str] = field(default_factory=Counter)
    usual_seconds: dict[str, float] = field(default_factory=lambda: {"up": 2.0})
    hits: int = 0
    hung: int = 0


def act(stage: Stage, number: int, what: str, seed: int) -> None:
    """Do one command, as this process."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, _interrupt)
    journal.TOMBSTONE_POLL_SECONDS = 8.0 / stage.scale
    context = context_of(stage, number, seed)
    lease = timedelta(days=80) if number in LIVE else LEASE
    order = order_of(context, f"/gpu-lol {what}", POLICY, lease if what == "up" else timedelta(hours=1))
    if what == "up":
        handle_up(context, order)
    elif what == "extend":
        handle_extend(context, order)
    elif what == "down":
        mark_down(context, order)
        handle_down(context, order)
    elif what == "mark":
        mark_down(context, order)
    else:
        handle_sweep(context, REPOSITORY_ID, POLICY)


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def start(job: Callable[[], None]) -> int:
    """Run a job in a process of its own; return its number."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        job()
        code = 0
    except (KeyboardInterrupt, GpuLolError):
        code = 2
    except BaseException:  # noqa: BLE001  a bug of ours: it is shown, and what it leaves behind is counted
        import traceback

        traceback.print_exc()
        code = 3
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def wait(child: int, seconds: float) -> bool:
    """Wait for a process; return whether it has ended."""
    until = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True


def run(stage: Stage, number: int, what: str, seed: int) -> None:
    """Do one command and let it end by itself."""
    child = start(lambda: act(stage, number, what, seed))
    if not wait(child, PATIENCE_SECONDS):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise SystemExit(f"`{what}` of {number} did not end")


def hurt(line: Line, victim: tuple[int, int], mode: str, tally: Tally) -> None:
    """Do to a process what this round is about, and see it dead."""
    child, number = victim
    if mode in ("cut", "faults", "lost"):
        line.ask("harm", victim=f"{child}-{number}", harm=mode)
        if not wait(child, PATIENCE_SECONDS):
            tally.hung += 1
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return
    steps = {
        "kill": ((signal.SIGKILL, PATIENCE_SECONDS),),
        "terminate": ((signal.SIGTERM, PATIENCE_SECONDS),),
        # GitHub gives 7.5 and 2.5 seconds; what a runner then kills has had less time here than there.
        "cancel": ((signal.SIGINT, 0.5), (signal.SIGTERM, 0.2), (signal.SIGKILL, PATIENCE_SECONDS)),
    }
    for name, patience in steps[mode]:
        os.kill(child, name)
        if wait(child, patience):
            return
    tally.hung += 1
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def play_round(stage: Stage, line: Line, number: int, dice: random.Random, tally: Tally) -> None:
    """Prepare one environment, start one command on it, and hurt that at a random moment."""
    what = dice.choices(("up", "down", "extend", "sweep"), (6, 2, 1, 2))[0]
    mode = dice.choices(list(MODES), list(MODES.values()))[0]
    seed = dice.randrange(2**32)
    if what != "up":
        run(stage, number, "up", seed)
    if what == "sweep":
        run(stage, number, "mark", seed)
    child = start(lambda: act(stage, number, what, seed))
    other = None
    if what == "up" and dice.random() < 0.3:
        # Somebody ends it while it is on its way.
        other = start(lambda: (time.sleep(dice.uniform(0, 2.5)), act(stage, number, "down", seed))[1])
    began, usual = time.monotonic(), tally.usual_seconds.get(what, 1.0)
    is_hit = mode in ("faults", "lost") or not wait(child, dice.uniform(0, usual))
    tally.done[f"{what}/{mode if is_hit else 'came too late'}"] += 1
    if is_hit:
        tally.hits += 1
        hurt(line, (child, number), mode, tally)
    if not is_hit or mode in ("faults", "lost"):
        # How long it takes here when nobody ends it: later moments are drawn from that. One may end early by itself.
        tally.usual_seconds[what] = max(time.monotonic() - began, 0.8 * usual)
    if other is not None and not wait(other, PATIENCE_SECONDS):
        tally.hung += 1
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)


def jump(stage: Stage, duration: timedelta) -> None:
    """Put the clock forward for everybody."""
    jumped = float(stage.jumped.read_text()) + duration.total_seconds()
    aside = stage.jumped.with_suffix(".new")
    aside.write_text(str(jumped))
    aside.replace(stage.jumped)


def count_what_is_left(stage: Stage, line: Line) -> dict[str, int]:
    """Let everything late arrive, sweep twice with a fresh process an hour apart, and count."""
    while line.ask("state")["orders"]:
        time.sleep(0.1)
    jump(stage, LEASE * 3)
    for seed in (1, 2):
        run(stage, 0, "sweep", seed)
        jump(stage, timedelta(hours=1))
    world = line.ask("state")
    live = {environment_name(REPOSITORY_ID, number) for number in LIVE}
    cloud = SimulatedCloud(line, FastClock(stage), random.Random(0))  # repeatable dice  # nosec B311
    kept = {cloud.name_on_cloud(name) for name in live}
    entries = [e for e in RecordLedger(FileStore(stage.folder / "ledger")).entries() if isinstance(e, Entry)]
    comments = {comment["id"]: comment["body"] for comment in world["comments"]}
    closed = [e.record for e in entries if not e.record.is_open and e.record.status_comment_id is not None]
    return {
        "leaked_pods": len(set(world["machines"]) - kept),
        "double_launches": len(world["doubles"]),
        "live_killed": len(world["live_killed"]) + len(kept - set(world["machines"])),
        "records_open": sum(e.record.is_open and e.record.name not in live for e in entries),
        "comments_stuck": sum("🟡" in comments[record.status_comment_id or 0].split("\n")[1] for record in closed),
    }


def main() -> int:
    """Run from the command line; return 1 where anything is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=60.0, help="how many times as fast time goes")
    parser.add_argument("--real", action="store_true", help="the action's steps and SkyPilot, on the loopback cloud")
    options = parser.parse_args()
    if options.real:
        counts, how = play_for_real(options.kills, options.seed)
        print(how)
        print(json.dumps(counts))
        return int(any(count for name, count in counts.items() if name != "kills"))
    dice, tally = random.Random(options.seed), Tally()  # repeatable dice  # nosec B311
    parent, child = multiprocessing.get_context("spawn").Pipe()
    world = multiprocessing.get_context("spawn").Process(
        target=serve, args=(child, options.seed, options.scale), daemon=True
    )
    world.start()
    with tempfile.TemporaryDirectory(prefix="gpu-lol-chaos-") as name:
        stage = Stage(parent.recv(), Path(name), options.scale, time.time())
        stage.jumped.write_text("0")
        (stage.folder / "tree").mkdir()
        (stage.folder / "tree" / ".gpu-lol.yaml").write_text(SPEC)
        line = Line(stage.port, "chaos")
        for number in LIVE:
            while environment_name(REPOSITORY_ID, number) not in str(line.ask("state")["machines"]):
                run(stage, number, "up", dice.randrange(2**32))
            line.ask("protect", name=f"{environment_name(REPOSITORY_ID, number)}-c0ffee00")
        number, began = 0, time.monotonic()
        while tally.hits < options.kills:
            number += 1
            play_round(stage, line, number, dice, tally)
            if number % 10 == 0:
                run(stage, 0, "sweep", number)
                print(
                    f"{tally.hits} of {options.kills} hit, {number} rounds, {time.monotonic() - began:.0f} s",
                    flush=True,
                )
        left = count_what_is_left(stage, line)
        state = line.ask("state")
    world.terminate()
    by_harm = Counter[str]()
    for each, count in tally.done.items():
        by_harm[each.partition("/")[2]] += count
    print(f"rounds by command and harm: {dict(sorted(tally.done.items()))}")
    print(f"rounds by harm: {dict(sorted(by_harm.items()))}; requests harmed: {state['harmed']}")
    print(
        f"{state['calls']} calls of provider and GitHub, {state['late']} machines that came late, {tally.hung} processes that hung"
    )
    print(json.dumps({"kills": tally.hits, **left}))
    return int(any(left.values()) or tally.hung > 0)


if __name__ == "__main__":
    raise SystemExit(main())
