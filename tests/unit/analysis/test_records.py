from __future__ import annotations

import dataclasses

import pytest

from gpu_lol_action.analysis.python_defaults import Call
from gpu_lol_action.analysis.python_values import Value
from gpu_lol_action.analysis.records import record


@record(frozen=True, slots=True)
class Point:
    x: int
    y: tuple[int, ...] = ()


def test_a_record_is_a_value() -> None:
    assert Point(1, (2,)) == Point(1, (2,)) != Point(1)
    assert len({Point(1, (2,)), Point(1, (2,)), Point(2)}) == 2
    assert dataclasses.replace(Point(1), x=3) == Point(3)
    assert repr(Point(1)) == "Point(x=1, y=())"


@pytest.mark.parametrize("made", [Point, Value, Call])
def test_building_one_sets_its_fields_without_a_call_each(made: type) -> None:
    assert made.__setattr__ is object.__setattr__
