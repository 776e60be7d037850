"""Two people for a dear machine: ask for the second one, and turn their ``confirm`` into the ``up`` that it is about.

Everything is read anew when somebody confirms: the request from its own comment, its author's authority, the head, the
price. A comment that was edited, by whomever, is no request any more.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.confirmation import Confirmation, Request, WrittenComment, comment_of, is_same_person
from gpu_lol_action.domain.durations import format_duration
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Command, Deny, Ignore, Outcome
from gpu_lol_action.errors import UserError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.authority import read_authority
from gpu_lol_action.handlers.chosen_project import machine_name, settled
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.planned import AwaitsConfirmation
from gpu_lol_action.intake.gates import FULL_SHA, IdentityFacts, identity_gate
from gpu_lol_action.intake.parser import parse_comment
from gpu_lol_action.render import confirmations

AGAIN = "/gpu-lol up"


def ask_for_confirmation(context: Context, order: Order, waiting: AwaitsConfirmation) -> Outcome:
    """Say price, worst case and commit, and what a second person writes to let it start; nothing is launched or kept."""
    now = context.clock.now()
    case = confirmations.AwaitingCase(
        request=request_of(order, waiting.plan.project).name,
        requester=order.requester.login,
        sha=order.pull_request.head_sha,
        best=waiting.best,
        lease=waiting.plan.lease,
        worst=waiting.plan.worst_case,
        policy=order.policy,
        command_line=order.command.line,
        now=now,
        diff_url=_diff_url(context, order),
        project=waiting.plan.project,
    )
    body = confirmations.awaiting(case, reply_to=order.reply_to)
    answers.reply(context, order.pull_request.number, body)
    return Outcome("denied", waiting.denial.reason_code, text=body)


def _diff_url(context: Context, order: Order) -> str:
    """Return the page with everything that this pull request changes, at exactly these two commits."""
    place = f"{context.settings.server_url.rstrip('/')}/{order.repository.full_name}"
    return f"{place}/compare/{order.pull_request.base_sha}...{order.pull_request.head_sha}"


def request_of(order: Order, project: str) -> Request:
    """Return the request that an ``up`` for a project is."""
    return Request(
        order.repository.repository_id,
        order.pull_request.number,
        order.comment_id or 0,
        order.requester.user_id or 0,
        order.command.line,
        project,
    )


def confirmed_order(context: Context, order: Order) -> Order | Deny:
    """Return the order that a ``confirm`` lets start, or why it lets nothing start."""
    command = order.command
    if command.topic is None or command.price_usd_per_hour is None or len(command.sha or "") != FULL_SHA:
        return Deny(
            "confirmation_incomplete",
            "a confirmation names the request, the whole commit and the price",
            "so that it can be about nothing else than what you looked at.",
            "Copy the line from the answer to `/gpu-lol up`.",
        )
    written = context.forge.comment(comment_of(command.topic) or 0)
    asked = _asked(context, order, written)
    if asked is None or written is None:
        return _outdated(
            "there is no such request",
            "its comment is gone, was edited, asks for something else, or means another project now.",
        )
    refused = _check_people(order, written) or _check_time(context, order, written)
    if refused is not None:
        return refused
    confirmed = replace(
        asked,
        comment_id=order.comment_id,
        confirmation=Confirmation(order.requester, command.price_usd_per_hour),
    )
    return _check_requester(context, confirmed) or _check_unused(context, confirmed, written) or confirmed


def _asked(context: Context, order: Order, written: WrittenComment | None) -> Order | None:
    """Return the ``up`` of that comment that bears the seal; None where the comment, or the project that it means, is not what it was."""
    if written is None or written.is_edited or written.pull_request_number != order.pull_request.number:
        return None
    parsed = parse_comment(written.body)
    for command in () if isinstance(parsed, Ignore) else parsed:
        if isinstance(command, Command) and command.name == "up":
            asked = replace(order, command=command, requester=written.author, comment_id=written.comment_id)
            try:
                asked = settled(context, asked)
            except UserError:  # of a folder that is not there nobody was told that it waits
                continue
            if request_of(asked, asked.project).name == order.command.topic:
                return asked
    return None


def _check_people(order: Order, written: WrittenComment) -> Deny | None:
    if written.author_is_bot:
        return _outdated("a bot asked for it", "bots do not command machines.")
    if not is_same_person(written.author, order.requester):
        return None
    return Deny(
        "confirmation_by_requester",
        "a second person must confirm",
        "you asked for this machine yourself.",
        f"Ask somebody with one of the roles {', '.join(order.policy.confirm_roles)}.",
    )


def _check_time(context: Context, order: Order, written: WrittenComment) -> Deny | None:
    within = order.policy.confirm_within
    if context.clock.now() - written.created_at <= within:
        return None
    return _outdated("the request is too old", f"it can be confirmed within {format_duration(within)}.")


def _check_requester(context: Context, confirmed: Order) -> Deny | None:
    """Ask anew whether the requester may give this command, on this pull request as it is now."""
    spec = find_command(confirmed.command.name)
    if spec is None:
        raise LookupError(confirmed.command.name)
    login, policy = confirmed.requester.login, confirmed.policy
    authority = read_authority(context, login, context.forge.role(login), policy)
    repository = confirmed.repository.full_name
    gate = identity_gate(IdentityFacts(confirmed.command, spec, authority, confirmed.pull_request, repository, policy))
    return gate if isinstance(gate, Deny) else None


def _check_unused(context: Context, confirmed: Order, written: WrittenComment) -> Deny | None:
    """Refuse a request since which this environment lived already: one confirmation lets one machine start."""
    existing = context.ledger.read(machine_name(confirmed, confirmed.command.profile))
    if not isinstance(existing, Entry) or existing.record.is_open or existing.record.claimed_at < written.created_at:
        return None
    return _outdated("this request was acted on already", "one confirmation lets one machine start.")


def _outdated(what: str, why: str) -> Deny:
    return Deny("confirmation_outdated", what, why, AGAIN)
