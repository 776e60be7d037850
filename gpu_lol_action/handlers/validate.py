"""``validate``: the checks of the launch once more, on a machine that has been worked on; the record has them afterwards."""

from __future__ import annotations

import secrets
from dataclasses import replace

from gpu_lol_action.domain.environment import Check, CheckStatus, EnvironmentRecord, SshEndpoint, State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Deny, Outcome
from gpu_lol_action.errors import LostRace
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.meant import deny_meant, ready_machine
from gpu_lol_action.handlers.teardown import MAX_WRITE_TRIES, reread
from gpu_lol_action.launch.access import Access, decide_access
from gpu_lol_action.launch.code import folder_name
from gpu_lol_action.launch.probe import ProbeReading, ProbeRequest, build_probe_script, parse_probe_output
from gpu_lol_action.render import comments


def handle_validate(context: Context, order: Order) -> Outcome:
    """Check the machine anew and say what has changed for the worse; nothing is installed and nothing is ended."""
    meant = ready_machine(context, order, "validate")
    if isinstance(meant, Deny):
        return deny_meant(context, order, meant)
    entry, endpoint = meant
    context.progress.phase(f"checking {entry.record.name}")
    reading = _probe(context, order, entry.record, endpoint)
    checks = tuple(_after_work(check) for check in reading.checks)
    record = _note(context, entry, checks, reading.packages)
    body = comments.validated(
        record=record, checks=checks, before=entry.record.checks, now=context.clock.now(), reply_to=order.reply_to
    )
    answers.reply(context, order.pull_request.number, body)
    failed = sum(check.status is CheckStatus.FAILED for check in checks)
    return Outcome("done", "validated", {"environment": record.name, "failed_checks": str(failed)}, text=body)


def _probe(context: Context, order: Order, record: EnvironmentRecord, endpoint: SshEndpoint) -> ProbeReading:
    """Ask the machine what the record says it has; memory in use and versions that were changed since are no faults."""
    nonce, commit = secrets.token_hex(16), context.forge.commit(record.sha)
    access = decide_access({login: context.forge.ssh_keys(login) for login in (record.requester.login, *record.shared)})
    keys = access.keys if isinstance(access, Access) else ()
    request = ProbeRequest(
        accelerator=record.accelerator or "",
        gpu_count=record.accelerator_count,
        vram_required_gib=None,
        disk_gb=None,
        requirements=tuple(package.split(" ")[0] for package in record.packages),
        folder=folder_name(record.repository),
        sha=record.sha,
        tree_id=commit.tree_id,
        keys=tuple(f"{key.key_type} {key.body}" for key in keys),
        is_rehearsal=record.is_rehearsal,
    )
    output = context.shell().run(endpoint, build_probe_script(request, nonce), timeout=order.policy.timeouts.validate)
    return parse_probe_output(output.stdout, request, nonce)


def _after_work(check: Check) -> Check:
    """Return a check as it counts on a machine in use: changed files are what it was rented for."""
    if check.name != "code" or check.status is not CheckStatus.FAILED:
        return check
    return replace(check, status=CheckStatus.NOTED, fix="")


def _note(context: Context, entry: Entry, checks: tuple[Check, ...], packages: tuple[str, ...]) -> EnvironmentRecord:
    """Write the checks down, unless the machine is being ended meanwhile; return the record as it stands."""
    for _ in range(MAX_WRITE_TRIES):
        record = entry.record
        if record.state is not State.READY or record.tombstone is not None:
            return record
        changed = replace(record, checks=checks, packages=packages or record.packages, updated_at=context.clock.now())
        try:
            return context.ledger.update(entry, changed).record
        except LostRace:
            entry = reread(context, entry)
    context.progress.line(f"the record of {entry.record.name} changes too fast: it keeps the checks of the launch")
    return entry.record
