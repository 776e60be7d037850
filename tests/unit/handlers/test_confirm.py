"""Two people for a dear machine: what the second one's word can start, and everything that it cannot."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action.domain.confirmation import WrittenComment
from gpu_lol_action.domain.environment import Requester, State
from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import CommentCreated
from gpu_lol_action.router import Run, Step, route
from tests.support.hands import HEAD, START
from tests.support.machine import GoodMachine
from tests.unit.handlers.conftest import Bench

POLICY = Policy(max_price_usd_per_hour=Decimal(9), confirm_above_usd_per_hour=Decimal("0.10"))
SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\ndependencies: {requirements: [packaging]}\n"
ADA, GRACE = Requester("ada", 7), Requester("grace", 8)
UP = "/gpu-lol up --hours 3"
LIGHT = Step(may_use_cloud=False)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
    bench.shell = GoodMachine()
    bench.forge.roles |= {"ada": "write", "grace": "maintain"}
    return bench


def say(
    bench: Bench,
    body: str,
    author: Requester = GRACE,
    number: int = 6,
    *,
    policy: Policy = POLICY,
    step: Step | None = None,
) -> Run:
    """Write a comment that GitHub keeps, and let it be read."""
    bench.forge.comments[number] = WrittenComment(number, 12, author, False, body, bench.clock.now(), False)
    event = CommentCreated(bench.forge.repo, 12, number, body, author, False, "MEMBER")
    return route(bench.context, event, lambda: policy, step or Step())


def asked(bench: Bench, body: str = UP, *, policy: Policy = POLICY) -> str:
    """Let ada ask for a machine; return the line that our answer offers."""
    run = say(bench, body, ADA, 5, policy=policy)
    assert codes(run) == ["confirmation_required"]
    assert bench.ledger.entries() == [], "nothing is kept between the two"
    found = re.search(r"^/gpu-lol confirm .+$", bench.texts[-1], re.MULTILINE)
    assert found is not None
    return found[0]


def codes(run: Run) -> list[str]:
    return [result.outcome.reason_code for result in run.results]


def launches(bench: Bench) -> int:
    return sum(line.startswith("launch") for line in bench.cloud.log)


def test_a_second_maintainer_starts_what_the_first_one_asked_for(bench: Bench) -> None:
    line = asked(bench)
    assert launches(bench) == 0
    assert codes(say(bench, line)) == ["launched"]
    record = bench.record
    assert (record.requester, record.confirmed_by, record.state) == (ADA, "grace", State.READY)
    assert record.lease.expires_at - record.lease.starts_at == timedelta(hours=3)
    assert "@ada" in bench.texts[-1]


def test_the_answer_says_price_worst_case_commit_and_who_may_confirm(bench: Bench) -> None:
    asked(bench)
    text = bench.texts[-1]
    assert re.search(r"at \$0\.\d+/h", text)
    for words in ("worst case", HEAD, "maintain or admin", "Nothing was launched", "14:00 UTC"):
        assert words in text


def test_the_line_works_through_both_steps_of_a_job(bench: Bench) -> None:
    line = asked(bench)
    first = say(bench, line, step=LIGHT)
    assert first.deferred == (0,)
    assert launches(bench) == 0
    bench.settle(pinned_sha=first.pinned_sha)
    assert codes(say(bench, line, step=Step(only=first.deferred))) == ["launched"]


def test_a_price_below_the_threshold_needs_nobody(bench: Bench) -> None:
    assert codes(say(bench, UP, ADA, 5, policy=replace(POLICY, confirm_above_usd_per_hour=Decimal(5)))) == ["launched"]
    assert bench.record.confirmed_by is None


def test_who_asked_cannot_confirm_also_under_another_login(bench: Bench) -> None:
    bench.forge.roles |= {"ada": "admin", "Ada-new": "admin"}
    line = asked(bench)
    assert codes(say(bench, line, ADA)) == ["confirmation_by_requester"]
    assert codes(say(bench, line, Requester("Ada-new", 7))) == ["confirmation_by_requester"]
    assert launches(bench) == 0


@pytest.mark.parametrize("role", ["none", "read", "triage", "write"])
def test_a_smaller_role_cannot_confirm(bench: Bench, role: str) -> None:
    line = asked(bench)
    bench.forge.roles["grace"] = role
    assert codes(say(bench, line)) == ["permission_denied"]
    assert launches(bench) == 0


def test_an_edited_request_does_not_count_whoever_edited_it(bench: Bench) -> None:
    line = asked(bench)
    written = bench.forge.comments[5]
    bench.forge.comments[5] = replace(written, is_edited=True)
    assert codes(say(bench, line)) == ["confirmation_outdated"]
    # Also where the edit left no trace: the seal is over the command.
    bench.forge.comments[5] = replace(written, body="/gpu-lol up --hours 12 --share mallory")
    assert codes(say(bench, line)) == ["confirmation_outdated"]
    assert launches(bench) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"author": Requester("mallory", 9)},
        {"pull_request_number": 13},
        {"author_is_bot": True},
        {"created_at": START - timedelta(hours=2, seconds=1)},
    ],
)
def test_a_request_of_somebody_or_somewhere_else_or_long_ago_does_not_count(
    bench: Bench, change: dict[str, object]
) -> None:
    line = asked(bench)
    bench.forge.comments[5] = replace(bench.forge.comments[5], **change)  # type: ignore[arg-type]  # keyword bag
    assert codes(say(bench, line)) == ["confirmation_outdated"]
    assert launches(bench) == 0


def test_a_deleted_request_does_not_count(bench: Bench) -> None:
    line = asked(bench)
    del bench.forge.comments[5]
    assert codes(say(bench, line)) == ["confirmation_outdated"]


def test_a_requester_who_lost_the_role_meanwhile_gets_nothing(bench: Bench) -> None:
    line = asked(bench)
    bench.forge.roles["ada"] = "read"
    assert codes(say(bench, line)) == ["permission_denied"]
    assert launches(bench) == 0


def test_another_commit_than_the_confirmed_one_is_not_launched(bench: Bench) -> None:
    line = asked(bench)
    bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    assert codes(say(bench, line)) == ["ref_changed"]
    assert launches(bench) == 0


def test_a_dearer_machine_than_the_confirmed_one_is_not_launched(bench: Bench) -> None:
    line = asked(bench)
    cheaper = re.sub(r"--price \S+", "--price 0.11", line)
    assert codes(say(bench, cheaper)) == ["confirmation_outdated"]
    assert launches(bench) == 0


def test_no_offer_above_the_confirmed_price_is_tried(bench: Bench) -> None:
    line = asked(bench)
    bench.cloud.answers = [NotLaunched("no_capacity", "sold out", is_certain=True) for _ in range(9)]
    price = Decimal(line.rsplit(" ", 1)[1])
    assert codes(say(bench, line)) == ["no_capacity"]
    assert all(attempt.price_usd_per_hour <= price for attempt in bench.record.attempts)


def test_one_confirmation_lets_one_machine_start(bench: Bench) -> None:
    line = asked(bench)
    bench.clock.sleep(timedelta(minutes=1))
    assert codes(say(bench, line)) == ["launched"]
    assert codes(say(bench, line, number=7)) == ["already_running"]
    assert codes(say(bench, "/gpu-lol down", ADA, 8)) == ["torn_down"]
    assert codes(say(bench, line, number=9)) == ["confirmation_outdated"]
    assert launches(bench) == 1


@pytest.mark.parametrize(
    "cut", [r" --price \S+", r" --sha \S+", r"(?<=--sha [0-9a-f]{7})[0-9a-f]+", r"(?<=confirm) \S+"]
)
def test_a_confirmation_that_does_not_name_everything_starts_nothing(bench: Bench, cut: str) -> None:
    line = asked(bench)
    assert codes(say(bench, re.sub(cut, "", line))) == ["confirmation_incomplete"]
    assert launches(bench) == 0


def test_a_seal_of_another_command_opens_nothing(bench: Bench) -> None:
    line = asked(bench)
    wrong = re.sub(r"(?<=confirm 5-)[0-9a-f]{16}", "0" * 16, line)
    assert wrong != line
    assert codes(say(bench, wrong)) == ["confirmation_outdated"]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (replace(POLICY, is_enabled=False), "disabled"),
        (replace(POLICY, problem="line 1"), "policy_invalid"),
        (replace(POLICY, month_usd=Decimal("0.10")), "budget_exceeded"),
        (replace(POLICY, max_price_usd_per_hour=Decimal("0.10")), "price_cap_exceeded"),
        (replace(POLICY, environments_per_repository=0), "too_many_environments"),
        (replace(POLICY, images=("acme/*",)), "image_not_allowed"),
    ],
)
def test_a_confirmation_opens_no_other_gate(bench: Bench, policy: Policy, reason: str) -> None:
    line = asked(bench)
    assert codes(say(bench, line, policy=policy)) == [reason]
    assert launches(bench) == 0


def test_a_fork_is_confirmed_only_where_the_request_named_its_commit_too(bench: Bench) -> None:
    policy = replace(POLICY, may_forks_launch=True)
    bench.forge.pull = replace(bench.forge.pull, head_repository="mallory/train")
    assert codes(say(bench, UP, ADA, 5, policy=policy)) == ["fork_sha_required"]
    line = asked(bench, f"{UP} --sha {HEAD}", policy=policy)
    assert codes(say(bench, line, policy=policy)) == ["launched"]


def test_a_dry_run_says_that_a_second_person_would_be_asked(bench: Bench) -> None:
    assert codes(say(bench, "/gpu-lol up --dry-run", ADA, 5)) == ["dry_run"]
    assert "second person" in bench.texts[-1]
    assert "/gpu-lol confirm" not in bench.texts[-1]
    assert launches(bench) == 0


def test_of_several_commands_in_a_comment_the_sealed_one_is_meant(bench: Bench) -> None:
    run = say(bench, "/gpu-lol up --hours 1\n\n/gpu-lol up --hours 3", ADA, 5)
    assert codes(run) == ["confirmation_required", "confirmation_required"]
    line = re.search(r"^/gpu-lol confirm .+$", bench.texts[-1], re.MULTILINE)
    assert line is not None
    say(bench, line[0])
    assert bench.record.lease.expires_at - bench.record.lease.starts_at == timedelta(hours=3)
