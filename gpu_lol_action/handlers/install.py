"""From a machine that answers to one that is handed over: keys, code of exactly the commit, packages, checks."""

from __future__ import annotations

import dataclasses
import secrets
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from gpu_lol_action.domain.card_sizes import least_usable_gib
from gpu_lol_action.domain.environment import Check, SshEndpoint
from gpu_lol_action.errors import OperatorError, TransientError, UserError
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.journal import Journal
from gpu_lol_action.handlers.loss import explain_loss
from gpu_lol_action.handlers.planned import UpPlan
from gpu_lol_action.handlers.restore import restore_work
from gpu_lol_action.handlers.tell_machine import tell_lease
from gpu_lol_action.launch.access import Access, build_access_script, parse_access_output
from gpu_lol_action.launch.code import (
    CodeNotShipped,
    CodeRequest,
    CodeShipped,
    build_code_script,
    build_origin_url,
    build_push_url,
    parse_code_output,
)
from gpu_lol_action.launch.probe import ProbeReading, ProbeRequest, build_probe_script, merge_repair, parse_probe_output
from gpu_lol_action.launch.setup import (
    build_repair_script,
    build_setup_script,
    parse_setup_output,
    parse_setup_progress,
)

CODE_TIMEOUT = timedelta(minutes=5)
SHOWN_LINES = 6


@dataclasses.dataclass(frozen=True, slots=True)
class _Site:
    """A machine with the code on it and those whom it lets in."""

    endpoint: SshEndpoint
    code: CodeShipped
    access: Access


def install_and_validate(journal: Journal, plan: UpPlan, access: Access) -> None:
    """Bring the machine from "answers on SSH" to "checked"; the checks are in the record afterwards.

    Raises UserError when set-up fails, TransientError when the machine cannot be reached, StoppedError for a tombstone.
    """
    try:
        site, reading, notes = _bring_up(journal, plan, access)
    except TransientError as error:
        again = (
            "Give the command again, without `--spot` for one that stays." if journal.record.use_spot else "/gpu-lol up"
        )
        lost = explain_loss(journal, during="while it was being set up", again=again)
        raise (lost or error) from error
    restored = restore_work(journal.context, site.endpoint, site.code.folder, plan.restore)
    journal.note(checks=(*reading.checks, *notes, *restored), packages=reading.packages)


def _bring_up(journal: Journal, plan: UpPlan, access: Access) -> tuple[_Site, ProbeReading, tuple[Check, ...]]:
    with journal.phase("connecting"):
        endpoint = _pin(journal)
    with journal.phase("keys"):
        _install_keys(journal, access, endpoint)
        _tell_lease(journal)
    with journal.phase("code"):
        code = _ship_code(journal, plan, endpoint)
    with journal.phase("set-up"):
        notes = _set_up(journal, plan, endpoint)
    with journal.phase("validation"):
        site = _Site(endpoint, code, access)
        return site, _validate(journal, plan, site), notes


def _pin(journal: Journal) -> SshEndpoint:
    """Read the machine's host key once and hold every later connection to it."""
    endpoint = journal.record.ssh
    if endpoint is None:
        raise LookupError("a launched record has an SSH endpoint")
    try:
        host_key = journal.context.shell().host_key(endpoint)
    except OperatorError as refusal:
        if refusal.reason_code != "ssh_key_refused":
            raise
        raise TransientError(
            "machine_refuses_ssh",
            "The new machine refuses gpu-lol's key, so nothing could be set up on it.",
            why=f"{journal.context.redact(refusal.explanation.why)} Its image may bring an SSH server or a user of its own.",
            fix="Give the command again; where it stays so, name another image (`/gpu-lol up --image IMAGE`).",
        ) from refusal
    pinned = dataclasses.replace(endpoint, host_key=host_key)
    journal.note(ssh=pinned)
    return pinned


def _install_keys(journal: Journal, access: Access, endpoint: SshEndpoint) -> None:
    nonce = secrets.token_hex(16)
    output = journal.context.shell().run(endpoint, build_access_script(access, nonce))
    why = parse_access_output(output.stdout, nonce)
    if why is not None:
        raise TransientError(
            "access_not_installed",
            "Your SSH keys could not be installed on the machine.",
            why=journal.context.redact(why),
            fix="/gpu-lol up",
        )


def _tell_lease(journal: Journal) -> None:
    """Start the machine's own watch before anything long begins: it holds also where this run dies."""
    why = tell_lease(journal.context, journal.record, journal.record.lease, journal.order.policy)
    if why is not None:
        # One layer of several: the sweeper ends the lease all the same.
        journal.context.progress.warn(f"The machine does not watch its own lease: {why}")


def _ship_code(journal: Journal, plan: UpPlan, endpoint: SshEndpoint) -> CodeShipped:
    context, nonce = journal.context, secrets.token_hex(16)
    request = code_request(context, journal.order, plan.sha)
    with tempfile.TemporaryDirectory(prefix="gpu-lol-code-") as folder:
        archive = context.forge.bundle(plan.sha, Path(folder) / "code.tar.gz")
        output = context.shell().run(endpoint, build_code_script(request, nonce), stdin=archive, timeout=CODE_TIMEOUT)
    shipped = parse_code_output(output.stdout, request, nonce)
    if isinstance(shipped, CodeNotShipped):
        raise TransientError(
            "code_not_shipped",
            f"The code of `{plan.sha[:7]}` did not arrive on the machine as it is on GitHub.",
            why=context.redact(shipped.why),
            fix="/gpu-lol up",
        )
    return shipped


def code_request(context: Context, order: Order, sha: str) -> CodeRequest:
    """Return what a machine is to get of a commit, with the tree id that proves it."""
    commit, server = context.forge.commit(sha), context.settings.server_url
    push_url = build_push_url(server, order.repository.full_name)
    return CodeRequest(
        repository=order.repository.full_name,
        sha=sha,
        tree_id=commit.tree_id,
        branch=order.pull_request.head_ref,
        # Reading by HTTPS needs no key where everybody may read; else it takes the forwarded agent, as pushing does.
        origin_url=push_url if order.repository.is_private else build_origin_url(server, order.repository.full_name),
        commit_object=commit.content or b"",
        gitlinks=commit.gitlinks,
        may_fetch=not order.repository.is_private,
        push_url=push_url,
    )


def _set_up(journal: Journal, plan: UpPlan, endpoint: SshEndpoint) -> tuple[Check, ...]:
    nonce = secrets.token_hex(16)
    output = journal.context.shell().run(
        endpoint,
        build_setup_script(plan.setup, nonce),
        timeout=journal.order.policy.timeouts.setup,
        on_line=_reporter(journal, nonce),
    )
    reading = parse_setup_output(output.stdout, nonce, plan.spec.dependencies.setup_commands)
    if reading.failed is None:
        return reading.notes
    journal.write(failure=journal.context.redact("\n".join(reading.failed.tail)))
    raise UserError("setup_failed", reading.what, why="Its last lines are below.", fix=reading.fix)


def _reporter(journal: Journal, nonce: str) -> Callable[[str], None]:
    """Return what set-up's lines go to: the job's log, and the last few of them the status comment."""
    shown: list[str] = []

    def report(line: str) -> None:
        step = parse_setup_progress(line, nonce)
        if step is None and nonce in line:
            return
        text = f"▸ {step.replace('_', ' ')}" if step else journal.context.redact(line)
        shown.append(text)
        del shown[:-SHOWN_LINES]
        journal.context.progress.line(text)
        journal.say(shown)

    return report


def _validate(journal: Journal, plan: UpPlan, site: _Site) -> ProbeReading:
    """Ask the machine in one round trip; what is missing is installed once, and the machine is asked again."""
    reading = _probe(journal, plan, site)
    if not reading.missing:
        return reading
    journal.context.progress.line(f"installing what is missing: {', '.join(reading.missing)}")
    nonce = secrets.token_hex(16)
    journal.context.shell().run(
        site.endpoint, build_repair_script(reading.missing, nonce), timeout=journal.order.policy.timeouts.setup
    )
    return merge_repair(reading, _probe(journal, plan, site))


def _probe(journal: Journal, plan: UpPlan, site: _Site) -> ProbeReading:
    record, hardware, nonce = journal.record, plan.spec.hardware, secrets.token_hex(16)
    request = ProbeRequest(
        accelerator=record.accelerator or "",
        gpu_count=record.accelerator_count,
        vram_required_gib=least_usable_gib(plan.ladder.requirement.memory_gib_per_gpu) or None,
        disk_gb=hardware.disk_gb,
        requirements=plan.spec.dependencies.requirements,
        folder=site.code.folder,
        sha=plan.sha,
        tree_id=site.code.tree_id,
        keys=tuple(f"{key.key_type} {key.body}" for key in site.access.keys),
        has_setup_commands=bool(plan.spec.dependencies.setup_commands),
        is_rehearsal=journal.context.settings.is_rehearsal,
    )
    output = journal.context.shell().run(
        site.endpoint, build_probe_script(request, nonce), timeout=journal.order.policy.timeouts.validate
    )
    return parse_probe_output(output.stdout, request, nonce)
