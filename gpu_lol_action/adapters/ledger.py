"""The ledger's rules, over a store of numbered texts: claims, compare-and-swap, and what is unreadable stays held.

Two stores keep the texts: git refs through GitHub's API (ledger_refs.py) and a folder (ledger_files.py).
A version is a commit or a file number; what a version holds never changes, so it is read once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timezone
from decimal import Decimal
from typing import Protocol

from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint, State, may_move
from gpu_lol_action.domain.environment_json import (
    ClosedBill,
    Page,
    UnreadableRecord,
    first_page,
    page_from_json,
    page_to_json,
)
from gpu_lol_action.domain.ledger import Entry, Survey, UnreadableEntry, name_of
from gpu_lol_action.errors import LostRace

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_TRIES = 3
_MAX_STEPS_BACK = 20


class Store(Protocol):
    """Texts under names, each name a chain of versions that only grows."""

    def tip(self, name: str) -> str | None:
        """Return the newest version of a name, or None when there never was one."""
        ...

    def tips(self) -> Mapping[str, str]:
        """Return the newest version of every name."""
        ...

    def survey(self) -> tuple[Mapping[str, str], str | None]:
        """Return the newest version of every name, and the note, in as few questions as it takes."""
        ...

    def texts(self, versions: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str | None]:
        """Return the text of each (name, version); None where it holds none that can be read."""
        ...

    def create(self, name: str, text: str, summary: str) -> str | None:
        """Write the first version of a name; None when the name exists already."""
        ...

    def append(self, name: str, parent: str, text: str, summary: str) -> str | None:
        """Write the version after `parent`; None when `parent` is not the newest any more."""
        ...

    def history(self, name: str) -> Sequence[str]:
        """Return every version of a name, newest first."""
        ...

    def write_note(self, text: str) -> None:
        """Keep one text that is no record; the newest wins."""
        ...

    def read_note(self) -> str | None:
        """Return that text."""
        ...


class Seal(Protocol):
    """What hides a part of a record from whoever may read the store."""

    def seal(self, data: bytes) -> str:
        """Return the data so that only a holder of the key can read it."""
        ...

    def unseal(self, text: str) -> bytes | None:
        """Return what was sealed, or None where this run cannot open it."""
        ...


class RecordLedger:
    """The port `Ledger` over a store; ``seal`` None: this run holds no key, and writes no address that is to be hidden."""

    def __init__(self, store: Store, seal: Seal | None = None) -> None:
        """Remember nothing yet."""
        self._store = store
        self._seal = seal
        self._read: dict[tuple[str, str], Page | UnreadableEntry] = {}
        self._known: dict[str, str] = {}

    def claim(self, record: EnvironmentRecord) -> Entry:
        """Create the record, or take over a closed one; LostRace where an open or unreadable one stands."""
        name = _checked_name(record.name)
        if record.state is not State.CLAIMED:
            raise ValueError(f"a claim starts as claimed, not {record.state.value}")
        # Where nothing is known of the name, creating it is also the question whether it exists.
        may_exist = name in self._known
        for _ in range(_TRIES):
            current = self.read(name) if may_exist else None
            may_exist = True
            if current is None:
                page = first_page(record)
                version = self._store.create(name, self._text(page), _summary(record))
            elif isinstance(current, UnreadableEntry):
                raise _held(name, f"its record cannot be read: {current.why}")
            elif current.record == record:
                # Ours: written by a try whose answer was lost and that did not show at once.
                return current
            elif current.record.is_open:
                raise _held(name, f"it is {current.record.state.value} for @{current.record.requester.login}")
            else:
                page = self._page(current).followed_by(record)
                version = self._store.append(name, current.version, self._text(page), _summary(record))
            if version is not None:
                return self._remember(name, version, page)
        raise _held(name, "others keep claiming it")

    def update(self, entry: Entry, record: EnvironmentRecord) -> Entry:
        """Write `record` over `entry`; LostRace where the record changed meanwhile."""
        name = _checked_name(record.name)
        if name != entry.record.name:
            raise ValueError(f"{name} is not {entry.record.name}")
        if not may_move(entry.record.state, record.state):
            raise ValueError(f"no environment goes from {entry.record.state.value} to {record.state.value}")
        page = self._page(entry).followed_by(record)
        version = self._store.append(name, entry.version, self._text(page), _summary(record))
        if version is None:
            raise LostRace(
                "record_changed",
                f"the record of `{name}` was changed by another run",
                fix="Run the command again.",
            )
        return self._remember(name, version, page)

    def read(self, name: str) -> Entry | UnreadableEntry | None:
        """Return the newest record of a name, or None when there never was one."""
        version = self._store.tip(_checked_name(name))
        if version is None:
            return None
        return self._entries([(name, version)])[0]

    def version(self, name: str) -> str | None:
        """Return the newest version of that record alone, in one request."""
        return self._store.tip(_checked_name(name))

    def entries(self) -> Sequence[Entry | UnreadableEntry]:
        """Return the newest record of every environment, by name."""
        return self._entries(sorted(self._store.tips().items()))

    def history(self, name: str) -> Sequence[Entry | UnreadableEntry]:
        """Return every record that a name ever had, newest first: the audit log."""
        return self._entries([(name, version) for version in self._store.history(_checked_name(name))], is_tip=False)

    def survey(self) -> Survey:
        """Return the whole ledger at one moment. Where a record cannot be read, the bills of its last readable one count."""
        tips, note = self._store.survey()
        entries = self._entries(sorted(tips.items()))
        return Survey(tuple(entries), {name_of(entry): self._bills(entry) for entry in entries}, _moment(note))

    def bills_usd(self, since: datetime, names: Collection[str] | None = None) -> Decimal:
        """Return the sum of the bills closed since then (of ``names`` alone, if given)."""
        return self.survey().bills_usd(since, names)

    def note_sweep(self, at: datetime) -> None:
        """Write down that a sweep succeeded."""
        moment = at.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
        self._store.write_note(json.dumps({"swept_at": moment}) + "\n")

    def last_sweep(self) -> datetime | None:
        """Return when a sweep last succeeded; a note that cannot be read is none."""
        return _moment(self._store.read_note())

    # --- underneath ---------------------------------------------------------------------------------------
    def _entries(self, versions: Sequence[tuple[str, str]], *, is_tip: bool = True) -> list[Entry | UnreadableEntry]:
        unread = [each for each in versions if each not in self._read]
        for (name, version), text in self._store.texts(unread).items() if unread else ():
            page = _parsed(name, version, text)
            self._read[name, version] = self._opened(page) if isinstance(page, Page) else page
        if is_tip:
            self._known.update(versions)
        found: list[Entry | UnreadableEntry] = []
        for each in versions:
            page = self._read[each]
            found.append(Entry(page.record, each[1]) if isinstance(page, Page) else page)
        return found

    def _text(self, page: Page) -> str:
        """The page as it is stored: an address that is to be hidden is in it sealed, or not at all."""
        record = page.record
        if not record.is_ssh_sealed or record.ssh is None:
            return page_to_json(page)
        sealed = self._seal.seal(json.dumps(asdict(record.ssh)).encode()) if self._seal is not None else ""
        return page_to_json(replace(page, record=replace(record, ssh=None, sealed_ssh=sealed)))

    def _opened(self, page: Page) -> Page:
        record = page.record
        opened = self._seal.unseal(record.sealed_ssh) if self._seal is not None and record.sealed_ssh else None
        if opened is None:
            return page
        try:
            endpoint = SshEndpoint(**json.loads(opened))
        except (ValueError, TypeError):
            return page
        return replace(page, record=replace(record, ssh=endpoint))

    def _page(self, entry: Entry) -> Page:
        """The whole page behind an entry: its bills have to be carried on."""
        key = (entry.record.name, entry.version)
        if key not in self._read:
            self._entries([key])
        page = self._read[key]
        return page if isinstance(page, Page) else first_page(entry.record)

    def _bills(self, entry: Entry | UnreadableEntry) -> tuple[ClosedBill, ...]:
        if isinstance(entry, Entry):
            return self._page(entry).bills
        for version in self._store.history(entry.name)[1:_MAX_STEPS_BACK]:
            self._entries([(entry.name, version)], is_tip=False)
            page = self._read[entry.name, version]
            if isinstance(page, Page):
                return page.bills
        return ()

    def _remember(self, name: str, version: str, page: Page) -> Entry:
        self._read[name, version] = page
        self._known[name] = version
        return Entry(page.record, version)


def _moment(note: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(json.loads(note or "")["swept_at"]).replace("Z", "+00:00"))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return moment if moment.tzinfo is not None else None


def _parsed(name: str, version: str, text: str | None) -> Page | UnreadableEntry:
    if text is None:
        return UnreadableEntry(name, version, "it holds no record")
    try:
        page = page_from_json(text)
    except UnreadableRecord as error:
        return UnreadableEntry(name, version, str(error))
    if page.record.name != name:
        return UnreadableEntry(name, version, f"it is the record of {page.record.name[:60]!r}")
    return page


def _checked_name(name: str) -> str:
    """The name, which becomes part of a ref and of a path."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:80]!r} is no environment's name")
    return name


def _summary(record: EnvironmentRecord) -> str:
    return f"{record.name}: {record.state.value}\n\nBy run {record.run_id} for {record.requester.login}."


def _held(name: str, why: str) -> LostRace:
    return LostRace("claim_lost", f"`{name}` is taken", why=why, fix="/gpu-lol status")
