from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.domain.environment import EnvironmentRecord, Requester, SshEndpoint, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.names import environment_name, user_hash
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.domain.request import Command
from gpu_lol_action.errors import Door, LostRace
from gpu_lol_action.handlers.context import Context, Order, Settings
from gpu_lol_action.handlers.ports import Shell
from gpu_lol_action.handlers.teardown import write_tombstone
from tests.support.hands import (
    HEAD,
    START,
    JumpingClock,
    QuietProgress,
    ScriptedCloud,
    ScriptedForge,
    ScriptedShell,
    pull_request,
)
from tests.support.records import claimed

POLICY = Policy()


class Bench:
    """One repository, one ledger, one cloud: a handler's world in a test."""

    def __init__(self, folder: Path) -> None:
        self.clock = JumpingClock()
        self.cloud = ScriptedCloud(self.clock)
        self.shell: Shell = ScriptedShell()
        self.forge = ScriptedForge(folder / "tree", pull_request())
        (folder / "tree").mkdir()
        self.ledger = RecordLedger(FileStore(folder / "ledger"))
        self.progress = QuietProgress()
        self.context = Context(
            forge=self.forge,
            ledger=self.ledger,
            clock=self.clock,
            progress=self.progress,
            cloud=lambda: self.cloud,
            shell=lambda: self.shell,
            redact=redact,
            settings=Settings(
                Door.JOB, "77", "https://github.com/acme/train/actions/runs/77", "https://github.com", ("runpod",)
            ),
        )

    def order(self, line: str = "/gpu-lol up", *, policy: Policy = POLICY, **changes: object) -> Order:
        command = replace(Command(line.split()[1], line), **changes)  # type: ignore[arg-type]  # keyword bag
        return Order(command, Requester("ada", 7), self.forge.repo, self.forge.pull, policy, 5)

    def running(self, state: State = State.READY, **changes: object) -> Entry:
        """Put a record of a running machine into ledger and cloud."""
        name = environment_name(5, 12)
        record = claimed(START, name=name, sha=HEAD, user_hash=user_hash(5))
        entry = self.ledger.claim(record)
        if state is State.CLAIMED:
            return entry
        launched = replace(
            record,
            state=State.LAUNCHING,
            cloud="runpod",
            accelerator="A40",
            accelerator_count=1,
            price_usd_per_hour=Decimal("0.44"),
            name_on_cloud=self.cloud.name_on_cloud(name),
            launch_asked_at=START,
        )
        entry = self.ledger.update(entry, launched)
        self.cloud.running[self.cloud.name_on_cloud(name)] = START
        steps = {
            State.LAUNCHING: [],
            State.VALIDATING: [State.VALIDATING],
            State.READY: [State.VALIDATING, State.READY],
        }
        for step in steps[state]:
            record = replace(entry.record, state=step, ssh=SshEndpoint("203.0.113.7", 22, "root"))
            if step is State.READY:
                record = replace(record, ready_at=START, launcher_stopped_at=START)
            entry = self.ledger.update(entry, record)
        if changes:
            entry = self.ledger.update(entry, replace(entry.record, **changes))  # type: ignore[arg-type]  # keyword bag
        return entry

    def let_bob_be_first(self, entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the next write to the ledger lose to a ``down``."""
        update = self.ledger.update

        def lose_once(_entry: Entry, _record: EnvironmentRecord) -> Entry:
            monkeypatch.setattr(self.ledger, "update", update)
            write_tombstone(self.context, entry, Tombstone("bob", "down", START))
            raise LostRace("record_changed", "somebody was first")

        monkeypatch.setattr(self.ledger, "update", lose_once)

    @property
    def record(self) -> EnvironmentRecord:
        entry = self.ledger.read(environment_name(5, 12))
        assert isinstance(entry, Entry)
        return entry.record

    def assert_nothing_bills_unnoticed(self) -> None:
        """Every machine that runs has an open record, and no closed record has a machine."""
        records = [e.record for e in self.ledger.entries() if isinstance(e, Entry)]
        open_names = {record.name_on_cloud for record in records if record.is_open}
        assert set(self.cloud.running) <= open_names, "a machine costs money that no open record names"

    def settle(self, **changes: object) -> None:
        """Change the settings of this run."""
        self.context = replace(self.context, settings=replace(self.context.settings, **changes))  # type: ignore[arg-type]  # keyword bag

    @property
    def texts(self) -> list[str]:
        return [posted.body for posted in self.forge.posted]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
