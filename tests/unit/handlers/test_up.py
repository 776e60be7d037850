"""``up`` from the plan to the hand-over, and every way in which it can end early. Nothing may bill unnoticed after any."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from gpu_lol_action.domain.environment import Lease, Requester, State, Tombstone
from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.lookup import Unanswered
from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.domain.market import StockAnswers, Template
from gpu_lol_action.domain.names import environment_name
from gpu_lol_action.domain.offer import Offer
from gpu_lol_action.domain.request import Closing, Posted
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.errors import Door, OperatorError, SpecError, TransientError, UserError
from gpu_lol_action.handlers import journal
from gpu_lol_action.handlers.context import Order, Sighting
from gpu_lol_action.handlers.down import handle_down, mark_down
from gpu_lol_action.handlers.ladder import SIGHT_HOLDS
from gpu_lol_action.handlers.plan import plan_up
from gpu_lol_action.handlers.planned import UpPlan
from gpu_lol_action.handlers.reading import read_commit
from gpu_lol_action.handlers.teardown import write_tombstone
from gpu_lol_action.handlers.up import answer_without_cloud, handle_up
from gpu_lol_action.render.views import attempt_views
from tests.support.hands import HEAD, START
from tests.support.machine import GOOD, GoodMachine
from tests.unit.handlers.conftest import POLICY, Bench

ONE_CARD = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: story, workload_type: training}
"""
ANY_CARD = "hardware: {gpu_count: 1, vram_required_gb: 20}\nmeta: {workload_type: training}\n"
NO_CAPACITY = NotLaunched("no_capacity", "no machine now", is_certain=True)


@pytest.fixture
def machine() -> GoodMachine:
    return GoodMachine()


@pytest.fixture
def bench(bench: Bench, machine: GoodMachine) -> Iterator[Bench]:
    """A repository whose spec names one card, and a machine that is all right."""
    (bench.forge.folder / ".gpu-lol.yaml").write_text(ONE_CARD)
    bench.shell = machine
    yield bench
    bench.assert_nothing_bills_unnoticed()


def open_to_any_card(bench: Bench, *clouds: str) -> None:
    """Name no card and install nothing, so that there is a whole ladder; the machine shows the card that was rented."""
    (bench.forge.folder / ".gpu-lol.yaml").write_text(ANY_CARD)
    bench.settle(clouds=clouds or ("runpod",))
    assert isinstance(bench.shell, GoodMachine)
    bench.shell.before = lambda _kind: show_card(bench)


def show_card(bench: Bench) -> None:
    assert isinstance(bench.shell, GoodMachine)
    card = find_accelerator(bench.record.accelerator or "")
    assert card is not None
    gpu = bench.shell.facts[0]["gpu"]
    gpu["driver"]["gpus"][0]["name"] = card.name


def launches(bench: Bench) -> list[str]:
    return [line.removeprefix("launch ") for line in bench.cloud.log if line.startswith("launch ")]


def leave_a_machine(bench: Bench, kind: str) -> Callable[[], NotLaunched]:
    """A try that ended without certainty, and a machine that runs all the same."""

    def answer() -> NotLaunched:
        bench.cloud.running[bench.cloud.name_on_cloud(environment_name(5, 12))] = bench.clock.now()
        bench.clock.sleep(timedelta(minutes=15))
        return NotLaunched(kind, "time was up")

    return answer


# --- the way through -----------------------------------------------------------------------------------------------


def test_up_hands_over_a_checked_machine(bench: Bench, machine: GoodMachine) -> None:
    outcome = handle_up(bench.context, bench.order())
    record = bench.record
    assert (outcome.decision, outcome.reason_code) == ("done", "launched")
    assert record.state is State.READY
    assert record.sha == HEAD
    assert record.launcher_stopped_at == record.ready_at
    assert machine.kinds == ["access", "lease", "code", "setup", "probe"]
    assert [phase.name for phase in record.phases] == [
        "launching",
        "connecting",
        "keys",
        "code",
        "set-up",
        "validation",
    ]
    assert record.ssh is not None
    assert record.ssh.host_key is not None
    assert len(bench.texts) == 2, "one status comment that is edited, one answer that notifies"
    assert "Ready for @ada" in bench.texts[1]
    assert "ssh -p 41822" in bench.texts[1]
    assert outcome.text == bench.texts[1]


def test_up_again_shows_the_machine_and_launches_no_second(bench: Bench) -> None:
    handle_up(bench.context, bench.order())
    version = bench.ledger.version(bench.record.name)
    outcome = handle_up(bench.context, bench.order())
    assert outcome.reason_code == "already_running"
    assert "ssh -p 41822" in bench.texts[-1]
    assert len(launches(bench)) == 1
    assert bench.ledger.version(bench.record.name) == version


def test_up_after_down_is_a_new_claim_with_a_bill_of_its_own(bench: Bench) -> None:
    handle_up(bench.context, bench.order())
    handle_down(bench.context, bench.order("/gpu-lol down"))
    first = bench.record.bill
    bench.clock.sleep(timedelta(minutes=10))
    assert handle_up(bench.context, bench.order()).reason_code == "launched"
    record = bench.record
    assert record.bill is None
    assert record.tombstone is None
    assert record.attempts[0].answer == "launched"
    assert first is not None
    assert bench.ledger.bills_usd(START) == first.usd


def test_the_next_offer_is_tried_where_the_first_has_no_capacity(bench: Bench) -> None:
    open_to_any_card(bench)
    bench.cloud.answers = [NO_CAPACITY]
    outcome = handle_up(bench.context, bench.order())
    tried = launches(bench)
    assert outcome.reason_code == "launched"
    assert len(set(tried)) == 2
    assert [attempt.answer for attempt in bench.record.attempts] == ["no_capacity", "launched"]
    assert f"{bench.record.accelerator}:1" == tried[1]
    assert "no capacity" in bench.texts[-1]


def test_what_is_missing_is_installed_once_and_looked_at_again(bench: Bench, machine: GoodMachine) -> None:
    without = copy.deepcopy(GOOD)
    without["packages"] = {"found": {}}
    machine.facts = [without, GOOD]
    assert handle_up(bench.context, bench.order()).reason_code == "launched"
    assert machine.kinds == ["access", "lease", "code", "setup", "probe", "repair", "probe"]
    assert "repair" in [check.name for check in bench.record.checks]


def test_a_status_comment_that_cannot_be_posted_does_not_stop_the_launch(bench: Bench) -> None:
    bench.forge.is_read_only = True
    outcome = handle_up(bench.context, bench.order())
    assert outcome.reason_code == "launched"
    assert "ssh -p 41822" in outcome.text, "the job summary has what the comment would have said"
    assert bench.record.status_comment_id is None


def test_dry_run_says_what_it_costs_and_claims_nothing(bench: Bench) -> None:
    outcome = handle_up(bench.context, bench.order(is_dry_run=True))
    assert outcome.reason_code == "dry_run"
    assert "$0.74/h" in bench.texts[-1]
    assert "Nothing was launched" in bench.texts[-1]
    assert bench.ledger.entries() == []
    assert launches(bench) == []


def test_the_light_step_plans_and_neither_claims_nor_says_anything(bench: Bench) -> None:
    plan = answer_without_cloud(bench.context, bench.order())
    assert plan.name == environment_name(5, 12)  # type: ignore[union-attr]  # it is a plan
    assert bench.texts == []
    assert bench.ledger.entries() == []
    assert bench.cloud.log == []


# --- offers that say no ----------------------------------------------------------------------------------------------


def test_no_capacity_anywhere_costs_nothing_and_names_each_offer(bench: Bench) -> None:
    open_to_any_card(bench)
    bench.cloud.answers = [NO_CAPACITY] * 9
    outcome = handle_up(bench.context, bench.order())
    assert (outcome.decision, outcome.reason_code) == ("denied", "no_capacity")
    assert len(launches(bench)) == POLICY.max_offers_tried
    assert bench.record.state is State.FAILED
    assert bench.record.bill is None or bench.record.bill.usd == 0
    assert bench.ledger.bills_usd(START) == 0
    assert all(attempt.accelerator in bench.texts[-1] for attempt in bench.record.attempts)


@pytest.mark.parametrize("kind", ["no_balance", "quota", "credentials"])
def test_a_cloud_that_wants_a_maintainer_is_asked_once_and_the_others_go_on(bench: Bench, kind: str) -> None:
    open_to_any_card(bench, "runpod", "lambda")
    bench.cloud.answers = [NotLaunched(kind, "no", is_certain=True)]
    outcome = handle_up(bench.context, bench.order())
    clouds = [attempt.cloud for attempt in bench.record.attempts]
    assert outcome.reason_code == "launched"
    assert len(set(clouds)) == 2, "the refused cloud is not asked for its next offer"


@pytest.mark.parametrize(
    ("kind", "reason_code", "says"),
    [
        ("no_balance", "cloud_balance_empty", "RunPod's account has no balance"),
        ("quota", "cloud_quota_used_up", "RunPod's quota is used up"),
        ("credentials", "cloud_credentials_refused", "RunPod refuses our key"),
    ],
)
def test_where_every_cloud_wants_a_maintainer_the_maintainer_is_told_what_and_where(
    bench: Bench, kind: str, reason_code: str, says: str
) -> None:
    open_to_any_card(bench)
    bench.cloud.answers = [NotLaunched(kind, "the cloud's own words", is_certain=True)] * 9
    with pytest.raises(OperatorError) as raised:
        handle_up(bench.context, bench.order())
    assert raised.value.reason_code == reason_code
    assert raised.value.is_told
    assert f"A maintainer must look after the cloud account: {says}\n" in bench.texts[-1]
    assert "RunPod: the cloud's own words." in bench.texts[-1]
    assert " at `console.runpod.io/" in bench.texts[-1]
    assert "Nothing is running" in bench.texts[-1]
    assert len(launches(bench)) == 1
    assert bench.record.state is State.FAILED


def test_two_clouds_that_want_a_maintainer_for_two_reasons_are_told_together(bench: Bench) -> None:
    open_to_any_card(bench, "runpod", "lambda")
    bench.cloud.answers = [
        NotLaunched("quota", "no", is_certain=True),
        NotLaunched("no_balance", "no", is_certain=True),
    ]
    with pytest.raises(OperatorError) as raised:
        handle_up(bench.context, bench.order())
    assert raised.value.reason_code == "cloud_account_refused"
    assert "quota is used up; " in bench.texts[-1]
    assert "account has no balance\n" in bench.texts[-1]


def test_one_refused_cloud_and_one_without_capacity_is_no_capacity_and_names_what_a_maintainer_mends(
    bench: Bench,
) -> None:
    open_to_any_card(bench, "runpod", "lambda")
    bench.cloud.answers = [NotLaunched("quota", "no", is_certain=True), *[NO_CAPACITY] * 9]
    assert handle_up(bench.context, bench.order()).reason_code == "no_capacity"
    assert "A maintainer must look after the cloud account: " in bench.texts[-1]


@pytest.mark.parametrize(
    ("kinds", "reason_code", "says"),
    [
        (("timed_out",), "launch_timed_out", "No machine came in time"),
        (("failed", "timed_out"), "launch_failed", "Launching failed"),
        (("failed", "no_capacity"), "no_capacity", "No machine to be had"),
    ],
)
def test_a_ladder_without_a_machine_says_why(bench: Bench, kinds: tuple[str, ...], reason_code: str, says: str) -> None:
    open_to_any_card(bench)
    bench.cloud.answers = [NotLaunched(kinds[number % len(kinds)], "no") for number in range(9)]
    assert handle_up(bench.context, bench.order()).reason_code == reason_code
    assert says in bench.texts[-1]
    assert bench.record.state is State.FAILED
    assert not bench.cloud.running


def test_an_invalid_request_is_not_tried_elsewhere(bench: Bench) -> None:
    open_to_any_card(bench)
    bench.cloud.answers = [NotLaunched("invalid", "the image does not exist", is_certain=True)]
    with pytest.raises(UserError) as raised:
        handle_up(bench.context, bench.order())
    assert raised.value.reason_code == "launch_refused"
    assert "the image does not exist" in bench.texts[-1]
    assert len(launches(bench)) == 1
    assert not bench.record.is_open


def test_what_a_timed_out_try_left_is_ended_and_billed_before_the_next(bench: Bench) -> None:
    open_to_any_card(bench)
    bench.cloud.answers = [leave_a_machine(bench, "timed_out")]
    assert handle_up(bench.context, bench.order()).reason_code == "launched"
    record = bench.record
    tries = [line for line in bench.cloud.log if line.startswith(("launch", "teardown"))]
    assert [line.split()[0] for line in tries] == ["launch", "teardown", "launch"]
    assert record.earlier_cost_usd > 0
    asked = record.launch_asked_at
    assert asked is not None
    assert asked >= START + timedelta(minutes=16), "the second machine's clock starts with the second request"
    handle_down(bench.context, bench.order("/gpu-lol down"))
    bill = bench.record.bill
    assert bill is not None
    assert bill.usd > record.earlier_cost_usd


def test_what_timed_out_tries_cost_is_billed_where_no_machine_came_of_them(bench: Bench) -> None:
    open_to_any_card(bench)
    bench.cloud.answers = [leave_a_machine(bench, "timed_out")] * 4
    assert handle_up(bench.context, bench.order()).reason_code == "launch_timed_out"
    record = bench.record
    assert record.bill is not None
    assert record.bill.usd == record.earlier_cost_usd > 0
    assert bench.ledger.bills_usd(START) == record.bill.usd, "the month's budget knows of it"


def test_a_machine_that_a_failed_try_left_and_that_stays_is_never_certified(bench: Bench) -> None:
    bench.cloud.answers = [leave_a_machine(bench, "failed")]
    bench.cloud.survives_teardowns = 99
    with pytest.raises(TransientError):
        handle_up(bench.context, bench.order())
    record = bench.record
    assert record.state is State.UNKNOWN
    assert record.tombstone is not None
    text = "\n".join(bench.texts)
    assert record.name_on_cloud is not None
    assert record.name_on_cloud in text
    assert "$0.74/h" in text
    assert "Nothing is running" not in text


# --- somebody ends it, or the run is cancelled --------------------------------------------------------------------


def test_down_during_the_launch_stops_it_and_certifies_nothing_itself(bench: Bench) -> None:
    def bury() -> None:
        assert mark_down(bench.context, bench.order("/gpu-lol down"))

    bench.cloud.answers = [bury]
    outcome = handle_up(bench.context, bench.order())
    record = bench.record
    assert outcome.reason_code == "stopped"
    assert "cancel" in bench.cloud.log
    assert record.launcher_stopped_at is not None
    assert record.state is State.ENDING
    assert len(bench.texts) == 1, "whoever asked for the end posts the certificate"
    assert bench.cloud.running, "the machine that came too late still runs, and the record says so"
    assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "torn_down"
    assert not bench.cloud.running
    bill = bench.record.bill
    assert bill is not None
    assert bill.usd > 0, "the machine was there for a minute"


@pytest.mark.parametrize("kind", ["access", "lease", "code", "setup", "probe"])
def test_down_during_the_installation_stops_it(bench: Bench, machine: GoodMachine, kind: str) -> None:
    def bury(now: str) -> None:
        if now == kind:
            mark_down(bench.context, bench.order("/gpu-lol down"))

    machine.before = bury
    assert handle_up(bench.context, bench.order()).reason_code == "stopped"
    assert bench.record.state is State.ENDING
    assert bench.record.launcher_stopped_at is not None


def test_a_tombstone_cancels_a_launch_that_blocks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "TOMBSTONE_POLL_SECONDS", 0.01)
    cancelled = threading.Event()
    cancel = bench.cloud.cancel

    def note() -> None:
        cancel()
        cancelled.set()

    bench.cloud.cancel = note  # type: ignore[method-assign]  # the same, and it can be waited for

    def block() -> NotLaunched:
        mark_down(bench.context, bench.order("/gpu-lol down"))
        assert cancelled.wait(60), "nobody looked for the tombstone"
        return NotLaunched("cancelled", "cancelled")

    bench.cloud.answers = [block]
    assert handle_up(bench.context, bench.order()).reason_code == "stopped"
    assert bench.cloud.running == {}
    assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "torn_down"


def test_down_during_set_up_ends_the_machine_at_once_and_up_says_that_it_was_stopped(
    bench: Bench, machine: GoodMachine
) -> None:
    def vanish(kind: str) -> None:
        if kind != "setup" or not bench.record.is_open:
            return
        before = bench.clock.now()
        assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "torn_down"
        assert bench.clock.now() - before < timedelta(minutes=2), "it waited for a launcher that had stopped"

    machine.before = vanish
    machine.instead["setup"] = TransientError("machine_unreachable", "the machine does not answer")
    posted = len(bench.texts)
    assert handle_up(bench.context, bench.order()).reason_code == "stopped"
    assert bench.cloud.running == {}
    assert bench.record.state is State.FAILED
    assert not any("does not answer" in text for text in bench.texts[posted:])


def test_a_ledger_that_cannot_be_asked_does_not_stop_a_launch(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "TOMBSTONE_POLL_SECONDS", 0.01)
    asked = threading.Event()

    def version(name: str) -> str:
        asked.set()
        raise TransientError("github_unreachable", "it did not answer")

    bench.ledger.version = version  # type: ignore[method-assign]  # an outage
    bench.cloud.answers = [lambda: None if asked.wait(60) else pytest.fail("nobody looked")]
    assert handle_up(bench.context, bench.order()).reason_code == "launched"
    assert any("could not look" in line for line in bench.progress.lines)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), RuntimeError("a bug")])
def test_whatever_breaks_a_launch_is_compensated_and_raised_again(bench: Bench, error: BaseException) -> None:
    def break_off() -> None:
        bench.cloud.running[bench.cloud.name_on_cloud(environment_name(5, 12))] = bench.clock.now()
        bench.clock.sleep(timedelta(minutes=5))
        raise error

    bench.cloud.answers = [break_off]
    with pytest.raises(type(error)):
        handle_up(bench.context, bench.order())
    record = bench.record
    assert bench.cloud.running == {}
    assert bench.cloud.log.index("cancel") < bench.cloud.log.index(f"teardown {record.name_on_cloud}")
    assert record.state is State.FAILED
    assert record.bill is not None
    assert record.bill.usd >= Decimal("0.07"), "the machine was there for five minutes at $0.74/h"
    assert "a bug" not in "\n".join(bench.texts)


def test_a_cancel_that_fails_does_not_keep_the_machine_from_being_ended(bench: Bench) -> None:
    def break_off() -> None:
        bench.cloud.running[bench.cloud.name_on_cloud(environment_name(5, 12))] = bench.clock.now()
        raise KeyboardInterrupt

    bench.cloud.answers = [break_off]
    bench.cloud.cancel_raises = OSError("the child is gone")
    with pytest.raises(KeyboardInterrupt):
        handle_up(bench.context, bench.order())
    assert bench.cloud.running == {}
    assert bench.record.is_open, "nobody knows that the launcher is dead: nothing is certified"
    assert bench.record.tombstone is not None
    assert bench.record.launcher_stopped_at is None


def test_an_interrupt_whose_certificate_cannot_be_written_is_still_an_interrupt(bench: Bench) -> None:
    def break_off() -> None:
        def refuse(*_arguments: object) -> Decimal:
            raise TransientError("github_unreachable", "it did not answer")

        bench.ledger.bills_usd = refuse  # type: ignore[method-assign]  # an outage that begins now
        raise KeyboardInterrupt

    bench.cloud.answers = [break_off]
    with pytest.raises(KeyboardInterrupt):
        handle_up(bench.context, bench.order())
    assert bench.record.state is State.FAILED
    assert "ended before the machine was ready" in bench.texts[-1]


def test_a_bug_in_the_teardown_is_told_as_a_machine_that_may_run(bench: Bench) -> None:
    def break_off() -> None:
        bench.cloud.running[bench.cloud.name_on_cloud(environment_name(5, 12))] = bench.clock.now()
        raise KeyboardInterrupt

    def fail(cloud: str, name_on_cloud: str, provider_config: object) -> None:
        raise RuntimeError("a bug of ours")

    bench.cloud.answers = [break_off]
    bench.cloud.teardown = fail  # type: ignore[method-assign]  # our own fault, of all moments then
    with pytest.raises(KeyboardInterrupt):
        handle_up(bench.context, bench.order())
    assert bench.record.state is State.ENDING
    assert any("may still run" in text and "$0.74/h" in text for text in bench.texts)
    assert [str(error) for error in bench.progress.failures] == ["a bug of ours"]
    assert "a bug of ours" not in "\n".join(bench.texts)


# --- others were faster -------------------------------------------------------------------------------------------


def test_a_lost_claim_shows_what_the_winner_started(bench: Bench) -> None:
    claim = bench.ledger.claim

    def lose(record: object) -> Entry:
        rival = replace(record, run_id="99", requester=Requester("eve", 9))  # type: ignore[type-var]  # a record
        claim(rival)  # type: ignore[arg-type]  # a record
        return claim(record)  # type: ignore[arg-type]  # a record

    bench.ledger.claim = lose  # type: ignore[method-assign]  # somebody is a moment faster
    outcome = handle_up(bench.context, bench.order())
    assert outcome.reason_code == "already_running"
    assert "eve" in bench.texts[-1]
    assert launches(bench) == []
    assert bench.record.run_id == "99"


def test_a_head_that_moved_before_spending_launches_nothing(bench: Bench) -> None:
    order = bench.order()
    bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    with pytest.raises(UserError) as raised:
        handle_up(bench.context, order)
    assert raised.value.reason_code == "ref_changed"
    assert raised.value.is_told
    record = bench.record
    assert launches(bench) == []
    assert not record.is_open
    assert record.bill is None
    assert record.cost_so_far_usd(bench.clock.now()) == 0


def test_a_head_that_moves_while_an_offer_is_tried_is_not_taken_to_the_next(bench: Bench) -> None:
    def push() -> NotLaunched:
        bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
        return NotLaunched("no_capacity", "sold out", is_certain=True)

    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardware: {vram_required_gb: 20}\n")
    bench.cloud.answers = [push]
    with pytest.raises(UserError) as raised:
        handle_up(bench.context, bench.order())
    assert raised.value.reason_code == "ref_changed"
    assert len(launches(bench)) == 1
    assert bench.cloud.running == {}


def test_a_pull_request_that_is_closed_before_spending_launches_nothing(bench: Bench) -> None:
    order = bench.order()
    bench.forge.pull = replace(bench.forge.pull, state="closed")
    with pytest.raises(UserError) as raised:
        handle_up(bench.context, order)
    assert raised.value.reason_code == "pull_request_closed"
    assert launches(bench) == []
    assert not bench.record.is_open


def test_several_machines_at_once_are_refused_whatever_one_would_cost(bench: Bench) -> None:
    """The file is the pull request's own: sixty-four times a price that passes the gate is nobody's intention."""
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardware: {gpu_type: A10, gpu_count: 1, num_nodes: 64}\n")
    bench.settle(clouds=("runpod", "lambda"))
    outcome = handle_up(bench.context, bench.order())
    assert outcome.reason_code == "many_nodes_unsupported"
    assert launches(bench) == []


def test_an_image_that_the_policy_does_not_name_is_refused_wherever_it_comes_from(bench: Bench) -> None:
    policy = replace(POLICY, images=("runpod/**",))
    (bench.forge.folder / ".gpu-lol.yaml").write_text(
        "hardware: {gpu_type: RTX4090}\nenvironment: {base_image: evil.example/miner}\n"
    )
    assert handle_up(bench.context, bench.order(policy=policy)).reason_code == "image_not_allowed"
    order = bench.order("/gpu-lol up", policy=policy, image="evil.example/miner:2")
    assert handle_up(bench.context, order).reason_code == "image_not_allowed"
    allowed = bench.order("/gpu-lol up", policy=policy, image="runpod/pytorch:2.4")
    assert handle_up(bench.context, allowed).reason_code == "launched"


def test_a_claim_that_was_ended_and_taken_over_is_left_to_its_new_owner(bench: Bench) -> None:
    """Down closes a claim that launched nothing at once; the next ``up`` may claim the name while the first still runs."""
    pull_request = bench.forge.pull_request

    def overtaken(number: int) -> object:
        handle_down(bench.context, bench.order("/gpu-lol down"))
        closed = bench.record
        claim = replace(
            closed,
            state=State.CLAIMED,
            run_id="99",
            requester=Requester("eve", 9),
            claimed_at=bench.clock.now(),
            lease=Lease(bench.clock.now(), bench.clock.now() + timedelta(hours=2)),
            tombstone=None,
            closed_at=None,
            absences=(),
        )
        bench.ledger.claim(claim)
        return pull_request(number)

    bench.forge.pull_request = overtaken  # type: ignore[assignment,method-assign]  # between the claim and the launch
    outcome = handle_up(bench.context, bench.order())
    assert outcome.reason_code == "stopped"
    assert launches(bench) == []
    record = bench.record
    assert record.run_id == "99"
    assert record.state is State.CLAIMED
    assert record.tombstone is None
    assert record.launcher_stopped_at is None


def test_a_failure_after_the_claim_was_taken_over_ends_nothing_of_the_new_owner(bench: Bench) -> None:
    order = bench.order()

    def overtaken(number: int) -> object:
        handle_down(bench.context, bench.order("/gpu-lol down"))
        bench.ledger.claim(
            replace(bench.record, state=State.CLAIMED, run_id="99", tombstone=None, closed_at=None, absences=())
        )
        raise TransientError("github_unreachable", "it did not answer")

    bench.forge.pull_request = overtaken  # type: ignore[assignment,method-assign]  # between the claim and the launch
    assert handle_up(bench.context, order).reason_code == "stopped", "the end of its own claim is what ended it"
    assert bench.record.run_id == "99"
    assert bench.record.state is State.CLAIMED
    assert bench.record.tombstone is None


# --- the machine is not right -------------------------------------------------------------------------------------


def test_set_up_that_fails_ends_the_machine_and_shows_its_last_lines(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["setup"] = lambda nonce: (
        f"::gpu-lol-setup {nonce} start requirements\nERROR: No matching distribution found for packagin\n"
        f"::gpu-lol-setup {nonce} end requirements 1 9\n"
    )
    with pytest.raises(UserError) as raised:
        handle_up(bench.context, bench.order())
    assert raised.value.reason_code == "setup_failed"
    text = bench.texts[-1]
    assert "No matching distribution found for packagin" in text
    assert "Nothing is running" in text
    assert bench.record.state is State.FAILED
    assert bench.record.bill is not None
    assert bench.record.bill.usd > 0
    assert bench.cloud.running == {}


def test_the_ready_comment_says_what_was_installed_in_another_way(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["setup"] = lambda nonce: (
        f"::gpu-lol-setup {nonce} start requirements\n::gpu-lol-setup {nonce} note aside fsspec\n"
        f"::gpu-lol-setup {nonce} end requirements 0 9\n::gpu-lol-setup {nonce} done\n"
    )
    handle_up(bench.context, bench.order())
    assert bench.record.state is State.READY
    assert bench.record.checks[-1].name == "set-up"
    assert "The other requirements contradict `fsspec`: it was installed last, as asked for." in bench.texts[-1]


def test_secrets_that_set_up_prints_reach_no_comment(bench: Bench, machine: GoodMachine) -> None:
    token = "hf_" + "Ab1" * 12
    machine.instead["setup"] = lambda nonce: (
        f"::gpu-lol-setup {nonce} start command_1\ncannot log in with {token}\n"
        f"::gpu-lol-setup {nonce} end command_1 1 9\n"
    )
    with pytest.raises(UserError):
        handle_up(bench.context, bench.order())
    assert token not in "\n".join([*bench.texts, *bench.progress.lines])


def test_failed_checks_end_the_machine_with_certificate_and_bill(bench: Bench, machine: GoodMachine) -> None:
    machine.facts[0]["credentials"] = {"found": ["variable RUNPOD_API_KEY"], "scoped": []}
    outcome = handle_up(bench.context, bench.order())
    record = bench.record
    assert (outcome.decision, outcome.reason_code) == ("failed", "validation_failed")
    assert record.state is State.FAILED
    assert record.bill is not None
    assert bench.cloud.running == {}
    assert "credentials" in bench.texts[-1]
    assert f"${record.bill.usd:.2f}" in bench.texts[0], "the environment's own comment is the certificate"


def test_failed_checks_leave_the_machine_where_policy_wants_it(bench: Bench, machine: GoodMachine) -> None:
    machine.facts[0]["hub"] = {"url": "https://huggingface.co", "status": 0, "seconds": 9.0, "error": "timed out"}
    machine.facts[0]["gpu"]["torch"]["devices"][0]["product"]["wrong"] = 7
    policy = replace(POLICY, is_teardown_on_failed_validation=False)
    assert handle_up(bench.context, bench.order(policy=policy)).reason_code == "launched"
    assert bench.record.state is State.READY
    assert "❌" in bench.texts[-1] or "🔴" in bench.texts[-1]


@pytest.mark.parametrize(("kind", "reason_code"), [("access", "access_not_installed"), ("code", "code_not_shipped")])
def test_a_machine_that_does_not_do_as_told_is_ended(
    bench: Bench, machine: GoodMachine, kind: str, reason_code: str
) -> None:
    machine.instead[kind] = lambda nonce: f"::gpu-lol-{kind} {nonce} failed the disk is full\n"
    with pytest.raises(TransientError) as raised:
        handle_up(bench.context, bench.order())
    assert raised.value.reason_code == reason_code
    assert "the disk is full" in bench.texts[-1]
    assert bench.cloud.running == {}


def test_a_machine_that_stops_answering_is_ended(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["probe"] = TransientError("machine_unreachable", "the machine does not answer")
    with pytest.raises(TransientError):
        handle_up(bench.context, bench.order())
    assert bench.record.state is State.FAILED
    assert bench.cloud.running == {}


@pytest.mark.parametrize("spot", ["never", "by command", "by spec"])
@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_machine_that_is_taken_back_during_set_up_is_told_as_that(
    bench: Bench, machine: GoodMachine, spot: str, is_stopped: bool
) -> None:
    if spot == "by spec":
        (bench.forge.folder / ".gpu-lol.yaml").write_text(
            ONE_CARD.replace("hardware: {", "hardware: {use_spot: true, ")
        )

    def take_back(kind: str) -> None:
        if kind == "setup" and is_stopped:
            bench.cloud.stopped = set(bench.cloud.running)
        elif kind == "setup":
            bench.cloud.running.clear()

    machine.before = take_back
    machine.instead["setup"] = TransientError("machine_unreachable", "the machine does not answer")
    with pytest.raises(TransientError) as raised:
        handle_up(bench.context, bench.order(use_spot=spot == "by command"))
    assert raised.value.reason_code == "machine_lost"
    assert f"The cloud {'ended or stopped' if spot == 'never' else 'took back'} the machine" in bench.texts[-1]
    assert bench.record.state is State.FAILED
    assert not bench.cloud.running


def test_a_new_machine_that_refuses_the_key_is_ended_and_its_image_is_named(bench: Bench, machine: GoodMachine) -> None:
    refusal = OperatorError("ssh_key_refused", "it refuses the key", why="root@203.0.113.7: Permission denied.")

    def refuse(_endpoint: object) -> str:
        raise refusal

    machine.host_key = refuse  # type: ignore[method-assign]  # a server of the image's own
    with pytest.raises(TransientError) as raised:
        handle_up(bench.context, bench.order())
    assert raised.value.reason_code == "machine_refuses_ssh"
    assert "Permission denied" in bench.texts[-1]
    assert "--image IMAGE" in bench.texts[-1]
    assert bench.record.state is State.FAILED
    assert not bench.cloud.running


def test_an_end_that_cannot_be_proven_is_red_and_names_machine_and_price(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["setup"] = lambda nonce: f"::gpu-lol-setup {nonce} start requirements\n"
    bench.cloud.survives_teardowns = 99
    with pytest.raises(TransientError) as raised:
        handle_up(bench.context, bench.order())
    record = bench.record
    assert raised.value.reason_code == "teardown_unproven", (
        "a wrong requirement is green; a machine left running is not"
    )
    assert record.state is State.UNKNOWN
    assert record.name_on_cloud is not None
    assert any(record.name_on_cloud in text and "$0.74/h" in text and "/gpu-lol down" in text for text in bench.texts)
    assert bench.cloud.running


def silent(cloud: str, prefix: str) -> list[object]:
    raise TransientError("cloud_unreachable", "the cloud does not answer")


def test_a_certain_refusal_needs_no_cloud_to_prove_that_nothing_runs(bench: Bench) -> None:
    bench.cloud.answers = [NO_CAPACITY]
    bench.cloud.machines = silent  # type: ignore[assignment,method-assign]  # an outage
    outcome = handle_up(bench.context, bench.order())
    assert (outcome.decision, outcome.reason_code) == ("denied", "no_capacity")
    assert bench.record.state is State.FAILED
    assert bench.record.bill is not None
    assert bench.record.bill.usd == 0


def test_an_uncertain_failure_that_cannot_be_looked_after_is_no_green_answer(bench: Bench) -> None:
    bench.cloud.answers = [NotLaunched("timed_out", "no machine answered")]
    bench.cloud.machines = silent  # type: ignore[assignment,method-assign]  # an outage
    with pytest.raises(TransientError):
        handle_up(bench.context, bench.order())
    assert bench.record.is_open
    assert any("may still run" in text for text in bench.texts)


def test_a_failed_end_because_the_key_is_refused_is_unproven_too(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["probe"] = TransientError("machine_unreachable", "the machine does not answer")
    bench.cloud.refuses_teardowns_of.add(bench.cloud.name_on_cloud(environment_name(5, 12)))
    with pytest.raises(TransientError):
        handle_up(bench.context, bench.order())
    assert bench.record.state is State.UNKNOWN
    assert any("may still run" in text for text in bench.texts)


def test_a_refused_key_is_the_maintainers_and_leaves_nothing_open(bench: Bench) -> None:
    bench.cloud.answers = [NotLaunched("credentials", "unauthorized", is_certain=True)]
    bench.cloud.refuses_teardowns_of.add(bench.cloud.name_on_cloud(environment_name(5, 12)))
    with pytest.raises(OperatorError) as raised:
        handle_up(bench.context, bench.order())
    assert raised.value.reason_code == "cloud_credentials_refused"
    assert bench.record.state is State.FAILED
    assert "maintainer" in bench.texts[-1]


# --- denials: nothing is claimed ------------------------------------------------------------------------------------


def assert_denied(bench: Bench, reason_code: str, order: object = None) -> str:
    outcome = handle_up(bench.context, order or bench.order())  # type: ignore[arg-type]  # an order
    assert (outcome.decision, outcome.reason_code) == ("denied", reason_code)
    assert [e for e in bench.ledger.entries() if isinstance(e, Entry) and e.record.run_id == "77"] == []
    assert launches(bench) == []
    assert "Nothing was launched" in bench.texts[-1]
    return bench.texts[-1]


def test_an_unknown_profile_is_denied_with_the_ones_there_are(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(ONE_CARD + "profiles: {train: {hardware: {gpu_count: 2}}}\n")
    assert "train" in assert_denied(bench, "unknown_profile", bench.order(profile="trian"))


RUN = "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-{}').cuda()\nif __name__ == '__main__':\n    print(model.generate(x))\n"


def without_file(bench: Bench) -> None:
    """Leave the code to say what is needed: eleven small runs, of which a proposal shows eight, and a large one."""
    (bench.forge.folder / ".gpu-lol.yaml").unlink()
    sizes = {**{f"infer_{letter}.py": "1.5B" for letter in "abcdefghijk"}, "infer_z.py": "32B"}
    for name, size in sizes.items():
        (bench.forge.folder / name).write_text(RUN.format(size))


def test_a_run_that_the_proposal_has_no_profile_for_can_be_had_by_its_name(bench: Bench) -> None:
    without_file(bench)
    plan = plan_up(bench.context, bench.order(profile="infer-z"))
    assert isinstance(plan, UpPlan)
    assert plan.spec.hardware.vram_required_gb == 80
    first = plan_up(bench.context, bench.order())
    assert isinstance(first, UpPlan)
    assert first.spec.hardware.vram_required_gb == 12
    assert plan.name == environment_name(5, 12, "infer-z") != first.name


@pytest.mark.parametrize("name", ["infer-y", "infer_z", "setup"])
def test_a_name_that_no_run_has_is_denied(bench: Bench, name: str) -> None:
    without_file(bench)
    assert "The proposal has `infer-" in assert_denied(bench, "unknown_profile", bench.order(profile=name))


def test_a_file_s_profiles_are_all_that_it_offers(bench: Bench) -> None:
    without_file(bench)
    (bench.forge.folder / ".gpu-lol.yaml").write_text(ONE_CARD)
    assert_denied(bench, "unknown_profile", bench.order(profile="infer-z"))


def test_a_known_profile_has_an_environment_of_its_own(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(
        ONE_CARD + "profiles: {small: {hardware: {vram_required_gb: 10}}}\n"
    )
    assert handle_up(bench.context, bench.order(profile="small")).reason_code == "launched"
    names = [entry.record.name for entry in bench.ledger.entries() if isinstance(entry, Entry)]
    assert names == [environment_name(5, 12, "small")]


def test_somebody_without_a_key_on_github_is_told_how_to_add_one(bench: Bench) -> None:
    bench.forge.keys = {}
    assert "key" in assert_denied(bench, "ssh_key_missing")


def test_a_shared_user_without_a_key_is_named(bench: Bench) -> None:
    assert "bob" in assert_denied(bench, "ssh_key_missing", bench.order(share=("bob",)))


@pytest.mark.parametrize(
    ("changes", "reason_code"),
    [
        ({"max_price_usd_per_hour": Decimal("0.10")}, "price_cap_exceeded"),
        ({"confirm_above_usd_per_hour": Decimal("0.10")}, "confirmation_required"),
        ({"month_usd": Decimal("0.50")}, "budget_exceeded"),
        ({"max_lease": timedelta(hours=1)}, "lease_out_of_bounds"),
        ({"environments_per_person": 0}, "too_many_environments"),
        ({"environments_per_repository": 0}, "too_many_environments"),
    ],
)
def test_spending_gates_deny_before_anything_is_claimed(
    bench: Bench, changes: dict[str, object], reason_code: str
) -> None:
    policy = replace(POLICY, **changes)  # type: ignore[arg-type]  # keyword bag
    assert_denied(bench, reason_code, bench.order(policy=policy))


def test_a_silent_sweeper_denies(bench: Bench) -> None:
    bench.ledger.note_sweep(START - timedelta(days=3))
    assert "2026-11-17" in assert_denied(bench, "sweeper_silent")


def test_an_unreadable_record_of_that_name_holds_it(bench: Bench) -> None:
    bench.ledger._store.create(environment_name(5, 12), "{not json", "x")
    assert "cannot be read" in assert_denied(bench, "record_held")


def test_a_card_that_nothing_offers_is_denied_with_the_reason(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(
        "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 500}\n"
    )
    assert_denied(bench, "nothing_fits")


@pytest.mark.parametrize(
    ("swept_ago", "is_noted", "ends_by"),
    [(None, True, "15:07"), (timedelta(minutes=20), False, "15:07"), (timedelta(hours=5), False, "19:07")],
)
def test_the_worst_case_rests_on_the_sweeps_that_were_seen(
    bench: Bench, swept_ago: timedelta | None, is_noted: bool, ends_by: str
) -> None:
    if swept_ago is not None:
        bench.ledger.note_sweep(START - swept_ago)
    handle_up(bench.context, bench.order(is_dry_run=True))
    assert ("No sweep has run here lately" in bench.texts[0]) is is_noted
    assert f"the sweeper ends it by {ends_by} UTC" in bench.texts[0]


@pytest.mark.parametrize(("door", "is_dry_run"), [(Door.TERMINAL, False), (Door.TERMINAL, True), (Door.JOB, True)])
def test_nothing_is_loaded_for_what_may_launch_nothing(bench: Bench, door: Door, is_dry_run: bool) -> None:
    bench.settle(door=door)
    handle_up(bench.context, bench.order(is_dry_run=is_dry_run, policy=replace(POLICY, month_usd=Decimal("0.01"))))
    assert bench.cloud.log == []


@pytest.mark.parametrize("is_dry_run", [False, True])
def test_without_a_cloud_account_a_maintainer_is_asked_by_the_secrets_name(bench: Bench, is_dry_run: bool) -> None:
    bench.settle(clouds=())
    with pytest.raises(OperatorError) as raised:
        handle_up(bench.context, bench.order(is_dry_run=is_dry_run))
    assert raised.value.reason_code == "cloud_secret_missing"
    assert "maintainer" in raised.value.explanation.fix
    assert "RUNPOD_API_KEY" in raised.value.explanation.fix
    assert bench.ledger.entries() == []


def test_an_invalid_spec_names_its_line_and_claims_nothing(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardware:\n  gpu_cuont: 1\n")
    with pytest.raises(SpecError) as raised:
        handle_up(bench.context, bench.order())
    assert raised.value.line == 2
    assert "gpu_count" in raised.value.explanation.what + raised.value.explanation.fix
    assert bench.ledger.entries() == []
    assert launches(bench) == []


def test_a_tombstone_on_a_record_of_another_claim_is_not_written(bench: Bench) -> None:
    """The sweeper's verdict is about one claim; by the time it is written, the name may belong to another."""
    stale = bench.running()
    handle_down(bench.context, bench.order("/gpu-lol down"))
    bench.clock.sleep(timedelta(minutes=1))
    handle_up(bench.context, bench.order())
    write_tombstone(bench.context, stale, Tombstone("the sweeper", "lease_over", bench.clock.now()))
    assert bench.record.state is State.READY
    assert bench.record.tombstone is None


def test_the_machine_knows_its_lease_before_anything_long_begins(bench: Bench, machine: GoodMachine) -> None:
    handle_up(bench.context, bench.order())
    assert machine.kinds.index("lease") < machine.kinds.index("code")


def test_a_machine_that_cannot_watch_itself_is_handed_over_and_the_log_says_so(
    bench: Bench, machine: GoodMachine
) -> None:
    machine.instead["lease"] = TransientError("machine_timed_out", "it did not answer")
    handle_up(bench.context, bench.order())
    assert bench.record.state is State.READY
    assert any("does not watch its own lease" in line for line in bench.progress.warnings)


# --- how often the pull request and the keys are asked ----------------------------------------------------------------
def seen(bench: Bench, ago: timedelta) -> Order:
    """An order whose step looked at the pull request that long ago."""
    return replace(bench.order(), seen=Sighting(bench.forge.pull, bench.clock.now() - ago))


@pytest.mark.parametrize(("ago", "asked"), [(SIGHT_HOLDS, 0), (SIGHT_HOLDS + timedelta(seconds=1), 1)])
def test_a_look_that_is_seconds_old_is_the_look_right_before_spending(bench: Bench, ago: timedelta, asked: int) -> None:
    assert handle_up(bench.context, seen(bench, ago)).reason_code == "launched"
    assert bench.forge.asked.count("pull_request") == asked


def test_a_head_that_moves_after_an_older_look_launches_nothing(bench: Bench) -> None:
    order = seen(bench, timedelta(minutes=1))
    bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    with pytest.raises(UserError) as raised:
        handle_up(bench.context, order)
    assert raised.value.reason_code == "ref_changed"
    assert launches(bench) == []


@pytest.mark.parametrize(
    ("change", "code"), [({"head_sha": "e" * 40}, "ref_changed"), ({"state": "closed"}, "pull_request_closed")]
)
def test_what_moved_while_it_waited_is_denied_before_anything_is_claimed(
    bench: Bench, change: dict[str, str], code: str
) -> None:
    order = seen(bench, timedelta(0))
    order = replace(order, seen=replace(order.seen, pull_request=replace(bench.forge.pull, **change)))  # type: ignore[type-var, arg-type]  # keyword bag
    outcome = handle_up(bench.context, order)
    assert (outcome.decision, outcome.reason_code) == ("denied", code)
    assert bench.ledger.entries() == []
    assert "Nothing was launched" in bench.texts[-1]


def test_keys_are_asked_where_the_machine_is_rented(bench: Bench) -> None:
    """The step that only judges leaves them to the one that plans it anew; an answer that goes no further asks."""
    assert isinstance(answer_without_cloud(bench.context, bench.order()), UpPlan)
    assert "keys" not in bench.forge.asked
    answer_without_cloud(bench.context, bench.order(is_dry_run=True))
    assert bench.forge.asked.count("keys") == 1
    handle_up(bench.context, bench.order())
    assert bench.forge.asked.count("keys") == 2


def test_nothing_is_claimed_for_somebody_without_a_key_and_a_dry_run_says_so_too(bench: Bench) -> None:
    bench.forge.keys = {}
    assert_denied(bench, "ssh_key_missing", bench.order(is_dry_run=True))
    assert_denied(bench, "ssh_key_missing")
    assert bench.ledger.entries() == []


def test_the_last_word_is_said_at_once_where_the_comment_holds_one_command(bench: Bench) -> None:
    outcome = handle_up(bench.context, replace(bench.order(), closes=5))
    assert outcome.has_reacted
    assert bench.forge.reactions == [(5, "rocket")]
    alone = handle_down(bench.context, bench.order("/gpu-lol down"))
    assert not alone.has_reacted


def test_a_last_word_that_cannot_be_posted_leaves_the_machine_running_and_the_status_said(bench: Bench) -> None:
    def refuse(closing: Closing) -> Posted:
        raise TransientError("github_unreachable", "GitHub did not answer")

    bench.forge.close_command = refuse  # type: ignore[method-assign]  # an outage at the last word
    outcome = handle_up(bench.context, replace(bench.order(), closes=5))
    assert (outcome.reason_code, outcome.has_reacted) == ("launched", False)
    assert "Ready" in outcome.text, "the job's summary has it"
    assert bench.cloud.running
    assert bench.record.state is State.READY


# --- alternatives that the file names --------------------------------------------------------------------------------

NAMED = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20, alternatives: [A40, L4]}
meta: {workload_type: training}
"""


def test_the_files_alternatives_are_tried_by_price_when_the_first_has_no_machine(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(NAMED)
    bench.cloud.answers = [NO_CAPACITY, NO_CAPACITY]
    assert isinstance(bench.shell, GoodMachine)
    bench.shell.before = lambda _kind: show_card(bench)
    assert handle_up(bench.context, bench.order()).reason_code == "launched"
    assert launches(bench) == ["A40:1", "L4:1", "RTX4090:1"]
    assert [attempt.answer for attempt in bench.record.attempts] == ["no_capacity", "no_capacity", "launched"]


def test_the_proposed_file_names_cards_that_up_falls_over_to(bench: Bench) -> None:
    open_to_any_card(bench)
    reading = read_commit(bench.context, HEAD, POLICY, is_fork=False)
    hardware = reading.analysis.spec.hardware
    assert len(hardware.alternatives) == 3
    (bench.forge.folder / ".gpu-lol.yaml").write_text(write_spec(reading.analysis.spec))
    bench.cloud.answers = [NO_CAPACITY] * 3
    assert handle_up(bench.context, bench.order()).reason_code == "launched"
    assert launches(bench) == [f"{name}:1" for name in (hardware.gpu_type, *hardware.alternatives)]


# --- templates -------------------------------------------------------------------------------------------------------

OWN_IMAGE = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
TEMPLATE = Template("t1", "team-torch26", "acme/pytorch:2.6.0-cuda12.4-devel")


class TemplateMarket:
    """An account with one template."""

    def __init__(self, *templates: Template) -> None:
        self.found = templates
        self.asked = 0

    def stock(self, offers: Iterable[Offer]) -> StockAnswers:
        raise AssertionError(offers)

    def templates(self) -> tuple[Template, ...] | Unanswered:
        self.asked += 1
        return self.found or Unanswered("it did not answer within 8 s")


def with_market(bench: Bench, *templates: Template) -> TemplateMarket:
    """Let code without a spec file ask for a card, and give the account its templates."""
    (bench.forge.folder / ".gpu-lol.yaml").unlink()
    (bench.forge.folder / "requirements.txt").write_text("torch==2.6.0\n")
    (bench.forge.folder / "train.py").write_text(
        "import torch\nfrom torch import nn\n"
        "model = nn.Linear(4096, 4096).cuda()\noptimizer = torch.optim.AdamW(model.parameters())\n"
        "for _ in range(3):\n    loss = model(torch.zeros(8, 4096).cuda()).sum()\n    loss.backward()\n    optimizer.step()\n"
    )
    market = TemplateMarket(*templates)
    bench.context = replace(bench.context, market=lambda: market)
    bench.settle(template_pattern="team")
    return market


def image_of(plan: object) -> tuple[str, str]:
    assert isinstance(plan, UpPlan)
    best = plan.ladder.candidates[0]
    task = plan.build_task(best, Lease(START, START + timedelta(hours=2)))
    return str(task["resources"]["image_id"]), best.why  # type: ignore[index]  # a task is nested


def test_a_template_that_fits_takes_the_place_of_the_image_and_is_named(bench: Bench) -> None:
    with_market(bench, TEMPLATE)
    image, why = image_of(answer_without_cloud(bench.context, bench.order()))
    assert image == f"docker:{TEMPLATE.image}"
    assert "image of your RunPod template `team-torch26`, which boots faster" in why
    text = answer_without_cloud(bench.context, bench.order(is_dry_run=True)).text  # type: ignore[union-attr]  # an outcome
    assert "team-torch26" in text


def test_the_status_comment_says_that_a_template_was_used(bench: Bench) -> None:
    with_market(bench, TEMPLATE)
    assert isinstance(bench.shell, GoodMachine)
    bench.shell.before = lambda _kind: show_card(bench)
    handle_up(bench.context, bench.order())
    (attempt,) = attempt_views(bench.record.attempts)
    assert attempt.answer.startswith("US, image of your RunPod template `team-torch26`, which boots faster")


@pytest.mark.parametrize(
    ("templates", "changes"),
    [
        ((), {}),
        ((replace(TEMPLATE, image="acme/pytorch:2.4.0-cuda12.4-devel"),), {}),
        ((replace(TEMPLATE, is_private=True),), {}),
        ((replace(TEMPLATE, name="somebody's"),), {}),
    ],
)
def test_without_a_template_that_fits_the_chosen_image_is_taken(
    bench: Bench, templates: tuple[Template, ...], changes: dict[str, object]
) -> None:
    with_market(bench, *templates)
    image, why = image_of(answer_without_cloud(bench.context, bench.order(**changes)))
    assert image == f"docker:{OWN_IMAGE}"
    assert "template" not in why


def test_an_image_that_a_person_chose_is_never_replaced(bench: Bench) -> None:
    market = with_market(bench, TEMPLATE)
    image, _why = image_of(answer_without_cloud(bench.context, bench.order(image="acme/own:1")))
    assert image == "docker:acme/own:1"
    (bench.forge.folder / "Dockerfile").write_text("FROM pytorch/pytorch:2.6.0-cuda12.6-cudnn9-devel\n")
    image, _why = image_of(answer_without_cloud(bench.context, bench.order()))
    assert image == "docker:pytorch/pytorch:2.6.0-cuda12.6-cudnn9-devel"
    (bench.forge.folder / "Dockerfile").unlink()
    (bench.forge.folder / ".gpu-lol.yaml").write_text(
        'hardware: {gpu_count: 1, vram_required_gb: 20}\nenvironment: {base_image: "acme/pytorch:2.6.0-cuda12.1-x"}\n'
    )
    image, _why = image_of(answer_without_cloud(bench.context, bench.order()))
    assert image == "docker:acme/pytorch:2.6.0-cuda12.1-x"
    assert market.asked == 0


def test_where_a_machine_does_not_come_up_with_it_the_next_gets_the_chosen_image(bench: Bench) -> None:
    with_market(bench, TEMPLATE)
    bench.cloud.answers = [NotLaunched("timed_out", "no answer", is_certain=True), NO_CAPACITY]
    assert isinstance(bench.shell, GoodMachine)
    bench.shell.before = lambda _kind: show_card(bench)
    handle_up(bench.context, bench.order())
    details = [attempt.detail for attempt in bench.record.attempts]
    assert len(details) == 3
    assert not any("template" in detail for detail in details)


def test_a_template_is_runpods_alone(bench: Bench) -> None:
    with_market(bench, TEMPLATE)
    bench.settle(clouds=("runpod", "lambda"))
    plan = answer_without_cloud(bench.context, bench.order(cloud="lambda"))
    image, why = image_of(plan)
    assert image == f"docker:{OWN_IMAGE}"
    assert "template" not in why
