"""The case of an `up` that waits for a second person, plain and with hostile text in every field that could hold any."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.confirmation import Request
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.pricing.budget import WorstCase
from gpu_lol_action.render.confirmations import AwaitingCase, awaiting
from gpu_lol_action.render.views import ReplyTo

POLICY = Policy(max_price_usd_per_hour=Decimal(9))


def awaiting_text(best: Candidate, now: datetime, reply_to: ReplyTo, text: str = "") -> str:
    """Return the answer; ``text`` stands wherever a stranger's words could."""
    line = text or "/gpu-lol up --gpu A100-80GB:4 --hours 3"
    four = replace(best.offer, accelerator_count=4)
    best = replace(best, offer=four, price_usd_per_hour=Decimal("6.36"), lease_usd=Decimal("19.08"))
    case = AwaitingCase(
        request=Request(123456, 128, 2211, 7, line).name,
        requester=text or "ada",
        sha=text or "4f1d0c2a" * 5,
        best=best,
        lease=timedelta(hours=3),
        worst=WorstCase(now + timedelta(hours=4, minutes=7), Decimal("26.21")),
        policy=POLICY,
        command_line=line,
        now=now,
        diff_url=f"https://github.com/acme/qwen-sft/compare/{text or 'b' * 40}...{text or '4f1d0c2a' * 5}",
    )
    return awaiting(case, reply_to=reply_to)
