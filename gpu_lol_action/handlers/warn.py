"""Tell a requester that a machine's end comes near: once for each end, also where the ledger was in the way."""

from __future__ import annotations

import dataclasses

from gpu_lol_action.domain.environment import Warned
from gpu_lol_action.domain.leases import Warn
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.errors import LostRace
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.render import comments


def warn_requester(context: Context, entry: Entry, due: Warn, look: Look | None) -> None:
    """Write down that the warning is given, then give it: a new comment, because an edit notifies nobody."""
    now = context.clock.now()
    warned = Warned(due.of, due.ends_at, now)
    try:
        entry = context.ledger.update(entry, dataclasses.replace(entry.record, warned=warned, updated_at=now))
    except LostRace:
        return  # extended, ended or warned by somebody else meanwhile: the next sweep decides anew
    if entry.record.pull_request is None:
        return
    body = comments.warning(record=entry.record, due=due, look=look, now=now)
    answers.reply(context, entry.record.pull_request, body)
