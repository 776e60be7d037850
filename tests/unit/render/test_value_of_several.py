"""The cheapest machine per unit of work, beside several machines that are asked for together."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.render.formats import usd_per_hour
from gpu_lol_action.render.views_price import value_view
from tests.unit.pricing.test_candidates import ladder, need


def test_what_is_cheapest_per_work_is_named_and_priced_as_often_as_it_is_asked_for() -> None:
    found = ladder(need(22, 8))
    value = found.best_value()
    assert value is not None
    one, two = value_view(found), value_view(found, None, 2)
    assert one is not None
    assert two is not None
    assert (two.machine, two.price) == (f"2 machines of {one.machine}", usd_per_hour(value.price_usd_per_hour * 2))
    # Both are compared with as many of the cheapest.
    assert replace(two, machine=one.machine, price=one.price) == one
