"""Those who only look: `doctor` and `ledger`, at both doors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_lol_action.adapters.clock import SystemClock
from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.domain.request import Command, Repository
from gpu_lol_action.render.screen import Screen
from gpu_lol_action.wiring.github import policy_ref
from gpu_lol_action.wiring.hands import cloud_keys_of, state_folder, terminal_api_url, terminal_token

if TYPE_CHECKING:
    from gpu_lol_action.adapters.cloud_accounts import CloudAccounts
    from gpu_lol_action.adapters.github_forge import GitHubForge
    from gpu_lol_action.domain.checkup import Diagnosis
    from gpu_lol_action.handlers.doctor import Instruments
    from gpu_lol_action.handlers.ledger import LedgerAnswer


def job_instruments(forge: GitHubForge, repository: Repository, keys: Mapping[str, str]) -> Instruments:
    """Return what a check-up in a job looks with: the job's own token and keys."""
    from gpu_lol_action.adapters.github_probe import GitHubProbe
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.handlers.doctor import Instruments

    installed, wanted = _skypilot_versions()
    return Instruments(
        now=SystemClock().now,
        is_job=True,
        default_branch=repository.default_branch,
        accounts=_accounts(keys).ask,
        skypilot=lambda: installed,
        skypilot_wanted=wanted,
        github=GitHubProbe(forge.client),
        ledger=RecordLedger(GitRefStore(forge.client)),
        read_policy=lambda: forge.read_file(POLICY_PATH, policy_ref(repository)),
    )


def check_up(folder: Path) -> tuple[Diagnosis, ...]:
    """Return what `gpu-lol doctor` thinks of the installation that a checkout belongs to."""
    from gpu_lol_action.adapters.github import Connection
    from gpu_lol_action.adapters.github_forge import GitHubForge
    from gpu_lol_action.adapters.github_forge import Hands as GitHubHands
    from gpu_lol_action.adapters.github_probe import GitHubProbe
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.local_forge import LocalForge
    from gpu_lol_action.handlers.doctor import Instruments, check_up
    from gpu_lol_action.handlers.init import read_workflows

    local = LocalForge.at_root(folder, lambda _body: None, home=Path.home(), environment=os.environ)
    root, checkout = local.survey()
    clock, token = SystemClock(), terminal_token()
    installed, wanted = _skypilot_versions()
    keys = cloud_keys_of({"runpod-api-key": os.environ.get("RUNPOD_API_KEY", "").strip(),
                        "lambda-api-key": os.environ.get("LAMBDA_API_KEY", "").strip()})  # fmt: skip
    instruments = Instruments(
        now=clock.now,
        is_job=False,
        default_branch=checkout.default_branch or "",
        accounts=_accounts(keys).ask,
        skypilot=lambda: installed,
        skypilot_wanted=wanted,
        checkout=replace(checkout, workflows=read_workflows(root)),
    )
    if not token:
        return check_up(instruments)
    # Somebody is waiting at the screen: what does not answer at once is reported as unknown, not asked again.
    connection = Connection(token, checkout.full_name, terminal_api_url(checkout.host), attempts=1)
    forge = GitHubForge(connection, GitHubHands(clock.now, clock.sleep, lambda _line: None))
    # Without a branch's name GitHub answers for the default one, whatever the checkout knows.
    asked = replace(
        instruments,
        github=GitHubProbe(forge.client),
        ledger=RecordLedger(GitRefStore(forge.client)),
        read_policy=lambda: forge.read_file(POLICY_PATH, "HEAD"),
    )
    return check_up(asked)


def show_ledger(command: Command, folder: Path, screen: Screen) -> LedgerAnswer:
    """Return what ``gpu-lol ledger`` prints: this terminal's records, and with a token the repository's; both are only read."""
    from gpu_lol_action.adapters.github import Connection
    from gpu_lol_action.adapters.github_forge import GitHubForge
    from gpu_lol_action.adapters.github_forge import Hands as GitHubHands
    from gpu_lol_action.adapters.ledger import RecordLedger
    from gpu_lol_action.adapters.ledger_files import FileStore
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.local_forge import LocalForge
    from gpu_lol_action.handlers.ledger import Question, Source, describe_ledger

    local = LocalForge.at_root(folder, lambda _body: None, home=Path.home(), environment=os.environ)
    _, checkout = local.survey()
    clock, token = SystemClock(), terminal_token()
    sources = [Source("terminal", RecordLedger(FileStore(state_folder("ledger", checkout.full_name))))]
    if token and not checkout.full_name.startswith("local/"):
        # As for a check-up: somebody waits, and what does not answer is said instead of asked again.
        connection = Connection(token, checkout.full_name, terminal_api_url(checkout.host), attempts=1)
        forge = GitHubForge(connection, GitHubHands(clock.now, clock.sleep, lambda _line: None))
        sources.append(Source("github", RecordLedger(GitRefStore(forge.client))))
    return describe_ledger(Question(command.topic, command.is_csv, screen, clock.now()), sources)


def _accounts(keys: Mapping[str, str]) -> CloudAccounts:
    from gpu_lol_action.adapters.cloud_accounts import CloudAccounts

    # The variable by which RunPod's own client, and with it SkyPilot, is sent to another server.
    home = os.environ.get("RUNPOD_API_BASE_URL", "").strip()
    return CloudAccounts(SystemClock().now, keys, {"runpod": home} if home else {})


def _skypilot_versions() -> tuple[str | None, str]:
    """Return SkyPilot's version here and the one that is tried, without loading it."""
    from importlib import metadata

    from packaging.requirements import Requirement

    def found(name: str) -> metadata.Distribution | None:
        try:
            return metadata.distribution(name)
        except metadata.PackageNotFoundError:
            return None

    skypilot, ours = found("skypilot"), found("gpu-lol-action")
    texts = ours.requires or [] if ours is not None else []
    wanted = next((each for each in map(Requirement, texts) if each.name == "skypilot"), None)
    exact = str(wanted.specifier).removeprefix("==") if wanted is not None else ""
    return skypilot.version if skypilot is not None else None, exact
