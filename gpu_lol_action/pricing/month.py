"""The month by person and by pull request: who has spent what, and what running machines may still cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.ledger import Survey, UnreadableEntry
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.pricing.budget import Spending, month_start, spending

UNNAMED = ""
"""Whose bill does not say for whom: one of an older version, or of a record that cannot be read now."""


@dataclass(frozen=True, slots=True)
class Share:
    """One person's or one pull request's part. ``key`` is a login, a number as text, or ``UNNAMED``."""

    key: str
    spent_usd: Decimal
    promised_usd: Decimal
    running: int


@dataclass(frozen=True, slots=True)
class MonthReport:
    """What was spent since ``since`` and is promised; shares add up to it, the largest first."""

    since: datetime
    total: Spending
    people: tuple[Share, ...]
    pull_requests: tuple[Share, ...]
    running: tuple[EnvironmentRecord, ...]
    unreadable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    login: str
    place: str
    spent_usd: Decimal
    promised_usd: Decimal
    running: int


def month_report(survey: Survey, policy: Policy, now: datetime) -> MonthReport:
    """Return the month so far. Bills count in the month in which they were closed, running machines in this one."""
    since = month_start(now)
    total = spending(survey.bills_usd(since), survey.open_records, policy, now)
    parts = [*_billed(survey, since), *_running(survey, policy, now)]
    return MonthReport(
        since=since,
        total=total,
        people=_shares(parts, by_login=True),
        pull_requests=_shares(parts, by_login=False),
        running=survey.open_records,
        unreadable=tuple(entry.name for entry in survey.entries if isinstance(entry, UnreadableEntry)),
    )


def _billed(survey: Survey, since: datetime) -> Iterator[_Part]:
    newest = {record.name: record for record in survey.records}
    for name, bills in survey.bills.items():
        record = newest.get(name)
        for bill in bills:
            if bill.closed_at < since:
                continue
            is_newest = record is not None and record.claimed_at == bill.claimed_at
            login = bill.login or (record.requester.login if record is not None and is_newest else UNNAMED)
            yield _Part(login, _place(record), bill.usd, Decimal("0.00"), 0)


def _running(survey: Survey, policy: Policy, now: datetime) -> Iterator[_Part]:
    for record in survey.open_records:
        alone = spending(Decimal("0.00"), [record], policy, now)
        yield _Part(record.requester.login, _place(record), alone.month_usd, alone.committed_usd, 1)


def _place(record: EnvironmentRecord | None) -> str:
    return UNNAMED if record is None else str(record.pull_request or "terminal")


def _shares(parts: list[_Part], *, by_login: bool) -> tuple[Share, ...]:
    keys = dict.fromkeys(part.login if by_login else part.place for part in parts)
    shares = [_share(key, [part for part in parts if (part.login if by_login else part.place) == key]) for key in keys]
    return tuple(sorted(shares, key=lambda share: (-share.spent_usd - share.promised_usd, share.key)))


def _share(key: str, parts: list[_Part]) -> Share:
    zero = Decimal("0.00")
    return Share(
        key,
        sum((part.spent_usd for part in parts), zero),
        sum((part.promised_usd for part in parts), zero),
        sum(part.running for part in parts),
    )
