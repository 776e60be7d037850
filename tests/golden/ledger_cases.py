"""Ledgers for the goldens of ``gpu-lol ledger``: one story, and records that somebody hostile wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.domain.environment import Bill, EnvironmentRecord, Lease, Requester, State, Tombstone
from gpu_lol_action.domain.environment_json import ClosedBill
from gpu_lol_action.domain.ledger import Entry, Survey, UnreadableEntry
from gpu_lol_action.render.ledger_csv import records_csv, versions_csv
from gpu_lol_action.render.ledger_report import Found, list_text, versions_text
from gpu_lol_action.render.screen import PLAIN, Screen
from tests.golden.cases import CLAIMED, CLOSED, HOSTILE, LAUNCHING, NOW, READY

FORMULA = '=HYPERLINK("https://evil.example")'
_EARLIER = ClosedBill(NOW - timedelta(days=3), NOW - timedelta(days=3, hours=-1), Decimal("1.10"))
_OLD = replace(
    CLOSED,
    name="gl-ahreaa-97",
    pull_request=97,
    requester=Requester("grace", 43),
    claimed_at=NOW - timedelta(days=5),
    closed_at=NOW - timedelta(days=4, hours=20),
    bill=Bill(NOW - timedelta(days=5), NOW - timedelta(days=4, hours=20), Decimal("0.44"), Decimal("1.76")),
)
_OLD_BILL = ClosedBill(_OLD.claimed_at, NOW - timedelta(days=4, hours=20), Decimal("1.76"))
_HELD = UnreadableEntry("gl-ahreaa-131", "9" * 40, "not JSON: Expecting value")
FOUND = Found(
    "github",
    Survey(
        (Entry(READY, "f" * 40), Entry(_OLD, "e" * 40), _HELD),
        {READY.name: (_EARLIER,), _OLD.name: (_OLD_BILL,)},
        NOW,
    ),
)
EMPTY = Found("terminal", Survey())


def _versions() -> Sequence[Entry | UnreadableEntry]:
    stone = Tombstone("requester", "down", NOW + timedelta(minutes=50))
    longer = Lease(READY.lease.starts_at, READY.lease.expires_at + timedelta(hours=1))
    steps: list[EnvironmentRecord] = [
        CLAIMED,
        LAUNCHING,
        replace(READY, updated_at=NOW + timedelta(minutes=2)),
        replace(READY, lease=longer, updated_at=NOW + timedelta(minutes=40)),
        replace(READY, lease=longer, state=State.ENDING, tombstone=stone, updated_at=NOW + timedelta(minutes=50)),
    ]
    entries: list[Entry | UnreadableEntry] = [Entry(each, f"{number}" * 40) for number, each in enumerate(steps, 1)]
    return [*entries[:4], UnreadableEntry(CLAIMED.name, "8" * 40, "it holds no record"), *entries[4:]]


def _hostile() -> EnvironmentRecord:
    return replace(
        READY, name=HOSTILE, requester=Requester(FORMULA), profile=HOSTILE, sha=HOSTILE, run_id=HOSTILE, cloud=HOSTILE,
        region=FORMULA, accelerator=HOSTILE, failure=HOSTILE, packages=(HOSTILE,), name_on_cloud=HOSTILE,
    )  # fmt: skip


def ledger_texts() -> Mapping[str, str]:
    """Return every output by the name of its golden."""
    versions = _versions()
    hostile = Found("github", Survey((Entry(_hostile(), HOSTILE), UnreadableEntry(HOSTILE, HOSTILE, HOSTILE))))
    told = [Entry(CLAIMED, "1" * 40), Entry(_hostile(), HOSTILE), UnreadableEntry(HOSTILE, HOSTILE, HOSTILE)]
    return {
        "list.txt": list_text((EMPTY, FOUND), 0, PLAIN, NOW),
        "list_narrow.txt": list_text((FOUND,), 0, Screen(60, has_unicode=False), NOW),
        "list_silent.txt": list_text((EMPTY,), 1, PLAIN, NOW),
        "list_hostile.txt": list_text((hostile,), 0, PLAIN, NOW),
        "list.csv": records_csv((EMPTY, FOUND)),
        "list_hostile.csv": records_csv((hostile,)),
        "versions.txt": versions_text(FOUND, READY.name, versions, PLAIN, NOW),
        "versions_hostile.txt": versions_text(hostile, HOSTILE, told, PLAIN, NOW),
        "versions.csv": versions_csv("github", versions),
        "versions_hostile.csv": versions_csv("github", told),
    }
