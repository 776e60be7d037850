"""The ledger as CSV, for programs: amounts and moments exact, in UTC, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.ledger import Entry, UnreadableEntry
from gpu_lol_action.render.ledger_report import Found, changes, usd_of
from gpu_lol_action.render.markdown import visible

RECORD_COLUMNS = (
    "ledger", "environment", "state", "pull_request", "profile", "requester", "sha", "cloud", "region", "accelerator",
    "accelerator_count", "price_usd_per_hour", "claimed_at", "ready_at", "lease_ends_at", "closed_at", "ended_by", "end_reason",
    "bill_usd", "all_lives_usd", "lives", "problem",
)  # fmt: skip
VERSION_COLUMNS = ("ledger", "environment", "version", "written_at", "state", "run", "changes", "problem")
# What a spreadsheet takes for a formula (OWASP, "CSV Injection"); an apostrophe in front makes it text.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def records_csv(found: Sequence[Found]) -> str:
    """Return one row for each record, with a head; ``bill_usd`` is empty while a machine may run."""
    rows = [_record_row(each, entry) for each in found for entry in each.survey.entries]
    return _table([RECORD_COLUMNS, *rows])


def versions_csv(ledger: str, versions: Sequence[Entry | UnreadableEntry], *, has_head: bool = True) -> str:
    """Return one row for each version of a record, oldest first."""
    rows: list[Sequence[str]] = [VERSION_COLUMNS] if has_head else []
    before: EnvironmentRecord | None = None
    for entry in versions:
        if isinstance(entry, UnreadableEntry):
            rows.append((ledger, entry.name, entry.version, "", "", "", "", entry.why))
            continue
        record = entry.record
        said = "; ".join(changes(before, record))
        rows.append(
            (ledger, record.name, entry.version, _at(record.updated_at), record.state.value, record.run_id, said, "")
        )
        before = record
    return _table(rows)


def _record_row(found: Found, entry: Entry | UnreadableEntry) -> Sequence[str]:
    if isinstance(entry, UnreadableEntry):
        return (found.ledger, entry.name, "unreadable", *[""] * (len(RECORD_COLUMNS) - 4), entry.why)
    record, stone = entry.record, entry.record.tombstone
    return (
        found.ledger,
        record.name,
        record.state.value,
        str(record.pull_request or ""),
        record.label,
        record.requester.login,
        record.sha,
        record.cloud or "",
        record.region or "",
        record.accelerator or "",
        str(record.accelerator_count),
        str(record.price_usd_per_hour or ""),
        _at(record.claimed_at),
        _at(record.ready_at),
        _at(record.lease.expires_at),
        _at(record.closed_at),
        stone.by if stone else "",
        stone.reason if stone else "",
        str(record.bill.usd) if record.bill else "",
        str(usd_of(found.survey, record)),
        str(len(found.survey.bills.get(record.name, ())) + record.is_open),
        "",
    )


def _at(moment: datetime | None) -> str:
    return f"{moment.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%SZ}" if moment else ""


def _table(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_cell(cell) for cell in row] for row in rows)
    return out.getvalue().removesuffix("\n")


def _cell(text: str) -> str:
    shown = visible(text, 2000)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
