"""Measures are added alike on every Python, and nothing that a stranger's file holds ends the program."""

from __future__ import annotations

import math

from gpu_lol_action.domain.sums import added


def test_what_is_added_is_rounded_once_whatever_the_order() -> None:
    values = [1e16, 1.0, -1e16, 0.1, 0.2, 0.3]
    assert added(values) == added(reversed(values)) == math.fsum(values) == 1.6


def test_nothing_is_none() -> None:
    assert added([]) == 0


def test_whole_numbers_stay_whole() -> None:
    assert str(added([2**60, 1])) == str(2**60 + 1)


def test_a_sum_past_all_floats_is_infinite() -> None:
    assert added([1e308, 1e308]) == math.inf
    assert added([-1e308, -1e308, 1.0]) == -math.inf
    assert added([10**400, 1.5]) == math.inf


def test_infinities_that_lie_apart_have_no_sum() -> None:
    assert math.isnan(added([math.inf, -math.inf]))
    assert added([math.inf, 1.0]) == math.inf
