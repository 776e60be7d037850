"""View models of answers to a command: refusals and failures, status, dry run, and the sweeper's summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, link, tail
from gpu_lol_action.render.views import (
    BillingView,
    MachineView,
    accelerator_label,
    machine_view,
    total_billing_view,
    up_command,
)
from gpu_lol_action.render.views_environment import WorstCase
from gpu_lol_action.render.views_price import source_view

_LOG_LINES = 30


@dataclass(frozen=True, slots=True)
class MessageView:
    """What happened, why, what to do, what is billing: the form of every refusal and failure."""

    marker: Safe
    what: str
    why: str
    command_line: str
    is_launch: bool
    place: str
    fix: str
    fix_command: str
    suggestions: tuple[str, ...]
    log: str
    reason_code: str
    run_link: Safe | None
    billing: BillingView


def message_view(  # noqa: PLR0913 - keyword-only, and each is one line of the message
    *,
    marker: Safe,
    what: str,
    billing: BillingView,
    is_sentence: bool = True,
    why: str = "",
    fix: str = "",
    command_line: str = "",
    place: str = "",
    suggestions: Sequence[str] = (),
    log: str = "",
    reason_code: str = "",
    run_url: str | None = None,
) -> MessageView:
    """Return a message; lines of ``fix`` that are commands go into the fence, others before it.

    ``is_sentence``: the heading starts with ``what``, so it gets a capital letter.
    """
    lines = [line.strip() for line in fix.splitlines() if line.strip()]
    commands = [line for line in lines if line.startswith(("/gpu-lol", "gpu-lol ", "ssh-keygen ", "gh "))]
    return MessageView(
        marker=marker,
        what=(what[:1].upper() + what[1:] if is_sentence else what).rstrip("."),
        why=why,
        command_line=command_line,
        is_launch=command_line.split()[1:2] == ["up"],
        place=place,
        fix=" ".join(line for line in lines if line not in commands),
        fix_command="\n".join(commands),
        suggestions=tuple(suggestions),
        log=tail(log, _LOG_LINES),
        reason_code=reason_code,
        run_link=link(Safe("run log"), run_url) if run_url else None,
        billing=billing,
    )


@dataclass(frozen=True, slots=True)
class StatusRow:
    """One environment in the status table."""

    machine: MachineView
    pull_request: Safe
    age: Safe
    left: Safe
    so_far: Safe
    gpu_use: str


@dataclass(frozen=True, slots=True)
class StatusView:
    """All environments that may cost money, and records that could not be read."""

    marker: Safe
    rows: tuple[StatusRow, ...]
    count: Safe
    has_gpu_use: bool
    unreadable: tuple[str, ...]
    billing: BillingView


def status_view(
    entries: Sequence[EnvironmentRecord],
    unreadable: Sequence[str],
    now: datetime,
    gpu_use: Mapping[str, str],
    marker: Safe,
) -> StatusView:
    """Return the open environments; closed ones are history and stay out."""
    running = [record for record in entries if record.is_open]
    return StatusView(
        marker=marker,
        rows=tuple(_status_row(record, now, gpu_use.get(record.name, "")) for record in running),
        count=formats.plural(len(running) + len(unreadable), "machine"),
        has_gpu_use=any(gpu_use.get(record.name) for record in running),
        unreadable=tuple(unreadable),
        billing=total_billing_view(running, now, len(unreadable)),
    )


def _status_row(record: EnvironmentRecord, now: datetime, gpu_use: str) -> StatusRow:
    return StatusRow(
        machine=machine_view(record),
        pull_request=Safe(str(record.pull_request)) if record.pull_request is not None else Safe("–"),
        age=formats.duration(now - record.claimed_at),
        left=Safe("over") if record.lease.is_over(now) else formats.duration(record.lease.remaining(now)),
        so_far=formats.usd(record.cost_so_far_usd(now)),
        gpu_use=gpu_use,
    )


@dataclass(frozen=True, slots=True)
class DryRunOffer:
    """One offer that ``up`` would try, in order."""

    number: Safe
    machine: Safe
    cloud: str
    price: Safe
    cost: Safe
    why: str


@dataclass(frozen=True, slots=True)
class DryRunView:
    """What ``up`` would do and cost; ``refusals`` are the gates that would stop it."""

    marker: Safe
    machine: Safe
    price: Safe
    cost: Safe
    lease: Safe
    ends: Safe
    worst_at: Safe | None
    worst_usd: Safe
    is_swept: bool
    has_offer: bool
    offers: tuple[DryRunOffer, ...]
    refusals: tuple[str, ...]
    month: Safe
    source: str
    as_of: Safe
    up: str
    billing: BillingView


def dry_run_view(  # noqa: PLR0913 - keyword-only values of one command
    *,
    ladder: Ladder,
    policy: Policy,
    lease: timedelta,
    month_usd: Decimal,
    worst: WorstCase | None,
    refusals: Sequence[str],
    now: datetime,
    marker: Safe,
    billing: BillingView,
    project: str = "",
) -> DryRunView:
    """Return the offers in the order in which ``up`` would try them, and what the lease would cost."""
    best = ladder.best
    offers = ladder.candidates[: policy.max_offers_tried]
    source, as_of = source_view(ladder, now.date())
    return DryRunView(
        marker=marker,
        machine=accelerator_label(best.offer.accelerator, best.offer.accelerator_count) if best else Safe("nothing"),
        price=formats.usd_per_hour(best.price_usd_per_hour) if best else Safe("–"),
        cost=formats.usd(best.lease_usd) if best else Safe("–"),
        lease=formats.duration(lease),
        ends=formats.clock(now + lease, now),
        worst_at=formats.clock(worst.at, now) if worst else None,
        worst_usd=formats.usd(worst.usd) if worst else Safe(""),
        is_swept=worst is None or worst.is_swept,
        has_offer=best is not None,
        offers=tuple(
            DryRunOffer(
                number=Safe(str(number)),
                machine=accelerator_label(each.offer.accelerator, each.offer.accelerator_count),
                cloud=formats.cloud_name(each.offer.cloud),
                price=formats.usd_per_hour(each.price_usd_per_hour),
                cost=formats.usd(each.lease_usd),
                why=each.why,
            )
            for number, each in enumerate(offers, 1)
        ),
        refusals=tuple(refusals),
        month=Safe(f"{formats.usd(month_usd)} of {formats.usd(policy.month_usd)}"),
        source=source,
        as_of=as_of,
        up=up_command(project),
        billing=billing,
    )


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One line of the summary with its mark; texts are the sweeper's own words and names from clouds and records."""

    mark: Safe
    name: str
    verdict: str
    why: str


@dataclass(frozen=True, slots=True)
class SweepView:
    """The summary of one sweep."""

    marker: Safe
    rows: tuple[SweepRow, ...]
    ended: Safe
    troubles: Safe | None
    is_dry_run: bool
    billing: BillingView


# What is neither ended nor left alone is trouble: whatever the sweeper could not conclude may cost money.
_ENDED = frozenset({"ended", "would end"})
_QUIET = frozenset({"left alone"})


def sweep_view(
    lines: Sequence[tuple[str, str, str]],
    open_records: Sequence[EnvironmentRecord],
    now: datetime,
    *,
    is_dry_run: bool,
    marker: Safe,
) -> SweepView:
    """Return what was ended, what was left alone and why, and what could not be concluded.

    Each line is a name, the verdict's words and the reason.
    """
    rows = tuple(SweepRow(_sweep_mark(verdict), name, verdict, why) for name, verdict, why in lines)
    troubles = sum(row.verdict not in _ENDED | _QUIET for row in rows)
    return SweepView(
        marker=marker,
        rows=rows,
        ended=formats.plural(sum(row.verdict in _ENDED for row in rows), "machine"),
        troubles=formats.plural(troubles, "thing needs", "things need") if troubles else None,
        is_dry_run=is_dry_run,
        billing=total_billing_view(open_records, now),
    )


def _sweep_mark(verdict: str) -> Safe:
    if verdict in _ENDED:
        return Safe("⚪")
    return Safe("🟢") if verdict in _QUIET else Safe("🔴")
