"""The ports of one process in `chaos.py`: our own handlers and ledger over a provider and a GitHub that are simulated."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from _chaos_world import Line

from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.domain.environment import Requester, SshEndpoint
from gpu_lol_action.domain.machine import Launched, LaunchRequest, Machine, NotLaunched
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.domain.request import Command, Posted, PullRequest
from gpu_lol_action.errors import Door, TransientError
from gpu_lol_action.handlers.context import Context, Order, Settings

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.support.hands import QuietProgress, ScriptedForge, pull_request
from tests.support.machine import GoodMachine

START = datetime(2026, 11, 20, 12, 0, tzinfo=timezone.utc)
REPOSITORY_ID = 5


@dataclass(frozen=True, slots=True)
class Stage:
    """What all processes of a run share: the world's port, the ledger's folder, how fast time goes and how far it jumped."""

    port: int
    folder: Path
    scale: float
    began: float

    @property
    def jumped(self) -> Path:
        """The file that holds by how many seconds the clock was put forward."""
        return self.folder / "jumped"


@dataclass(frozen=True, slots=True)
class FastClock:
    """Time that goes ``scale`` times as fast, and can be put forward for everybody."""

    stage: Stage

    def now(self) -> datetime:
        jumped = float(self.stage.jumped.read_text())
        return START + timedelta(seconds=(time.time() - self.stage.began) * self.stage.scale + jumped)

    def sleep(self, duration: timedelta) -> None:
        time.sleep(max(duration.total_seconds(), 0) / self.stage.scale)


@dataclass
class SimulatedCloud:
    """A provider behind the port; a launch is seen to its end by the process that asked for it, as SkyPilot's server does."""

    line: Line
    clock: FastClock
    random: random.Random
    is_cancelled: bool = False

    def warm(self) -> None:
        return

    def launch(self, request: LaunchRequest, on_progress: Callable[[str], None]) -> Launched | NotLaunched:
        name = self.name_on_cloud(request.cluster_name)
        if self.random.random() < 0.15:
            return NotLaunched("no_capacity", "no machine now", is_certain=True)
        jumped = float(self.clock.stage.jumped.read_text())
        self._ask("order", name=name, boot_seconds=self.random.uniform(20, 180), jumped=jumped)
        until = self.clock.now() + request.time_box
        while self.clock.now() < until:
            if self.is_cancelled:
                return NotLaunched("cancelled", "it was cancelled")
            if self._ask("arrived", name=name):
                endpoint = SshEndpoint("203.0.113.7", 22, "root")
                return Launched(name, "US", endpoint, {})
            on_progress("booting")
            self.clock.sleep(timedelta(seconds=5))
        self.cancel()
        return NotLaunched("timed_out", "time was up")

    def cancel(self) -> None:
        self.is_cancelled = True
        self._ask("cancel")

    def name_on_cloud(self, cluster_name: str) -> str:
        return f"{cluster_name}-c0ffee00"

    def teardown(self, cloud: str, name_on_cloud: str, provider_config: Mapping[str, str]) -> None:
        self._ask("teardown", name=name_on_cloud)

    def machines(self, cloud: str, prefix: str) -> Sequence[Machine]:
        scale, began = self.clock.stage.scale, self.clock.stage.began
        return [
            Machine(
                cloud,
                found["name"],
                "RUNNING",
                created_at=START + timedelta(seconds=(found["created"] - began) * scale + found["jumped"]),
            )
            for found in self._ask("machines", prefix=prefix)
        ]

    def close(self) -> None:
        return

    def _ask(self, op: str, **given: object) -> object:
        try:
            return self.line.ask(op, **given)
        except ConnectionError as error:
            raise TransientError("cloud_unreachable", str(error)) from None


@dataclass
class SimulatedForge(ScriptedForge):
    """A GitHub whose comments lie in the world, and which knows whether a run's process lives."""

    line: Line | None = None

    def post_comment(self, number: int, body: str) -> Posted:
        return Posted(int(self._ask("post", number=number, body=body)), body, "github-actions[bot]")  # type: ignore[call-overload]  # JSON

    def edit_comment(self, comment_id: int, body: str) -> None:
        self._ask("edit", comment_id=comment_id, body=body)

    def find_comments(self, number: int, marker_prefix: str) -> Sequence[Posted]:
        found = [Posted(c["id"], c["body"], "github-actions[bot]") for c in self._ask("find", number=number)]  # type: ignore[attr-defined]  # JSON
        return [posted for posted in found if posted.body.startswith(marker_prefix)]

    def is_run_alive(self, run_id: str) -> bool:
        pid = int(run_id.partition("-")[0])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        # A killed child that its parent has not waited for yet is no living run.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"

    def _ask(self, op: str, **given: object) -> object:
        if self.line is None:
            raise LookupError("it has no line to the world")
        try:
            return self.line.ask(op, **given)
        except ConnectionError as error:
            raise TransientError("github_unreachable", str(error)) from None


def pull(number: int) -> PullRequest:
    """Return the open pull request of that number."""
    return pull_request(number=number)


def context_of(stage: Stage, number: int, seed: int) -> Context:
    """Return the hands of this process."""
    run_id = f"{os.getpid()}-{number}"
    line, clock = Line(stage.port, run_id), FastClock(stage)
    forge = SimulatedForge(stage.folder / "tree", pull(number), line=line)
    cloud = SimulatedCloud(line, clock, random.Random(seed))  # repeatable dice  # nosec B311
    machine = GoodMachine()
    return Context(
        forge=forge,
        ledger=RecordLedger(FileStore(stage.folder / "ledger")),
        clock=clock,
        progress=QuietProgress(),
        cloud=lambda: cloud,
        shell=lambda: machine,
        redact=redact,
        settings=Settings(Door.JOB, run_id, None, "https://github.com", ("runpod",)),
    )


def order_of(context: Context, line: str, policy: Policy, lease: timedelta | None = None) -> Order:
    """Return a maintainer's command on this process's pull request."""
    forge = context.forge
    if not isinstance(forge, SimulatedForge):
        raise TypeError(type(forge).__name__)
    return Order(Command(line.split()[1], line, lease=lease), Requester("ada", 7), forge.repo, forge.pull, policy, 5)
