"""Room for the frames of deep calls, taken once.

CPython keeps the frames of Python's functions in pieces of 16 KiB since 3.11. It asks the system for a piece when a call does not
fit into the last, and gives it back as soon as that call returns: where a loop stands right before the end of a piece, each of its
calls maps and unmaps memory. Following somebody's program is made of such loops; a third of the time of YOLOv5's went by so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

_SLOTS = 2**16 + 2**10
"""Of 8 bytes. A piece holds a power of two of them: a frame of a little more than half leaves the rest to the frames above it."""


def roomy(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Let what a function calls have its frames in one piece of half a MiB. Without effect on what is done."""

    def call(*places: Given.args, **named: Given.kwargs) -> Answer:
        return function(*places, **named)

    call.__code__ = call.__code__.replace(co_stacksize=_SLOTS)
    return functools.update_wrapper(call, function)
