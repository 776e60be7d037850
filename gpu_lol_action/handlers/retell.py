"""Say what a run that died could not say any more: a certificate, SSH details, or that a comment "in progress" is over.

Comments are views of the ledger: what the record says and no comment does is posted anew, by whoever sweeps next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from gpu_lol_action.domain.environment import EnvironmentRecord, State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Posted
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.teardown import Ended
from gpu_lol_action.launch.code import folder_name
from gpu_lol_action.pricing.budget import sweep_gap, worst_case
from gpu_lol_action.render import comments
from gpu_lol_action.render.marker import COMMENT_PREFIX, parse_marker

OVERLAP = timedelta(hours=1)
"""A sweep that ran while a record was closed may not have seen it."""
EVER_UNSWEPT = timedelta(hours=26)
HAND_OVER_TIME = timedelta(minutes=10)
"""A run that is still about to say that its machine is ready gets this long."""
_OVER = frozenset({State.CLOSED.value, State.FAILED.value})


def retell(context: Context, entries: Sequence[Entry], policy: Policy, last_sweep: datetime | None) -> list[str]:
    """Post what is missing and return the names of the environments of which something was said late."""
    now = context.clock.now()
    since = min(last_sweep or now, now) - (OVERLAP if last_sweep else EVER_UNSWEPT)
    told = []
    for entry in entries:
        record = entry.record
        is_over = record.closed_at is not None and record.closed_at >= since and not record.is_open
        # What was ready long before the last sweep has been looked at by that one.
        is_ready = (
            record.state is State.READY
            and record.ready_at is not None
            and since - HAND_OVER_TIME <= record.ready_at <= now - HAND_OVER_TIME
        )
        if record.pull_request is None or not (is_over or is_ready):
            continue
        try:
            if _retell_one(context, entry, policy, last_sweep):
                told.append(record.name)
        except GpuLolError as error:
            context.progress.line(f"comments of {record.name} could not be looked at: {error.explanation.what}")
    return told


def _retell_one(context: Context, entry: Entry, policy: Policy, last_sweep: datetime | None) -> bool:
    record, number = entry.record, entry.record.pull_request or 0
    ours = {posted.comment_id: posted for posted in context.forge.find_comments(number, COMMENT_PREFIX)}
    moments = [values for values in map(_moment, ours.values()) if values.get("run") == record.run_id]
    if record.is_open:
        if any(values.get("state") == State.READY.value for values in moments):
            return False
        answers.reply(context, number, _ready(context, record, policy, last_sweep))
        return True
    is_certified = any(values.get("state") in _OVER and "of" not in values for values in moments)
    if not is_certified:
        answers.reply(context, number, answers.certificate(context, Ended(entry), policy))
    shown = ours.get(record.status_comment_id or 0)
    is_stale = shown is not None and _moment(shown).get("state") not in _OVER
    if is_stale:
        answers.edit(context, record.status_comment_id, comments.ending(record=record, now=context.clock.now()))
    return is_stale or not is_certified


def _moment(posted: Posted) -> Mapping[str, str]:
    """Return what an environment's comment is about: its state, its run; nothing for another comment."""
    marker = parse_marker(posted.body)
    return marker.values if marker is not None and marker.kind == "environment" else {}


def _ready(context: Context, record: EnvironmentRecord, policy: Policy, last_sweep: datetime | None) -> str:
    price = record.price_usd_per_hour or policy.max_price_usd_per_hour
    now = context.clock.now()
    return comments.ready(
        record=record,
        policy=policy,
        now=now,
        worst_case_at=worst_case(price, record.lease, policy, sweep_gap(last_sweep, policy, now)).ends_by,
        repository_name=folder_name(record.repository),
        head_ref=context.forge.pull_request(record.pull_request or 0).head_ref,
    )
