"""A machine that costs more than was shown is ended at once, on the clouds where SkyPilot does not refuse it before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest

from gpu_lol_action.handlers.up import handle_up
from tests.support.machine import GoodMachine
from tests.unit.handlers.conftest import POLICY, Bench
from tests.unit.handlers.test_up import launches, open_to_any_card

DEAR, CHEAP = Decimal("99.00"), Decimal("0.01")


@pytest.fixture
def bench(bench: Bench) -> Iterator[Bench]:
    """A machine that is all right."""
    bench.shell = GoodMachine()
    yield bench
    bench.assert_nothing_bills_unnoticed()


def up(bench: Bench, cloud: str) -> str:
    open_to_any_card(bench, cloud)
    return handle_up(bench.context, bench.order(policy=replace(POLICY, clouds=(cloud,)))).reason_code


def answers(bench: Bench) -> list[str]:
    return [attempt.answer for attempt in bench.record.attempts]


@pytest.mark.parametrize("cloud", ["lambda", "vast"])
@pytest.mark.parametrize("source", ["listed_usd_per_hour", "catalog_usd_per_hour"])
def test_dear_machine_is_ended_and_the_next_offer_tried(bench: Bench, cloud: str, source: str) -> None:
    setattr(bench.cloud, source, [DEAR, CHEAP])
    assert up(bench, cloud) == "launched"
    assert answers(bench) == ["too_dear", "launched"]
    assert len(set(launches(bench))) == 2
    log = bench.cloud.log
    ended = next(number for number, line in enumerate(log) if line.startswith("teardown"))
    again = [number for number, line in enumerate(log) if line.startswith("launch")][1]
    assert log.index("close") < ended < again
    assert len(bench.cloud.running) == 1
    assert bench.record.earlier_cost_usd > 0
    bench.assert_nothing_bills_unnoticed()


def test_what_the_provider_lists_counts_more_than_the_catalog(bench: Bench) -> None:
    bench.cloud.listed_usd_per_hour, bench.cloud.catalog_usd_per_hour = [CHEAP], [DEAR]
    assert up(bench, "vast") == "launched"
    assert answers(bench) == ["launched"]


def test_price_that_nobody_tells_is_said_in_the_log(bench: Bench) -> None:
    assert up(bench, "lambda") == "launched"
    assert any("does not say what this machine costs" in line for line in bench.progress.lines)


def test_where_skypilot_holds_the_limit_nothing_is_asked(bench: Bench) -> None:
    bench.cloud.listed_usd_per_hour = [DEAR]
    assert up(bench, "runpod") == "launched"
    assert answers(bench) == ["launched"]
