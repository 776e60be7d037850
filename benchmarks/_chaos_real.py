"""`chaos.py --real`: the same harm to the action's real steps, with the real SkyPilot, on the loopback cloud (needs root).

Each round comments `/gpu-lol up` on a pull request of its own, runs the light step, and hurts the step that acts at a
random moment: SIGKILL of its process, of everything that its runner runs (a runner that vanishes), SIGTERM, or a
cancellation as GitHub sends it. Then the finishing job comes (not after a runner that vanished, now and then), and after
all rounds two sweeps from fresh runners. A watcher looks at the cloud all the while, so that a machine that comes after
its launcher's end is counted, and two of one name are seen. An environment of somebody else runs beside it all.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gpu_lol_action.adapters.github import Connection, GitHubClient
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.handlers.sweep import BOOT_GRACE
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.github_state import Comment
from gpu_lol_action.rehearsal.image import ensure_image
from gpu_lol_action.rehearsal.stage import RunningStep, Stage

SPEC = """hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: chaos, workload_type: training}
"""
POLICY = """limits: {environments_per_person: 100, environments_per_repository: 100}
budget: {month_usd: 100000}
sweep: {required: false}
"""
HARMS = ("kill", "vanish", "terminate", "cancel")
FINISHED = 0.75
"""How often the finishing job comes after a runner that vanished; the sweeper has to do without it else."""


@dataclass
class Watcher:
    """What the cloud showed, every half second."""

    stage: Stage
    first_seen: dict[str, tuple[str, float]] = field(default_factory=dict)
    doubles: set[str] = field(default_factory=set)
    _over: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Look in the background."""
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            with contextlib.suppress(OSError):
                self.look()

    def look(self) -> dict[str, str]:
        """Return id -> name of the machines there are."""
        pods = {str(pod["id"]): name_of(pod) for pod in self.stage.open_cloud().pods()}
        for pod_id, name in pods.items():
            self.first_seen.setdefault(pod_id, (name, time.monotonic()))
        self.doubles |= {name for name, count in Counter(pods.values()).items() if count > 1}
        return pods


@dataclass
class Rounds:
    """One run of the benchmark."""

    stage: Stage
    watcher: Watcher
    dice: random.Random
    up_seconds: float = 60.0
    done: Counter[str] = field(default_factory=Counter)
    dead_since: dict[str, float] = field(default_factory=dict)
    hits: int = 0

    def prepare(self) -> str:
        """Open the repository and bring up somebody's machine; return its name on the cloud."""
        hub = self.stage.hub
        key = self.stage.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        hub.add_user(hub.maintainer, role="admin", ssh_keys=[key.with_suffix(".pub").read_text().strip()])
        hub.commit({".gpu-lol.yaml": SPEC, ".github/gpu-lol.yml": POLICY, "train.py": "import torch\n"})
        event = hub.comment(self._pull_request(), hub.maintainer, "/gpu-lol up --hours 12")
        began = time.monotonic()
        run = self.stage.run_action(event)
        self.up_seconds = time.monotonic() - began
        (pod,) = self.stage.open_cloud().pods() or [{}]
        if run.last.exit_code or not pod:
            raise SystemExit(f"the live environment did not come up:\n{run.last.log[-3000:]}")
        print(f"an `up` that nobody hurts takes {self.up_seconds:.0f} s here", flush=True)
        return name_of(pod)

    def play(self) -> None:
        """Hurt one `up` and let the finishing job tie it up."""
        hub, number, harm = self.stage.hub, self._pull_request(), self.dice.choice(HARMS)
        # GitHub's hourly allowance is spent by some eighteen rounds; that `up` is refused then is another test's matter.
        hub.use_up_requests(hub.bot_token, left=900)
        event = hub.comment(number, hub.maintainer, "/gpu-lol up")
        run_id = hub.start_run(event.name, hub.maintainer)
        keyless = {"GPU_LOL_PHASE": "decide", "GPU_LOL_CLOUDS": "runpod", "RUNPOD_API_KEY": ""}
        decide = self.stage.run_step(event, run_id, keyless)
        if decide.outputs.get("needs_cloud") != "true":
            raise SystemExit(f"round {number} was not let through:\n{decide.log[-3000:]}")
        handed_on = {
            "GPU_LOL_PHASE": "act",
            "GPU_LOL_DEFERRED": decide.outputs["deferred"],
            "GPU_LOL_PINNED_SHA": decide.outputs["pinned_sha"],
        }
        step = self.stage.start_step(event, run_id, handed_on)
        moment = self.dice.uniform(1, self.up_seconds)
        with contextlib.suppress(subprocess.TimeoutExpired):
            step.process.wait(moment)
        is_hit = step.process.poll() is None
        self.hits += is_hit
        self.done[harm if is_hit else "came too late"] += 1
        if is_hit:
            hurt(step, harm)
        step.wait()
        known = {name_of(pod) for pod in self.stage.open_cloud().pods()}
        self.dead_since[run_id] = time.monotonic()
        is_finished = is_hit and (harm != "vanish" or self.dice.random() < FINISHED)
        outcome = self._finish(event, run_id, decide.outputs["deferred"]) if is_finished else "left to the sweeper"
        hub.finish_run(run_id, "cancelled")
        if not is_hit:
            # It had handed its machine over: that is its requester's, and no leak.
            outcome = "ended by hand"
            self.stage.run_action(hub.comment(number, hub.maintainer, "/gpu-lol down"))
        print(f"round {number}: {harm} after {moment:.0f} s, {len(known)} machines then; {outcome}", flush=True)

    def _finish(self, event: Webhook, run_id: str, deferred: str) -> str:
        finishing = {"GPU_LOL_FINISHING": "true", "GPU_LOL_DEFERRED": deferred}
        light = self.stage.run_step(event, run_id, {**finishing, "GPU_LOL_PHASE": "decide", "RUNPOD_API_KEY": ""})
        if light.outputs.get("needs_cloud") != "true":
            return f"finish: {light.outputs.get('reason_code')}"
        last = self.stage.run_step(event, run_id, {**finishing, "GPU_LOL_PHASE": "act"})
        return f"finish: {last.outputs.get('reason_code')} in {last.seconds:.0f} s"

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
        """Sweep twice and count what is left."""
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
        comments = {comment.comment_id: comment.body for number in self._numbers() for comment in self._said(number)}
        stuck = [
            record.name
            for record in records
            if not record.is_open and "🟡" in comments.get(record.status_comment_id or 0, "\n").split("\n")[1]
        ]
        return {
            "leaked_pods": sum(name != live for name in left.values()),
            "double_launches": len(self.watcher.doubles),
            "live_killed": int(live not in left.values()),
            "records_open": sum(record.is_open and record.name_on_cloud != live for record in records),
            "comments_stuck": len(stuck),
        }

    @property
    def late(self) -> int:
        """How many machines showed after the step that wanted them was dead."""
        by_name = {record.name_on_cloud: record.run_id for record in self.records()}
        seen = self.watcher.first_seen.values()
        return sum(since > self.dead_since.get(by_name.get(name, ""), since) + 1 for name, since in seen)

    def _pull_request(self) -> int:
        return int(self.stage.hub.open_pull_request("researcher", {"notes.md": "more\n"}).number or 0)

    def _numbers(self) -> list[int]:
        return sorted({record.pull_request for record in self.records() if record.pull_request})

    def _said(self, number: int) -> list[Comment]:
        return list(self.stage.hub.comments(number, by=self.stage.hub.bot.login))


def name_of(pod: Mapping[str, object]) -> str:
    """Return a machine's name as the records have it, without the role that the provider lists behind it."""
    return str(pod["name"]).removesuffix("-head")


def hurt(step: RunningStep, harm: str) -> None:
    """Do to the acting step what its runner, its host or its user would."""
    if harm == "kill":
        step.process.kill()
    elif harm == "vanish":
        for pid in family(step.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    elif harm == "terminate":
        step.process.terminate()
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
            how = f"{dict(sorted(rounds.done.items()))}, {rounds.late} machines that came late"
    return {"kills": rounds.hits, **counts}, how
