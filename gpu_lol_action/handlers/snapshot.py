"""``snapshot``: what a running machine has become, as the spec that would make it again; proposed, never just written."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from gpu_lol_action.domain.corrections import Corrections
from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint
from gpu_lol_action.domain.request import Deny, Outcome
from gpu_lol_action.domain.snapshot import MachineState, Snapshot, changed_values, with_values
from gpu_lol_action.domain.spec import EnvironmentSpec, SpecDifference
from gpu_lol_action.domain.spec_patch import patch_spec
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.domain.spec_yaml import parse_spec_file
from gpu_lol_action.errors import Door, TransientError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.concluding import Reading
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.meant import deny_meant, ready_machine
from gpu_lol_action.handlers.notes import read_note
from gpu_lol_action.handlers.propose_spec import Offered, Offering, Wording, offer_spec
from gpu_lol_action.handlers.propose_sticky import try_look
from gpu_lol_action.handlers.reading import read_change
from gpu_lol_action.handlers.refuse import deny
from gpu_lol_action.launch.snapshot import NO_INVENTORY, build_snapshot_script, parse_snapshot_output
from gpu_lol_action.launch.snapshot_spec import Rented, snapshot_spec
from gpu_lol_action.render import comments
from gpu_lol_action.render.views_snapshot import SnapshotCase

ASKING = timedelta(minutes=2)
# The writer states these always, so they are stated as they hold.
_ALWAYS_WRITTEN = ("hardware.gpu_count", "meta.workload_type", "dependencies.requirements")


@dataclass(frozen=True, slots=True)
class _Taken:
    """A snapshot beside the file that it would change (None: there is none); ``text`` is the file as it should be."""

    snapshot: Snapshot
    reading: Reading
    old_text: str | None
    text: str

    @property
    def is_new(self) -> bool:
        """Whether there is anything to propose."""
        return self.old_text is None or bool(self.snapshot.changes)


def handle_snapshot(context: Context, order: Order) -> Outcome:
    """Ask the machine what is installed, and propose the spec that says so; the machine and its record stay as they are."""
    meant = ready_machine(context, order, "snapshot")
    if isinstance(meant, Deny):
        return deny_meant(context, order, meant)
    entry, endpoint = meant
    record = entry.record
    context.progress.phase(f"looking at what is installed on {record.name}")
    state = _ask(context, endpoint)
    if isinstance(state, Deny):
        return deny(context, order, state, record)
    taken = _take(context, order, record, state)
    offered = _offer(context, order, taken) if taken.is_new else Offered()
    has_file = taken.old_text is not None
    now, text = context.clock.now(), context.redact(taken.text)
    case = SnapshotCase(record, taken.snapshot, text, has_file, offered.notice, now, order.reply_to)
    body = comments.snapshot(replace(case, spec_name=taken.reading.analysis.spec_place))
    details = {"environment": record.name, "changes": str(len(taken.snapshot.changes))}
    if context.settings.door is Door.TERMINAL:
        # Its file, or what is piped on, has the spec alone.
        return Outcome("done", "snapshot_taken", {**details, "spec": taken.text}, text=body)
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "snapshot_taken", details, text=body)


def _ask(context: Context, endpoint: SshEndpoint) -> MachineState | Deny:
    nonce = secrets.token_hex(16)
    output = context.shell().run(endpoint, build_snapshot_script(nonce), timeout=ASKING)
    found = parse_snapshot_output(output.stdout, nonce)
    if isinstance(found, MachineState):
        return _without_secrets(context, found)
    if found == NO_INVENTORY:
        return Deny(
            "no_inventory",
            "this machine keeps no list of what set-up installed",
            "what came later cannot be told from it. Machines rented from now on keep one.",
        )
    raise TransientError(
        "snapshot_not_taken",
        "The machine did not say what is installed on it.",
        why=context.redact(found),
        fix="/gpu-lol snapshot",
    )


def _without_secrets(context: Context, state: MachineState) -> MachineState:
    """Leave out packages whose address or name looks like a credential, known ones of this run among them."""
    packages = {
        name: replace(each, line=None, why="it holds what looks like a password")
        if each.line is not None and context.redact(each.line) != each.line
        else each
        for name, each in state.now.packages.items()
    }
    return replace(state, now=replace(state.now, packages=packages))


def _take(context: Context, order: Order, record: EnvironmentRecord, state: MachineState) -> _Taken:
    is_fork = order.pull_request.is_fork(order.repository.full_name)
    # What was `set` for this pull request is no word of its file: a card that was rented by it is to be written down.
    note = replace(read_note(context, order.pull_request.number), corrections=Corrections())
    policy = order.policy.about(record.project)
    reading = read_change(context, order.pull_request, policy, is_fork=is_fork, note=note)
    old_text = reading.spec_text
    whole = reading.asked
    profile = record.profile if record.profile in whole.profiles else ""
    asked = whole.profiles[profile] if profile else whole
    rented = Rented(record.accelerator, record.accelerator_count)
    snapshot = snapshot_spec(asked, state, rented, is_new=old_text is None)
    if old_text is not None and not snapshot.changes:
        return _Taken(snapshot, reading, old_text, old_text)
    values = changed_values(asked, snapshot.spec)
    text = patch_spec(old_text, values) if old_text is not None and not profile else None
    if text is None:
        text = write_spec(_written(_file(old_text, whole), values, profile))
    return _Taken(snapshot, reading, old_text, text)


def _file(text: str | None, asked: EnvironmentSpec) -> EnvironmentSpec:
    """Return what the file states, without what was filled from the code; where there is none, all of it."""
    if text is None:
        return asked
    file = parse_spec_file(text)
    unstated = [key for key in _ALWAYS_WRITTEN if key not in file.stated]
    filled = changed_values(file.spec, asked)
    return with_values(file.spec, {key: filled[key] for key in unstated if key in filled})


def _written(file: EnvironmentSpec, values: Mapping[str, Any], profile: str) -> EnvironmentSpec:
    """Return the file's spec with what is different on the machine; in a profile, where the machine was one's."""
    if profile in file.profiles:
        changed = with_values(file.profiles[profile], values)
        return replace(file, profiles={**file.profiles, profile: changed})
    return with_values(file, values)


def _offer(context: Context, order: Order, taken: _Taken) -> Offered:
    """Put the spec where proposals go on this repository, by the same rules."""
    if context.surfaces is None:
        return Offered()
    seen = try_look(context, order.pull_request, is_final=True)
    if seen.problem is not None or seen.standing.head_sha != order.pull_request.head_sha:
        return Offered()
    reasons = tuple(
        SpecDifference(each.key, each.before, each.after, f"`{each.after or each.before}` on the machine")
        for each in taken.snapshot.changes[:10]
    )
    offering = Offering(
        repository=order.repository,
        pull_request=order.pull_request,
        standing=seen.standing,
        analysis=taken.reading.analysis,
        spec_text=taken.old_text,
        mode=order.policy.proposal_mode,
        wording=Wording(taken.text, reasons, f"as the machine of {order.requester.login} has it"),
    )
    if context.redact(taken.text) != taken.text:
        return Offered(f"It is not offered as a change of `{offering.path}`: it holds what looks like a secret.")
    return offer_spec(context, offering)
