from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.environment import EnvironmentRecord, Requester, State
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Allow, Command, Deny, PullRequest
from gpu_lol_action.intake.gates import Authority, IdentityFacts, identity_gate
from gpu_lol_action.intake.spending_gates import SpendingFacts, check_head, spending_gate
from tests.support.records import claimed

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=timezone.utc)
PULL = PullRequest(
    number=1,
    title="t",
    state="open",
    is_draft=False,
    is_merged=False,
    author="ada",
    author_is_bot=False,
    head_sha="abc1234" + "0" * 33,
    head_ref="x",
    head_repository="acme/train",
    base_sha="b" * 40,
    base_ref="main",
)


DEAR = Policy(max_price_usd_per_hour=Decimal("9"))


def identity(name: str = "up", role: str = "write", **changes: object) -> IdentityFacts:
    spec = find_command(name)
    assert spec is not None
    facts = IdentityFacts(Command(name, f"/gpu-lol {name}"), spec, Authority(role), PULL, "acme/train", Policy())
    return replace(facts, **changes)  # type: ignore[arg-type]  # keyword bag of a test helper


def record(name: str = "gl-x-1", login: str = "ada") -> EnvironmentRecord:
    return claimed(NOW, name=name, state=State.READY, repository_id=1, pull_request=1, requester=Requester(login))


def spending(**changes: object) -> SpendingFacts:
    facts = SpendingFacts(
        requester=Requester("ada"),
        price_usd_per_hour=Decimal("1.39"),
        lease=timedelta(hours=2),
        worst_case_usd=Decimal("4.30"),
        month_usd=Decimal("0"),
        open_records=(),
        unreadable=0,
        last_sweep=NOW - timedelta(hours=1),
        oldest_claim=NOW - timedelta(days=9),
        now=NOW,
        policy=Policy(),
    )
    return replace(facts, **changes)  # type: ignore[arg-type]  # keyword bag of a test helper


def reason(gate: Allow | Deny) -> str:
    return gate.reason_code if isinstance(gate, Deny) else "allowed"


def test_a_maintainer_on_an_open_pull_request_may() -> None:
    assert reason(identity_gate(identity())) == "allowed"


@pytest.mark.parametrize("role", ["none", "read", "triage", "", "Admin"])
def test_other_roles_may_not(role: str) -> None:
    assert reason(identity_gate(identity(role=role))) == "permission_denied"


@pytest.mark.parametrize("role", ["none", "read"])
def test_help_is_for_everybody(role: str) -> None:
    assert reason(identity_gate(identity("help", role=role))) == "allowed"


def test_a_closed_pull_request_gets_no_machine_but_can_end_one() -> None:
    closed = replace(PULL, state="closed")
    assert reason(identity_gate(identity(pull_request=closed))) == "pull_request_closed"
    assert reason(identity_gate(identity("down", pull_request=closed))) == "allowed"


@pytest.mark.parametrize("head_repository", ["stranger/train", None])
def test_a_fork_gets_no_machine(head_repository: str | None) -> None:
    fork = replace(PULL, head_repository=head_repository)
    assert reason(identity_gate(identity(pull_request=fork))) == "fork_denied"
    assert reason(identity_gate(identity("status", pull_request=fork))) == "allowed"


FORK = replace(PULL, head_repository="stranger/train")
FORKS_MAY = Policy(may_forks_launch=True)
FORK = replace(PULL, head_repository="stranger/train")


@pytest.mark.parametrize(
    ("role", "sha", "policy", "expected"),
    [
        ("maintain", PULL.head_sha, Policy(), "allowed"),
        ("maintain", "abc1234", Policy(), "fork_sha_required"),
        ("maintain", None, Policy(), "fork_sha_required"),
        ("maintain", "d" * 40, Policy(), "ref_changed"),
        ("write", PULL.head_sha, Policy(), "permission_denied"),
        ("write", PULL.head_sha, FORKS_MAY, "permission_denied"),
        ("maintain", PULL.head_sha, Policy(may_forks_smoke=False), "fork_denied"),
    ],
)
def test_a_forks_commit_is_tested_on_a_maintainers_word_about_exactly_that_commit(
    role: str, sha: str | None, policy: Policy, expected: str
) -> None:
    command = Command("smoke", "/gpu-lol smoke", sha=sha)
    assert reason(identity_gate(identity("smoke", role, pull_request=FORK, command=command, policy=policy))) == expected


def test_a_repositorys_own_commit_is_tested_by_whoever_may_command() -> None:
    assert reason(identity_gate(identity("smoke"))) == "allowed"
    assert reason(identity_gate(identity("smoke", "read"))) == "permission_denied"
    closed = replace(PULL, state="closed")
    assert reason(identity_gate(identity("smoke", pull_request=closed))) == "pull_request_closed"


@pytest.mark.parametrize(
    ("sha", "expected"),
    [
        (None, "fork_sha_required"),
        ("abc1234", "fork_sha_required"),
        (PULL.head_sha[:39], "fork_sha_required"),
        ("f" * 40, "ref_changed"),
        (PULL.head_sha, "allowed"),
    ],
)
def test_a_fork_that_may_launch_needs_its_commit_in_full(sha: str | None, expected: str) -> None:
    asked = Command("up", "/gpu-lol up", sha=sha)
    assert reason(identity_gate(identity(command=asked, pull_request=FORK, policy=FORKS_MAY))) == expected


def test_refusals_about_a_commit_offer_no_line_to_copy() -> None:
    """Whoever is to look at code must not be handed the command that says they did."""
    for sha in (None, "f" * 40):
        gate = identity_gate(
            identity(command=Command("up", "/gpu-lol up", sha=sha), pull_request=FORK, policy=FORKS_MAY)
        )
        assert isinstance(gate, Deny)
        assert "/gpu-lol" not in gate.fix


@pytest.mark.parametrize(
    ("authority", "expected"),
    [
        (Authority("none", is_named=True), "allowed"),
        (Authority("read"), "permission_denied"),
        (Authority("admin"), "permission_denied"),
    ],
)
def test_with_no_roles_only_those_whom_the_policy_names_may(authority: Authority, expected: str) -> None:
    policy = Policy(roles=(), users=("x",))
    assert reason(identity_gate(identity(authority=authority, policy=policy))) == expected


@pytest.mark.parametrize(
    ("authority", "expected"),
    [
        (Authority("write"), "permission_denied"),
        (Authority("write", is_named=True), "permission_denied"),
        (Authority("maintain"), "allowed"),
        (Authority("admin"), "allowed"),
    ],
)
def test_only_confirmers_confirm(authority: Authority, expected: str) -> None:
    assert reason(identity_gate(identity("confirm", authority=authority))) == expected


@pytest.mark.parametrize(
    ("cloud", "expected"), [("vast", "cloud_not_allowed"), ("lambda", "allowed"), (None, "allowed")]
)
def test_a_cloud_must_be_one_of_the_policys(cloud: str | None, expected: str) -> None:
    assert reason(identity_gate(identity(command=Command("up", "/gpu-lol up", cloud=cloud)))) == expected


def test_a_policy_that_cannot_be_read_allows_teardown_alone() -> None:
    broken = Policy(problem="line 3 is wrong")
    assert reason(identity_gate(identity(policy=broken))) == "policy_invalid"
    assert reason(identity_gate(identity("confirm", role="admin", policy=broken))) == "policy_invalid"
    assert reason(identity_gate(identity("down", policy=broken))) == "allowed"


def test_a_named_commit_must_be_the_head() -> None:
    wrong = Command("up", "/gpu-lol up", sha="fffffff")
    right = Command("up", "/gpu-lol up", sha="abc1234")
    assert reason(identity_gate(identity(command=wrong))) == "ref_changed"
    assert reason(identity_gate(identity(command=right))) == "allowed"


def test_a_disabled_bot_still_tears_down() -> None:
    off = Policy(is_enabled=False)
    assert reason(identity_gate(identity(policy=off))) == "disabled"
    assert reason(identity_gate(identity("down", policy=off))) == "allowed"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "allowed"),
        ({"lease": timedelta(minutes=4)}, "lease_out_of_bounds"),
        ({"lease": timedelta(hours=13)}, "lease_out_of_bounds"),
        ({"price_usd_per_hour": Decimal("3.00")}, "allowed"),
        ({"price_usd_per_hour": Decimal("3.01")}, "price_cap_exceeded"),
        ({"month_usd": Decimal("45.70")}, "allowed"),
        ({"month_usd": Decimal("45.71")}, "budget_exceeded"),
        ({"open_records": (record("a"), record("b"))}, "too_many_environments"),
        ({"open_records": tuple(record(n, "bob") for n in "abcd")}, "too_many_environments"),
        ({"open_records": (record("a", "bob"),), "unreadable": 3}, "too_many_environments"),
        ({"last_sweep": NOW - timedelta(hours=27)}, "sweeper_silent"),
        ({"last_sweep": None}, "sweeper_silent"),
        ({"last_sweep": None, "oldest_claim": None}, "allowed"),
        ({"last_sweep": None, "policy": Policy(requires_recent_sweep=False)}, "allowed"),
        ({"machines": 2}, "many_nodes_unsupported"),
        ({"image": "ghcr.io/x/y:1", "policy": Policy(images=("runpod/**",))}, "image_not_allowed"),
        ({"image": None, "policy": Policy(images=("runpod/**",))}, "image_not_allowed"),
        ({"image": "runpod/pytorch:2.4", "policy": Policy(images=("runpod/*",))}, "allowed"),
        ({"price_usd_per_hour": Decimal("5.00"), "policy": DEAR}, "allowed"),
        ({"price_usd_per_hour": Decimal("5.01"), "policy": DEAR}, "confirmation_required"),
        ({"price_usd_per_hour": Decimal("6"), "policy": DEAR, "confirmed_usd_per_hour": Decimal("6")}, "allowed"),
        (
            {"price_usd_per_hour": Decimal("6.01"), "policy": DEAR, "confirmed_usd_per_hour": Decimal("6")},
            "confirmation_outdated",
        ),
        # Nobody is asked to confirm what would be refused all the same.
        ({"price_usd_per_hour": Decimal("6"), "policy": DEAR, "month_usd": Decimal("49")}, "budget_exceeded"),
    ],
)
def test_spending_gates(changes: dict[str, object], expected: str) -> None:
    assert reason(spending_gate(spending(**changes))) == expected


def test_a_moved_head_is_refused() -> None:
    assert reason(check_head("a" * 40, PULL)) == "ref_changed"
    assert reason(check_head(PULL.head_sha, PULL)) == "allowed"


def test_a_pull_request_that_was_closed_meanwhile_is_refused() -> None:
    assert reason(check_head(PULL.head_sha, replace(PULL, state="closed"))) == "pull_request_closed"


def test_every_denial_says_what_why_and_what_to_do() -> None:
    denials = [
        identity_gate(identity(role="read")),
        identity_gate(identity(pull_request=replace(PULL, state="closed"))),
        identity_gate(identity(pull_request=replace(PULL, head_repository=None))),
        spending_gate(spending(lease=timedelta(hours=99))),
        spending_gate(spending(month_usd=Decimal(50))),
        spending_gate(spending(last_sweep=None)),
    ]
    for denial in denials:
        assert isinstance(denial, Deny)
        assert denial.what
        assert denial.why
        assert denial.fix
