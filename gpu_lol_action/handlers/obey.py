"""Carry out an order that passed the identity gates: the one place that knows which handler a command has.

Each handler is imported where its command is asked for: who asks for help must not wait for what reads a repository.
"""

from __future__ import annotations

from collections.abc import Callable

from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command, Deny, Outcome, PullRequestChanged, PullRequestClosed, Scheduled
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.intake.gates import policy_gate

DEFERRED = Outcome("deferred", "needs_cloud")
ON_MACHINE = frozenset({"extend", "sync", "share", "unshare", "validate", "run", "logs", "snapshot"})
"""What is done on a machine that runs, with the key that only the step with the cloud can derive."""


def obey(context: Context, order: Order, *, may_use_cloud: bool) -> Outcome:
    """Carry out a command; both doors come through here.

    Without the cloud, ``up`` is planned and denied or deferred, and ``down`` writes its tombstone and is deferred.
    """
    match order.command.name:
        case "confirm":
            from gpu_lol_action.handlers.confirm import confirmed_order

            confirmed = confirmed_order(context, order)
            if isinstance(confirmed, Deny):
                from gpu_lol_action.handlers.refuse import deny

                return deny(context, order, confirmed)
            return obey(context, confirmed, may_use_cloud=may_use_cloud)
        case "smoke":
            from gpu_lol_action.handlers.smoke import handle_smoke

            return handle_smoke(context, order) if may_use_cloud or order.command.is_dry_run else DEFERRED
        case "up":
            from gpu_lol_action.handlers.up import answer_without_cloud, handle_up

            if may_use_cloud:
                return handle_up(context, order)
            plan = answer_without_cloud(context, order)
            return plan if isinstance(plan, Outcome) else DEFERRED
        case name if name in ON_MACHINE:
            return _on_machine(context, order) if may_use_cloud else DEFERRED
        case "down":
            from gpu_lol_action.handlers.down import handle_down, mark_down

            return handle_down(context, order) if may_use_cloud or not mark_down(context, order) else DEFERRED
        case "sweep":
            from gpu_lol_action.handlers.sweep import handle_sweep

            return handle_sweep(
                context,
                order.repository.repository_id,
                order.policy,
                is_dry_run=order.command.is_dry_run,
                owner=None if order.pull_request_number else order.requester.login,
            )
        case _:
            return _answer(context, order)


def _on_machine(context: Context, order: Order) -> Outcome:
    """Carry out a command on a machine that runs."""
    match order.command.name:
        case "extend":
            from gpu_lol_action.handlers.extend import handle_extend

            return handle_extend(context, order)
        case "sync":
            from gpu_lol_action.handlers.sync import handle_sync

            return handle_sync(context, order)
        case "share":
            from gpu_lol_action.handlers.share import handle_share

            return handle_share(context, order)
        case "unshare":
            from gpu_lol_action.handlers.share import handle_unshare

            return handle_unshare(context, order)
        case "validate":
            from gpu_lol_action.handlers.validate import handle_validate

            return handle_validate(context, order)
        case "run":
            from gpu_lol_action.handlers.remote import handle_run

            return handle_run(context, order)
        case "logs":
            from gpu_lol_action.handlers.remote import handle_logs

            return handle_logs(context, order)
        case "snapshot":
            from gpu_lol_action.handlers.snapshot import handle_snapshot

            return handle_snapshot(context, order)
        case _:
            raise LookupError(order.command.name)


def _answer(context: Context, order: Order) -> Outcome:
    """Carry out a command that needs no machine in either step."""
    match order.command.name:
        case "analyze":
            from gpu_lol_action.handlers.correct import asked_for
            from gpu_lol_action.handlers.propose import handle_propose

            return handle_propose(context, asked_for(order))
        case "set" | "mute" | "unmute":
            from gpu_lol_action.handlers.correct import handle_correction

            return handle_correction(context, order)
        case "estimate":
            from gpu_lol_action.handlers.estimate import handle_estimate

            return handle_estimate(context, order)
        case "offers":
            from gpu_lol_action.handlers.offers import handle_offers

            return handle_offers(context, order)
        case "status":
            from gpu_lol_action.handlers.status import handle_status

            return handle_status(context, order)
        case "budget":
            from gpu_lol_action.handlers.budget import handle_budget

            return handle_budget(context, order)
        case "help":
            from gpu_lol_action.handlers.status import handle_help

            return handle_help(context, order)
        case _:
            raise LookupError(order.command.name)


def follow_change(context: Context, event: PullRequestChanged, load_policy: Callable[[], Policy]) -> Outcome:
    """Refresh the proposal of a pull request that was opened or got commits."""
    from gpu_lol_action.handlers.propose import Occasion, handle_propose

    return handle_propose(context, Occasion(event.repository, event.pull_request, load_policy))


def _smoke_branch(context: Context, event: Scheduled, policy: Policy) -> Outcome:
    """Run the smoke test of the default branch as it stands now; a policy that cannot be read spends nothing."""
    from gpu_lol_action.handlers.refuse import deny
    from gpu_lol_action.handlers.smoke import handle_smoke

    command = Command("smoke", "schedule", is_dry_run=event.is_dry_run)
    order = Order(command, event.actor, event.repository, context.forge.pull_request(0), policy)
    gate = policy_gate(policy)
    if isinstance(gate, Deny):
        return deny(context, order, gate)
    return handle_smoke(context, order)


def follow_close(context: Context, event: PullRequestClosed, policy: Policy, *, may_use_cloud: bool) -> Outcome:
    """End what runs for a pull request that was closed or merged."""
    from gpu_lol_action.handlers.down import handle_closed, mark_closed

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
        from gpu_lol_action.handlers.sweep import handle_sweep

        return handle_sweep(context, event.repository.repository_id, policy, is_dry_run=event.is_dry_run)
    return DEFERRED if context.settings.clouds else Outcome("ignored", "no_cloud_secret")
