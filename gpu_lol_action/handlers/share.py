"""``share`` and ``unshare``: one more person's keys on the machine, or none of theirs; nobody else's change."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Deny, Outcome
from gpu_lol_action.errors import GpuLolError, LostRace, OperatorError, TransientError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.meant import deny_meant, may_log_in, ready_machine
from gpu_lol_action.handlers.refuse import deny
from gpu_lol_action.handlers.seal import seal_login
from gpu_lol_action.handlers.teardown import MAX_WRITE_TRIES, reread
from gpu_lol_action.launch.access import (
    PublicKey,
    build_share_script,
    decide_access,
    decide_readers,
    parse_access_output,
)
from gpu_lol_action.render import comments

Change = Callable[[tuple[str, ...]], tuple[str, ...]]


def handle_share(context: Context, order: Order) -> Outcome:
    """Put a user's keys on the machine: in the record first, so that none is there that the record does not name."""
    login = order.command.share[0]
    meant = ready_machine(context, order, f"share @{login}")
    if isinstance(meant, Deny):
        return deny_meant(context, order, meant)
    entry, endpoint = meant
    record = entry.record
    refused = _may_share(record, order, login)
    if refused is not None:
        return deny(context, order, refused, record)
    login = _spelled(record, login)
    access = decide_access({login: context.forge.ssh_keys(login)})
    if isinstance(access, Deny):
        return deny(context, order, access, record)
    readers = decide_readers(access, [login]) if record.is_ssh_sealed else None
    if isinstance(readers, Deny):
        return deny(context, order, readers, record)
    sealed = seal_login(context, record, record.repository, readers)
    added = _write(context, entry, lambda shared: (*(each for each in shared if each != login), login))
    if isinstance(added, Deny):
        return deny(context, order, added, record)
    try:
        why = _set_keys(context, endpoint, login, access.keys)
    except OperatorError:
        _take_back(context, added, record, login)
        raise
    if why is not None:
        _take_back(context, added, record, login)
        raise _not_installed(order, login, why)
    body = comments.shared(
        record=added.record,
        login=login,
        keys=len(access.keys),
        refused=[each.why for each in access.refused],
        now=context.clock.now(),
        reply_to=order.reply_to,
        sealed=sealed,
    )
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "shared", {"environment": record.name}, text=body)


def _take_back(context: Context, added: Entry, before: EnvironmentRecord, login: str) -> None:
    """Take a name out of the record again whose keys did not reach the machine."""
    if login not in before.shared:
        _write(context, added, lambda shared: tuple(each for each in shared if each != login))


def handle_unshare(context: Context, order: Order) -> Outcome:
    """Take a user's keys from the machine: there first, so that the record never hides a key that still opens it."""
    login = order.command.share[0]
    meant = ready_machine(context, order, f"unshare @{login}")
    if isinstance(meant, Deny):
        return deny_meant(context, order, meant)
    entry, endpoint = meant
    record = entry.record
    login = _spelled(record, login)
    if login not in record.shared:
        return deny(context, order, _not_shared(record, login), record)
    why = _set_keys(context, endpoint, login, ())
    if why is not None:
        raise _not_installed(order, login, why)
    removed = _write(context, entry, lambda shared: tuple(each for each in shared if each != login))
    record = removed.record if isinstance(removed, Entry) else record
    body = comments.unshared(record=record, login=login, now=context.clock.now(), reply_to=order.reply_to)
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "unshared", {"environment": record.name}, text=body)


def _may_share(record: EnvironmentRecord, order: Order, login: str) -> Deny | None:
    """Refuse whoever has no key there: otherwise anybody with write access could open somebody else's session."""
    if login.lower() == record.requester.login.lower():
        return Deny("already_shared", f"`{record.name}` is theirs", "the requester's keys are on it from the start.")
    if may_log_in(record, order.requester.login):
        return None
    return Deny(
        "not_on_machine",
        f"only who can log in to `{record.name}` lets others in",
        f"these are its requester `{record.requester.login}` and whom it is shared with.",
        f"`{record.requester.login}` gives this command.",
    )


def _not_shared(record: EnvironmentRecord, login: str) -> Deny:
    if login.lower() == record.requester.login.lower():
        return Deny(
            "not_shared", "the requester's own keys stay", "who rented a machine can always reach it.", "/gpu-lol down"
        )
    names = ", ".join(f"`{each}`" for each in record.shared) or "nobody"
    return Deny("not_shared", f"`{record.name}` is not shared with `{login}`", f"it is shared with {names}.")


def _spelled(record: EnvironmentRecord, login: str) -> str:
    """Return the login as the record has it: the machine's lines are found by that."""
    return next((each for each in record.shared if each.lower() == login.lower()), login)


def _set_keys(context: Context, endpoint: SshEndpoint, login: str, keys: Sequence[PublicKey]) -> str | None:
    """Make these the person's keys on the machine; return None when they are, else why not."""
    nonce = secrets.token_hex(16)
    try:
        output = context.shell().run(endpoint, build_share_script(login, keys, nonce))
    except OperatorError:
        raise  # it refuses our key, or shows another host key: trying again cannot help
    except GpuLolError as error:
        return error.explanation.what
    why = parse_access_output(output.stdout, nonce)
    return None if why is None else context.redact(why)


def _write(context: Context, entry: Entry, change: Change) -> Entry | Deny:
    """Change whom the record names, whatever else changes meanwhile; a machine that is ending is left alone."""
    for _ in range(MAX_WRITE_TRIES):
        record = entry.record
        if not record.is_open or record.tombstone is not None:
            return Deny("not_ready", f"`{record.name}` cannot be used", "its end was asked for.", "/gpu-lol status")
        changed = replace(record, shared=change(record.shared), updated_at=context.clock.now())
        try:
            return context.ledger.update(entry, changed)
        except LostRace:
            entry = reread(context, entry)
    raise TransientError(
        "record_contended",
        f"the record of {entry.record.name} changes faster than it can be written",
        fix="Give the command again.",
    )


def _not_installed(order: Order, login: str, why: str) -> TransientError:
    what = f"The keys of `{login}` on the machine were not changed."
    return TransientError("access_not_installed", what, why=why, fix=order.command.line)
