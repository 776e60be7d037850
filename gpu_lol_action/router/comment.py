"""A comment's way: reaction, identity gates, its commands in their order, the closing reaction.

Handlers and templates are imported where they are called: a reaction must not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from gpu_lol_action.domain.command_spec import Permission
from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command, CommentCreated, Deny, Ignore, Outcome, ParseProblem, PullRequest
from gpu_lol_action.errors import Ending, GpuLolError
from gpu_lol_action.handlers.authority import read_authority
from gpu_lol_action.handlers.context import Context, Order, Sighting
from gpu_lol_action.intake.gates import Authority, IdentityFacts, deny_role, identity_gate
from gpu_lol_action.intake.lines import COMMAND_PREFIX
from gpu_lol_action.intake.parser import parse_comment
from gpu_lol_action.router.results import Result, Run, Step, failure, guard, policy_for_an_end

# Whom GitHub itself, in the event, calls a member: reacting to them at once needs no question.
INSIDERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
OWN_MARK = "<!-- gpu-lol "
# Commands that only end machines: they need no policy, and may spend what requests are kept for teardown.
ENDS = frozenset({"down", "sweep"})


@dataclass(frozen=True, slots=True)
class _Scene:
    event: CommentCreated
    pull_request: PullRequest
    seen: Sighting
    policy: Policy
    authority: Authority
    step: Step
    is_single: bool

    @property
    def is_stranger(self) -> bool:
        """Whether who wrote this may not command: then a reaction has to do, and nothing is explained."""
        return not self.authority.may_command(self.policy) and self.event.author_association not in INSIDERS


def route_comment(context: Context, event: CommentCreated, load_policy: Callable[[], Policy], step: Step) -> Run:
    """Do what a comment asks for, as far as its author may and this step can."""
    if event.author_is_bot or event.body.startswith(OWN_MARK):
        return Run(ignored=Ignore("author_is_bot", "bots do not command machines"))
    parsed = parse_comment(event.body)
    if isinstance(parsed, Ignore):
        return Run(ignored=parsed)
    is_insider = event.author_association in INSIDERS
    if step.is_first and is_insider:
        context.forge.react(event.comment_id, "eyes")
    number = event.pull_request_number
    is_heard = is_insider
    is_end = all(isinstance(each, Command) and each.name in ENDS for each in parsed)
    if is_end and is_insider:
        context.forge.open_reserve()
    # Before the first question: what is seen by it is no older than this.
    looked_at = context.clock.now()
    try:
        role = context.forge.role(event.author.login)
        policy = policy_for_an_end(context, load_policy) if is_end else load_policy()
        authority = read_authority(context, event.author.login, role, policy)
        if step.is_first and not authority.may_command(policy) and not _has_open_command(parsed):
            return _turn_away(context, event, role, policy)
        is_heard = True
        if step.is_first and not is_insider:
            context.forge.react(event.comment_id, "eyes")
        seen = Sighting(context.forge.pull_request(number), looked_at)
        pull_request = _pinned(context, seen.pull_request)
    except GpuLolError as error:
        if not is_heard:
            # Perhaps a stranger: while it cannot be told, a reaction has to do.
            context.forge.react(event.comment_id, "confused")
        return Run((failure(context, number if is_heard else None, error),))
    scene = _Scene(event, pull_request, seen, policy, authority, step, is_single=len(parsed) == 1)
    results = _in_order(context, parsed, scene)
    if not scene.is_stranger:
        _close_with_reaction(context, event.comment_id, results)
    return Run(results, pinned_sha=pull_request.head_sha, may_spend=_may_spend(parsed, results))


def _may_spend(parsed: Sequence[Command | ParseProblem], results: Sequence[Result]) -> bool:
    """Whether anything that was deferred may rent a machine."""
    deferred = [parsed[result.index] for result in results if result.outcome.decision == "deferred"]
    specs = [find_command(command.name) for command in deferred if isinstance(command, Command)]
    return any(spec is not None and spec.is_spending for spec in specs)


def _close_with_reaction(context: Context, comment_id: int, results: Sequence[Result]) -> None:
    """Say at the command itself how it ended, once it has: what is deferred has not."""
    if not results or any(result.outcome.decision == "deferred" for result in results):
        return
    if len(results) == 1 and results[0].outcome.has_reacted:
        return
    decisions = {result.outcome.decision for result in results}
    if decisions & {"failed", "denied"}:
        context.forge.react(comment_id, "confused")
    else:
        is_launched = any(result.outcome.reason_code == "launched" for result in results)
        context.forge.react(comment_id, "rocket" if is_launched else "+1")


def _in_order(context: Context, parsed: Sequence[Command | ParseProblem], scene: _Scene) -> tuple[Result, ...]:
    """Carry out a comment's commands in its order: what follows a deferred one waits with it, as `down` then `up`."""
    results: list[Result] = []
    waiting: Result | None = None
    for index, command in enumerate(parsed):
        if scene.step.only is not None and index not in scene.step.only:
            continue
        if waiting is not None and isinstance(command, Command):
            results.append(replace(waiting, index=index))
            continue
        action = partial(_judge, context, command, scene)
        results.append(guard(context, scene.event.pull_request_number, action, index))
        if results[-1].outcome.decision == "deferred":
            waiting = results[-1]
    return tuple(results)


def _has_open_command(parsed: Sequence[Command | ParseProblem]) -> bool:
    """Whether anything in the comment is open to everybody."""
    specs = [find_command(command.name) for command in parsed if isinstance(command, Command)]
    return any(spec is not None and spec.permission is Permission.ANYONE for spec in specs)


def _turn_away(context: Context, event: CommentCreated, role: str, policy: Policy) -> Run:
    """Answer a stranger with one reaction and no essay; somebody whom GitHub calls a member gets the reason."""
    reason = deny_role(role, policy)
    if event.author_association not in INSIDERS:
        context.forge.react(event.comment_id, "-1")
        return Run((Result(Outcome("denied", reason.reason_code), Ending.DENIED),))
    from gpu_lol_action.handlers.refuse import tell_denial

    text = tell_denial(context, reason, COMMAND_PREFIX, event)
    return Run((Result(Outcome("denied", reason.reason_code, text=text), Ending.DENIED),))


def _pinned(context: Context, pull_request: PullRequest) -> PullRequest:
    """Return the pull request at the commit that the light step pinned, where there was one."""
    pinned = context.settings.pinned_sha
    return replace(pull_request, head_sha=pinned) if pinned else pull_request


def _judge(context: Context, command: Command | ParseProblem, scene: _Scene) -> Outcome:
    """Let a command through the identity gates to its handler, or say why not."""
    event = scene.event
    if isinstance(command, ParseProblem):
        if scene.is_stranger:
            return Outcome("denied", command.reason_code)
        from gpu_lol_action.handlers.refuse import tell_problem

        return Outcome("denied", command.reason_code, text=tell_problem(context, command, event))
    spec = find_command(command.name)
    if spec is None:
        raise LookupError(command.name)
    facts = IdentityFacts(
        command,
        spec,
        scene.authority,
        scene.pull_request,
        event.repository.full_name,
        scene.policy,
        author=event.author.login,
        rerun_by=context.settings.rerun_by,
    )
    gate = identity_gate(facts)
    if isinstance(gate, Deny):
        if gate.is_quiet and scene.is_stranger:
            return Outcome("denied", gate.reason_code)
        from gpu_lol_action.handlers.refuse import tell_denial

        return Outcome("denied", gate.reason_code, text=tell_denial(context, gate, command.line, event))
    from gpu_lol_action.handlers.obey import obey
    from gpu_lol_action.handlers.status import was_helped

    if scene.is_stranger and command.name == "help" and was_helped(context, event.pull_request_number):
        return Outcome("denied", "help_shown_before")

    order = Order(
        command,
        event.author,
        event.repository,
        scene.pull_request,
        scene.policy,
        event.comment_id,
        seen=scene.seen,
        closes=event.comment_id if scene.is_single else None,
    )
    return obey(context, order, may_use_cloud=scene.step.may_use_cloud)
