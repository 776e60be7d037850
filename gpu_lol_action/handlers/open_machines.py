"""What may run for a pull request, and which of it a command means by a name; nothing else is touched, and nothing denied that runs."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.ledger import Entry, UnreadableEntry
from gpu_lol_action.domain.names import environment_name, machine_key
from gpu_lol_action.domain.request import Deny, Outcome, Repository
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.refuse import deny

DEFAULT = "default"
"""What the machine is called that has neither a project nor a profile to be called by."""


def open_entries(context: Context) -> list[Entry | UnreadableEntry]:
    """Return every record whose machine may cost money."""
    return [e for e in context.ledger.survey().entries if isinstance(e, UnreadableEntry) or e.record.is_open]


def is_of(entry: Entry | UnreadableEntry, repository: Repository, number: int) -> bool:
    """Whether a record is of this pull request; of one that cannot be read, its name tells."""
    if isinstance(entry, Entry):
        return entry.record.pull_request == (number or None)
    name = environment_name(repository.repository_id, number) if number else ""
    return bool(name) and f"{entry.name}-".startswith(f"{name}-")


def entries_of(context: Context, order: Order) -> list[Entry | UnreadableEntry]:
    """Return what may run for an order's pull request; in a terminal what its user has rented."""
    entries = [e for e in open_entries(context) if is_of(e, order.repository, order.pull_request.number)]
    if order.pull_request_number is not None:
        return entries
    return [e for e in entries if isinstance(e, Entry) and e.record.requester.login == order.requester.login]


def meant_of(order: Order, entries: Sequence[Entry | UnreadableEntry]) -> list[Entry | UnreadableEntry]:
    """Return which of them an order means: all, or what is called as it says.

    A machine is called by its whole name, else by the end of it or by its profile, where more than one may be meant. Where nothing
    that can be read is called so, each record that cannot be read may be it.
    """
    word = order.command.profile
    if order.command.is_all or not word:
        return list(entries)
    readable = [entry for entry in entries if isinstance(entry, Entry)]
    unreadable = [entry for entry in entries if isinstance(entry, UnreadableEntry)]
    whole = [entry for entry in readable if label_of(entry) == word]
    names = {_name(order, "" if word == DEFAULT else word), _name(order, machine_key(word, ""))}
    whole_unread = [entry for entry in unreadable if entry.name in names]
    if whole or whole_unread or word in order.policy.project_folders:
        return [*whole] or [*whole_unread] or [*unreadable]
    alike_names = {_name(order, machine_key(folder, word)) for folder in order.policy.project_folders}
    alike = [e for e in readable if e.record.label.endswith(f"/{word}") or e.record.profile == word]
    return [*alike, *(e for e in unreadable if e.name in alike_names)] or [*unreadable]


def label_of(entry: Entry) -> str:
    """Return what a machine is called among those of its pull request."""
    return entry.record.label or DEFAULT


def labels_of(entries: Sequence[Entry | UnreadableEntry]) -> str:
    """Return what machines are called, one after the other; of a record that cannot be read it is its own name."""
    return ", ".join(f"`{label_of(entry) if isinstance(entry, Entry) else entry.name}`" for entry in entries)


def words_of(entries: Sequence[Entry]) -> list[str]:
    """Return what machines are called, as far as a comment's command can say it."""
    return [label for label in map(label_of, entries) if " " not in label]


def unknown_machine(order: Order, entries: Sequence[Entry | UnreadableEntry], example: str) -> Deny:
    """Return what is told where something runs, but nothing that is called as an order says; ``example`` is the command without a name."""
    labels = words_of([entry for entry in entries if isinstance(entry, Entry)])
    named = f"/gpu-lol {example} {labels[0]}" if labels and example == "down" else with_profile(example, labels)
    return Deny(
        "unknown_machine",
        f"no machine here is called `{order.command.profile}`",
        f"what runs is called {labels_of(entries)}.",
        named,
    )


def with_profile(example: str, labels: Sequence[str]) -> str:
    """Return a command about the first of some machines, its name before what stands behind ``--``; where none has a name, what shows them."""
    words, dashes, behind = example.partition(" -- ")
    return f"/gpu-lol {words} --profile {labels[0]}{dashes}{behind}" if labels else "/gpu-lol status"


def deny_beside(context: Context, order: Order, denial: Deny, entries: Sequence[Entry | UnreadableEntry]) -> Outcome:
    """Refuse an order, and say what runs all the same."""
    records = [entry.record for entry in entries if isinstance(entry, Entry)]
    return deny(context, order, denial, next(iter(records), None), records[1:])


def _name(order: Order, key: str) -> str:
    number, login = order.pull_request_number, order.requester.login
    return environment_name(order.repository.repository_id, number, key, login)
