"""``extend``: more time for a machine, in the ledger first and then on the machine, or not at all."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.domain.environment import EnvironmentRecord, Lease
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Deny, Outcome
from gpu_lol_action.errors import LostRace, OperatorError, TransientError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.meant import deny_meant, machine_meant
from gpu_lol_action.handlers.refuse import deny
from gpu_lol_action.handlers.teardown import MAX_WRITE_TRIES, reread
from gpu_lol_action.handlers.tell_machine import tell_lease
from gpu_lol_action.intake.extension import ExtensionFacts, check_second_person, decide_extension, is_dear
from gpu_lol_action.intake.spending_gates import SpendingFacts
from gpu_lol_action.pricing.budget import month_start, spending, sweep_gap, worst_case
from gpu_lol_action.render import comments

DEFAULT_EXTENSION = timedelta(hours=1)


def handle_extend(context: Context, order: Order) -> Outcome:
    """Give the pull request's machine more time and say until when, and at what cost."""
    entry = machine_meant(context, order, "extend 1h")
    if isinstance(entry, Deny):
        return deny_meant(context, order, entry)
    extra = order.command.lease or DEFAULT_EXTENSION
    if is_dear(entry.record, order.policy):
        role = context.forge.role(order.requester.login)
        refused = check_second_person(entry.record, order.requester, role, order.policy)
        if isinstance(refused, Deny):
            return deny(context, order, refused, entry.record)
    for _ in range(MAX_WRITE_TRIES):
        lease = decide_extension(_facts(context, order, entry.record, extra))
        if isinstance(lease, Deny):
            return deny(context, order, lease, entry.record)
        try:
            return _grant(context, order, entry, lease)
        except LostRace:
            entry = reread(context, entry)  # decided anew: it may be ending by now
    raise TransientError(
        "record_contended",
        f"the record of {entry.record.name} changes faster than it can be written",
        fix=order.command.line,
    )


def _grant(context: Context, order: Order, entry: Entry, lease: Lease) -> Outcome:
    before = entry.record
    entry = _write(context, entry, lease)
    try:
        why = tell_lease(context, before, lease, order.policy)
    except OperatorError:
        _write(context, entry, before.lease)
        raise
    if why is not None:
        # Its own timer would end it at the old time, in spite of what the comment said.
        _write(context, entry, before.lease)
        raise TransientError(
            "machine_not_told",
            "The lease was not extended: the machine could not be told.",
            why=why,
            fix=order.command.line,
        )
    now = context.clock.now()
    gap = sweep_gap(context.ledger.last_sweep(), order.policy, now)
    price = before.price_usd_per_hour
    worst = worst_case(price, lease, order.policy, gap) if price else None
    body = comments.extended(
        record=entry.record,
        before=before.lease,
        worst_case_at=worst.ends_by if worst else None,
        now=now,
        reply_to=order.reply_to,
    )
    answers.reply(context, order.pull_request.number, body)
    shown = comments.status(entries=[entry.record], unreadable=[], now=now, gpu_use={})
    answers.edit(context, entry.record.status_comment_id, shown)
    return Outcome("done", "extended", {"environment": entry.record.name}, text=body)


def _write(context: Context, entry: Entry, lease: Lease) -> Entry:
    changed = dataclasses.replace(entry.record, lease=lease, updated_at=context.clock.now())
    return context.ledger.update(entry, changed)


def _facts(context: Context, order: Order, record: EnvironmentRecord, extra: timedelta) -> ExtensionFacts:
    now = context.clock.now()
    survey = context.ledger.survey()
    records, open_records = survey.records, survey.open_records
    month = spending(survey.bills_usd(month_start(now)), open_records, order.policy, now)
    price = record.price_usd_per_hour
    spending_facts = SpendingFacts(
        requester=order.requester,
        price_usd_per_hour=price or order.policy.max_price_usd_per_hour,
        lease=extra,
        worst_case_usd=cost_usd(price or order.policy.max_price_usd_per_hour, extra),
        month_usd=month.month_usd + month.committed_usd,
        open_records=open_records,
        unreadable=len(survey.entries) - len(records),
        last_sweep=survey.swept_at,
        oldest_claim=min((each.claimed_at for each in records), default=None),
        now=now,
        policy=order.policy,
    )
    return ExtensionFacts(record, extra, spending_facts)
