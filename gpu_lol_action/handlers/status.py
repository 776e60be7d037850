"""``status`` and ``help``: answers that cost nothing and load nothing heavy."""

from __future__ import annotations

import re
from datetime import timedelta

from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.environment import EnvironmentRecord, State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.errors import Door, GpuLolError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.render import comments
from gpu_lol_action.render.marker import marker_prefix, parse_marker

_NUMBER = re.compile(r"[0-9]{1,9}")
_NOT_TOLD = re.compile(r"\[[A-Za-z/ ]{1,60}\]")
# nvidia-smi(1): with 14 it warns of a damaged infoROM, and has answered all the same.
_ANSWERED = (0, 14)
GPU_USE_TIMEOUT = timedelta(seconds=10)
GPU_USE_SCRIPT = "nvidia-smi --query-gpu=utilization.gpu,memory.used,memory.total --format=csv,noheader,nounits"


def handle_status(context: Context, order: Order) -> Outcome:
    """Say what runs for this pull request: state, age, time left, cost so far, GPU use."""
    records, unreadable = [], []
    for entry in context.ledger.survey().entries:
        if not isinstance(entry, Entry):
            unreadable.append(entry.name)
        elif entry.record.is_open and entry.record.pull_request == order.pull_request_number:
            records.append(entry.record)
    body = comments.status(
        entries=records,
        unreadable=unreadable,
        now=context.clock.now(),
        gpu_use={r.name: use for r in records if (use := _gpu_use(context, r))},
        reply_to=order.reply_to,
    )
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "status_shown", text=body)


def handle_help(context: Context, order: Order) -> Outcome:
    """List the commands from the table, or explain one."""
    door = DoorKind.COMMENT if context.settings.door is Door.JOB else DoorKind.TERMINAL
    running = [r for r in answers.open_records(context) if r.pull_request == order.pull_request_number]
    body = comments.help(
        topic=order.command.topic,
        open_records=running,
        now=context.clock.now(),
        policy=order.policy,
        door=door,
        reply_to=order.reply_to,
    )
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "help_shown", text=body)


def was_helped(context: Context, number: int) -> bool:
    """Whether the commands stand on this pull request already: a stranger cannot make us post them again and again."""
    ours = context.forge.find_comments(number, marker_prefix("reply", pr=number))
    markers = (parse_marker(posted.body) for posted in ours)
    return any(marker is not None and marker.values.get("what") == "help" for marker in markers)


def _gpu_use(context: Context, record: EnvironmentRecord) -> str:
    """Return what is told of utilization and memory of the first GPU, or nothing where it cannot be asked quickly."""
    if record.state is not State.READY or record.ssh is None or not context.settings.clouds:
        return ""
    try:
        output = context.shell().run(record.ssh, GPU_USE_SCRIPT, timeout=GPU_USE_TIMEOUT)
    except GpuLolError:
        return ""
    rows = [row.strip().split(", ") for row in output.stdout.splitlines() if row.count(", ") == 2]
    if output.exit_code not in _ANSWERED or not rows:
        return ""
    if not all(_NUMBER.fullmatch(cell) or _NOT_TOLD.fullmatch(cell) for cell in rows[0]):
        return ""
    use, used, total = rows[0]
    said = [f"{use} %"] if _NUMBER.fullmatch(use) else []
    if _NUMBER.fullmatch(used) and _NUMBER.fullmatch(total):
        said.append(f"{int(used) / 1024:.1f} of {int(total) / 1024:.1f} GiB")
    return ", ".join(said)
