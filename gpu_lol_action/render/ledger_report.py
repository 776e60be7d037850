"""The ledger on a screen: every record in a line, or one record's versions with what each of them changed."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from gpu_lol_action.domain.environment import Bill, EnvironmentRecord, Lease, Requester, SshEndpoint, Tombstone, Warned
from gpu_lol_action.domain.ledger import Entry, Survey, UnreadableEntry
from gpu_lol_action.domain.rescue import Rescue
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import visible
from gpu_lol_action.render.screen import Column, Screen, cut, table, wrap

_EVER = datetime.min.replace(tzinfo=timezone.utc)
_RECORDS = (
    Column(),
    Column(turn=3, least=14),
    Column("dim", turn=1, least=6, is_optional=True),
    Column(turn=4, least=12),
    Column("dim", turn=2, least=6, is_optional=True),
    Column(is_right=True),
)
# What each version changes anyway, and what says nothing beside its neighbors.
_UNTOLD = frozenset(
    {"updated_at", "name", "repository", "repository_id", "user_hash", "key_version", "provider_config"}
)


@dataclass(frozen=True, slots=True)
class Found:
    """A ledger that answered: ``terminal`` or ``github``, and all that it holds."""

    ledger: str
    survey: Survey


def usd_of(survey: Survey, record: EnvironmentRecord, now: datetime | None = None) -> Decimal:
    """Return what all lives of a name have been billed; with ``now``, what runs so far on top."""
    billed = survey.bills_usd(_EVER, {record.name})
    return billed + record.cost_so_far_usd(now) if now is not None and record.is_open else billed


def list_text(found: Sequence[Found], silent: int, screen: Screen, now: datetime) -> str:
    """Return every record of the ledgers, open ones first; ``silent`` counts ledgers that did not answer."""
    blocks = ["\n".join(_block(each, screen, now)) for each in found]
    return screen.finish("\n\n".join([*blocks, "\n".join(wrap(_billing(found, silent, now), screen.width))]))


def _block(found: Found, screen: Screen, now: datetime) -> list[str]:
    survey = found.survey
    records = sorted(
        survey.records, key=lambda record: (not record.is_open, -record.claimed_at.timestamp(), record.name)
    )
    unreadable = [entry for entry in survey.entries if isinstance(entry, UnreadableEntry)]
    total = sum((usd_of(survey, record, now) for record in records), Decimal("0.00"))
    note = f"{len(survey.entries)} on record, {len(survey.open_records) + len(unreadable)} open, {formats.usd(total)} in all (estimate)"
    rows = [_row(record, survey, now) for record in records]
    rows += [(visible(entry.name, 60), "unreadable", "", visible(entry.why, 80), "", "?") for entry in unreadable]
    title = {"terminal": "This terminal's records", "github": "The repository's records on GitHub"}[found.ledger]
    return [screen.title(title, note), *(table(rows, _RECORDS, screen) if rows else ["  none"])]


def _row(record: EnvironmentRecord, survey: Survey, now: datetime) -> Sequence[str]:
    when = record.closed_at or record.updated_at
    state = f"{record.state.value} {_ago(now - when)}"
    place = f"PR {record.pull_request}" if record.pull_request is not None else ""
    login = visible(record.requester.login, 40)
    return (
        visible(record.name, 60),
        state,
        f"{place} {visible(record.label, 40)}".strip(),
        _machine(record),
        login,
        str(formats.usd(usd_of(survey, record, now))),
    )


def _ago(distance: timedelta) -> str:
    if distance < timedelta(minutes=1):
        return "now"
    if distance >= timedelta(days=2):
        return f"{distance.days} days ago"
    return f"{formats.duration(timedelta(minutes=distance // timedelta(minutes=1)))} ago"


def _machine(record: EnvironmentRecord) -> str:
    if not record.accelerator:
        return "no machine yet" if record.cloud is None else visible(record.cloud, 20)
    cloud = formats.cloud_name(record.cloud or "")
    return visible(f"{record.accelerator_count} × {record.accelerator} {cloud}".strip(), 60)


def _billing(found: Sequence[Found], silent: int, now: datetime) -> str:
    """Return what costs money now; what could not be read may."""
    running = [record for each in found for record in each.survey.open_records]
    held = sum(isinstance(entry, UnreadableEntry) for each in found for entry in each.survey.entries)
    price = sum((record.price_usd_per_hour or Decimal(0) for record in running), Decimal(0))
    so_far = sum((record.cost_so_far_usd(now) for record in running), Decimal(0))
    rate = f" at {formats.usd_per_hour(price)}" if price else ""
    said = (
        f"Running: {formats.plural(len(running), 'machine')}{rate}, {formats.usd(so_far)} so far."
        if running
        else "Nothing is running."
    )
    if held:
        said += f" {formats.plural(held, 'record')} cannot be read and count as running."
    if silent:
        said += " A ledger could not be read: what is on record there may run."
    return said if running or not (held or silent) else said.removeprefix("Nothing is running. ")


def versions_text(
    found: Found, name: str, versions: Sequence[Entry | UnreadableEntry], screen: Screen, now: datetime
) -> str:
    """Return one record's versions, oldest first: when, which state, and what each of them changed."""
    newest = found.survey.find(name)
    total = usd_of(found.survey, newest.record, now) if isinstance(newest, Entry) else None
    cost = f", {formats.usd(total)} so far (estimate)" if total is not None else ""
    note = f"{formats.plural(len(versions), 'version')} in the {found.ledger} ledger{cost}"
    lines = [screen.title(visible(name, 60), note)]
    before: EnvironmentRecord | None = None
    for entry in versions:
        version = visible(entry.version[:7])
        if isinstance(entry, UnreadableEntry):
            lines += wrap(f"cannot be read: {visible(entry.why, 200)}", screen.width, f"  {version}  ", " " * 11)
            continue
        record = entry.record
        at = f"{record.updated_at.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
        lines.append(cut(f"  {version:<7}  {at}  {screen.paint(record.state.value, 'bold')}", 200))
        lines += [line for each in changes(before, record) for line in wrap(each, screen.width, " " * 11, " " * 13)]
        before = record
    return screen.finish("\n".join([*lines, "", _standing(newest, now)]))


def _standing(newest: Entry | UnreadableEntry | None, now: datetime) -> str:
    if not isinstance(newest, Entry):
        return "It cannot be read, so it counts as running."
    record = newest.record
    if not record.is_open:
        return "It is closed: nothing is billing."
    price = record.price_usd_per_hour
    rate = f" at {formats.usd_per_hour(price)}" if price is not None else ""
    return f"It may be running{rate}, lease until {formats.clock_in(record.lease.expires_at, now)}."


def changes(before: EnvironmentRecord | None, after: EnvironmentRecord) -> tuple[str, ...]:
    """Return what a version changed against the one before, a few words for each field; of the first, who asked for what."""
    if before is None or before.claimed_at != after.claimed_at:
        began = f"claimed for {visible(after.requester.login, 40)} at {after.sha[:7]}, run {visible(after.run_id, 80)}"
        return (began, f"lease: {_value(after.lease)}")
    said = []
    for field in dataclasses.fields(after):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old != new and field.name not in _UNTOLD and field.name != "state":
            said.append(f"{field.name.replace('_', ' ')}: {_value(new)}")
    return tuple(said) or ("nothing but the time",)


def _value(value: object) -> str:
    """Return a field's value in few words; what a cloud or a person wrote is made visible."""
    if value is None:
        return "none"
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, Decimal):
        return f"${value}"
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return _tuple(value)
    return visible(_words(value), 160)


def _words(value: object) -> str:
    match value:
        case Lease():
            return f"until {_moment(value.expires_at)}"
        case SshEndpoint():
            return f"{value.user}@{value.host}:{value.port}{', host key pinned' if value.host_key else ''}"
        case Tombstone():
            return f"{value.reason.replace('_', ' ')}, by {value.by}"
        case Warned():
            return f"of its end ({value.of}) at {_moment(value.ends_at)}"
        case Bill():
            return f"${value.usd} for {formats.duration(value.until_at - value.from_at)}"
        case Requester():
            return value.login
        case Rescue():
            return value.problem or f"{value.changed} changed files, {value.commits} commits, {value.files} new files"
        case _:
            return str(value)


def _tuple(values: tuple[object, ...]) -> str:
    if all(isinstance(each, str) for each in values):
        return visible(", ".join(map(str, values)), 160) or "none"
    if all(isinstance(each, datetime) for each in values):
        return ", ".join(_moment(each) for each in values if isinstance(each, datetime)) or "none"
    return str(len(values))


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
