"""Cards that a program orders from Ray for a part of its work: whoever runs it has Ray wait until a machine has one.

``num_gpus`` of a task, an actor, a mapped batch or a deployment, and ``use_gpu`` of its workers (Ray's guide on resources). A part of
one is a card, too; nothing is ordered by ``num_gpus=0``.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.domain.patterns import regex

_WORDS = ("num_gpus", "use_gpu")
_SOME = regex(r"0?\.\d{0,4}[1-9]\d{0,4}|[1-9]\d{0,2}(?:\.\d{1,4})?")
_ORDERS = regex(
    r"^[^#\n]{0,400}?\b(?:num_gpus[\"']?\s?[=:]\s?(?:0?\.\d{0,4}[1-9]|[1-9])|use_gpu[\"']?\s?[=:]\s?True)",
    re.MULTILINE,
)


@remembered
def orders_a_card(checkout: Checkout, script: Source) -> bool:
    """Whether a program, or a module of the checkout that it imports, orders a GPU from Ray."""
    return any(
        source.code is not None
        and any(map(source.mentions, _WORDS))
        and source.code.may_import("ray")
        and "ray" in source.code.imported()
        and _ORDERS.search(source.text) is not None
        for source in import_closure(checkout, script)
    )


def order_line(source: Source) -> int | None:
    """Return the line on which a call of a program itself orders a GPU from Ray; None where it orders none, or only writes of it."""
    code = source.code
    if code is None or not any(map(source.mentions, _WORDS)) or "ray" not in code.imported():
        return None
    told = (call.line for call in code.calls if _orders(call))
    line = next(told, None)
    return code.line_of_file(line) if line is not None else None


def _orders(call: Call) -> bool:
    """Whether a call says a number of GPUs, or a part of one, that is not nothing."""
    cards, uses = call.keyword("num_gpus"), call.keyword("use_gpu")
    is_some = cards is not None and cards.text is not None and _SOME.fullmatch(cards.text) is not None
    return is_some or (uses is not None and uses.text == "True")
