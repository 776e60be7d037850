"""What the ledger hands out: a record with its version, or one that cannot be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.environment_json import ClosedBill
from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class Entry:
    """A record and the version (commit, or file number) that a change must name."""

    record: EnvironmentRecord
    version: str


@record(frozen=True, slots=True)
class UnreadableEntry:
    """A record that cannot be read: held as running and reported, never taken for absent."""

    name: str
    version: str
    why: str


@record(frozen=True, slots=True)
class Survey:
    """The whole ledger at one moment: every newest record by name, all bills, and the last successful sweep."""

    entries: tuple[Entry | UnreadableEntry, ...] = ()
    bills: Mapping[str, tuple[ClosedBill, ...]] = field(default_factory=dict)
    swept_at: datetime | None = None

    @property
    def records(self) -> tuple[EnvironmentRecord, ...]:
        """Every record that can be read, closed ones too."""
        return tuple(entry.record for entry in self.entries if isinstance(entry, Entry))

    @property
    def open_records(self) -> tuple[EnvironmentRecord, ...]:
        """Every record behind which a machine may run."""
        return tuple(record for record in self.records if record.is_open)

    def find(self, name: str) -> Entry | UnreadableEntry | None:
        """Return the newest record of a name, or None when there never was one."""
        return next((entry for entry in self.entries if name_of(entry) == name), None)

    def with_entry(self, entry: Entry) -> Survey:
        """Return the same ledger with one record as it is now."""
        others = [each for each in self.entries if name_of(each) != name_of(entry)]
        return replace(self, entries=(*others, entry))

    def bills_usd(self, since: datetime, names: Collection[str] | None = None) -> Decimal:
        """Return the sum of the bills closed since then; of these environments alone if named."""
        meant = (bills for name, bills in self.bills.items() if names is None or name in names)
        return sum((bill.usd for bills in meant for bill in bills if bill.closed_at >= since), Decimal("0.00"))


def name_of(entry: Entry | UnreadableEntry) -> str:
    """Return the environment's name, which an unreadable record has too."""
    return entry.record.name if isinstance(entry, Entry) else entry.name
