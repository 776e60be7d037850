"""What a machine is told and asked about its lease, over SSH with the derived key."""

from __future__ import annotations

import secrets
from datetime import timedelta

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.errors import GpuLolError, OperatorError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.launch.code import folder_name
from gpu_lol_action.launch.lease import (
    Watch,
    build_lease_script,
    build_look_script,
    parse_lease_output,
    parse_look_output,
)
from gpu_lol_action.pricing.budget import worst_case

TELL_TIMEOUT = timedelta(seconds=45)
LOOK_TIMEOUT = timedelta(seconds=60)


def tell_lease(context: Context, record: EnvironmentRecord, lease: Lease, policy: Policy) -> str | None:
    """Tell the machine when its lease ends; return None when it knows, else why not.

    Raises OperatorError where trying again cannot help: it refuses our key, or shows another host key.
    """
    if record.ssh is None:
        return "no address is known"
    nonce = secrets.token_hex(16)
    price_usd_per_hour = record.price_usd_per_hour or policy.max_price_usd_per_hour
    grace = worst_case(price_usd_per_hour, lease, policy, None).ends_by - lease.expires_at
    watch = Watch(lease, folder_name(record.repository), record.sha, grace, record.keep)
    script = build_lease_script(watch, context.clock.now(), nonce)
    try:
        output = context.shell().run(record.ssh, script, timeout=TELL_TIMEOUT)
    except OperatorError:
        raise
    except GpuLolError as error:
        return error.explanation.what
    why = parse_lease_output(output.stdout, nonce)
    return None if why is None else context.redact(why)


def look_at(context: Context, record: EnvironmentRecord) -> Look | None:
    """Ask the machine how long nobody has used it and what would be lost with it; None where it does not say."""
    if record.ssh is None or record.cloud not in context.settings.clouds:
        return None
    nonce = secrets.token_hex(16)
    script = build_look_script(folder_name(record.repository), record.sha, nonce, record.keep)
    try:
        output = context.shell().run(record.ssh, script, timeout=LOOK_TIMEOUT)
    except GpuLolError as error:
        context.progress.line(f"{record.name} did not say whether it is used: {error.explanation.what}")
        return None
    return parse_look_output(output.stdout, nonce)
