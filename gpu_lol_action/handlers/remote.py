"""``run`` and ``logs``: a command on the machine for those who could log in anyway, and what was logged there."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import timedelta

from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint
from gpu_lol_action.domain.request import Deny, Outcome
from gpu_lol_action.errors import GpuLolError, TransientError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.chosen_project import fetch
from gpu_lol_action.handlers.concluding import Fetched, conclude
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.meant import deny_meant, may_log_in, ready_machine
from gpu_lol_action.handlers.measured import Ran, Scene, is_gpu_used, tell_measured
from gpu_lol_action.handlers.refuse import deny
from gpu_lol_action.launch.code import folder_name
from gpu_lol_action.launch.command import Output, build_logs_script, build_run_script, parse_command_output
from gpu_lol_action.launch.failures import recognize
from gpu_lol_action.render import comments
from gpu_lol_action.render.measured_text import usage_line
from gpu_lol_action.render.views_output import NOTHING_SAID, Said

CONNECTING = timedelta(minutes=1)
LOGS_TIMEOUT = timedelta(minutes=1)


def handle_run(context: Context, order: Order) -> Outcome:
    """Run a command in the checkout and show its exit status and the end of its output."""
    meant = ready_machine(context, order, "run -- COMMAND")
    if isinstance(meant, Deny):
        return deny_meant(context, order, meant)
    record, endpoint = meant[0].record, meant[1]
    if not may_log_in(record, order.requester.login):
        denial = Deny(
            "not_on_machine",
            f"only who can log in to `{record.name}` runs commands on it",
            f"these are its requester `{record.requester.login}` and whom it is shared with.",
            f"/gpu-lol share @{order.requester.login}",
        )
        return deny(context, order, denial, record)
    box = min(order.policy.timeouts.run, record.lease.remaining(context.clock.now()))
    nonce = secrets.token_hex(16)
    script = build_run_script(order.command.script, folder_name(record.repository), box, nonce)
    context.progress.phase(f"running a command on {record.name}")
    found = _ask(context, endpoint, script, nonce, box)
    if isinstance(found, str):
        raise _failed(context, "The command could not be run.", found)
    text = _say(context, order, record, found, Said(_measured(context, order, record, found), *_cause(context, found)))
    return Outcome("done", "ran", {"environment": record.name, "exit_code": str(found.exit_code)}, text=text)


def handle_logs(context: Context, order: Order) -> Outcome:
    """Show the end of what set-up, or the last command, has said."""
    which = order.command.topic or "setup"
    meant = ready_machine(context, order, f"logs {which}")
    if isinstance(meant, Deny):
        return deny_meant(context, order, meant)
    record, endpoint = meant[0].record, meant[1]
    nonce = secrets.token_hex(16)
    found = _ask(context, endpoint, build_logs_script(which, nonce), nonce, LOGS_TIMEOUT)
    if isinstance(found, str):
        denial = Deny("no_log", f"there is no log of `{which}` to show", f"{context.redact(found)}.")
        return deny(context, order, denial, record)
    text = _say(context, order, record, found)
    return Outcome("done", "logs_shown", {"environment": record.name}, text=text)


def _ask(context: Context, endpoint: SshEndpoint, script: str, nonce: str, box: timedelta) -> Output | str:
    # The machine keeps the time box, so that the output of what it stops arrives; ours is only for a machine that hangs.
    output = context.shell().run(endpoint, script, timeout=box + CONNECTING)
    return parse_command_output(output.stdout, box, nonce)


def _cause(context: Context, found: Output) -> tuple[str, str]:
    """Return what its own words say of why it died, and the remedy; nothing where it did not, or where no rule knows."""
    told = recognize(context.redact(found.text)) if found.exit_code else None
    return (told.what, told.remedy) if told is not None else ("", "")


def _measured(context: Context, order: Order, record: EnvironmentRecord, found: Output) -> str:
    """Return what the command used, against the estimate where it is the run that was estimated."""
    if found.measured is None or found.exit_code is None:
        return ""
    if not is_gpu_used(found.measured) or found.commit != record.sha:
        return usage_line(found.measured)
    is_fork, policy = order.pull_request.is_fork(order.repository.full_name), order.policy.about(record.project)
    # A language model is not paid for a comparison.
    lookups = replace(context.lookups.allowed(policy, is_fork=is_fork), llm=None)
    ran = Ran("run", order.command.script, record.sha, context.clock.now(), found.exit_code, found.measured)
    try:
        checkout = fetch(context, record.sha, policy)
        analysis = conclude(Fetched(record.sha, checkout), policy, lookups).analysis
    except GpuLolError as error:
        context.progress.line(f"not compared with the estimate: {error.explanation.what}")
        return usage_line(found.measured)
    return tell_measured(context, ran, Scene(checkout, analysis, is_kept=not is_fork))


def _say(context: Context, order: Order, record: EnvironmentRecord, found: Output, said: Said = NOTHING_SAID) -> str:
    body = comments.output(
        record=record,
        command=context.redact(order.command.script) or order.command.topic or "setup",
        # Redacted before it is laid out: a line that was cut or escaped may hide the shape of a key.
        text=context.redact(found.text),
        found=found,
        now=context.clock.now(),
        reply_to=order.reply_to,
        said=said,
    )
    answers.reply(context, order.pull_request.number, body)
    return body


def _failed(context: Context, what: str, why: str) -> TransientError:
    return TransientError("command_not_run", what, why=context.redact(why), fix="/gpu-lol status")
