"""What the default branch allows; with no file these defaults hold (product.md section 5)."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class Timeouts:
    """Time boxes of the phases of ``up``, of a command that is given to ``run``, and of ``up --wait``."""

    provision: timedelta = timedelta(minutes=15)
    setup: timedelta = timedelta(minutes=20)
    validate: timedelta = timedelta(minutes=5)
    run: timedelta = timedelta(minutes=10)
    wait: timedelta = timedelta(hours=1)


@record(frozen=True, slots=True)
class Policy:
    """Who may spend how much, where, for how long. ``roles`` are GitHub's ``role_name`` values that may command.

    ``users`` (logins) and ``teams`` (slugs of the owning organization) may command whatever their role is. ``images``
    are patterns; none allows every image. ``smoke_label`` starts a fork's smoke test; none where it is empty.
    ``project_folders`` are where the repository's projects lie; none where the only one is looked for. ``problem`` says why the repository's file cannot be read; then only
    teardown and help are allowed.
    """

    is_enabled: bool = True
    problem: str = ""
    roles: tuple[str, ...] = ("write", "maintain", "admin")
    users: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    clouds: tuple[str, ...] = ("runpod", "lambda")
    images: tuple[str, ...] = ()
    max_price_usd_per_hour: Decimal = Decimal("3")
    confirm_above_usd_per_hour: Decimal = Decimal("5")
    confirm_roles: tuple[str, ...] = ("maintain", "admin")
    confirm_within: timedelta = timedelta(hours=2)
    lease: timedelta = timedelta(hours=2)
    max_lease: timedelta = timedelta(hours=12)
    min_lease: timedelta = timedelta(minutes=5)
    idle_end: timedelta = timedelta(minutes=60)
    environments_per_person: int = 2
    environments_per_repository: int = 4
    month_usd: Decimal = Decimal("50")
    may_forks_launch: bool = False
    project_folders: tuple[str, ...] = ()
    asks_hub: bool = False
    may_forks_ask_llm: bool = False
    requires_recent_sweep: bool = True
    max_offers_tried: int = 4
    timeouts: Timeouts = Timeouts()
    is_teardown_on_failed_validation: bool = True
    absence_interval: timedelta = timedelta(seconds=30)
    sweep_interval: timedelta = timedelta(hours=1)
    smoke_retry_within: timedelta = timedelta(hours=1)
    may_forks_smoke: bool = True
    smoke_label: str = ""
    proposal_mode: str = "comment"
    least_change_percent: int = 5
    says_environment: bool = True
    ssh_details: str = "plain"

    @property
    def project_folder(self) -> str:
        """Where the project lies that is asked about; empty where it is looked for."""
        return self.project_folders[0] if self.project_folders else ""

    def about(self, project: str) -> Policy:
        """Return the policy with one project alone; without any where none of several is."""
        if project:
            return dataclasses.replace(self, project_folders=(project,))
        return dataclasses.replace(self, project_folders=()) if len(self.project_folders) > 1 else self

    @property
    def is_ssh_sealed(self) -> bool:
        """Whether a machine's address is shown to those alone who may log in."""
        return self.ssh_details == "encrypted"

    def names(self, login: str) -> bool:
        """Whether a user is named as one who may command; GitHub tells no case apart in logins."""
        return login.lower() in {name.lower() for name in self.users}


MAX_SWEEP_AGE = timedelta(hours=26)
"""A schedule of once an hour that GitHub skipped for a whole day is no safety net any more."""

SSH_DETAILS = ("plain", "encrypted")
PROPOSAL_MODES = ("comment", "suggest", "commit")
POLICY_PATH = ".github/gpu-lol.yml"
SPEC_PATH = ".gpu-lol.yaml"
