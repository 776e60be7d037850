"""The month's spending in the goldens' story: two people, three pull requests, one machine that runs, and its hostile twin."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, Requester, State
from gpu_lol_action.domain.environment_json import ClosedBill
from gpu_lol_action.domain.ledger import Entry, Survey, UnreadableEntry
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.pricing.month import month_report
from gpu_lol_action.render import comments
from gpu_lol_action.render.comments import ReplyTo


def budget_text(
    now: datetime, reply_to: ReplyTo | None, text: str = "", limit: str = "50", *, is_empty: bool = False
) -> str:
    """The answer to ``budget``; with a text, as if it stood wherever others write."""
    survey = Survey() if is_empty else _survey(now, text)
    return comments.budget(month_report(survey, Policy(month_usd=Decimal(limit)), now), now=now, reply_to=reply_to)


def _survey(now: datetime, text: str) -> Survey:
    running = _record(now, 128, text or "ada", State.READY)
    closed = [_record(now, 97, text or "grace", State.CLOSED), _record(now, 101, "linus", State.FAILED)]
    bills = {
        "gl-a-128": (_bill(now, "1.10", "ada"), _bill(now, "0.32", "")),
        "gl-a-97": (_bill(now, "7.35", text or "grace"), _bill(now, "3.10", "ada")),
        "gl-a-101": (_bill(now, "0.04", "linus"), _bill(now - timedelta(days=60), "40.00", "linus")),
    }
    entries: list[Entry | UnreadableEntry] = [Entry(record, "1" * 40) for record in (running, *closed)]
    if text:
        entries.append(UnreadableEntry(text, text, text))
    return Survey(tuple(entries), {text or name: each for name, each in bills.items()} if text else bills, now)


def _bill(now: datetime, usd: str, login: str) -> ClosedBill:
    return ClosedBill(now - timedelta(hours=30), now - timedelta(hours=28), Decimal(usd), login)


def _record(now: datetime, number: int, login: str, state: State) -> EnvironmentRecord:
    return EnvironmentRecord(
        name=f"gl-a-{number}",
        state=state,
        repository="acme/qwen-sft",
        repository_id=123456,
        pull_request=number,
        profile="",
        sha="a" * 40,
        requester=Requester(login, 42),
        run_id="9001",
        claimed_at=now - timedelta(minutes=40),
        lease=Lease(now - timedelta(minutes=40), now + timedelta(minutes=80)),
        updated_at=now,
        user_hash="1a2b3c4d",
        cloud="runpod",
        price_usd_per_hour=Decimal("1.59"),
        launch_asked_at=now - timedelta(minutes=38),
    )
