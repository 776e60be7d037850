"""Event in, results out: a comment, a label, a change, a close, the clock, or a job that died, each to its handler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import (
    CommentCreated,
    Event,
    Outcome,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestLabeled,
    Scheduled,
)
from gpu_lol_action.errors import Ending
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.router.comment import route_comment
from gpu_lol_action.router.label import route_label
from gpu_lol_action.router.results import Result, Run, Step, guard, policy_for_an_end

if TYPE_CHECKING:
    from gpu_lol_action.handlers.doctor import Instruments


def route(context: Context, event: Event, load_policy: Callable[[], Policy], step: Step) -> Run:
    """Do what an event asks for, as far as this step may."""
    if step.finishes is not None:
        return Run((_finish(context, event, load_policy, step),))
    if isinstance(event, CommentCreated):
        return route_comment(context, event, load_policy, step)
    if isinstance(event, PullRequestLabeled):
        return route_label(context, event, load_policy, step)
    from gpu_lol_action.handlers import obey

    number = None if isinstance(event, Scheduled) else event.pull_request.number
    action: Callable[[], Outcome]
    if isinstance(event, PullRequestChanged):
        # The policy is asked for with the rest, in one look at the pull request.
        action = partial(obey.follow_change, context, event, load_policy)
        return Run((guard(context, number, action, 0),))
    context.forge.open_reserve()
    policy = policy_for_an_end(context, load_policy)
    if isinstance(event, PullRequestClosed):
        action = partial(obey.follow_close, context, event, policy, may_use_cloud=step.may_use_cloud)
    else:
        action = partial(obey.follow_schedule, context, event, policy, may_use_cloud=step.may_use_cloud)
    results = [guard(context, number, action, 0)]
    is_by_hand = isinstance(event, Scheduled) and event.is_manual and results[0].outcome.decision != "deferred"
    if is_by_hand and context.instruments is not None:
        # Who starts it by hand wants to know how it is; after the sweep, so that the first one counts already.
        results.append(_check_up(context, context.instruments))
    return Run(tuple(results), is_smoke=isinstance(event, Scheduled) and obey.is_smoke(context, event))


def _check_up(context: Context, instruments: Callable[[], Instruments]) -> Result:
    from gpu_lol_action.handlers.doctor import handle_checkup

    result = guard(context, None, lambda: handle_checkup(instruments()), 1)
    is_faulty = result.outcome.reason_code == "checkup_found_faults"
    return replace(result, ending=Ending.OPERATOR_ERROR) if is_faulty else result


def _finish(context: Context, event: Event, load_policy: Callable[[], Policy], step: Step) -> Result:
    from gpu_lol_action.handlers import finish

    def action() -> Outcome:
        context.forge.open_reserve()
        policy = policy_for_an_end(context, load_policy)
        if step.may_use_cloud:
            return finish.end_left_over(context, event, policy)
        return finish.tie_up(context, event, policy, step.finishes or finish.DeadJob())

    return guard(context, None, action, 0)
