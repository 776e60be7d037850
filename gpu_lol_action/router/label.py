"""A label's way: is it the policy's, who set it, may they, can they have seen this commit; then what the command does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command, Deny, Gate, Ignore, Outcome, PullRequestLabeled
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.authority import read_authority
from gpu_lol_action.handlers.context import Context, Order, Sighting
from gpu_lol_action.handlers.surfaces import take_label_off
from gpu_lol_action.intake.gates import IdentityFacts, identity_gate
from gpu_lol_action.intake.label_gate import check_label, needless, read_label
from gpu_lol_action.router.results import Run, Step, failure, guard


@dataclass(frozen=True, slots=True)
class _Word:
    event: PullRequestLabeled
    command: Command
    policy: Policy


def route_label(context: Context, event: PullRequestLabeled, load_policy: Callable[[], Policy], step: Step) -> Run:
    """Start the smoke test of the commit that a fork's pull request had when the label was set, as the command would.

    Whatever comes of it, the label is taken off: it has to be set again for another commit.
    """
    ignored = needless(event)
    if ignored is not None:
        return Run(ignored=ignored)
    try:
        policy = load_policy()
    except GpuLolError as error:
        # Whether this label is any of our business is not known: no comment about it.
        return Run((failure(context, None, error),))
    command = read_label(event, policy)
    if isinstance(command, Ignore):
        return Run(ignored=command)
    action = partial(_obey, context, _Word(event, command, policy), step)
    result = guard(context, event.pull_request.number, action, 0)
    is_deferred = result.outcome.decision == "deferred"
    return Run((result,), pinned_sha=event.pull_request.head_sha, may_spend=is_deferred)


def _obey(context: Context, word: _Word, step: Step) -> Outcome:
    from gpu_lol_action.handlers.obey import obey
    from gpu_lol_action.handlers.refuse import deny

    try:
        order, gate = _judged(context, word)
    finally:
        if step.is_first:
            take_label_off(context, word.event.pull_request.number, word.event.label)
    if isinstance(gate, Deny):
        return deny(context, order, gate)
    return obey(context, order, may_use_cloud=step.may_use_cloud)


def _judged(context: Context, word: _Word) -> tuple[Order, Gate]:
    """Return the command that the label stands for, with the commit of its event, and whether it may be carried out.

    Asked of GitHub now, in each step anew: who this is here, where the head stands, and how the label was set.
    """
    event, command, policy = word.event, word.command, word.policy
    number, login, spec = event.pull_request.number, event.actor.login, find_command(command.name)
    if spec is None:
        raise LookupError(command.name)
    looked_at = context.clock.now()
    authority = read_authority(context, login, context.forge.role(login), policy)
    seen = Sighting(context.forge.pull_request(number), looked_at)
    repository = event.repository
    facts = IdentityFacts(
        command,
        spec,
        authority,
        seen.pull_request,
        repository.full_name,
        policy,
        author=login,
        rerun_by=context.settings.rerun_by,
    )
    order = Order(command, event.actor, repository, seen.pull_request, policy, seen=seen)
    gate = identity_gate(facts)
    if isinstance(gate, Deny):
        return order, gate
    if context.labels is None:
        raise LookupError("labels are GitHub's, and so is what looks at them")
    return order, check_label(context.labels.word(number, event.label, login), event.pull_request.head_sha)
