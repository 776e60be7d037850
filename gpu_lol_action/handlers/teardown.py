"""End one environment: tombstone, launcher stopped, machine ended, absence proven twice, bill written.

Nothing is certified before the launcher is known to be dead and the provider has twice listed
successfully without the machine (product.md section 8). Whatever fails on the way leaves a record
that says ``ending`` or ``unknown``, which counts as running and which the sweeper takes up.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.domain.environment import Bill, EnvironmentRecord, State, Tombstone
from gpu_lol_action.domain.ledger import Entry, Survey
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.errors import GpuLolError, LostRace, TransientError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.rescue import rescue_work
from gpu_lol_action.pricing.budget import month_start

LOSSES = ("machine_gone", "machine_stopped", "machine_lost")
"""Ends of machines that nobody can reach any more: there is nothing to save."""

LAUNCHER_PATIENCE = timedelta(minutes=3)
LAUNCHER_POLL = timedelta(seconds=3)
LISTING_TRIES = 5
MAX_WRITE_TRIES = 5
# What is gone cannot be looked at, and on a machine of a smoke test nobody has worked.
WITHOUT_RESCUE = frozenset({*LOSSES, "smoke_over"})


@dataclass(frozen=True, slots=True)
class Ended:
    """The machine is proven gone; ``entry`` is closed and holds the bill."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Unproven:
    """The end could not be proven; ``entry`` counts as running and ``why`` says what is missing."""

    entry: Entry
    why: str


def write_tombstone(context: Context, entry: Entry, tombstone: Tombstone) -> Entry:
    """Write down that this environment is to end, so that an ``up`` in flight stops itself.

    Repeats on a lost race: the end wins over any other change. An environment that is closed
    already is returned as it is.
    """
    for _ in range(MAX_WRITE_TRIES):
        try:
            return bury_as_read(context, entry, tombstone)
        except LostRace:
            entry = reread(context, entry)
    raise _contended(entry)


def bury_as_read(context: Context, entry: Entry, tombstone: Tombstone) -> Entry:
    """Write the tombstone over exactly this version; raises LostRace where the record changed meanwhile.

    For an end that somebody concluded from the record: what they saw may be over, and the machine in use.
    """
    context.forge.open_reserve()
    record = entry.record
    if not record.is_open or record.tombstone is not None:
        return entry
    buried = dataclasses.replace(record, state=State.ENDING, tombstone=tombstone, updated_at=context.clock.now())
    return context.ledger.update(entry, buried)


def _contended(entry: Entry) -> TransientError:
    return TransientError(
        "record_contended",
        f"the record of {entry.record.name} changes faster than it can be written",
        fix="Give the command again in a minute.",
    )


def end_environment(
    context: Context, entry: Entry, tombstone: Tombstone, policy: Policy, *, is_launcher: bool | None = None
) -> Ended | Unproven:
    """End the machine behind ``entry`` for good.

    ``is_launcher``: this very run launched it and has stopped (True), or could not stop its own launch (False); None
    where another run launches, which gets its time to stop.
    """
    entry = write_tombstone(context, entry, tombstone)
    if not entry.record.is_open:
        return Ended(entry)
    if is_launcher:
        entry = mark_launcher_stopped(context, entry)
    try:
        if is_launcher is None:
            # Read anew in any case: what a sweep listed minutes ago may be over, and its name a newer claim's.
            entry = reread(context, _await_launcher(context, entry))
            if not entry.record.is_open:
                return Ended(entry)
        if tombstone.reason not in WITHOUT_RESCUE:
            entry = rescue_work(context, entry)
        # Also where the launcher still lives: what it has rented so far costs nothing from here on.
        _teardown(context, entry.record)
        if is_launcher is False or not _is_launcher_stopped(context, entry.record):
            return Unproven(entry, "the run that launches it has not stopped yet")
        absences = prove_absence(context, entry, policy)
        if absences is None:
            return Ended(reread(context, entry))
        _check_silent(context, entry.record)
    except GpuLolError as error:
        return Unproven(_as_unknown(context, entry), error.explanation.what)
    return Ended(_close(context, entry, absences))


def mark_launcher_stopped(context: Context, entry: Entry) -> Entry:
    """Write down that nothing launches any more on behalf of this record."""
    for _ in range(MAX_WRITE_TRIES):
        if entry.record.launcher_stopped_at is not None or not entry.record.is_open:
            return entry
        now = context.clock.now()
        changed = dataclasses.replace(entry.record, launcher_stopped_at=now, updated_at=now)
        try:
            return context.ledger.update(entry, changed)
        except LostRace:
            entry = reread(context, entry)
    return entry


def reread(context: Context, entry: Entry) -> Entry:
    """Return the newest version of this claim's record; raises TransientError where it cannot be read.

    A closed name may belong to a newer claim by now, which is none of the caller's business: then the last version of
    the claim that was meant is returned, which is closed.
    """
    newest = context.ledger.read(entry.record.name)
    if isinstance(newest, Entry) and not _is_same_claim(newest, entry):
        versions = context.ledger.history(entry.record.name)
        newest = next((e for e in versions if isinstance(e, Entry) and _is_same_claim(e, entry)), None)
    if not isinstance(newest, Entry):
        raise TransientError(
            "record_unreadable",
            f"the record of {entry.record.name} cannot be read",
            why="its machine counts as running until it can.",
            fix="gpu-lol sweep",
        )
    return newest


def _is_same_claim(one: Entry, other: Entry) -> bool:
    return (one.record.run_id, one.record.claimed_at) == (other.record.run_id, other.record.claimed_at)


def _is_launcher_stopped(context: Context, record: EnvironmentRecord) -> bool:
    if record.launcher_stopped_at is not None:
        return True
    if record.launch_asked_at is None and record.name_on_cloud is None:
        # A claim from which nothing was launched: its run sees the tombstone before it asks a cloud.
        return True
    return not context.forge.is_run_alive(record.run_id)


def _await_launcher(context: Context, entry: Entry) -> Entry:
    """Wait for the launching run to stop itself: it looks for a tombstone every few seconds."""
    deadline = context.clock.now() + LAUNCHER_PATIENCE
    while entry.record.is_open and not _is_launcher_stopped(context, entry.record) and context.clock.now() < deadline:
        context.progress.line("waiting for the launching run to stop itself")
        context.clock.sleep(LAUNCHER_POLL)
        entry = reread(context, entry)
    return entry


def _teardown(context: Context, record: EnvironmentRecord) -> None:
    if record.cloud is None or record.name_on_cloud is None:
        return
    context.progress.phase("tearing down")
    context.cloud().teardown(record.cloud, record.name_on_cloud, record.provider_config)


def prove_absence(context: Context, entry: Entry, policy: Policy) -> tuple[datetime, ...] | None:
    """Return two times, far enough apart, at which the provider listed without the machine; what it lists is ended.

    None where another run has closed this claim meanwhile: what is listed may be a newer claim's machine.
    """
    record = entry.record
    if record.cloud is None or record.name_on_cloud is None:
        return ()
    context.progress.phase("proving the absence")
    absences: list[datetime] = []
    for _ in range(LISTING_TRIES):
        if absences:
            context.clock.sleep(policy.absence_interval)
        listed = context.cloud().machines(record.cloud, record.name_on_cloud)
        if listed:
            # It came back, or the end is still under way: ask again, and start counting anew.
            absences.clear()
            if not reread(context, entry).record.is_open:
                return None
            context.cloud().teardown(record.cloud, record.name_on_cloud, record.provider_config)
            context.clock.sleep(LAUNCHER_POLL)
            continue
        absences.append(context.clock.now())
        if len(absences) == 2:
            return tuple(absences)
    raise TransientError(
        "teardown_unproven",
        f"{record.name_on_cloud} is still listed by {record.cloud} after {LISTING_TRIES} looks",
    )


def _check_silent(context: Context, record: EnvironmentRecord) -> None:
    """Raise TransientError where the machine answers at its address although the provider lists it no more.

    A list that was asked with the key of another account, or that is wrong, proves nothing.
    """
    if record.ssh is None or record.ssh.host_key is None or not context.shell().answers_as_before(record.ssh):
        return
    raise TransientError(
        "teardown_unproven",
        f"{record.cloud} does not list {record.name_on_cloud}, yet it answers at its address with its own host key: "
        "does the cloud's key belong to another account than when it was rented?",
    )


def _as_unknown(context: Context, entry: Entry) -> Entry:
    """Write down, if that is possible at all, that it is not known whether the machine runs."""
    try:
        return context.ledger.update(
            entry,
            dataclasses.replace(entry.record, state=State.UNKNOWN, updated_at=context.clock.now()),
        )
    except GpuLolError:
        return entry


def _close(context: Context, entry: Entry, absences: tuple[datetime, ...]) -> Entry:
    for _ in range(MAX_WRITE_TRIES):
        record = entry.record
        if not record.is_open:
            return entry
        now = context.clock.now()
        closed = dataclasses.replace(
            record,
            state=State.CLOSED if record.ready_at else State.FAILED,
            absences=absences,
            bill=build_bill(record, absences[0] if absences else now),
            closed_at=now,
            updated_at=now,
        )
        try:
            return context.ledger.update(_as_ending(context, entry), closed)
        except LostRace:
            entry = reread(context, entry)
    raise _contended(entry)


def _as_ending(context: Context, entry: Entry) -> Entry:
    if entry.record.state is State.ENDING:
        return entry
    changed = dataclasses.replace(entry.record, state=State.ENDING, updated_at=context.clock.now())
    return context.ledger.update(entry, changed)


def build_bill(record: EnvironmentRecord, until: datetime) -> Bill | None:
    """Return the bill from the launch request to the first proven absence; None where none was asked for.

    It starts before the provider's own clock does, so it never understates. A request of which it is certain that it
    was refused has left the record; one that broke off counts as a machine.
    """
    if record.price_usd_per_hour is None or (record.launch_asked_at is None and not record.attempts):
        return None
    from_at = record.launch_asked_at or until
    usd = record.earlier_cost_usd + cost_usd(record.price_usd_per_hour, until - from_at)
    return Bill(from_at, until, record.price_usd_per_hour, usd)


def month_usd(survey: Survey, now: datetime) -> Decimal:
    """Return what this month has cost: bills closed since it began plus what is running so far."""
    running = sum((record.cost_so_far_usd(now) for record in survey.open_records), Decimal("0.00"))
    return survey.bills_usd(month_start(now)) + running
