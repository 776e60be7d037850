"""`chaos.py --real`: the same harm to the action's real steps, with the real SkyPilot, on the loopback cloud (needs root).

Each round comments `up`, `down` or `extend` on a pull request of its own, or lets the sweep's clock strike, runs the light
step, and does harm to the step that acts: SIGKILL of its process, of everything that its runner runs (a runner that
vanishes), SIGTERM, a cancellation as GitHub sends it, or no network any more, each at a random moment; or GitHub's and the
provider's refused or lost answers all the while. Then the finishing job comes (not after a runner that vanished, now and
then), and after all rounds two sweeps from fresh runners. A watcher looks at the cloud all the while (_chaos_watch.py).
An environment of somebody else runs beside it all, and machines that were handed over run until a round is about them.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from _chaos_network import Network, between
from _chaos_watch import Watcher

from gpu_lol_action.adapters.github import Connection, GitHubClient
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.domain.environment import EnvironmentRecord, State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.handlers.sweep import BOOT_GRACE
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.image import ensure_image
from gpu_lol_action.rehearsal.stage import RunningStep, Stage, StepRun

SPEC = """hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: chaos, workload_type: training}
"""
POLICY = """limits: {environments_per_person: 100, environments_per_repository: 100}
budget: {month_usd: 100000}
lease: {idle: 12h}
sweep: {required: false}
"""
COMMANDS = ("up", "up", "up", "down", "up", "extend", "up", "sweep")
HARMS = ("kill", "vanish", "terminate", "cancel", "cut", "faults", "lost")
FINISHED = 0.75
"""How often the finishing job comes after a runner that vanished; the sweeper has to do without it else."""


@dataclass
class Rounds:
    """One run of the benchmark. ``ready``: pull requests whose machine was handed over, with its name on the cloud."""

    stage: Stage
    watcher: Watcher
    dice: random.Random
    usual_seconds: dict[str, float] = field(default_factory=lambda: {"down": 45.0, "extend": 8.0, "sweep": 45.0})
    done: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    dead_since: dict[str, float] = field(default_factory=dict)
    ready: dict[int, str] = field(default_factory=dict)
    live_killed: set[str] = field(default_factory=set)
    decks: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    hits: int = 0

    def prepare(self) -> str:
        """Open the repository and bring up somebody's machine; return its name on the cloud."""
        hub = self.stage.hub
        key = self.stage.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        hub.add_user(hub.maintainer, role="admin", ssh_keys=[key.with_suffix(".pub").read_text().strip()])
        hub.commit({".gpu-lol.yaml": SPEC, ".github/gpu-lol.yml": POLICY, "train.py": "import torch\n"})
        number = self._bring_up(" --hours 12")
        print(f"an `up` that nobody hurts takes {self.usual_seconds['up']:.0f} s here", flush=True)
        return self.ready.pop(number)

    def play(self) -> None:
        """Hurt one command and let the finishing job tie it up."""
        what, harm = self._deal(COMMANDS), self._deal(HARMS)
        number = self._pull_request() if what == "up" else self._one_with_machine()
        # GitHub's hourly allowance is spent by some eighteen rounds; that `up` is refused then is another test's matter.
        self.stage.hub.use_up_requests(self.stage.hub.bot_token, left=900)
        event, run_id, handed_on = self._decide(what, number)
        own = random.Random(self.dice.random())  # repeatable dice  # nosec B311
        network, moment = Network(own), self.dice.uniform(1, self.usual_seconds[what])
        acted, is_hit = self._act(event, run_id, handed_on, network, harm, moment)
        self.hits += is_hit
        self.done[f"{what}/{harm}" if is_hit else f"{what}/came too late"] += 1
        self.faults += network.delivered
        known = len(self.stage.open_cloud().pods())
        self.dead_since[run_id] = time.monotonic()
        outcome = "left to the sweeper" if acted.exit_code else str(acted.outputs.get("reason_code"))
        if acted.exit_code and (harm != "vanish" or self.dice.random() < FINISHED):
            outcome = self._finish(event, run_id, handed_on["GPU_LOL_DEFERRED"], acted)
        self.stage.hub.finish_run(run_id, "cancelled" if acted.exit_code else "success")
        if not is_hit:
            self.usual_seconds[what] = acted.seconds
        self._look_at(number, what)
        when = f"{sum(network.delivered.values())} requests" if harm in ("faults", "lost") else f"after {moment:.0f} s"
        print(f"{self.hits}: {what}, {harm} {when}, {known} machines then; {outcome}", flush=True)

    def _decide(self, what: str, number: int) -> tuple[Webhook, str, dict[str, str]]:
        """Run the light step; return the event, the run, and what the step that acts gets."""
        hub = self.stage.hub
        if what == "sweep":
            # Something is to be swept: a `down` whose job for the rest never came.
            comment = hub.comment(number, hub.maintainer, "/gpu-lol down")
            lost = hub.start_run(comment.name, hub.maintainer)
            self._light(comment, lost)
            hub.finish_run(lost, "cancelled")
            self.ready.pop(number)
        event = hub.schedule() if what == "sweep" else hub.comment(number, hub.maintainer, f"/gpu-lol {what}")
        run_id = hub.start_run(event.name, hub.maintainer)
        light = self._light(event, run_id)
        if light.outputs.get("needs_cloud") != "true":
            raise SystemExit(f"`{what}` of {number} was not let through:\n{light.log[-3000:]}")
        pinned = light.outputs.get("pinned_sha", "")
        handed_on = {"GPU_LOL_DEFERRED": light.outputs.get("deferred", ""), "GPU_LOL_PINNED_SHA": pinned}
        return event, run_id, {"GPU_LOL_PHASE": "act", **handed_on}

    def _light(self, event: Webhook, run_id: str, **more: str) -> StepRun:
        keyless = {"GPU_LOL_PHASE": "decide", "GPU_LOL_CLOUDS": "runpod", "RUNPOD_API_KEY": ""}
        return self.stage.run_step(event, run_id, {**keyless, **more})

    def _act(
        self, event: Webhook, run_id: str, handed_on: dict[str, str], network: Network, harm: str, moment: float
    ) -> tuple[StepRun, bool]:
        """Run the step that acts behind a network of its own and hurt it; return how it ended and whether it was hit."""
        with (
            between(network, self.stage.hub.api_url) as api,
            between(network, self.stage.open_cloud().url) as cloud,
        ):
            network.harm = harm if harm in ("faults", "lost") else ""
            addresses = {"GITHUB_API_URL": api, "RUNPOD_API_BASE_URL": cloud}
            step = self.stage.start_step(event, run_id, {**handed_on, **addresses})
            if network.harm:
                acted = step.wait()
                return acted, network.delivered[harm] > 0
            with contextlib.suppress(subprocess.TimeoutExpired):
                step.process.wait(moment)
            is_hit = step.process.poll() is None
            if is_hit:
                hurt(step, harm, network)
            return step.wait(), is_hit

    def _finish(self, event: Webhook, run_id: str, deferred: str, acted: StepRun) -> str:
        said = acted.outputs.get("decision", "")
        finishing = {"GPU_LOL_FINISHING": "true", "GPU_LOL_DEFERRED": deferred, "GPU_LOL_ACT_DECISION": said}
        light = self._light(event, run_id, **finishing)
        if light.outputs.get("needs_cloud") != "true":
            return f"finish: {light.outputs.get('reason_code')}"
        last = self.stage.run_step(event, run_id, {**finishing, "GPU_LOL_PHASE": "act"})
        return f"finish: {last.outputs.get('reason_code')} in {last.seconds:.0f} s"

    def _look_at(self, number: int, what: str) -> None:
        """Take up a machine that was handed over all the same, and see that nobody ended one that is in use."""
        newest = next((record for record in self.records() if record.pull_request == number), None)
        if newest is not None and newest.state is State.READY and newest.tombstone is None:
            self.ready[number] = str(newest.name_on_cloud)
        elif what == "down":
            self.ready.pop(number, None)
        there = set(self.watcher.look().values())
        self.live_killed |= set(self.ready.values()) - there

    def _one_with_machine(self) -> int:
        return next(iter(self.ready), None) or self._bring_up()

    def _bring_up(self, options: str = "") -> int:
        """Run `up` unhurt on a new pull request; return its number."""
        number = self._pull_request()
        event = self.stage.hub.comment(number, self.stage.hub.maintainer, f"/gpu-lol up{options}")
        run = self.stage.run_action(event)
        self._look_at(number, "up")
        if number not in self.ready or run.act is None:
            raise SystemExit(f"a machine that nobody hurt did not come up:\n{run.last.log[-3000:]}")
        self.usual_seconds["up"] = run.act.seconds
        return number

    def sweep(self) -> str:
        """Sweep from a fresh runner; return how it ended."""
        run = self.stage.run_action(self.stage.hub.schedule())
        return str(run.last.outputs.get("reason_code"))

    def records(self) -> list[EnvironmentRecord]:
        """Return every record, as a fresh runner reads it."""
        hub = self.stage.hub
        client = GitHubClient(Connection(hub.bot_token, self.stage.full_name, hub.api_url), lambda _pause: None)
        return [e.record for e in RecordLedger(GitRefStore(client)).entries() if isinstance(e, Entry)]

    def count(self, live: str) -> dict[str, int]:
        """End what was handed over, sweep twice and count what is left."""
        for number in sorted(self.ready):
            self.stage.run_action(self.stage.hub.comment(number, self.stage.hub.maintainer, "/gpu-lol down"))
        for number in (1, 2):
            print(f"sweep {number}: {self.sweep()}", flush=True)
        young = [name for name in self.watcher.look().values() if name != live]
        if young:
            # Without a record, and younger than a launch may be: two more, when they have had their grace.
            print(f"{young} are left; waiting for their grace to end", flush=True)
            time.sleep(BOOT_GRACE.total_seconds() + 60)
            for number in (3, 4):
                print(f"sweep {number}: {self.sweep()}", flush=True)
        left, records = self.watcher.look(), self.records()
        hub = self.stage.hub
        numbers = sorted({record.pull_request for record in records if record.pull_request})
        said = [comment for number in numbers for comment in hub.comments(number, by=hub.bot.login)]
        bodies = {comment.comment_id: comment.body for comment in said}
        closed = [record for record in records if not record.is_open]
        return {
            "leaked_pods": sum(name != live for name in left.values()),
            "double_launches": len(self.watcher.doubles),
            "live_killed": len(self.live_killed) + int(live not in left.values()),
            "records_open": sum(record.is_open and record.name_on_cloud != live for record in records),
            "comments_stuck": sum(
                "🟡" in bodies.get(record.status_comment_id or 0, "\n").split("\n")[1] for record in closed
            ),
        }

    @property
    def late(self) -> int:
        """How many machines showed after the step that wanted them was dead."""
        by_name = {record.name_on_cloud: record.run_id for record in self.records()}
        seen = self.watcher.first_seen.values()
        return sum(since > self.dead_since.get(by_name.get(name, ""), since) + 1 for name, since in seen)

    def _pull_request(self) -> int:
        return int(self.stage.hub.open_pull_request("researcher", {"notes.md": "more\n"}).number or 0)

    def _deal(self, cards: tuple[str, ...]) -> str:
        """Return the next card of a shuffled deck, so that each comes up as often as it is in there."""
        deck = self.decks.setdefault(cards, [])
        if not deck:
            deck.extend(self.dice.sample(cards, len(cards)))
        return deck.pop()


def hurt(step: RunningStep, harm: str, network: Network) -> None:
    """Do to the acting step what its runner, its host, its user or the network would."""
    if harm == "kill":
        step.process.kill()
    elif harm == "vanish":
        for pid in family(step.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    elif harm == "terminate":
        step.process.terminate()
    elif harm == "cut":
        network.harm = harm
    else:
        for name, patience in ((signal.SIGINT, 7.5), (signal.SIGTERM, 2.5), (signal.SIGKILL, 10.0)):
            step.process.send_signal(name)
            with contextlib.suppress(subprocess.TimeoutExpired):
                step.process.wait(patience)
                return


def family(pid: int) -> list[int]:
    """Return a process, its descendants, and what runs in a home below its own: a server outlives who started it."""
    runner = bytes(Path(f"/proc/{pid}/cwd").readlink().parent) + b"/"
    found = {pid}
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            with contextlib.suppress(OSError):
                if runner in (process / "environ").read_bytes():
                    found.add(int(process.name))
    return sorted(found)


def play_for_real(kills: int, seed: int) -> tuple[dict[str, int], str]:
    """Play until that many steps were hit; return the counts, and a line on how it went."""
    ensure_image()
    # A shell that starts it in the background has it ignore Ctrl-C, which ends the rounds (below).
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Stage() as stage:
        stage.open_cloud()
        watcher = Watcher(stage)
        rounds = Rounds(stage, watcher, random.Random(seed))  # repeatable dice  # nosec B311
        with watcher.watching():
            live = rounds.prepare()
            # Who has seen enough ends the rounds with Ctrl-C: what is left is counted all the same.
            with contextlib.suppress(KeyboardInterrupt):
                while rounds.hits < kills:
                    rounds.play()
            counts = rounds.count(live)
            how = (
                f"{dict(sorted(rounds.done.items()))}, requests harmed {dict(sorted(rounds.faults.items()))}, "
                f"{rounds.late} machines that came late"
            )
    return {"kills": rounds.hits, **counts}, how
