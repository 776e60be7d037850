"""Event in, results out: reaction, identity gates, the right handler; the only place that turns errors into endings.

Handlers and templates are imported where they are called: a reaction must not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from gpu_lol_action.domain.command_spec import Permission
from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import (
    Command,
    CommentCreated,
    Deny,
    Event,
    Ignore,
    Outcome,
    ParseProblem,
    PullRequest,
    PullRequestChanged,
    PullRequestClosed,
    Scheduled,
)
from gpu_lol_action.errors import Ending, GpuLolError
from gpu_lol_action.handlers.authority import read_authority
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.intake.gates import Authority, IdentityFacts, deny_role, identity_gate
from gpu_lol_action.intake.lines import COMMAND_PREFIX
from gpu_lol_action.intake.parser import parse_comment

if TYPE_CHECKING:
    from gpu_lol_action.handlers.doctor import Instruments
    from gpu_lol_action.handlers.finish import DeadJob

# Whom GitHub itself, in the event, calls a member: reacting to them at once needs no question.
INSIDERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
OWN_MARK = "<!-- gpu-lol "
# Commands that only end machines: they need no policy, and may spend what requests are kept for teardown.
ENDS = frozenset({"down", "sweep"})


@dataclass(frozen=True, slots=True)
class Step:
    """Which part of the work this process does.

    ``may_use_cloud`` False is the light step: it answers what needs no cloud and defers the rest. ``only`` names what
    the light step deferred to this one; then nothing is reacted to or answered a second time. ``finishes``: this step
    only ties up what a job that died has left.
    """

    may_use_cloud: bool = True
    only: tuple[int, ...] | None = None
    finishes: DeadJob | None = None

    @property
    def is_first(self) -> bool:
        """Whether nobody has answered yet."""
        return self.only is None


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that was asked for and how it ended. ``index`` counts the commands of a comment."""

    outcome: Outcome
    ending: Ending
    index: int = 0
    error: GpuLolError | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What a whole event led to."""

    results: tuple[Result, ...] = ()
    ignored: Ignore | None = None
    pinned_sha: str = ""
    may_spend: bool = False

    @property
    def deferred(self) -> tuple[int, ...]:
        """What needs the cloud and was left to a second step."""
        return tuple(result.index for result in self.results if result.outcome.decision == "deferred")


def route(context: Context, event: Event, load_policy: Callable[[], Policy], step: Step) -> Run:
    """Do what an event asks for, as far as this step may."""
    if step.finishes is not None:
        return Run((_finish(context, event, load_policy, step),))
    if isinstance(event, CommentCreated):
        return _comment(context, event, load_policy, step)
    from gpu_lol_action.handlers import obey

    number = None if isinstance(event, Scheduled) else event.pull_request.number
    action: Callable[[], Outcome]
    if isinstance(event, PullRequestChanged):
        # The policy is asked for with the rest, in one look at the pull request.
        action = partial(obey.follow_change, context, event, load_policy)
        return Run((_guard(context, number, action, 0),))
    context.forge.open_reserve()
    policy = _policy_for_an_end(context, load_policy)
    if isinstance(event, PullRequestClosed):
        action = partial(obey.follow_close, context, event, policy, may_use_cloud=step.may_use_cloud)
    else:
        action = partial(obey.follow_schedule, context, event, policy, may_use_cloud=step.may_use_cloud)
    results = [_guard(context, number, action, 0)]
    is_by_hand = isinstance(event, Scheduled) and event.is_manual and results[0].outcome.decision != "deferred"
    if is_by_hand and context.instruments is not None:
        # Who starts it by hand wants to know how it is; after the sweep, so that the first one counts already.
        results.append(_check_up(context, context.instruments))
    return Run(tuple(results))


def _check_up(context: Context, instruments: Callable[[], Instruments]) -> Result:
    from gpu_lol_action.handlers.doctor import handle_checkup

    result = _guard(context, None, lambda: handle_checkup(instruments()), 1)
    is_faulty = result.outcome.reason_code == "checkup_found_faults"
    return replace(result, ending=Ending.OPERATOR_ERROR) if is_faulty else result


def _policy_for_an_end(context: Context, load_policy: Callable[[], Policy]) -> Policy:
    """Return the policy; where it cannot be read, one that allows nothing but teardown, which must not wait for it."""
    try:
        return load_policy()
    except GpuLolError as error:
        context.progress.line(f"the policy could not be read: {error.explanation.what}")
        return Policy(problem=error.explanation.what)


def _finish(context: Context, event: Event, load_policy: Callable[[], Policy], step: Step) -> Result:
    from gpu_lol_action.handlers import finish

    def action() -> Outcome:
        context.forge.open_reserve()
        policy = _policy_for_an_end(context, load_policy)
        if step.may_use_cloud:
            return finish.end_left_over(context, event, policy)
        return finish.tie_up(context, event, policy, step.finishes or finish.DeadJob())

    return _guard(context, None, action, 0)


@dataclass(frozen=True, slots=True)
class _Scene:
    event: CommentCreated
    pull_request: PullRequest
    policy: Policy
    authority: Authority
    step: Step

    @property
    def is_stranger(self) -> bool:
        """Whether who wrote this may not command: then a reaction has to do, and nothing is explained."""
        return not self.authority.may_command(self.policy) and self.event.author_association not in INSIDERS


def _comment(context: Context, event: CommentCreated, load_policy: Callable[[], Policy], step: Step) -> Run:
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
    try:
        role = context.forge.role(event.author.login)
        policy = _policy_for_an_end(context, load_policy) if is_end else load_policy()
        authority = read_authority(context, event.author.login, role, policy)
        if step.is_first and not authority.may_command(policy) and not _has_open_command(parsed):
            return _turn_away(context, event, role, policy)
        is_heard = True
        if step.is_first and not is_insider:
            context.forge.react(event.comment_id, "eyes")
        pull_request = _pinned(context, context.forge.pull_request(number))
    except GpuLolError as error:
        if not is_heard:
            # Perhaps a stranger: while it cannot be told, a reaction has to do.
            context.forge.react(event.comment_id, "confused")
        return Run((_failure(context, number if is_heard else None, error),))
    scene = _Scene(event, pull_request, policy, authority, step)
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
        results.append(_guard(context, scene.event.pull_request_number, action, index))
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

    order = Order(command, event.author, event.repository, scene.pull_request, scene.policy, event.comment_id)
    return obey(context, order, may_use_cloud=scene.step.may_use_cloud)


def _guard(context: Context, number: int | None, action: Callable[[], Outcome], index: int) -> Result:
    """Run one action; every way in which it can go wrong becomes a result with its ending."""
    try:
        outcome = action()
    except GpuLolError as error:
        return replace(_failure(context, number, error), index=index)
    except Exception as error:  # noqa: BLE001  our bug: the run must still say what is billing
        from gpu_lol_action.handlers.refuse import tell_internal_error

        text = tell_internal_error(context, error, number)
        return Result(Outcome("failed", "internal_error", text=text), Ending.INTERNAL_ERROR, index)
    return Result(outcome, ending_of(outcome), index)


def ending_of(outcome: Outcome) -> Ending:
    """Return the ending behind an outcome that a handler returned as a value."""
    if outcome.decision == "denied":
        return Ending.DENIED
    if outcome.decision == "failed":
        return Ending.TRANSIENT_ERROR
    return Ending.ANSWERED


def _failure(context: Context, number: int | None, error: GpuLolError) -> Result:
    from gpu_lol_action.handlers.refuse import tell_error

    text = tell_error(context, error, number)
    return Result(Outcome("failed", error.reason_code, text=text), error.ending, error=error)
