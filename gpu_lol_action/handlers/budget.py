"""``budget``: what the month has cost and may still cost, from the ledger alone."""

from __future__ import annotations

import json

from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.pricing.month import MonthReport, month_report
from gpu_lol_action.render import comments
from gpu_lol_action.render.views_budget import budget_json


def handle_budget(context: Context, order: Order) -> Outcome:
    """Say what this month has cost by person and pull request, and what running machines may still cost."""
    body = comments.budget(_report(context, order), now=context.clock.now(), reply_to=order.reply_to)
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "budget_shown", text=body)


def describe_budget(context: Context, order: Order) -> str:
    """Return the same as JSON."""
    return json.dumps(budget_json(_report(context, order)), indent=2, ensure_ascii=False)


def _report(context: Context, order: Order) -> MonthReport:
    return month_report(context.ledger.survey(), order.policy, context.clock.now())
