from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import field

import pytest

from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class Point:
    x: int
    y: tuple[int, ...] = ()


@record(frozen=True, slots=True)
class Named(Point):
    """A point with more to it."""

    words: list[str] = field(default_factory=list, compare=False, repr=False)
    length: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.y))


@record(slots=True)
class Growing:
    items: list[int] = field(default_factory=list)


@record(slots=True, eq=False)
class Itself:
    x: int = 0


@record(frozen=True, slots=True)
class Nothing:
    pass


def test_a_record_is_a_value() -> None:
    assert Point(1, (2,)) == Point(1, (2,)) != Point(1)
    assert len({Point(1, (2,)), Point(1, (2,)), Point(2)}) == 2
    assert dataclasses.replace(Point(1), x=3) == Point(3)
    assert repr(Point(1)) == "Point(x=1, y=())"
    assert repr(Nothing()) == "Nothing()"
    assert len({Nothing(), Nothing()}) == 1


def test_fields_that_do_not_compare_nor_show_are_left_out() -> None:
    assert Named(1, (2, 3), ["a"]) == Named(1, (2, 3), ["b"])
    assert repr(Named(1, (2, 3))) == "Named(x=1, y=(2, 3), length=2)"
    assert Named(1).words is not Named(1).words


def test_another_class_with_the_same_fields_is_another_value() -> None:
    assert Named(1) != Point(1)
    assert Point(1) != (1, ())


def test_what_can_be_changed_is_compared_and_not_hashed_but_where_only_it_is_itself() -> None:
    assert Growing([1]) == Growing([1]) != Growing()
    with pytest.raises(TypeError, match="unhashable"):
        hash(Growing())
    assert Itself() != Itself()
    assert len({Itself(), Itself()}) == 2


def test_one_that_holds_itself_can_be_shown() -> None:
    held = Growing()
    held.items.append(held)
    assert repr(held) == "Growing(items=[...])"


@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy])
def test_a_record_can_be_copied(through: Callable[[Named], Named]) -> None:
    assert through(Named(1, (2,))) == Named(1, (2,))


def test_what_is_missing_is_said_with_the_class_s_name() -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=2)


@pytest.mark.parametrize("made", [Point, Value, Call])
def test_building_one_sets_its_fields_without_a_call_each(made: type) -> None:
    assert made.__setattr__ is object.__setattr__
