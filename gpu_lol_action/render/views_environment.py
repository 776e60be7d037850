"""View models of one environment while it comes and runs: launching, ready, already there, no machine to be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from urllib.parse import quote

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.folders import is_word
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.launch.refusals import account_troubles, name_outcome
from gpu_lol_action.pricing.budget import Spending
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, code, link
from gpu_lol_action.render.views import (
    AttemptView,
    BillingView,
    CheckView,
    MachineView,
    SshView,
    attempt_views,
    billing_view,
    check_views,
    environment_marker,
    machine_view,
    one_word,
    passed_of,
    ssh_view,
    up_command,
)
from gpu_lol_action.render.views_budget import used_words
from gpu_lol_action.render.views_sealed import SealedView


@dataclass(frozen=True, slots=True)
class WorstCase:
    """What is said before money is spent: when the sweeper ends it at the latest, and what it costs until then.

    ``is_swept`` False: no sweep was lately, so that rests on a schedule that nobody has seen work.
    """

    at: datetime
    usd: Decimal = Decimal(0)
    is_swept: bool = True


@dataclass(frozen=True, slots=True)
class PhaseView:
    """A phase and how long it took."""

    name: str
    took: Safe


@dataclass(frozen=True, slots=True)
class WaitingView:
    """A launch that asks again: how often it has asked, since when, when it asks next, and until when and why."""

    asked: Safe
    lasted: Safe
    next_at: Safe
    until: Safe
    bound: str


_BOUNDS = {
    "lease": "then less than half of the lease would be left",
    "policy": "as long as `timeouts.wait` allows",
    "job": "then its job would have no time left to make a machine ready",
}


def waiting_view(record: EnvironmentRecord, now: datetime) -> WaitingView | None:
    """Return how a machine is, or was, waited for; None where it was not. What is over has asked once more."""
    waiting = record.waiting
    if waiting is None:
        return None
    return WaitingView(
        asked=formats.plural(waiting.rounds + (not record.is_waiting), "time"),
        lasted=formats.duration(now - record.claimed_at),
        next_at=formats.clock(waiting.next_at, now),
        until=formats.clock(waiting.until, now),
        bound=_BOUNDS.get(waiting.bound, ""),
    )


@dataclass(frozen=True, slots=True)
class LaunchingView:
    """The status comment while a machine is on its way."""

    marker: Safe
    machine: MachineView
    phase: str
    elapsed: Safe
    attempts: tuple[AttemptView, ...]
    phases: tuple[PhaseView, ...]
    detail: str
    checks: tuple[CheckView, ...]
    ends: Safe
    worst_at: Safe
    worst_usd: Safe
    is_swept: bool
    waiting: WaitingView | None
    billing: BillingView


def launching_view(
    record: EnvironmentRecord, phase: str, detail: Sequence[str], worst: WorstCase, now: datetime
) -> LaunchingView:
    """Return how far the launch has come, and what it may cost at most."""
    return LaunchingView(
        marker=environment_marker(record),
        machine=machine_view(record),
        phase=phase,
        elapsed=formats.duration(now - record.claimed_at),
        attempts=attempt_views(record.attempts),
        phases=_phases(record),
        detail="\n".join(detail),
        checks=check_views(record.checks),
        ends=formats.clock(record.lease.expires_at, now),
        worst_at=formats.clock(worst.at, now),
        worst_usd=formats.usd(worst.usd),
        is_swept=worst.is_swept,
        waiting=waiting_view(record, now) if record.is_waiting else None,
        billing=billing_view(record, now),
    )


@dataclass(frozen=True, slots=True)
class ReadyView:
    """The machine can be used: how to log in, what was checked, how it got here, when it ends."""

    marker: Safe
    machine: MachineView
    ends: Safe
    ssh: SshView | None
    sealed: SealedView | None
    code_folder: Safe
    head_ref: str
    editor_link: Safe
    editor_commands: str
    checks: tuple[CheckView, ...]
    passed: Safe
    has_stand_ins: bool
    packages: str
    packages_count: Safe
    attempts: tuple[AttemptView, ...]
    phases: tuple[PhaseView, ...]
    took: Safe
    worst_at: Safe
    price_note: str
    notice: Safe | None
    billing: BillingView


def ready_view(
    record: EnvironmentRecord,
    worst: WorstCase,
    repository_name: str,
    head_ref: str,
    now: datetime,
    notice: Spending | None = None,
) -> ReadyView:
    """Return the ready comment; the code lies in a folder named as the repository in the login user's home."""
    folder = f"~/{one_word(repository_name.rpartition('/')[2])}"
    has_stand_ins = record.is_rehearsal or any(check.is_stand_in for check in record.checks)
    return ReadyView(
        marker=environment_marker(record),
        machine=machine_view(record),
        ends=formats.clock_in(record.lease.expires_at, now),
        ssh=ssh_view(record.ssh, record.name, folder) if record.ssh and not record.is_ssh_sealed else None,
        sealed=None,
        code_folder=code(folder),
        head_ref=head_ref,
        editor_link=link(Safe("open VS Code there"), _editor_url(record, folder)),
        editor_commands="\n".join(
            f"{editor} --remote ssh-remote+{one_word(record.name)} {_home(record, folder)}"
            for editor in ("code", "cursor")
        ),
        checks=check_views(record.checks),
        passed=passed_of(record.checks),
        has_stand_ins=has_stand_ins,
        packages="\n".join(record.packages),
        packages_count=formats.plural(len(record.packages), "package"),
        attempts=attempt_views(record.attempts),
        phases=_phases(record),
        took=formats.duration((record.ready_at or now) - record.claimed_at),
        worst_at=formats.clock(worst.at, now),
        price_note="spot: the cloud may take it back at any time" if record.use_spot else "",
        notice=used_words(notice),
        billing=billing_view(record, now),
    )


def _editor_url(record: EnvironmentRecord, folder: str) -> str:
    """Return a link that opens VS Code: comments allow no ``vscode://`` links, the editor's own redirect page does."""
    target = f"vscode://vscode-remote/ssh-remote+{one_word(record.name)}{_home(record, folder)}"
    return f"https://vscode.dev/redirect?url={quote(target, safe='')}"


def _home(record: EnvironmentRecord, folder: str) -> str:
    """Return a folder under ``~`` as the absolute path that editors ask for."""
    user = record.ssh.user if record.ssh else "root"
    return folder.replace("~", "/root" if user == "root" else f"/home/{one_word(user)}", 1)


@dataclass(frozen=True, slots=True)
class RunningView:
    """A machine that is there already, or on its way, when somebody asks for one."""

    marker: Safe
    machine: MachineView
    is_ready: bool
    is_sealed: bool
    ssh: SshView | None
    ends: Safe
    age: Safe
    another: str
    up_another: str
    billing: BillingView


def running_view(record: EnvironmentRecord, marker: Safe, now: datetime, another: str = "") -> RunningView:
    """Return the machine as it stands; the login command only once it is ready. ``another`` is a project that it is not of."""
    return RunningView(
        marker=marker,
        machine=machine_view(record),
        is_ready=record.ready_at is not None and (record.ssh is not None or record.is_ssh_sealed),
        is_sealed=record.is_ssh_sealed,
        ssh=ssh_view(record.ssh, record.name, "") if record.ssh and not record.is_ssh_sealed else None,
        ends=formats.clock_in(record.lease.expires_at, now),
        age=formats.duration(now - record.claimed_at),
        another=another,
        up_another=up_command(another) if is_word(another) else "",
        billing=billing_view(record, now),
    )


@dataclass(frozen=True, slots=True)
class NoCapacityView:
    """Every offer was tried and none gave a machine; ``outcome`` is its reason code, ``troubles`` are a maintainer's."""

    marker: Safe
    machine: MachineView
    outcome: str
    troubles: str
    patience: Safe
    attempts: tuple[AttemptView, ...]
    phases: tuple[PhaseView, ...]
    tried: Safe
    limit: Safe | None
    was_spot: bool
    waited: WaitingView | None
    billing: BillingView


def no_capacity_view(record: EnvironmentRecord, policy: Policy, now: datetime) -> NoCapacityView:
    """Return the offers tried with their answers."""
    return NoCapacityView(
        marker=environment_marker(record),
        machine=machine_view(record),
        outcome=name_outcome(record.attempts),
        troubles="; ".join(account_troubles(record.attempts)),
        patience=formats.duration(policy.timeouts.provision),
        attempts=attempt_views(record.attempts),
        phases=(),
        tried=formats.plural(len(record.attempts), "offer"),
        limit=formats.plural(policy.max_offers_tried, "offer")
        if len(record.attempts) >= policy.max_offers_tried
        else None,
        was_spot=record.use_spot,
        waited=waiting_view(record, now),
        billing=billing_view(record, now),
    )


def _phases(record: EnvironmentRecord) -> tuple[PhaseView, ...]:
    return tuple(PhaseView(each.name, formats.seconds(each.seconds)) for each in record.phases)
