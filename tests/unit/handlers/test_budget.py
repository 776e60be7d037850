"""``budget``, and the notice at 80 %: said in the answer that passes it, and once a month."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from gpu_lol_action.domain.environment import Bill, State
from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.errors import LostRace, TransientError
from gpu_lol_action.handlers.budget import describe_budget
from gpu_lol_action.handlers.down import handle_down
from gpu_lol_action.handlers.obey import obey
from gpu_lol_action.handlers.up import handle_up
from tests.support.hands import START, ScriptedForge
from tests.support.machine import GoodMachine
from tests.unit.handlers.conftest import POLICY, Bench

SAID = "of this month's budget is spent or promised"


def test_answer_needs_no_cloud_and_has_a_chart(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(minutes=30)
    outcome = obey(bench.context, bench.order("/gpu-lol budget"), may_use_cloud=False)
    assert (outcome.decision, outcome.reason_code) == ("done", "budget_shown")
    assert outcome.text == bench.texts[-1], "the job's summary has it too"
    assert "$0.22 of $50 spent, $0.66 promised" in outcome.text
    assert "PR 12" in outcome.text
    assert "▒" in outcome.text
    assert "Estimates" in outcome.text


def test_json_adds_up(bench: Bench) -> None:
    bench.running()
    found = json.loads(describe_budget(bench.context, bench.order("/gpu-lol budget")))
    assert found["promised_usd"] == found["people"][0]["promised_usd"] == "0.88"
    assert found["pull_requests"] == [{"pull_request": 12, "spent_usd": "0.00", "promised_usd": "0.88", "running": 1}]
    assert found["is_estimate"] is True


def down(bench: Bench, month_usd: str) -> Outcome:
    return handle_down(
        bench.context, bench.order("/gpu-lol down", policy=replace(POLICY, month_usd=Decimal(month_usd)))
    )


def test_certificate_that_passes_most_of_the_budget_says_so_and_the_next_does_not(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=1)
    assert SAID in down(bench, "0.50").text
    assert bench.record.budget_noticed_at is not None
    bench.running(claimed_at=bench.clock.at)
    assert bench.record.budget_noticed_at is None, "a claim without memory, as an older version would make it"


def test_certificate_below_says_nothing(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=1)
    assert SAID not in down(bench, "50").text


def test_notice_that_cannot_be_noted_waits(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=1)
    update = bench.ledger.update

    def refuse_the_note(entry: object, record: object) -> object:
        if getattr(record, "budget_noticed_at", None) is not None:
            raise LostRace("record_changed", "somebody claimed the name")
        return update(entry, record)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(bench.ledger, "update", refuse_the_note)
    text = down(bench, "0.50").text
    assert "is gone" in text
    assert SAID not in text


def spend(bench: Bench, usd: str) -> None:
    """Put a bill of another pull request into the ledger."""
    running = bench.running().record
    claimed = replace(running, name="gl-au-99", pull_request=99, state=State.CLAIMED, claimed_at=START)
    entry = bench.ledger.claim(claimed)
    entry = bench.ledger.update(entry, replace(claimed, state=State.ENDING))
    bill = Bill(START, START, Decimal("0.44"), Decimal(usd))
    bench.ledger.update(entry, replace(claimed, state=State.CLOSED, closed_at=START, bill=bill))
    down(bench, "50")
    bench.forge.posted.clear()


@pytest.fixture
def ready_bench(bench: Bench) -> Bench:
    assert isinstance(bench.forge, ScriptedForge)
    bench.forge.files[".gpu-lol.yaml"] = "hardware: {gpu_type: RTX4090, gpu_count: 1}\n"
    (bench.forge.folder / ".gpu-lol.yaml").write_text(bench.forge.files[".gpu-lol.yaml"])
    bench.shell = GoodMachine()
    return bench


def test_launch_that_passes_most_of_the_budget_says_so_once(ready_bench: Bench) -> None:
    spend(ready_bench, "7.00")
    tight = replace(POLICY, month_usd=Decimal("10"))
    for is_said in (True, False):
        outcome = handle_up(ready_bench.context, ready_bench.order(policy=tight, lease=timedelta(hours=2)))
        assert outcome.reason_code == "launched", outcome.text
        assert (SAID in outcome.text) is is_said
        assert ready_bench.record.budget_noticed_at is not None
        assert SAID not in handle_down(ready_bench.context, ready_bench.order("/gpu-lol down", policy=tight)).text


def test_launch_is_handed_over_where_the_month_cannot_be_added_up(
    ready_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, survey = ready_bench.ledger, ready_bench.ledger.survey

    def fails_at_the_end() -> object:
        if any(entry.record.checks for entry in ledger.entries() if hasattr(entry, "record")):
            raise TransientError("github_unreachable", "GitHub does not answer")
        return survey()

    monkeypatch.setattr(ledger, "survey", fails_at_the_end)
    tight = replace(POLICY, month_usd=Decimal("2.60"))
    outcome = handle_up(ready_bench.context, ready_bench.order(policy=tight, lease=timedelta(hours=2)))
    assert outcome.reason_code == "launched"
