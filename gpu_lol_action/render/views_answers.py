"""View models of answers to a command: status, help, refusals, failures, dry run, and the sweeper's summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.commands import COMMANDS, CommandSpec, DoorKind, OptionKind, Permission, find_command
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, link, tail
from gpu_lol_action.render.views import (
    BillingView,
    MachineView,
    accelerator_label,
    billing_view,
    machine_view,
    total_billing_view,
)

_LOG_LINES = 30


@dataclass(frozen=True, slots=True)
class MessageView:
    """What happened, why, what to do, what is billing: the form of every refusal and failure."""

    marker: Safe
    what: str
    why: str
    command_line: str
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
    why: str = "",
    fix: str = "",
    command_line: str = "",
    suggestions: Sequence[str] = (),
    log: str = "",
    reason_code: str = "",
    run_url: str | None = None,
) -> MessageView:
    """Return a message; lines of ``fix`` that are commands go into the fence, others are a sentence before it."""
    lines = [line.strip() for line in fix.splitlines() if line.strip()]
    commands = [line for line in lines if line.startswith(("/gpu-lol", "gpu-lol "))]
    return MessageView(
        marker=marker,
        what=what.rstrip("."),
        why=why,
        command_line=command_line,
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
    entries: Sequence[EnvironmentRecord], unreadable: Sequence[str], now: datetime, gpu_use: Mapping[str, str], marker: Safe
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
class CommandView:
    """One command as the table defines it, at this door; texts are ours but go through filters all the same."""

    usage: str
    name: str
    summary: str
    who: str
    examples: str
    options: tuple[tuple[str, str], ...]
    aliases: str


@dataclass(frozen=True, slots=True)
class HelpView:
    """The commands, or one of them."""

    marker: Safe
    topic: CommandView | None
    commands: tuple[CommandView, ...]
    count: Safe
    more: str
    billing: BillingView


def help_view(topic: str | None, policy: Policy, door: DoorKind, marker: Safe, billing: BillingView) -> HelpView:
    """Return the help for this door; an unknown topic gets the list."""
    prefix = "gpu-lol" if door is DoorKind.TERMINAL else "/gpu-lol"
    shown = [spec for spec in COMMANDS if spec.doors in {DoorKind.BOTH, door}]
    found = find_command(topic) if topic else None
    return HelpView(
        marker=marker,
        topic=_command(found, prefix, policy) if found in shown and found is not None else None,
        commands=tuple(_command(spec, prefix, policy) for spec in shown),
        count=formats.plural(len(shown), "command"),
        more=f"{prefix} help up",
        billing=billing,
    )


def _command(spec: CommandSpec, prefix: str, policy: Policy) -> CommandView:
    roles = " or ".join([", ".join(policy.roles[:-1]), policy.roles[-1]]) if len(policy.roles) > 1 else "".join(policy.roles)
    return CommandView(
        usage=f"{prefix} {spec.usage}",
        name=f"{prefix} {spec.name}",
        summary=spec.summary,
        who="anyone" if spec.permission is Permission.ANYONE else f"{roles} permission",
        examples="\n".join(f"{prefix} {example}" for example in spec.examples),
        options=tuple(
            (option.name if option.kind is OptionKind.SWITCH else f"{option.name} {option.metavar}", option.summary)
            for option in spec.options
        ),
        aliases=", ".join(spec.aliases),
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
    has_offer: bool
    offers: tuple[DryRunOffer, ...]
    refusals: tuple[str, ...]
    month: Safe
    source: str
    as_of: Safe
    billing: BillingView


def dry_run_view(  # noqa: PLR0913 - keyword-only values of one command
    *, ladder: Ladder, policy: Policy, lease: timedelta, month_usd: Decimal, refusals: Sequence[str], now: datetime, marker: Safe, billing: BillingView
) -> DryRunView:
    """Return the offers in the order in which ``up`` would try them, and what the lease would cost."""
    best = ladder.best
    offers = ladder.candidates[: policy.max_offers_tried]
    return DryRunView(
        marker=marker,
        machine=accelerator_label(best.offer.accelerator, best.offer.accelerator_count) if best else Safe("nothing"),
        price=formats.usd_per_hour(best.price_usd_per_hour) if best else Safe("–"),
        cost=formats.usd(best.lease_usd) if best else Safe("–"),
        lease=formats.duration(lease),
        ends=formats.clock(now + lease, now),
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
        source=ladder.source.name,
        as_of=formats.day(ladder.source.as_of),
        billing=billing,
    )


@dataclass(frozen=True, slots=True)
class SweepLine:
    """What the sweeper made of one machine or record.

    ``verdict``: ``ended``, ``would_end``, ``kept``, ``unproven`` (may still cost money) or ``stranger``
    (a machine of ours without a record).
    """

    name: str
    place: str
    verdict: str
    why: str
    price_usd_per_hour: Decimal | None = None


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One line of the summary with its mark."""

    mark: Safe
    name: str
    place: str
    verdict: Safe
    why: str
    price: Safe


@dataclass(frozen=True, slots=True)
class SweepView:
    """The summary of one sweep."""

    marker: Safe
    rows: tuple[SweepRow, ...]
    ended: Safe
    troubles: Safe | None
    silent_clouds: tuple[str, ...]
    unreadable: tuple[str, ...]
    is_dry_run: bool
    billing: BillingView


_VERDICTS = {
    "ended": (Safe("⚪"), Safe("ended")),
    "would_end": (Safe("⚪"), Safe("would be ended")),
    "kept": (Safe("🟢"), Safe("left alone")),
    "unproven": (Safe("🔴"), Safe("not proven gone")),
    "stranger": (Safe("🟡"), Safe("has no record")),
}


def sweep_view(  # noqa: PLR0913 - keyword-only values of one report
    *,
    lines: Sequence[SweepLine],
    silent_clouds: Sequence[str],
    unreadable: Sequence[str],
    open_records: Sequence[EnvironmentRecord],
    now: datetime,
    is_dry_run: bool,
    marker: Safe,
) -> SweepView:
    """Return what was ended, what was left alone and why, and where nothing could be concluded."""
    troubles = sum(line.verdict == "unproven" for line in lines) + len(silent_clouds) + len(unreadable)
    return SweepView(
        marker=marker,
        rows=tuple(_sweep_row(line) for line in lines),
        ended=formats.plural(sum(line.verdict in {"ended", "would_end"} for line in lines), "machine"),
        troubles=formats.plural(troubles, "thing needs", "things need") if troubles else None,
        silent_clouds=tuple(formats.cloud_name(cloud) for cloud in silent_clouds),
        unreadable=tuple(unreadable),
        is_dry_run=is_dry_run,
        billing=total_billing_view(open_records, now, len(unreadable)),
    )


def _sweep_row(line: SweepLine) -> SweepRow:
    mark, verdict = _VERDICTS[line.verdict]
    price = formats.usd_per_hour(line.price_usd_per_hour) if line.price_usd_per_hour is not None else Safe("–")
    return SweepRow(mark, line.name, formats.cloud_name(line.place), verdict, line.why, price)


def billing_of(record: EnvironmentRecord | None, now: datetime | None) -> BillingView:
    """Return the last line of an answer; without a record (or a time) nothing was launched by this command."""
    return billing_view(record if now is not None else None, now or datetime.min)
