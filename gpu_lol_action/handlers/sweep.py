"""The sweeper: compare what is written down with what the clouds list, and end what should not run.

A cloud that does not answer means that nothing is concluded about it. A machine without a record is
ended only when two looks, apart in time, agree and it has been up for longer than a launch's grace.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from gpu_lol_action.domain.environment import EnvironmentRecord, State, Tombstone
from gpu_lol_action.domain.leases import End, Keep, Warn, decide_lease
from gpu_lol_action.domain.ledger import Entry, UnreadableEntry
from gpu_lol_action.domain.machine import Machine, find_loss
from gpu_lol_action.domain.names import environment_name, repository_prefix
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.domain.surfaces import DeploymentState
from gpu_lol_action.errors import GpuLolError, LostRace
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.retell import retell
from gpu_lol_action.handlers.smoke_book import close_lost
from gpu_lol_action.handlers.surfaces import move_deployment
from gpu_lol_action.handlers.teardown import MAX_WRITE_TRIES, Ended, bury_as_read, end_environment, reread
from gpu_lol_action.handlers.tell_machine import look_at
from gpu_lol_action.handlers.warn import warn_requester
from gpu_lol_action.render import comments

BOOT_GRACE = timedelta(minutes=20)
"""Longer than any time box of a launch's provisioning: a younger machine may be somebody's launch."""

ORPHAN_SECOND_LOOK = timedelta(seconds=30)
STOPPED_SECOND_LOOK = timedelta(seconds=10)
SWEEPER = "the sweeper"


class Verdict(enum.Enum):
    """What a sweep did, or would do, about one thing."""

    ENDED = "ended"
    WOULD_END = "would end"
    UNPROVEN = "could not be proven gone"
    HELD = "held: its record cannot be read"
    LEFT = "left alone"
    TOLD = "told late"
    WARNED = "left alone, its requester is told"
    SILENT = "does not answer: nothing concluded"


@dataclass(frozen=True, slots=True)
class SweepLine:
    """One row of the summary."""

    name: str
    verdict: Verdict
    why: str


@dataclass(slots=True)
class Findings:
    """What one sweep saw."""

    lines: list[SweepLine] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether everything could be concluded and nothing is left that should have ended."""
        troubles = (Verdict.UNPROVEN, Verdict.HELD, Verdict.SILENT)
        return not any(line.verdict in troubles for line in self.lines)


def handle_sweep(
    context: Context, repository_id: int, policy: Policy, *, is_dry_run: bool = False, owner: str | None = None
) -> Outcome:
    """Look once over records and clouds, end what is due, and report every thing that was looked at.

    ``owner`` is a terminal's user: that ledger knows of nobody else's machines, which are not without a record for it.
    """
    prefix = f"{environment_name(repository_id, None, '', owner)}-" if owner else repository_prefix(repository_id)
    found = Findings()
    listed = _listed(context, prefix)
    for entry in context.ledger.survey().entries:
        if isinstance(entry, UnreadableEntry):
            found.lines.append(SweepLine(entry.name, Verdict.HELD, entry.why))
        elif entry.record.is_open:
            try:
                found.lines.append(_sweep_record(context, entry, policy, listed, is_dry_run=is_dry_run))
            except GpuLolError as error:
                # The next record's machine costs money all the same.
                found.lines.append(SweepLine(entry.record.name, Verdict.UNPROVEN, error.explanation.what))
            except Exception as error:  # noqa: BLE001  our bug with this record must not end the sweep for all others
                context.progress.failure(error)
                found.lines.append(SweepLine(entry.record.name, Verdict.UNPROVEN, "a fault of gpu-lol's own"))
    for cloud in context.settings.clouds:
        try:
            found.lines.extend(_sweep_orphans(context, cloud, prefix, is_dry_run=is_dry_run))
        except GpuLolError as error:
            found.lines.append(SweepLine(cloud, Verdict.SILENT, error.explanation.what))
    survey = context.ledger.survey()
    if not is_dry_run:
        readable = [entry for entry in survey.entries if isinstance(entry, Entry)]
        late = retell(context, readable, policy, survey.swept_at)
        found.lines.extend(SweepLine(name, Verdict.TOLD, "its run had died before it could say it") for name in late)
        lost = close_lost(context, context.forge.repository()) if owner is None else ()
        why = "its runner was lost: it counts as not run"
        found.lines.extend(SweepLine(f"smoke test at {each.sha[:7]}", Verdict.TOLD, why) for each in lost)
    if found.is_complete and not is_dry_run:
        context.ledger.note_sweep(context.clock.now())
    body = comments.sweep_summary(
        lines=[(line.name, line.verdict.value, line.why) for line in found.lines],
        open_records=survey.open_records,
        now=context.clock.now(),
        is_dry_run=is_dry_run,
    )
    if found.is_complete:
        return Outcome("done", "swept", text=body)
    return Outcome("failed", "sweep_incomplete", text=body)


Listed = Mapping[str, Sequence[Machine]]
"""This repository's machines on each cloud that answers; one that is silent is not in it."""


def _listed(context: Context, prefix: str) -> Listed:
    found = {}
    for cloud in context.settings.clouds:
        with contextlib.suppress(GpuLolError):
            found[cloud] = context.cloud().machines(cloud, prefix)
    return found


def _loss(context: Context, record: EnvironmentRecord, listed: Listed) -> str | None:
    """Return how a machine that was ready was lost: it ended itself, was taken away or stopped, or ended by hand."""
    if record.state is not State.READY or record.cloud is None or record.name_on_cloud is None:
        return None
    if record.cloud not in listed:
        return None
    loss = find_loss(listed[record.cloud], record.name_on_cloud)
    if loss == "machine_stopped":
        # The end of one that is gone is proven by two lists. One that is stopped is ended, so it is looked at twice here.
        context.clock.sleep(STOPPED_SECOND_LOOK)
        loss = find_loss(context.cloud().machines(record.cloud, record.name_on_cloud), record.name_on_cloud)
    return loss


def reason_to_end(context: Context, record: EnvironmentRecord) -> str | None:
    """Return why this open environment is to end now, or None."""
    if record.tombstone is not None:
        return record.tombstone.reason
    if record.lease.is_over(context.clock.now()):
        return "lease_over"
    if record.state is State.UNKNOWN:
        return "state_unknown"
    if _is_closed(context, record):
        # The run for its closing was lost, or never came: GitHub promises no delivery of events.
        return "pull_request_closed"
    is_in_flight = record.state in (State.CLAIMED, State.LAUNCHING, State.VALIDATING)
    if is_in_flight and not context.forge.is_run_alive(record.run_id):
        return "run_died"
    return None


def _is_closed(context: Context, record: EnvironmentRecord) -> bool:
    """Whether its pull request is closed; where that cannot be told, nothing is concluded."""
    if record.pull_request is None:
        return False
    try:
        return context.forge.pull_request(record.pull_request).state == "closed"
    except GpuLolError:
        return False


def _sweep_record(context: Context, entry: Entry, policy: Policy, listed: Listed, *, is_dry_run: bool) -> SweepLine:
    """Decide about one record, anew where it changed before the end could be written down: it may be in use by now."""
    for _ in range(MAX_WRITE_TRIES):
        if not entry.record.is_open:
            return SweepLine(entry.record.name, Verdict.LEFT, "another run ended it meanwhile")
        try:
            return _sweep_as_read(context, entry, policy, listed, is_dry_run=is_dry_run)
        except LostRace:
            entry = reread(context, entry)
    return SweepLine(entry.record.name, Verdict.UNPROVEN, "its record changes faster than it can be written")


def _sweep_as_read(context: Context, entry: Entry, policy: Policy, listed: Listed, *, is_dry_run: bool) -> SweepLine:
    record = entry.record
    reason = reason_to_end(context, record)
    if reason is None:
        reason = _loss(context, record, listed)  # its absence is proven twice all the same, before its bill is closed
    if reason is None:
        look = look_at(context, record)
        due = decide_lease(record, look, policy, context.clock.now())
        if isinstance(due, Warn) and not is_dry_run:
            warn_requester(context, entry, due, look)
        if not isinstance(due, End):
            return _kept(record, due)
        reason = due.reason
    if is_dry_run:
        return SweepLine(record.name, Verdict.WOULD_END, reason)
    tombstone = record.tombstone or Tombstone(SWEEPER, reason, context.clock.now())
    entry = bury_as_read(context, entry, tombstone)
    end = end_environment(context, entry, tombstone, policy)
    if record.pull_request is not None:
        answers.reply(context, record.pull_request, answers.certificate(context, end, policy))
        ending = comments.ending(record=end.entry.record, now=context.clock.now())
        answers.edit(context, end.entry.record.status_comment_id, ending)
    if isinstance(end, Ended):
        move_deployment(context, end.entry.record, DeploymentState.INACTIVE)
        return SweepLine(record.name, Verdict.ENDED, reason)
    return SweepLine(record.name, Verdict.UNPROVEN, end.why)


def _kept(record: EnvironmentRecord, due: Keep | Warn) -> SweepLine:
    until = f"lease until {record.lease.expires_at:%H:%M} UTC"
    if isinstance(due, Keep):
        return SweepLine(record.name, Verdict.LEFT, until)
    return SweepLine(
        record.name, Verdict.WARNED, f"{until}; {'nobody uses it' if due.of == 'idle' else 'it ends soon'}"
    )


def _sweep_orphans(context: Context, cloud: str, prefix: str, *, is_dry_run: bool) -> list[SweepLine]:
    suspects = _orphans(context, cloud, prefix)
    if not suspects:
        return []
    context.clock.sleep(ORPHAN_SECOND_LOOK)
    still = {machine.name_on_cloud for machine in _orphans(context, cloud, prefix)}
    lines = []
    for machine in suspects:
        if machine.name_on_cloud in still:
            try:
                lines.append(_end_orphan(context, machine, is_dry_run=is_dry_run))
            except GpuLolError as error:
                # The next one costs money all the same.
                lines.append(SweepLine(machine.name_on_cloud, Verdict.UNPROVEN, error.explanation.what))
    return lines


def _orphans(context: Context, cloud: str, prefix: str) -> Sequence[Machine]:
    """Return listed machines of this repository for which no open record stands in the ledger."""
    machines = context.cloud().machines(cloud, prefix)
    if not machines:
        return ()
    entries = context.ledger.survey().entries
    if any(isinstance(entry, UnreadableEntry) for entry in entries):
        return ()  # one of them may be the unreadable record's
    records = [entry.record for entry in entries if isinstance(entry, Entry) and entry.record.is_open]
    known = {name for record in records for name in _names_on(context, record, cloud)}
    return [machine for machine in machines if machine.name_on_cloud not in known]


def _names_on(context: Context, record: EnvironmentRecord, cloud: str) -> set[str]:
    """Return under which names a machine on that cloud would be this open record's."""
    # One that launches has no name on its cloud yet, or changes clouds; one that is there has one machine, on one cloud.
    is_here = record.cloud == cloud
    names = {context.cloud().name_on_cloud(record.name)} if record.launcher_stopped_at is None or is_here else set()
    return names | {record.name_on_cloud} if record.name_on_cloud and is_here else names


def _end_orphan(context: Context, machine: Machine, *, is_dry_run: bool) -> SweepLine:
    name = machine.name_on_cloud
    age = context.clock.now() - machine.created_at if machine.created_at is not None else None
    if age is not None and age < BOOT_GRACE:
        return SweepLine(name, Verdict.LEFT, "it has no record, but is younger than a launch's grace")
    if is_dry_run:
        return SweepLine(name, Verdict.WOULD_END, "it has no record")
    is_there = any(other.name_on_cloud == name for other in context.cloud().machines(machine.cloud, name))
    if not is_there or _is_claimed(context, machine):
        # While others were ended: an `up` may have claimed the name, and SkyPilot takes over what it finds under it.
        return SweepLine(name, Verdict.LEFT, "it is gone, or has a record now")
    context.cloud().teardown(machine.cloud, name, {})
    if context.cloud().machines(machine.cloud, name):
        return SweepLine(name, Verdict.UNPROVEN, "it is still listed after its teardown")
    return SweepLine(name, Verdict.ENDED, "it had no record")


def _is_claimed(context: Context, machine: Machine) -> bool:
    """Whether an open record stands for this machine's name now: one request, where the whole ledger would be many."""
    name = machine.name_on_cloud.rpartition("-")[0]
    if context.cloud().name_on_cloud(name) != machine.name_on_cloud:
        # No name that a launch of this installation gives; some record may have it from its provider.
        still = _orphans(context, machine.cloud, machine.name_on_cloud)
        return all(other.name_on_cloud != machine.name_on_cloud for other in still)
    try:
        entry = context.ledger.read(name)
    except ValueError:
        return False  # no environment has such a name
    if entry is None or isinstance(entry, UnreadableEntry):
        return entry is not None
    return entry.record.is_open and machine.name_on_cloud in _names_on(context, entry.record, machine.cloud)
