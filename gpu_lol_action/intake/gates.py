"""Gates: one question each, answered with Allow or Deny. What cannot be read is refused.

``IDENTITY`` gates ask who commands what; they need no price. ``SPENDING`` gates ask what it may
cost, once a machine has been chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.commands import CommandSpec, Permission
from gpu_lol_action.domain.durations import format_duration
from gpu_lol_action.domain.environment import EnvironmentRecord, Requester
from gpu_lol_action.domain.policy import POLICY_PATH, Policy
from gpu_lol_action.domain.request import Allow, Command, Deny, Gate, PullRequest

MAX_SWEEP_AGE = timedelta(hours=26)
"""A schedule of once an hour that GitHub skipped for a whole day is no safety net any more."""


@dataclass(frozen=True, slots=True)
class IdentityFacts:
    """Who commands what, on which pull request. ``role`` is ``none`` where it could not be read."""

    command: Command
    spec: CommandSpec
    role: str
    pull_request: PullRequest
    repository: str
    policy: Policy


def check_enabled(facts: IdentityFacts) -> Gate:
    """Refuse everything but teardown and help where the policy switches the bot off, or cannot be read."""
    if facts.spec.name in ("down", "help"):
        return Allow()
    if facts.policy.problem:
        return Deny(
            "policy_invalid",
            "the policy of this repository cannot be read, so it allows nothing",
            facts.policy.problem,
            f"A maintainer corrects `{POLICY_PATH}` on the default branch.",
        )
    if facts.policy.is_enabled:
        return Allow()
    return Deny(
        "disabled",
        "gpu-lol is switched off in this repository",
        f"`enabled: false` stands in `{POLICY_PATH}` on the default branch; only `down` works.",
        "A maintainer sets `enabled: true`.",
    )


def check_permission(facts: IdentityFacts) -> Gate:
    """Refuse those whose role may not command; strangers get a reaction and no essay."""
    if facts.spec.permission is Permission.ANYONE or facts.role in facts.policy.roles:
        return Allow()
    return deny_role(facts.role, facts.policy)


def deny_role(role: str, policy: Policy) -> Deny:
    """Return the refusal for somebody of this role."""
    return Deny(
        "permission_denied",
        f"commands need one of the roles {', '.join(policy.roles)}",
        f"your role in this repository is `{role}`.",
        "Ask a maintainer to give the command, or for write access.",
        is_quiet=True,
    )


def check_pull_request_open(facts: IdentityFacts) -> Gate:
    """Refuse to spend for a pull request that is closed or merged."""
    if not facts.spec.is_spending or facts.pull_request.state == "open":
        return Allow()
    state = "merged" if facts.pull_request.is_merged else "closed"
    return Deny(
        "pull_request_closed",
        f"this pull request is {state}",
        "a machine is rented for open pull requests only, because closing one ends its machine.",
        "Reopen it, or open a new one.",
    )


def check_fork(facts: IdentityFacts) -> Gate:
    """Refuse to run a fork's code on a machine that this repository pays for, unless policy allows it."""
    if not facts.spec.is_spending or facts.policy.may_forks_launch:
        return Allow()
    if not facts.pull_request.is_fork(facts.repository):
        return Allow()
    return Deny(
        "fork_denied",
        "this pull request comes from a fork",
        "a fork's author is nobody whom this repository gave access to its money.",
        "Push the branch to this repository, after reading its code, and open a pull request there.",
    )


def check_sha(facts: IdentityFacts) -> Gate:
    """Refuse a commit that the command names but that is not the head that would be shipped."""
    wanted, head = facts.command.sha, facts.pull_request.head_sha
    if wanted is None or head.startswith(wanted):
        return Allow()
    return Deny(
        "ref_changed",
        f"`{wanted}` is not the head of this pull request",
        f"the head is `{head[:7]}`; only code that you named yourself is shipped.",
        f"/gpu-lol up --sha {head[:7]}",
    )


IDENTITY = (
    check_enabled,
    check_permission,
    check_pull_request_open,
    check_fork,
    check_sha,
)


def identity_gate(facts: IdentityFacts) -> Gate:
    """Return the first refusal of the identity gates, else Allow."""
    return next((g for g in (gate(facts) for gate in IDENTITY) if isinstance(g, Deny)), Allow())


@dataclass(frozen=True, slots=True)
class SpendingFacts:
    """What a launch would cost, and what is spent and running already.

    ``worst_case_usd`` is what it costs at most if only the sweeper ends it. ``unreadable`` records
    count as running machines of nobody. ``month_usd`` are bills since the month began plus what
    open machines may still cost.
    """

    requester: Requester
    price_usd_per_hour: Decimal
    lease: timedelta
    worst_case_usd: Decimal
    month_usd: Decimal
    open_records: Sequence[EnvironmentRecord]
    unreadable: int
    last_sweep: datetime | None
    oldest_claim: datetime | None
    now: datetime
    policy: Policy


def check_lease(facts: SpendingFacts) -> Gate:
    """Refuse a lease shorter or longer than the policy's."""
    policy = facts.policy
    if policy.min_lease <= facts.lease <= policy.max_lease:
        return Allow()
    return Deny(
        "lease_out_of_bounds",
        f"a lease of {format_duration(facts.lease)} is not allowed here",
        f"the policy allows {format_duration(policy.min_lease)} to {format_duration(policy.max_lease)}.",
        f"/gpu-lol up --hours {format_duration(policy.lease).replace(' ', '')}",
    )


def check_price(facts: SpendingFacts) -> Gate:
    """Refuse a machine above the policy's hourly price."""
    cap = facts.policy.max_price_usd_per_hour
    if facts.price_usd_per_hour <= cap:
        return Allow()
    return Deny(
        "price_cap_exceeded",
        f"the cheapest machine that fits costs ${facts.price_usd_per_hour:.2f}/h",
        f"the policy allows ${cap:.2f}/h at most.",
        f"A maintainer raises `limits.price_usd_per_hour` in `{POLICY_PATH}` on the default branch.",
    )


def check_confirmation(facts: SpendingFacts) -> Gate:
    """Refuse a price above which two people must agree; there is no way yet to agree by command."""
    threshold = facts.policy.confirm_above_usd_per_hour
    if facts.price_usd_per_hour <= threshold:
        return Allow()
    return Deny(
        "confirmation_required",
        f"${facts.price_usd_per_hour:.2f}/h needs a second maintainer's confirmation",
        f"the policy asks for one above ${threshold:.2f}/h, and this version cannot take one yet.",
        f"A maintainer raises `limits.confirm_above_usd_per_hour` in `{POLICY_PATH}` on the default branch.",
    )


def check_concurrency(facts: SpendingFacts) -> Gate:
    """Refuse more machines than the policy allows one person and the repository to hold."""
    policy = facts.policy
    in_repository = len(facts.open_records) + facts.unreadable
    of_person = sum(r.requester.login == facts.requester.login for r in facts.open_records)
    names = ", ".join(f"`{record.name}`" for record in facts.open_records) or "unreadable records"
    if of_person >= policy.environments_per_person:
        return Deny(
            "too_many_environments",
            f"you have {of_person} machines running",
            f"the policy allows {policy.environments_per_person} per person: {names}.",
            "/gpu-lol down",
        )
    if in_repository >= policy.environments_per_repository:
        return Deny(
            "too_many_environments",
            f"{in_repository} machines are running in this repository",
            f"the policy allows {policy.environments_per_repository}: {names}.",
            "/gpu-lol down",
        )
    return Allow()


def check_budget(facts: SpendingFacts) -> Gate:
    """Refuse what could pass the month's budget in the worst case."""
    budget = facts.policy.month_usd
    if facts.month_usd + facts.worst_case_usd <= budget:
        return Allow()
    return Deny(
        "budget_exceeded",
        f"this could cost up to ${facts.worst_case_usd:.2f}",
        f"${facts.month_usd:.2f} of this month's ${budget:.2f} are spent or promised.",
        f"A maintainer raises `budget.month_usd` in `{POLICY_PATH}` on the default branch.",
    )


def check_sweeper(facts: SpendingFacts) -> Gate:
    """Refuse to spend where nothing would notice a forgotten machine.

    The very first machine of a repository may start before any sweep has run.
    """
    if not facts.policy.requires_recent_sweep:
        return Allow()
    reference = facts.last_sweep or facts.oldest_claim
    if reference is None or facts.now - reference <= MAX_SWEEP_AGE:
        return Allow()
    seen = "never" if facts.last_sweep is None else f"last at {facts.last_sweep:%Y-%m-%d %H:%M} UTC"
    return Deny(
        "sweeper_silent",
        "no sweep has run lately, so a forgotten machine would go on costing money",
        f"the sweeper succeeded {seen}; one within {format_duration(MAX_SWEEP_AGE)} is needed.",
        "A maintainer runs the gpu-lol workflow by hand once, and looks why its schedule stopped.",
    )


SPENDING = (
    check_lease,
    check_price,
    check_confirmation,
    check_concurrency,
    check_budget,
    check_sweeper,
)


def spending_gate(facts: SpendingFacts) -> Gate:
    """Return the first refusal of the spending gates, else Allow."""
    return next((g for g in (gate(facts) for gate in SPENDING) if isinstance(g, Deny)), Allow())


def check_head(pinned_sha: str, current_sha: str) -> Gate:
    """Refuse, right before spending, when the head has moved since it was pinned."""
    if pinned_sha == current_sha:
        return Allow()
    return Deny(
        "ref_changed",
        f"the head moved from `{pinned_sha[:7]}` to `{current_sha[:7]}` meanwhile",
        "the machine would run code that nobody asked for.",
        f"/gpu-lol up --sha {current_sha[:7]}",
    )
