"""Which machine a command is about: the one that runs here, or the one that is named; nothing is done by guessing."""

from __future__ import annotations

from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint, State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Deny, Outcome
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.open_machines import (
    deny_beside,
    entries_of,
    labels_of,
    meant_of,
    unknown_machine,
    with_profile,
    words_of,
)


def machine_meant(context: Context, order: Order, example: str) -> Entry | Deny:
    """Return the one open environment that is meant. ``example`` is the command as it would be given, without profile."""
    running = entries_of(context, order)
    entries = meant_of(order, running)
    found = [entry for entry in entries if isinstance(entry, Entry)]
    if len(found) > 1:
        ready = [entry for entry in found if entry.record.state is State.READY]
        return Deny(
            "several_environments",
            f"{len(found)} machines run here",
            f"they are called {labels_of(found)}.",
            with_profile(example, words_of(ready)),
        )
    if found:
        return found[0]
    if entries:
        return Deny("record_held", "its record cannot be read", "it counts as running until it can.", "/gpu-lol status")
    if running:
        return unknown_machine(order, running, example)
    return Deny("nothing_running", "no machine runs here", "it is rented by `up`.", "/gpu-lol up")


def ready_machine(context: Context, order: Order, example: str) -> tuple[Entry, SshEndpoint] | Deny:
    """Return the machine that is meant with its address, where it is ready and its lease is not over."""
    entry = machine_meant(context, order, example)
    if isinstance(entry, Deny):
        return entry
    record = entry.record
    if record.state is State.READY and record.ssh is not None and not record.lease.is_over(context.clock.now()):
        return entry, record.ssh
    if record.state is State.READY and record.sealed_ssh and record.ssh is None:
        return Deny(
            "not_ready",
            f"the address of `{record.name}` cannot be read",
            "it is encrypted to the key that belonged to the cloud's key when it was rented. Its requester can still log in.",
            "/gpu-lol down",
        )
    state = "its lease is over" if record.state is State.READY else f"it is {record.state.value}"
    return Deny("not_ready", f"`{record.name}` cannot be used", f"{state}.", "/gpu-lol status")


def deny_meant(context: Context, order: Order, denial: Deny) -> Outcome:
    """Answer that it cannot be told which machine is meant, or that it cannot be used; what runs is still billing."""
    return deny_beside(context, order, denial, entries_of(context, order))


def may_log_in(record: EnvironmentRecord, login: str) -> bool:
    """Whether somebody's keys are on the machine; GitHub tells no case apart in logins."""
    return login.lower() in {each.lower() for each in (record.requester.login, *record.shared)}
