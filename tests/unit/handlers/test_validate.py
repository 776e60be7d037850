"""``validate``: the probe again, from the record alone; the record has the new checks, and work is no fault."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from gpu_lol_action.domain.environment import Check, CheckStatus, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers.obey import obey
from gpu_lol_action.handlers.teardown import write_tombstone
from tests.support.hands import START
from tests.support.machine import GOOD, GoodMachine
from tests.unit.handlers.conftest import Bench

BEFORE = (Check("hub", CheckStatus.PASSED, "reached"), Check("driver", CheckStatus.PASSED, "right"))


@pytest.fixture
def bench(bench: Bench) -> Bench:
    bench.shell = GoodMachine()
    return bench


def running(bench: Bench) -> Entry:
    return bench.running(accelerator="RTX4090", packages=("packaging 24.1",), checks=BEFORE)


def machine(bench: Bench) -> GoodMachine:
    assert isinstance(bench.shell, GoodMachine)
    return bench.shell


def test_checks_and_packages_are_on_the_record(bench: Bench) -> None:
    running(bench)
    outcome = obey(bench.context, bench.order("/gpu-lol validate"), may_use_cloud=True)
    assert outcome.reason_code == "validated"
    assert outcome.details["failed_checks"] == "0", outcome.text
    assert machine(bench).kinds == ["probe"], "nothing is repaired, nothing is shipped"
    assert bench.record.packages == ("packaging 24.1",)
    assert {check.status for check in bench.record.checks} == {CheckStatus.PASSED}
    assert len(bench.record.checks) > len(BEFORE)
    assert bench.record.state is State.READY
    assert "runs at $0.44/h" in outcome.text


def test_what_fails_now_and_passed_before_is_named(bench: Bench) -> None:
    running(bench)
    machine(bench).facts[0]["hub"] = {"url": "https://huggingface.co", "error": "no route"}
    machine(bench).facts[0]["credentials"] = {"found": ["AWS_SECRET_ACCESS_KEY in the environment"], "scoped": []}
    outcome = obey(bench.context, bench.order("/gpu-lol validate"), may_use_cloud=True)
    assert "🔴" in outcome.text
    assert int(outcome.details["failed_checks"]) >= 1
    failed = {check.name for check in bench.record.checks if check.status is CheckStatus.FAILED}
    assert ("Worse than before: `hub`" in outcome.text) is ("hub" in failed)
    assert failed


def test_changed_files_and_a_newer_package_are_no_faults(bench: Bench) -> None:
    running(bench)
    facts = copy.deepcopy(GOOD)
    facts["code"] |= {"changed": 2, "examples": ["train.py"]}
    facts["packages"]["found"]["packaging"]["version"] = "25.0"
    machine(bench).facts = [facts]
    outcome = obey(bench.context, bench.order("/gpu-lol validate"), may_use_cloud=True)
    assert outcome.details["failed_checks"] == "0", outcome.text
    assert next(check for check in bench.record.checks if check.name == "code").status is CheckStatus.NOTED
    assert bench.record.packages == ("packaging 25.0",)


def test_machine_that_does_not_answer_keeps_its_checks(bench: Bench) -> None:
    running(bench)
    machine(bench).instead["probe"] = TransientError("machine_unreachable", "no answer")
    with pytest.raises(TransientError):
        obey(bench.context, bench.order("/gpu-lol validate"), may_use_cloud=True)
    assert bench.record.checks == BEFORE


def test_validator_that_breaks_off_is_a_failed_check(bench: Bench) -> None:
    running(bench)
    machine(bench).instead["probe"] = lambda _nonce: "Segmentation fault\n"
    outcome = obey(bench.context, bench.order("/gpu-lol validate"), may_use_cloud=True)
    assert outcome.details["failed_checks"] == "1"
    assert bench.record.packages == ("packaging 24.1",), "what it did not say is not forgotten"


def test_end_that_was_asked_for_meanwhile_is_not_undone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = running(bench)
    bench.let_bob_be_first(entry, monkeypatch)
    outcome = obey(bench.context, bench.order("/gpu-lol validate"), may_use_cloud=True)
    assert outcome.reason_code == "validated"
    assert bench.record.state is State.ENDING
    assert bench.record.checks == BEFORE


def test_without_a_machine_it_says_so(bench: Bench) -> None:
    outcome = obey(bench.context, bench.order("/gpu-lol validate"), may_use_cloud=True)
    assert outcome.reason_code == "nothing_running"
    write_tombstone(bench.context, running(bench), Tombstone("bob", "down", START))
    assert obey(bench.context, bench.order("/gpu-lol validate"), may_use_cloud=True).reason_code == "not_ready"
    assert replace(bench.record, state=State.ENDING) == bench.record
