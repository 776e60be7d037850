"""``sync``: the pull request's new head on a machine that runs, or why it was left as it is; unsaved work is never touched."""

from __future__ import annotations

import secrets
import tempfile
from dataclasses import replace
from pathlib import Path

from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint, State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Deny, Outcome
from gpu_lol_action.errors import LostRace, TransientError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.install import CODE_TIMEOUT, code_request
from gpu_lol_action.handlers.meant import deny_meant, ready_machine
from gpu_lol_action.handlers.refuse import deny
from gpu_lol_action.handlers.teardown import MAX_WRITE_TRIES, reread
from gpu_lol_action.launch.code import CodeKept, CodeNotShipped, CodeShipped, build_sync_script, parse_sync_output
from gpu_lol_action.render import comments


def handle_sync(context: Context, order: Order) -> Outcome:
    """Move the machine's checkout on to the head, first there and then in the record."""
    meant = ready_machine(context, order, "sync")
    if isinstance(meant, Deny):
        return deny_meant(context, order, meant)
    entry, endpoint = meant
    record, sha = entry.record, order.pull_request.head_sha
    if sha != record.sha:
        context.progress.phase(f"bringing {sha[:7]} to {record.name}")
        found = _ship(context, order, record, endpoint)
        if isinstance(found, CodeKept):
            return deny(context, order, _kept(found, sha), record)
        record = _write(context, entry, sha)
    body = comments.synced(record=record, before=entry.record.sha, now=context.clock.now(), reply_to=order.reply_to)
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "synced", {"environment": record.name, "sha": sha}, text=body)


def _ship(context: Context, order: Order, record: EnvironmentRecord, endpoint: SshEndpoint) -> CodeShipped | CodeKept:
    nonce, sha = secrets.token_hex(16), order.pull_request.head_sha
    request = code_request(context, order, sha)
    with tempfile.TemporaryDirectory(prefix="gpu-lol-code-") as folder:
        archive = context.forge.bundle(sha, Path(folder) / "code.tar.gz")
        script = build_sync_script(request, record.sha, nonce)
        output = context.shell().run(endpoint, script, stdin=archive, timeout=CODE_TIMEOUT)
    found = parse_sync_output(output.stdout, request, nonce)
    if isinstance(found, CodeNotShipped):
        raise TransientError(
            "code_not_shipped",
            f"The code of `{sha[:7]}` did not arrive on the machine as it is on GitHub.",
            why=context.redact(found.why),
            fix="/gpu-lol sync",
        )
    return found


def _kept(found: CodeKept, sha: str) -> Deny:
    """Say whose work is in the way, and what its owner does about it."""
    why, fix = {
        "changed": (f"{found.count} tracked files are changed there", "On the machine, commit and push them, or `git stash`; then:"),
        "commits": (f"{found.count} commits there are not those of this pull request", "On the machine, `git push` them, or `git fetch` and `git rebase` yourself; then:"),
        "untracked": ("files that git does not track are where the new commit has its own", "On the machine, move them away; then:"),
        "branch": ("another commit than a branch is checked out there", "On the machine, `git switch` to the pull request's branch; then:"),
        "no_checkout": ("the checkout is gone from its place", "End the machine, and take a new one:"),
    }[found.of]  # fmt: skip
    command = "/gpu-lol down" if found.of == "no_checkout" else "/gpu-lol sync"
    return Deny(
        "unsaved_work",
        f"`{sha[:7]}` was not brought to the machine",
        f"{why}; nothing was touched.",
        f"{fix}\n{command}",
    )


def _write(context: Context, entry: Entry, sha: str) -> EnvironmentRecord:
    """Write down which commit is there now, unless the machine is being ended meanwhile."""
    for _ in range(MAX_WRITE_TRIES):
        record = entry.record
        if record.state is not State.READY or record.tombstone is not None:
            return record
        try:
            return context.ledger.update(entry, replace(record, sha=sha, updated_at=context.clock.now())).record
        except LostRace:
            entry = reread(context, entry)
    raise TransientError(
        "record_contended",
        f"the record of {entry.record.name} changes faster than it can be written",
        fix="/gpu-lol sync",
    )
