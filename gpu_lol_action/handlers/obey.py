"""Carry out an order that passed the identity gates: the one place that knows which handler a command has."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command, Deny, Outcome, PullRequestChanged, PullRequestClosed, Scheduled
from gpu_lol_action.handlers.budget import handle_budget
from gpu_lol_action.handlers.confirm import confirmed_order
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.correct import asked_for, handle_correction
from gpu_lol_action.handlers.down import handle_closed, handle_down, mark_closed, mark_down
from gpu_lol_action.handlers.estimate import handle_estimate
from gpu_lol_action.handlers.extend import handle_extend
from gpu_lol_action.handlers.offers import handle_offers
from gpu_lol_action.handlers.propose import Occasion, handle_propose
from gpu_lol_action.handlers.refuse import deny
from gpu_lol_action.handlers.remote import handle_logs, handle_run
from gpu_lol_action.handlers.share import handle_share, handle_unshare
from gpu_lol_action.handlers.smoke import handle_smoke
from gpu_lol_action.handlers.snapshot import handle_snapshot
from gpu_lol_action.handlers.status import handle_help, handle_status
from gpu_lol_action.handlers.sweep import handle_sweep
from gpu_lol_action.handlers.sync import handle_sync
from gpu_lol_action.handlers.up import answer_without_cloud, handle_up
from gpu_lol_action.handlers.validate import handle_validate
from gpu_lol_action.intake.gates import policy_gate

DEFERRED = Outcome("deferred", "needs_cloud")
# What is done on a machine that runs, with the key that only the step with the cloud can derive.
ON_MACHINE: Mapping[str, Callable[[Context, Order], Outcome]] = {
    "extend": handle_extend,
    "sync": handle_sync,
    "share": handle_share,
    "unshare": handle_unshare,
    "validate": handle_validate,
    "run": handle_run,
    "logs": handle_logs,
    "snapshot": handle_snapshot,
}


def obey(context: Context, order: Order, *, may_use_cloud: bool) -> Outcome:
    """Carry out a command; both doors come through here.

    Without the cloud, ``up`` is planned and denied or deferred, and ``down`` writes its tombstone and is deferred.
    """
    match order.command.name:
        case "confirm":
            confirmed = confirmed_order(context, order)
            if isinstance(confirmed, Deny):
                return deny(context, order, confirmed)
            return obey(context, confirmed, may_use_cloud=may_use_cloud)
        case "smoke":
            return handle_smoke(context, order) if may_use_cloud or order.command.is_dry_run else DEFERRED
        case "up" if may_use_cloud:
            return handle_up(context, order)
        case "up":
            plan = answer_without_cloud(context, order)
            return plan if isinstance(plan, Outcome) else DEFERRED
        case name if name in ON_MACHINE:
            return ON_MACHINE[name](context, order) if may_use_cloud else DEFERRED
        case "down" if may_use_cloud or not mark_down(context, order):
            return handle_down(context, order)
        case "down":
            return DEFERRED
        case "sweep":
            return handle_sweep(
                context,
                order.repository.repository_id,
                order.policy,
                is_dry_run=order.command.is_dry_run,
                owner=None if order.pull_request_number else order.requester.login,
            )
        case _:
            return _answer(context, order)


def _answer(context: Context, order: Order) -> Outcome:
    """Carry out a command that needs no machine in either step."""
    match order.command.name:
        case "analyze":
            return handle_propose(context, asked_for(order))
        case "set" | "mute" | "unmute":
            return handle_correction(context, order)
        case "estimate":
            return handle_estimate(context, order)
        case "offers":
            return handle_offers(context, order)
        case "status":
            return handle_status(context, order)
        case "budget":
            return handle_budget(context, order)
        case "help":
            return handle_help(context, order)
        case _:
            raise LookupError(order.command.name)


def follow_change(context: Context, event: PullRequestChanged, load_policy: Callable[[], Policy]) -> Outcome:
    """Refresh the proposal of a pull request that was opened or got commits."""
    return handle_propose(context, Occasion(event.repository, event.pull_request, load_policy))


def _smoke_branch(context: Context, event: Scheduled, policy: Policy) -> Outcome:
    """Run the smoke test of the default branch as it stands now; a policy that cannot be read spends nothing."""
    command = Command("smoke", "schedule", is_dry_run=event.is_dry_run)
    order = Order(command, event.actor, event.repository, context.forge.pull_request(0), policy)
    gate = policy_gate(policy)
    if isinstance(gate, Deny):
        return deny(context, order, gate)
    return handle_smoke(context, order)


def follow_close(context: Context, event: PullRequestClosed, policy: Policy, *, may_use_cloud: bool) -> Outcome:
    """End what runs for a pull request that was closed or merged."""
    if may_use_cloud:
        return handle_closed(context, event, policy)
    if mark_closed(context, event):
        return DEFERRED
    return Outcome("ignored", "nothing_to_tear_down")


def is_smoke(context: Context, event: Scheduled) -> bool:
    """Whether the clock struck for a smoke test, or a person asked for one, not for a sweep."""
    return event.is_smoke or bool(event.cron and event.cron == context.settings.smoke_cron)


def follow_schedule(context: Context, event: Scheduled, policy: Policy, *, may_use_cloud: bool) -> Outcome:
    """Sweep, or run the smoke test that this schedule is for, where a cloud account is connected at all."""
    if may_use_cloud and is_smoke(context, event):
        return _smoke_branch(context, event, policy)
    if may_use_cloud:
        return handle_sweep(context, event.repository.repository_id, policy, is_dry_run=event.is_dry_run)
    return DEFERRED if context.settings.clouds else Outcome("ignored", "no_cloud_secret")
