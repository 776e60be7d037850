"""Spending gates: what a machine may cost, hold and be, once it has been chosen. What cannot be read is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.confirmation import is_same_person
from gpu_lol_action.domain.durations import format_duration
from gpu_lol_action.domain.environment import EnvironmentRecord, Requester
from gpu_lol_action.domain.images import is_image_allowed
from gpu_lol_action.domain.policy import MAX_SWEEP_AGE, POLICY_PATH, Policy
from gpu_lol_action.domain.request import Allow, Deny, Gate, PullRequest


@dataclass(frozen=True, slots=True)
class SpendingFacts:
    """What a launch would cost, and what is spent and running already.

    ``worst_case_usd`` is what it costs at most if only the sweeper ends it. ``unreadable`` records
    count as running machines of nobody. ``month_usd`` are bills since the month began plus what
    open machines may still cost. ``confirmed_usd_per_hour`` is the price that a second person named.
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
    image: str | None = None
    machines: int = 1
    confirmed_usd_per_hour: Decimal | None = None


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


def check_machines(facts: SpendingFacts) -> Gate:
    """Refuse several machines at once: price, budget and bill count one."""
    if facts.machines == 1:
        return Allow()
    return Deny(
        "many_nodes_unsupported",
        f"the spec asks for {facts.machines} machines at once",
        "limits, budget and bill count one machine, so more of them would cost what nobody allowed.",
        "Set `hardware.num_nodes: 1`, with more GPUs in one machine.",
    )


def check_image(facts: SpendingFacts) -> Gate:
    """Refuse an image that the policy does not name, where it names any; so is one that nobody named."""
    patterns = facts.policy.images
    if not patterns or (facts.image and is_image_allowed(facts.image, patterns)):
        return Allow()
    what = f"the image `{facts.image}` is not allowed here" if facts.image else "no image is named"
    return Deny(
        "image_not_allowed",
        what,
        f"the policy allows {', '.join(f'`{pattern}`' for pattern in patterns[:5])}"
        f"{' and others' if len(patterns) > 5 else ''}.",
        f"Take one of these with `--image`, or a maintainer adds it to `images` in `{POLICY_PATH}` on the default branch.",
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
    """Refuse a price above which two people must agree, unless the second one has named at least this price."""
    threshold, confirmed = facts.policy.confirm_above_usd_per_hour, facts.confirmed_usd_per_hour
    price = facts.price_usd_per_hour
    if confirmed is not None and price > confirmed:
        return Deny(
            "confirmation_outdated",
            f"the machine costs ${price:.2f}/h now",
            f"${confirmed:.2f}/h was confirmed.",
            "/gpu-lol up",
        )
    if price <= threshold or confirmed is not None:
        return Allow()
    return Deny(
        "confirmation_required",
        f"${price:.2f}/h needs a second person's confirmation",
        f"the policy asks for one above ${threshold:.2f}/h.",
        f"A maintainer raises `limits.confirm_above_usd_per_hour` in `{POLICY_PATH}` on the default branch.",
    )


def check_concurrency(facts: SpendingFacts) -> Gate:
    """Refuse more machines than the policy allows one person and the repository to hold."""
    policy = facts.policy
    in_repository = len(facts.open_records) + facts.unreadable
    of_person = sum(is_same_person(record.requester, facts.requester) for record in facts.open_records)
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
    check_machines,
    check_image,
    check_price,
    check_concurrency,
    check_budget,
    check_sweeper,
    check_confirmation,  # last: nobody is asked to confirm what would be refused all the same
)


def spending_gate(facts: SpendingFacts) -> Gate:
    """Return the first refusal of the spending gates, else Allow."""
    return next((g for g in (gate(facts) for gate in SPENDING) if isinstance(g, Deny)), Allow())


def check_head(pinned_sha: str, current: PullRequest) -> Gate:
    """Refuse, right before spending, when the head has moved since it was pinned, or the pull request was closed."""
    if current.state != "open":
        return Deny(
            "pull_request_closed",
            "this pull request was closed meanwhile",
            "its machine would outlive it.",
            "Reopen it, or open a new one.",
        )
    if pinned_sha == current.head_sha:
        return Allow()
    return Deny(
        "ref_changed",
        f"the head moved from `{pinned_sha[:7]}` to `{current.head_sha[:7]}` meanwhile",
        "the machine would run code that nobody asked for.",
        "Look at the new commits, then give the command again.",
    )
