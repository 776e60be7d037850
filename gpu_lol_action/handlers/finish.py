"""What is left to do where the job that acts died: end what it began, answer what it never answered.

A job that was cancelled, timed out, lost its runner, or lost its place in the queue ends without the last word. The
ledger has what it began: its claim, and the tombstones that the light step wrote for it. Nothing here rests on what
the dead job handed on but one fact, that it is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from gpu_lol_action.domain.environment import EnvironmentRecord, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command, CommentCreated, Event, Outcome, PullRequestLabeled, Scheduled
from gpu_lol_action.errors import Explanation, GpuLolError, LostRace
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.down import end_all
from gpu_lol_action.handlers.obey import DEFERRED
from gpu_lol_action.handlers.smoke_book import close_lost
from gpu_lol_action.handlers.surfaces import take_label_off
from gpu_lol_action.handlers.teardown import (
    MAX_WRITE_TRIES,
    bury_as_read,
    mark_launcher_stopped,
    reread,
    write_tombstone,
)
from gpu_lol_action.intake.label_gate import read_label
from gpu_lol_action.intake.parser import parse_comment
from gpu_lol_action.render import comments
from gpu_lol_action.render.views import ReplyTo

OTHERS_PATIENCE = timedelta(minutes=3)
"""How long another run may take over the end of a machine that was to end anyway; two of them would post two bills."""

OTHERS_POLL = timedelta(seconds=10)
FINISHER = "the finishing job"
_IN_FLIGHT = (State.CLAIMED, State.LAUNCHING, State.VALIDATING)


@dataclass(frozen=True, slots=True)
class DeadJob:
    """What is known of the job that acts: what was deferred to it, and its last word (nothing where it had none)."""

    deferred: tuple[int, ...] = ()
    decision: str = ""


def tie_up(context: Context, event: Event, policy: Policy, job: DeadJob) -> Outcome:
    """Answer without the cloud: mark what has to end, and tell whose command came to nothing.

    Returns the deferred outcome where a machine has to be ended, which takes the cloud.
    """
    entries = [entry for entry in context.ledger.entries() if isinstance(entry, Entry)]
    left = [entry for entry in entries if _is_left(context, entry.record, event)]
    for entry in left:
        try:
            _bury(context, entry)
        except GpuLolError as error:
            context.progress.line(f"no tombstone for {entry.record.name} yet: {error.explanation.what}")
    told = None
    if not job.decision and not any(_is_own(context, entry.record) for entry in entries):
        told = _tell(context, event, policy, _unanswered(event, policy, job))
    if isinstance(event, Scheduled):
        close_lost(context, event.repository, lambda intent: intent.run_id == context.settings.run_id)
    if left:
        return DEFERRED
    return told or Outcome("ignored", "nothing_left_over")


def end_left_over(context: Context, event: Event, policy: Policy) -> Outcome:
    """End what the dead job began or was to end, with a certificate for each; what is not proven is red."""
    texts, is_proven = [], True
    for entry in context.ledger.entries():
        if not isinstance(entry, Entry) or not _is_left(context, entry.record, event):
            continue
        newest = _take_over(context, entry)
        if not _is_left(context, newest.record, event):
            continue  # it was ended meanwhile, or handed over
        tombstone = newest.record.tombstone or _tombstone(context)
        outcome = end_all(context, [newest], tombstone, policy, newest.record.pull_request or 0)
        texts.append(outcome.text)
        is_proven = is_proven and outcome.decision == "done"
    text = "\n\n".join(texts)
    if not is_proven:
        return Outcome("failed", "teardown_unproven", text=text)
    return Outcome("done", "left_over_ended", text=text)


def _take_over(context: Context, entry: Entry) -> Entry:
    """Return the record ready to be ended here; an error about this one must not keep the next from being ended."""
    try:
        return _bury(context, entry) if _is_own(context, entry.record) else _await_others(context, entry)
    except GpuLolError as error:
        context.progress.line(f"{entry.record.name} is ended as it was read: {error.explanation.what}")
        return entry


def _is_left(context: Context, record: EnvironmentRecord, event: Event) -> bool:
    """Whether this is the dead job's to end: its own launch, or of its pull request and marked for its end."""
    if not record.is_open:
        return False
    if _is_own(context, record):
        return record.tombstone is not None or record.state in (*_IN_FLIGHT, State.UNKNOWN)
    return record.tombstone is not None and record.pull_request == _number(event)


def _is_own(context: Context, record: EnvironmentRecord) -> bool:
    return record.run_id == context.settings.run_id


def _bury(context: Context, entry: Entry) -> Entry:
    """Write the tombstone; of this run's own launch also that it has stopped: its job is over, GitHub says."""
    if not _is_own(context, entry.record):
        return write_tombstone(context, entry, _tombstone(context))
    for _ in range(MAX_WRITE_TRIES):
        try:
            entry = bury_as_read(context, entry, _tombstone(context))
            break
        except LostRace:
            entry = reread(context, entry)
            if entry.record.state is State.READY:
                return entry  # handed over with the job's last breath, which a first look may have missed
    return mark_launcher_stopped(context, entry)


def _tombstone(context: Context) -> Tombstone:
    return Tombstone(FINISHER, "run_died", context.clock.now())


def _await_others(context: Context, entry: Entry) -> Entry:
    """Return the record closed, or as it is when another run that may be ending it has had its time."""
    deadline = context.clock.now() + OTHERS_PATIENCE
    while entry.record.is_open and context.clock.now() < deadline:
        context.clock.sleep(OTHERS_POLL)
        entry = reread(context, entry)
    return entry


def _number(event: Event) -> int | None:
    if isinstance(event, Scheduled):
        return None
    return event.pull_request_number if isinstance(event, CommentCreated) else event.pull_request.number


def _unanswered(event: Event, policy: Policy, job: DeadJob) -> list[Command]:
    """Return the commands that nobody answered, where the job had no last word and no record of its own speaks for it."""
    if isinstance(event, PullRequestLabeled):
        command = read_label(event, policy)
        return [command] if isinstance(command, Command) else []
    if not isinstance(event, CommentCreated):
        return []
    parsed = parse_comment(event.body)
    if not isinstance(parsed, Sequence):
        return []
    # Nothing deferred: then the light step itself died, and nothing of the comment was answered for certain.
    wanted = job.deferred or range(len(parsed))
    asked = [parsed[index] for index in wanted if index < len(parsed)]
    # A `down` has left its tombstone: it is carried out here, and its certificate is the answer.
    return [command for command in asked if isinstance(command, Command) and command.name != "down"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who asked, where, and what an answer refers to; ``commit`` is what a label stood for, behind a space."""

    login: str
    number: int
    reply_to: ReplyTo | None = None
    commit: str = ""


def _asked(event: Event) -> _Asked | None:
    """Return who asked for something by a comment or a label; None for a bot, and where nobody did."""
    if isinstance(event, CommentCreated) and not event.author_is_bot:
        number = event.pull_request_number
        return _Asked(event.author.login, number, ReplyTo(number, event.comment_id))
    if isinstance(event, PullRequestLabeled) and not event.actor_is_bot:
        pull_request = event.pull_request
        return _Asked(event.actor.login, pull_request.number, commit=f" {pull_request.head_sha}")
    return None


def _tell(context: Context, event: Event, policy: Policy, commands: Sequence[Command]) -> Outcome | None:
    """Tell somebody who may command that it came to nothing; who may not hears nothing here either."""
    asked = _asked(event)
    if not commands or asked is None or context.forge.role(asked.login) not in policy.roles:
        return None
    names = " and ".join(dict.fromkeys(f"`/gpu-lol {command.name}`" for command in commands))
    body = comments.failed(
        explanation=Explanation(
            what=f"{names} was not carried out.",
            why="Its job was cancelled, ran out of time, or lost its place: GitHub keeps one waiting job per queue.",
            fix=f"/gpu-lol {commands[0].name}{asked.commit}",
        ),
        reason_code="command_not_carried_out",
        log_tail="",
        record=None,
        run_url=context.settings.run_url,
        now=context.clock.now(),
        reply_to=asked.reply_to,
    )
    answers.reply(context, asked.number, body)
    if isinstance(event, PullRequestLabeled):
        take_label_off(context, asked.number, event.label)
    return Outcome("failed", "command_not_carried_out", text=body)
