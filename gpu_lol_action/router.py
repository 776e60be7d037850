"""Event in, outcome out: identity gates, the right handler, and the only place that turns errors into endings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from gpu_lol_action.domain.commands import Permission, find_command
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
from gpu_lol_action.errors import Ending, GpuLolError, LostRace
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.down import handle_closed, handle_down, mark_closed, mark_down
from gpu_lol_action.handlers.propose import handle_propose
from gpu_lol_action.handlers.status import handle_help, handle_status
from gpu_lol_action.handlers.sweep import handle_sweep
from gpu_lol_action.handlers.up import answer_without_cloud, handle_up
from gpu_lol_action.intake.gates import IdentityFacts, deny_role, identity_gate
from gpu_lol_action.intake.lines import COMMAND_PREFIX
from gpu_lol_action.intake.parser import parse_comment
from gpu_lol_action.render import comments
from gpu_lol_action.render.views import ReplyTo

# Whom GitHub itself, in the event, calls a member: reacting to them at once needs no question.
OWN_MARK = "<!-- gpu-lol "
_INSIDERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that was asked for and how it ended. ``index`` counts the commands of a comment."""

    outcome: Outcome
    ending: Ending
    index: int = 0
    error: GpuLolError | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Which part of the work this process does.

    ``may_use_cloud`` False is the light step: it answers what needs no cloud and defers the rest.
    ``only`` names the commands of the comment that the light step deferred to this one.
    """

    may_use_cloud: bool = True
    only: tuple[int, ...] | None = None
    may_answer: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """What a whole event led to."""

    results: tuple[Result, ...] = ()
    deferred: tuple[int, ...] = ()
    ignored: Ignore | None = None
    pinned_sha: str = ""
    details: dict[str, str] = field(default_factory=dict)


def route(context: Context, event: Event, policy: Policy, step: Step) -> Run:
    """Do what an event asks for, as far as this step may."""
    match event:
        case PullRequestChanged():
            if not step.may_answer:
                return Run()
            return _single(context, event.pull_request.number, lambda: _propose(context, event, policy))
        case PullRequestClosed():
            return _closed(context, event, policy, step)
        case Scheduled():
            return _scheduled(context, event, policy, step)
        case CommentCreated():
            return _comment(context, event, policy, step)


def _propose(context: Context, event: PullRequestChanged, policy: Policy) -> Outcome:
    if not policy.is_enabled:
        return Outcome("ignored", "disabled")
    return handle_propose(context, event.repository, event.pull_request, policy)


def _closed(context: Context, event: PullRequestClosed, policy: Policy, step: Step) -> Run:
    if not step.may_use_cloud:
        if mark_closed(context, event):
            return Run(deferred=(0,))
        return Run(ignored=Ignore("nothing_to_tear_down", "no machine runs for this pull request"))
    return _single(context, event.pull_request.number, lambda: handle_closed(context, event, policy))


def _scheduled(context: Context, event: Scheduled, policy: Policy, step: Step) -> Run:
    if not step.may_use_cloud:
        if context.settings.clouds:
            return Run(deferred=(0,))
        return Run(ignored=Ignore("no_cloud_secret", "no cloud account is connected, so nothing can run"))
    return _single(
        context,
        None,
        lambda: handle_sweep(context, event.repository.repository_id, policy, is_dry_run=event.is_dry_run),
    )


def _comment(context: Context, event: CommentCreated, policy: Policy, step: Step) -> Run:
    if event.author_is_bot or event.body.startswith(OWN_MARK):
        return Run(ignored=Ignore("author_is_bot", "bots do not command machines"))
    parsed = parse_comment(event.body)
    if isinstance(parsed, Ignore):
        return Run(ignored=parsed)
    if step.may_answer and event.author_association in _INSIDERS:
        context.forge.react(event.comment_id, "eyes")
    number = event.pull_request_number
    try:
        role = context.forge.role(event.author.login)
        if step.may_answer and role not in policy.roles and _is_refused(parsed):
            return _turn_away(context, event, role, policy)
        if step.may_answer and event.author_association not in _INSIDERS:
            context.forge.react(event.comment_id, "eyes")
        pull_request = _pinned(context, context.forge.pull_request(number))
    except GpuLolError as error:
        return Run((_failure(context, number, error),))
    scene = _Scene(event, pull_request, policy, role, step)
    results, deferred = [], []
    for index, command in enumerate(parsed):
        if step.only is not None and index not in step.only:
            continue
        result = _guard(context, number, partial(_obey, context, command, scene), index)
        if result.outcome.decision == "deferred":
            deferred.append(index)
        results.append(result)
    return Run(tuple(results), tuple(deferred), pinned_sha=pull_request.head_sha)


def _is_refused(parsed: Sequence[Command | ParseProblem]) -> bool:
    """Whether nothing in the comment is open to everybody."""
    for command in parsed:
        spec = find_command(command.name) if isinstance(command, Command) else None
        if spec is not None and spec.permission is Permission.ANYONE:
            return False
    return True


def _turn_away(context: Context, event: CommentCreated, role: str, policy: Policy) -> Run:
    """Answer a stranger with one reaction and no essay; somebody whom GitHub calls a member gets the reason."""
    reason = deny_role(role, policy)
    text = ""
    if event.author_association in _INSIDERS:
        text = comments.denied(reason=reason, command_line=f"{COMMAND_PREFIX} …", record=None, now=context.clock.now())
        answers.reply(context, event.pull_request_number, text)
    else:
        context.forge.react(event.comment_id, "-1")
    return Run((Result(Outcome("denied", reason.reason_code, text=text), Ending.DENIED),))


def _pinned(context: Context, pull_request: PullRequest) -> PullRequest:
    """Return the pull request at the commit that the light step pinned, where there was one."""
    pinned = context.settings.pinned_sha
    return replace(pull_request, head_sha=pinned) if pinned else pull_request


@dataclass(frozen=True, slots=True)
class _Scene:
    event: CommentCreated
    pull_request: PullRequest
    policy: Policy
    role: str
    step: Step


def _obey(context: Context, command: Command | ParseProblem, scene: _Scene) -> Outcome:
    number = scene.pull_request.number
    if isinstance(command, ParseProblem):
        body = comments.problem(
            problem=command,
            now=context.clock.now(),
            reply_to=ReplyTo(number, scene.event.comment_id),
        )
        answers.reply(context, number, body)
        return Outcome("denied", command.reason_code, text=body)
    spec = find_command(command.name)
    if spec is None:
        raise LookupError(command.name)
    gate = identity_gate(
        IdentityFacts(command, spec, scene.role, scene.pull_request, scene.event.repository.full_name, scene.policy)
    )
    if isinstance(gate, Deny):
        return _deny(context, gate, command, scene)
    order = Order(
        command, scene.event.author, scene.event.repository, scene.pull_request, scene.policy, scene.event.comment_id
    )
    return obey(context, order, may_use_cloud=scene.step.may_use_cloud)


def obey(context: Context, order: Order, *, may_use_cloud: bool) -> Outcome:
    """Carry out an order that passed the identity gates; both doors come through here.

    Without the cloud, ``up`` is planned and denied or deferred, and ``down`` writes its tombstone and is deferred.
    """
    match order.command.name:
        case "analyze":
            return handle_propose(context, order.repository, order.pull_request, order.policy, is_asked=True)
        case "status":
            return handle_status(context, order)
        case "help":
            return handle_help(context, order)
        case "up" if may_use_cloud:
            return handle_up(context, order)
        case "up":
            plan = answer_without_cloud(context, order)
            return plan if isinstance(plan, Outcome) else Outcome("deferred", "needs_cloud")
        case "down" if may_use_cloud or not mark_down(context, order):
            return handle_down(context, order)
        case "down":
            return Outcome("deferred", "needs_cloud")
        case "sweep":
            return handle_sweep(
                context, order.repository.repository_id, order.policy, is_dry_run=order.command.is_dry_run
            )
        case _:
            raise LookupError(order.command.name)


def _deny(context: Context, gate: Deny, command: Command, scene: _Scene) -> Outcome:
    if gate.is_quiet and scene.event.author_association not in _INSIDERS:
        return Outcome("denied", gate.reason_code)
    body = comments.denied(
        reason=gate,
        command_line=command.line,
        record=None,
        now=context.clock.now(),
        reply_to=ReplyTo(scene.pull_request.number, scene.event.comment_id),
    )
    answers.reply(context, scene.pull_request.number, body)
    return Outcome("denied", gate.reason_code, text=body)


def _single(context: Context, number: int | None, action: Callable[[], Outcome]) -> Run:
    return Run((_guard(context, number, action, 0),))


def _guard(context: Context, number: int | None, action: Callable[[], Outcome], index: int) -> Result:
    """Run one action; every way in which it can go wrong becomes a result with its ending."""
    try:
        outcome = action()
    except GpuLolError as error:
        return replace(_failure(context, number, error), index=index)
    except Exception as error:  # noqa: BLE001  our bug: the run must still say what is billing
        context.progress.failure(error)
        body = comments.internal_error(record=None, run_url=context.settings.run_url, now=context.clock.now())
        if number is not None:
            answers.reply(context, number, body)
        return Result(Outcome("failed", "internal_error", text=body), Ending.INTERNAL_ERROR, index)
    return Result(outcome, ending_of(outcome), index)


def ending_of(outcome: Outcome) -> Ending:
    """Return the ending behind an outcome that a handler returned as a value."""
    if outcome.decision == "denied":
        return Ending.DENIED
    if outcome.decision == "failed":
        return Ending.TRANSIENT_ERROR
    return Ending.ANSWERED


def _failure(context: Context, number: int | None, error: GpuLolError) -> Result:
    """Turn an error for a person into a comment (unless a handler has posted one) and a result."""
    code = "record_contended" if isinstance(error, LostRace) else error.reason_code
    body = comments.failed(
        explanation=error.explanation,
        reason_code=code,
        log_tail="",
        record=None,
        run_url=context.settings.run_url,
        now=context.clock.now(),
    )
    if number is not None and not getattr(error, "is_told", False):
        answers.reply(context, number, body)
    return Result(Outcome("failed", code, text=body), error.ending, error=error)
