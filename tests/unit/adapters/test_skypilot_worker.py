from __future__ import annotations

import pytest

from gpu_lol_action.adapters.skypilot_listers import dollars_of_type
from gpu_lol_action.adapters.skypilot_worker import LineStream, catalog_price, unheard


def test_lines_that_the_stream_lost_are_found_in_the_log_as_often_as_they_stand_there() -> None:
    logged = ["Launching on US.", "error: no instances", "Launching on CA.", "error: no instances", "No resource."]
    streamed = ["Launching on US.", "error: no instances", "Launching on CA."]
    assert unheard(logged, streamed) == ["error: no instances", "No resource."]
    assert unheard(logged, logged) == []
    assert unheard([], streamed) == []


def test_a_stream_hands_on_whole_lines_and_takes_a_spinners_return_for_an_end() -> None:
    lines: list[str] = []
    stream = LineStream(lines.append)
    stream.write("first li")
    stream.write("ne\nspin 1\rspin 2\r\n\nrest")
    assert lines == ["first line", "spin 1", "spin 2"]


@pytest.mark.parametrize(
    ("told", "dollars"),
    [
        ({"price_cents_per_hour": 129}, "1.29"),
        ({"price_cents_per_hour": "129"}, None),
        ({}, None),
        (None, None),
        ("x", None),
    ],
)
def test_lambdas_cents_are_dollars(told: object, dollars: str | None) -> None:
    assert dollars_of_type(told) == dollars


def test_price_that_skypilots_catalog_lacks_is_not_told() -> None:
    class Costed:
        def get_cost(self, seconds: float) -> float:
            if seconds != 3600:
                raise AssertionError
            raise ValueError("no price")

    assert catalog_price(Costed()) is None
