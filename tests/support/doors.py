"""The Action's door as tests use it: its light step on a pull request, and a machine that stands on record."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

from gpu_lol_action.adapters.github import Connection, GitHubClient
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, Requester, SshEndpoint, State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.names import environment_name, machine_key, user_hash
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.stage import PACKAGE_ROOT, Stage, StepRun

SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\nmeta: {workload_type: training}\n"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"


@dataclass
class Scene:
    """A stage with one pull request, and the action's light step at hand."""

    stage: Stage
    number: int
    guard: Path
    variables: dict[str, str] = field(default_factory=dict)

    def light(self, webhook: Webhook, **variables: str) -> StepRun:
        """Run the light step under the guard; nothing heavy may have been asked for."""
        return self.step(webhook, GPU_LOL_PHASE="decide", **variables)

    def step(self, webhook: Webhook, **variables: str) -> StepRun:
        seen = self.guard / "seen"
        guarded = {"PYTHONPATH": f"{self.guard}{os.pathsep}{PACKAGE_ROOT}", "GUARD_LOG": str(seen)}
        run_id = self.stage.hub.start_run(webhook.name, self.stage.hub.maintainer)
        run = self.stage.run_step(webhook, run_id, {**guarded, **self.variables, **variables})
        self.stage.hub.finish_run(run_id)
        assert not seen.exists(), f"heavy imports: {seen.read_text()}"
        return run

    def comment(self, body: str, author: str = "maintainer") -> Webhook:
        return self.stage.hub.comment(self.number, author, body)

    @property
    def bodies(self) -> list[str]:
        return [comment.body for comment in self.stage.hub.comments(self.number, by=self.stage.hub.bot.login)]

    @property
    def ledger(self) -> RecordLedger:
        hub = self.stage.hub
        connection = Connection(hub.bot_token, self.stage.full_name, hub.api_url)
        return RecordLedger(GitRefStore(GitHubClient(connection, lambda _pause: None)))

    @property
    def records(self) -> list[EnvironmentRecord]:
        return [entry.record for entry in self.ledger.entries() if isinstance(entry, Entry)]


def put_record(
    ledger: RecordLedger, repository_id: int, number: int | None, login: str = "maintainer", project: str = ""
) -> EnvironmentRecord:
    """A machine on record that is ready, on an address of this machine where nobody answers."""
    now = datetime.now(timezone.utc)
    claim = EnvironmentRecord(
        name=environment_name(repository_id, number, machine_key(project, ""), login),
        state=State.CLAIMED,
        repository="acme/llm-lab",
        repository_id=repository_id,
        pull_request=number,
        profile="",
        project=project,
        sha="a" * 40,
        requester=Requester(login),
        run_id="1",
        claimed_at=now,
        lease=Lease(now, now + timedelta(hours=2)),
        updated_at=now,
        user_hash=user_hash(repository_id),
    )
    entry = ledger.claim(claim)
    steps: list[dict[str, object]] = [
        {
            "state": State.LAUNCHING,
            "cloud": "runpod",
            "accelerator": "A40",
            "accelerator_count": 1,
            "price_usd_per_hour": Decimal("0.44"),
            "name_on_cloud": f"{claim.name}-c0ffee00",
            "launch_asked_at": now,
        },
        {"state": State.VALIDATING, "ssh": SshEndpoint("127.0.0.1", 1, "root", KEY)},
        {"state": State.READY, "ready_at": now, "launcher_stopped_at": now},
    ]
    for step in steps:
        entry = ledger.update(entry, dataclasses.replace(entry.record, **step))  # type: ignore[arg-type]  # keyword bag
    return entry.record


def commands_in(log: str) -> list[str]:
    """The lines on which the runner would act (actions/runner ActionCommand.cs)."""
    return [line for line in log.splitlines() if line.lstrip().startswith("::") or "##[" in line]
