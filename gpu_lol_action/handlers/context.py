"""What every handler is given: the ports, the settings of this run, and the order it carries out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from gpu_lol_action.handlers.askable import NO_LOOKUPS, Lookups

if TYPE_CHECKING:
    from gpu_lol_action.domain.confirmation import Confirmation
    from gpu_lol_action.domain.environment import Requester
    from gpu_lol_action.domain.policy import Policy
    from gpu_lol_action.domain.proposal_note import ProposalNote
    from gpu_lol_action.domain.request import Command, PullRequest, Repository
    from gpu_lol_action.errors import Door
    from gpu_lol_action.handlers.doctor import Instruments
    from gpu_lol_action.handlers.ports import Clock, Cloud, Forge, Ledger, Progress, Shell, Vault
    from gpu_lol_action.handlers.ports_lookups import Market
    from gpu_lol_action.handlers.ports_smoke import Issues, Labels, MeasuredRuns, ReportFiles, SmokeBook
    from gpu_lol_action.handlers.ports_surfaces import Surfaces

    # The template engine is not loaded before something is said.
    from gpu_lol_action.render.views import ReplyTo


@dataclass(frozen=True, slots=True)
class Settings:
    """Facts about this run.

    ``job_ends_at``: when GitHub ends this job at the latest; None where nothing does.
    ``clouds`` are those for which a credential is at hand; ``smoke_cron`` is the schedule that means a smoke test;
    ``template_pattern`` a part of the names of the account's own RunPod templates (empty: it prefers none of its own).
    """

    door: Door
    run_id: str
    run_url: str | None
    server_url: str
    clouds: tuple[str, ...]
    is_rehearsal: bool = False
    pinned_sha: str | None = None
    run_attempt: str = "1"
    triggering_actor: str = ""
    job_ends_at: datetime | None = None
    template_pattern: str = ""
    smoke_cron: str = ""

    @property
    def rerun_by(self) -> str | None:
        """Who started this run again, `unknown` where that is not told; None where it is the first attempt."""
        return None if self.run_attempt == "1" else self.triggering_actor or "unknown"


@dataclass(frozen=True, slots=True)
class Context:
    """The hands. ``cloud`` and ``shell`` are made on first use: the light path never asks for them.

    ``vault`` keeps what is saved from machines; None where nothing can be kept. ``surfaces`` are what GitHub shows beside comments; None in a terminal.
    ``another_cloud`` makes a hand of its own for a launch that runs beside others. ``smoke_book`` has the past smoke tests,
    ``measured`` what runs were measured to use,
    ``issues`` the one about them, ``reports`` takes their logs and reports as files. ``seal`` encrypts a text to SSH keys,
    as lines that can be pasted. ``labels`` tells who set one and when, and takes it off; None in a terminal.
    """

    forge: Forge
    ledger: Ledger
    clock: Clock
    progress: Progress
    cloud: Callable[[], Cloud]
    shell: Callable[[], Shell]
    redact: Callable[[str], str]
    settings: Settings
    lookups: Lookups = NO_LOOKUPS
    instruments: Callable[[], Instruments] | None = None
    surfaces: Surfaces | None = None
    vault: Callable[[], Vault] | None = None
    seal: Callable[[str, Sequence[str]], str] | None = None
    market: Callable[[], Market] | None = None
    another_cloud: Callable[[], Callable[[], Cloud]] | None = None
    smoke_book: Callable[[], SmokeBook] | None = None
    measured: Callable[[], MeasuredRuns] | None = None
    issues: Issues | None = None
    reports: ReportFiles | None = None
    labels: Labels | None = None


@dataclass(frozen=True, slots=True)
class Sighting:
    """A pull request as GitHub had it, its newest head included, no earlier than ``at``."""

    pull_request: PullRequest
    at: datetime


@dataclass(frozen=True, slots=True)
class Order:
    """A command that passed the identity gates, with who gave it and where.

    ``pull_request`` stands at the commit that was pinned; ``seen`` is how this process saw it, None where it did not look.
    ``closes`` is the comment that this order's answer closes; None where it holds more, or there is none. ``spec_text`` takes
    the place of the spec file at the commit; only a terminal's own user can give one. ``note`` is what people have set for the
    project that a settled order is about, and ``project`` its folder where the repository leaves a choice; None while that is not told.
    """

    command: Command
    requester: Requester
    repository: Repository
    pull_request: PullRequest
    policy: Policy
    comment_id: int | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    confirmation: Confirmation | None = None
    seen: Sighting | None = None
    closes: int | None = None
    spec_text: str | None = None
    note: ProposalNote | None = None
    project: str = ""

    @property
    def reply_to(self) -> ReplyTo | None:
        """What an answer's marker names, so that it is posted once; None where no comment asked."""
        if self.comment_id is None:
            return None
        from gpu_lol_action.render.views import ReplyTo

        return ReplyTo(self.pull_request.number, self.comment_id)

    @property
    def pull_request_number(self) -> int | None:
        """The pull request's number; None in a terminal, where there is none."""
        return self.pull_request.number or None
