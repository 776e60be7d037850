"""``up --wait``: asks again while nothing bills, and everything that ends an ``up`` ends the wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from gpu_lol_action.domain.environment import EnvironmentRecord, State
from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.domain.request import PullRequestClosed
from gpu_lol_action.errors import OperatorError, TransientError, UserError
from gpu_lol_action.handlers.down import handle_closed, handle_down
from gpu_lol_action.handlers.status import handle_status
from gpu_lol_action.handlers.sweep import handle_sweep
from gpu_lol_action.handlers.up import handle_up
from tests.support.hands import START
from tests.support.machine import GoodMachine
from tests.unit.handlers.conftest import POLICY, Bench

SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\nmeta: {workload_type: training}\n"
NO_CAPACITY = NotLaunched("no_capacity", "no machine now", is_certain=True)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def bench(bench: Bench) -> Iterator[Bench]:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
    bench.shell = GoodMachine()
    yield bench
    bench.assert_nothing_bills_unnoticed()


def up(bench: Bench, **changes: object) -> str:
    order = bench.order("/gpu-lol up --wait", is_waiting=True, **changes)
    return handle_up(bench.context, order).reason_code


def sold_out_for(bench: Bench, duration: timedelta) -> Callable[[], NotLaunched | None]:
    """An offer that has no machine until this long after the beginning."""

    def answer() -> NotLaunched | None:
        bench.cloud.answers.append(answer)
        return NO_CAPACITY if bench.clock.now() < START + duration else None

    return answer


def while_waiting(bench: Bench, act: Callable[[EnvironmentRecord], None]) -> None:
    """Do something the first time that the wait sleeps."""
    sleep, done = bench.clock.sleep, []

    def sleep_and_act(duration: timedelta) -> None:
        sleep(duration)
        record = bench.record
        if record.is_waiting and not done:
            done.append(True)
            act(record)

    bench.clock.sleep = sleep_and_act  # type: ignore[method-assign]  # this test's own clock


def test_without_wait_one_round_is_all_and_the_answer_names_the_option(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, timedelta(hours=9)))
    assert handle_up(bench.context, bench.order()).reason_code == "no_capacity"
    assert bench.clock.now() < START + 5 * MINUTE
    assert "/gpu-lol up --wait" in bench.texts[-1]


def test_a_machine_that_comes_later_is_handed_over_and_its_lease_does_not_move(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, 20 * MINUTE))
    assert up(bench) == "launched"
    record = bench.record
    assert record.state is State.READY
    assert record.lease.expires_at == START + POLICY.lease, "what was announced holds"
    assert record.launch_asked_at is not None
    assert record.launch_asked_at >= START + 18 * MINUTE, "only from the request that was granted does it cost money"
    assert record.waiting is not None
    assert record.waiting.rounds == 5
    assert [attempt.answer for attempt in record.attempts] == ["launched"], "an offer's newest answer counts"
    assert [phase.name for phase in record.phases][:2] == ["launching", "waiting"]
    assert not record.is_waiting


def test_the_wait_is_over_when_half_of_the_lease_is_gone(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, timedelta(hours=9)))
    assert up(bench, lease=timedelta(minutes=40)) == "no_capacity"
    assert START + 20 * MINUTE <= bench.clock.now() < START + 23 * MINUTE
    assert bench.record.state is State.FAILED
    assert bench.record.cost_so_far_usd(bench.clock.now()) == 0
    assert "less than half of the lease" in bench.texts[-1]
    assert "**Nothing is running for this PR.**" in bench.texts[-1]


def test_policy_caps_the_wait(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, timedelta(hours=9)))
    policy = replace(POLICY, timeouts=replace(POLICY.timeouts, wait=10 * MINUTE))
    order = bench.order("/gpu-lol up --wait", policy=policy, is_waiting=True)
    assert handle_up(bench.context, order).reason_code == "no_capacity"
    assert bench.clock.now() < START + 13 * MINUTE
    assert "timeouts.wait" in bench.texts[-1]


def test_the_jobs_time_caps_the_wait_so_that_a_late_machine_can_still_be_made_ready(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, timedelta(hours=9)))
    bench.settle(job_ends_at=START + 70 * MINUTE)
    assert up(bench) == "no_capacity"
    assert bench.clock.now() < START + (70 - 15 - 20 - 5 - 15 + 3) * MINUTE
    assert "its job would have no time left" in bench.texts[-1]


def test_the_status_comment_says_that_nothing_is_billed_and_when_it_asks_again(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, 10 * MINUTE))
    seen: list[str] = []
    while_waiting(bench, lambda _record: seen.append(bench.texts[0]))
    assert up(bench) == "launched"
    (text,) = seen
    assert "Waiting for a machine for ada: asked 1 time" in text
    assert "Nothing is billed while it waits." in text
    assert "until 13:00 UTC at most" in text
    assert "**Nothing is billing yet for" in text


def test_status_shows_a_wait(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, 10 * MINUTE))
    seen: list[str] = []
    while_waiting(bench, lambda _record: seen.append(handle_status(bench.context, bench.order("/gpu-lol status")).text))
    up(bench)
    assert "| waiting |" in seen[0]


def test_down_ends_a_wait_at_once(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, timedelta(hours=9)))
    ended: list[str] = []

    def end(_record: EnvironmentRecord) -> None:
        before = bench.clock.now()
        ended.append(handle_down(bench.context, bench.order("/gpu-lol down")).reason_code)
        assert bench.clock.now() - before < MINUTE, "nothing is launched, so there is nothing to wait for"

    while_waiting(bench, end)
    assert up(bench) == "stopped"
    assert ended == ["torn_down"]
    assert bench.clock.now() < START + 5 * MINUTE
    assert bench.record.state is State.FAILED
    assert [line for line in bench.cloud.log if line.startswith("launch")] == ["launch RTX4090:1"]


def test_closing_the_pull_request_ends_a_wait(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, timedelta(hours=9)))

    def close(_record: EnvironmentRecord) -> None:
        bench.forge.pull = replace(bench.forge.pull, state="closed")
        event = PullRequestClosed(bench.forge.repo, bench.forge.pull, _record.requester)
        handle_closed(bench.context, event, POLICY)

    while_waiting(bench, close)
    assert up(bench) == "stopped"
    assert bench.clock.now() < START + 5 * MINUTE


def test_a_new_commit_ends_a_wait_before_anything_is_rented_for_the_old_one(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, 4 * MINUTE))

    def push(_record: EnvironmentRecord) -> None:
        bench.forge.pull = replace(bench.forge.pull, head_sha="d" * 40)

    while_waiting(bench, push)
    with pytest.raises(UserError) as caught:
        up(bench)
    assert caught.value.reason_code == "ref_changed"
    assert not bench.cloud.running
    assert bench.record.state is State.FAILED


def test_a_sweep_leaves_a_wait_alone_and_ends_that_of_a_run_that_died(bench: Bench) -> None:
    bench.cloud.answers.append(sold_out_for(bench, timedelta(hours=9)))
    seen: list[State] = []

    def sweep(_record: EnvironmentRecord) -> None:
        handle_sweep(bench.context, 5, POLICY)
        seen.append(bench.record.state)
        bench.forge.dead_runs.add("77")
        handle_sweep(bench.context, 5, POLICY)
        seen.append(bench.record.state)

    while_waiting(bench, sweep)
    assert up(bench) == "stopped"
    assert seen == [State.LAUNCHING, State.FAILED]


def test_what_a_maintainer_must_mend_is_not_waited_for(bench: Bench) -> None:
    bench.cloud.answers.append(NotLaunched("no_balance", "balance is 0", is_certain=True))
    with pytest.raises(OperatorError) as caught:
        up(bench)
    assert caught.value.reason_code.startswith("cloud_")
    assert bench.clock.now() < START + 5 * MINUTE


def test_a_ledger_that_does_not_answer_does_not_end_a_wait(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.cloud.answers.append(sold_out_for(bench, 10 * MINUTE))

    def silent(_name: str) -> str:
        raise TransientError("github_unreachable", "GitHub does not answer")

    monkeypatch.setattr(bench.ledger, "version", silent)
    assert up(bench) == "launched"
    assert any("could not look for a tombstone" in line for line in bench.progress.lines)


def test_a_try_that_left_something_is_ended_before_the_wait_and_its_cost_is_kept(bench: Bench) -> None:
    def uncertain() -> NotLaunched:
        bench.cloud.running[bench.cloud.name_on_cloud(bench.record.name)] = bench.clock.now()
        bench.clock.sleep(15 * MINUTE)
        return NotLaunched("timed_out", "time was up")

    bench.cloud.answers += [uncertain, sold_out_for(bench, 30 * MINUTE)]
    seen: list[int] = []
    while_waiting(bench, lambda _record: seen.append(len(bench.cloud.running)))
    assert up(bench) == "launched"
    assert seen == [0]
    assert bench.record.earlier_cost_usd > 0
