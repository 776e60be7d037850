"""A workflow job: its hands, from the inputs of the action."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_lol_action.action_io import Surroundings, annotate, log
from gpu_lol_action.adapters.clock import SystemClock
from gpu_lol_action.domain.request import Event
from gpu_lol_action.domain.waiting import job_ends_at
from gpu_lol_action.errors import Door, OperatorError
from gpu_lol_action.handlers.context import Context, Settings
from gpu_lol_action.handlers.ports import Vault
from gpu_lol_action.wiring.checkup import job_instruments
from gpu_lol_action.wiring.github import focus_of, surfaces_of
from gpu_lol_action.wiring.hands import REHEARSAL_VARIABLES, Hands, cloud_keys_of, market_of, private_home, redactor
from gpu_lol_action.wiring.lookups import job_lookups

if TYPE_CHECKING:
    from gpu_lol_action.adapters.age import RecordSeal
    from gpu_lol_action.adapters.github import GitHubClient
    from gpu_lol_action.adapters.github_forge import GitHubForge
    from gpu_lol_action.handlers.ports_smoke import MeasuredRuns, ReportFiles, SmokeBook


@contextmanager
def job(surroundings: Surroundings, event: Event) -> Iterator[Context]:
    """Yield the context of a workflow job; its heavy hands end with the block."""
    from gpu_lol_action.adapters.github import Connection
    from gpu_lol_action.adapters.github_forge import GitHubForge
    from gpu_lol_action.adapters.github_forge import Hands as GitHubHands
    from gpu_lol_action.adapters.github_issues import GitHubIssues
    from gpu_lol_action.adapters.github_labels import GitHubLabels
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.progress import JobProgress

    token = surroundings.inputs["github-token"]
    if not token:
        raise OperatorError(
            "github_token_missing",
            "The action got no `github-token`.",
            fix="Pass `github-token: ${{ github.token }}`.",
        )
    clock, progress = SystemClock(), JobProgress(log, partial(annotate, "warning"))
    forge = GitHubForge(
        Connection(token, event.repository.full_name, surroundings.api_url),
        GitHubHands(clock.now, clock.sleep, progress.line),
        repository=event.repository,
        focus=focus_of(event, surroundings.pinned_sha),
    )
    cloud_keys = cloud_keys_of(surroundings.inputs)
    asked = surroundings.inputs
    settings = Settings(
        door=Door.JOB,
        run_id=surroundings.run_id,
        run_url=surroundings.run_url,
        server_url=surroundings.server_url,
        clouds=tuple(cloud_keys) or _declared_clouds(surroundings),
        is_rehearsal=any(name in os.environ for name in REHEARSAL_VARIABLES),
        pinned_sha=surroundings.pinned_sha or None,
        run_attempt=surroundings.run_attempt,
        triggering_actor=surroundings.triggering_actor,
        job_ends_at=job_ends_at(clock.now(), surroundings.job_minutes),
        template_pattern=asked["template-pattern"],
        smoke_cron=surroundings.inputs["smoke-schedule"],
    )
    with private_home(surroundings.workspace_temp) as home:
        hands = Hands(event.repository.repository_id, cloud_keys, os.environ, home)
        hands.closing.callback(forge.close)
        with hands.closing:
            yield Context(
                forge=forge,
                ledger=RecordLedger(GitRefStore(forge.client, refs=forge.refs), _record_seal(hands)),
                clock=clock,
                progress=progress,
                cloud=hands.cloud,
                shell=hands.shell,
                redact=redactor([token, *cloud_keys.values(), *filter(None, (asked["hf-token"], asked["llm-key"]))]),
                settings=settings,
                lookups=job_lookups(asked, surroundings.workspace_temp),
                instruments=lambda: job_instruments(forge, event.repository, cloud_keys),
                surfaces=surfaces_of(forge),
                vault=(lambda: _ref_vault(forge.client, hands)) if cloud_keys else None,
                seal=_armor,
                market=market_of(cloud_keys, os.environ),
                another_cloud=hands.another_cloud,
                smoke_book=lambda: _smoke_book(forge),
                measured=lambda: _measured_runs(forge),
                issues=GitHubIssues(forge.client, GitHubHands(clock.now, clock.sleep, progress.line), forge.me),
                reports=_reports(surroundings.workspace_temp),
                labels=GitHubLabels(forge.client),
            )


def _ref_vault(client: GitHubClient, hands: Hands) -> Vault:
    from gpu_lol_action.adapters.vault_refs import RefVault

    return RefVault(client, *hands.key_pair())


def _record_seal(hands: Hands) -> RecordSeal | None:
    from gpu_lol_action.adapters.age import RecordSeal

    return RecordSeal(hands.key_pair) if hands.cloud_keys else None


def _armor(text: str, public_keys: Sequence[str]) -> str:
    from gpu_lol_action.adapters.age import armor

    return armor(text, public_keys)


def _smoke_book(forge: GitHubForge) -> SmokeBook:
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.smoke_book import FOLDER, StoredSmokeBook

    return StoredSmokeBook(GitRefStore(forge.client, FOLDER, forge.refs))


def _measured_runs(forge: GitHubForge) -> MeasuredRuns:
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.measured_book import FOLDER, StoredMeasuredRuns

    return StoredMeasuredRuns(GitRefStore(forge.client, FOLDER, forge.refs))


def _reports(workspace_temp: str) -> ReportFiles | None:
    """Return where the runner keeps what a later step of the job may upload."""
    from gpu_lol_action.adapters.report_files import FolderReports

    return FolderReports(Path(workspace_temp) / "gpu-lol-smoke") if workspace_temp else None


def left_out(context: Context) -> list[str]:
    """Return what this run could not show, one line each, for the job's summary."""
    return list(getattr(context.progress, "notes", ()))


def _declared_clouds(surroundings: Surroundings) -> tuple[str, ...]:
    """Return the clouds whose keys a later job holds: the job that decides has none, and launches nothing."""
    if surroundings.phase != "decide":
        return ()
    return tuple(cloud for cloud in ("runpod", "lambda") if cloud in surroundings.clouds)
