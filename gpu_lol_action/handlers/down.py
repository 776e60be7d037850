"""``down`` and the closing of a pull request: tombstone first, then the end, then the certificate."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.environment import Tombstone
from gpu_lol_action.domain.ledger import Entry, UnreadableEntry
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Deny, Outcome, PullRequestClosed
from gpu_lol_action.domain.surfaces import DeploymentState
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.open_machines import (
    deny_beside,
    entries_of,
    is_of,
    labels_of,
    meant_of,
    open_entries,
    unknown_machine,
)
from gpu_lol_action.handlers.surfaces import move_deployment
from gpu_lol_action.handlers.teardown import Ended, Unproven, end_environment, write_tombstone
from gpu_lol_action.render import comments


def mark_down(context: Context, order: Order) -> bool:
    """Write the tombstones of this order at once, before anything heavy is loaded.

    Returns whether there is anything to end: only then is the cloud needed.
    """
    entries = meant_of(order, entries_of(context, order))
    if _is_ambiguous(order, entries):
        # Nothing is marked by guessing; what was marked before still has to end.
        return bool(_buried(entries))
    return _bury(context, entries, Tombstone(order.requester.login, "down", context.clock.now()))


def handle_down(context: Context, order: Order) -> Outcome:
    """End this pull request's machine (``--all``: machines) and post one certificate for each."""
    running = entries_of(context, order)
    entries = meant_of(order, running)
    if running and not entries:
        return deny_beside(context, order, unknown_machine(order, running, "down"), running)
    if not entries:
        body = comments.nothing_to_tear_down(
            now=context.clock.now(), pull_request=order.pull_request_number, reply_to=order.reply_to
        )
        answers.reply(context, order.pull_request.number, body)
        return Outcome("done", "nothing_to_tear_down", text=body)
    if _is_ambiguous(order, entries):
        # What the light step has marked already is meant, whatever was claimed since.
        buried = _buried(entries)
        if not buried:
            return _ask_which(context, order, entries)
        entries = list(buried)
    tombstone = Tombstone(order.requester.login, "down", context.clock.now())
    return end_all(context, entries, tombstone, order.policy, order.pull_request.number)


def mark_closed(context: Context, event: PullRequestClosed) -> bool:
    """Write the tombstones of a closed pull request at once; return whether there is anything to end."""
    return _bury(context, _entries_closed(context, event), _closing(context, event))


def _bury(context: Context, entries: Sequence[Entry | UnreadableEntry], tombstone: Tombstone) -> bool:
    """Write what tombstones can be written; the step with the cloud writes the others, or says why it cannot."""
    for entry in entries:
        if isinstance(entry, UnreadableEntry):
            continue
        try:
            write_tombstone(context, entry, tombstone)
        except GpuLolError as error:
            context.progress.line(f"no tombstone for {entry.record.name} yet: {error.explanation.what}")
    return bool(entries)


def _closing(context: Context, event: PullRequestClosed) -> Tombstone:
    reason = "pull_request_merged" if event.pull_request.is_merged else "pull_request_closed"
    return Tombstone(event.actor.login, reason, context.clock.now())


def handle_closed(context: Context, event: PullRequestClosed, policy: Policy) -> Outcome:
    """End every machine of a pull request that was closed or merged."""
    entries = _entries_closed(context, event)
    if not entries:
        return Outcome("ignored", "nothing_to_tear_down")
    return end_all(context, entries, _closing(context, event), policy, event.pull_request.number)


def end_all(
    context: Context,
    entries: Sequence[Entry | UnreadableEntry],
    tombstone: Tombstone,
    policy: Policy,
    number: int,
) -> Outcome:
    """End each environment and say so; an end that is not proven makes the outcome a failure."""
    texts, is_proven = [], True
    unreadable = [entry.name for entry in entries if isinstance(entry, UnreadableEntry)]
    if unreadable:
        is_proven = False
        body = comments.status(entries=[], unreadable=unreadable, now=context.clock.now())
        texts.append(body)
        answers.reply(context, number, body)
    for entry in entries:
        if isinstance(entry, UnreadableEntry):
            continue
        end = _end(context, entry, tombstone, policy)
        is_proven = is_proven and isinstance(end, Ended)
        body = answers.certificate(context, end, policy)
        texts.append(body)
        answers.reply(context, number, body)
        answers.edit(context, end.entry.record.status_comment_id, _epitaph(context, end))
        if isinstance(end, Ended):
            move_deployment(context, end.entry.record, DeploymentState.INACTIVE)
    if is_proven:
        return Outcome("done", "torn_down", text="\n\n".join(texts))
    return Outcome("failed", "teardown_unproven", text="\n\n".join(texts))


def _end(context: Context, entry: Entry, tombstone: Tombstone, policy: Policy) -> Ended | Unproven:
    """End one environment; an error about this one must not keep the next from being ended."""
    try:
        return end_environment(context, entry, tombstone, policy)
    except GpuLolError as error:
        return Unproven(entry, error.explanation.what)
    except Exception as error:  # noqa: BLE001  our bug: the next machine costs money all the same
        context.progress.failure(error)
        return Unproven(entry, "gpu-lol failed on a fault of its own while ending it")


def _epitaph(context: Context, end: Ended | Unproven) -> str:
    """What the environment's own comment says from now on."""
    return comments.ending(record=end.entry.record, now=context.clock.now())


def _entries_closed(context: Context, event: PullRequestClosed) -> list[Entry | UnreadableEntry]:
    return [e for e in open_entries(context) if is_of(e, event.repository, event.pull_request.number)]


def _buried(entries: Sequence[Entry | UnreadableEntry]) -> list[Entry]:
    return [e for e in entries if isinstance(e, Entry) and e.record.tombstone is not None]


def _is_ambiguous(order: Order, entries: Sequence[Entry | UnreadableEntry]) -> bool:
    # Of records that cannot be read none is ended, and all are told.
    return len(entries) > 1 and not order.command.is_all and any(isinstance(entry, Entry) for entry in entries)


def _ask_which(context: Context, order: Order, entries: Sequence[Entry | UnreadableEntry]) -> Outcome:
    """Say what runs, where a command could mean more than one machine; nothing is ended by guessing."""
    denial = Deny(
        "several_environments",
        f"{len(entries)} machines run here",
        f"they are called {labels_of(entries)}.",
        "/gpu-lol down --all",
    )
    return deny_beside(context, order, denial, entries)
