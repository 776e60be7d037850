"""Hands that several threads share: one call at a time, because no client behind them was made for more."""

from __future__ import annotations

import functools
import threading
from typing import Any, TypeVar, cast

Hand = TypeVar("Hand")


class _OneAtATime:
    """Passes everything on; a call holds the lock until it returns."""

    def __init__(self, hand: object, lock: threading.RLock) -> None:
        self._hand = hand
        self._lock = lock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._hand, name)
        if not callable(found):
            return found

        @functools.wraps(found)
        def guarded(*arguments: Any, **named: Any) -> Any:
            with self._lock:
                return found(*arguments, **named)

        return guarded


def one_at_a_time(hand: Hand, lock: threading.RLock) -> Hand:
    """Return the hand so that its calls, and those of others with the same lock, take turns."""
    return cast("Hand", _OneAtATime(hand, lock))
