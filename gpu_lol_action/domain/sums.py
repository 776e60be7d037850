"""Sums of measures that come out the same on every Python.

Since 3.12 ``sum`` carries the rounding errors of floats along, and before it does not: of one checkout one Python said 35.58 GiB and
another 35.59.
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def added(values: Iterable[float]) -> float:
    """Return the sum: of whole numbers a whole one, else rounded once whatever the order.

    Infinite where it is past all floats, and not a number where one of them is none.
    """
    listed = tuple(values)
    if all(isinstance(value, int) for value in listed):
        return sum(listed)
    try:
        return math.fsum(listed)
    except OverflowError:
        return math.inf if max(listed, key=abs) > 0 else -math.inf
    except ValueError:  # of two infinities that lie apart
        return math.nan
