"""Cheaper configurations of the same run, as rows: the change, its memory and machine, what it saves, what it costs."""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.what_if import WhatIf
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import EMPTY, accelerator_label
from gpu_lol_action.render.views_evidence import CodePlace

MOST_SHOWN = 4


@record(frozen=True, slots=True)
class WhatIfView:
    """One row; ``edit`` is the line as it would be, empty where more than one literal is to be written."""

    words: str
    setting: str
    where: Safe
    edit: str
    memory: Safe
    machine: Safe
    price: Safe
    saves: Safe
    costs: str


@record(frozen=True, slots=True)
class WhatIfsView:
    """What ``_what_ifs`` shows: the rows under their title, and how many others there are."""

    title: Safe
    rows: tuple[WhatIfView, ...]
    hidden: Safe


def what_ifs_view(
    what_ifs: tuple[WhatIf, ...], place: CodePlace, *, has_offer: bool, shows_all: bool = False
) -> WhatIfsView:
    """Return what is shown; ``has_offer``: a machine fits as it is, so that these are cheaper and not the only ones."""
    shown = what_ifs if shows_all else shown_what_ifs(what_ifs)
    title = Safe("What would do with a cheaper machine" if has_offer else "What would fit")
    hidden = len(what_ifs) - len(shown)
    return WhatIfsView(title, what_if_rows(shown, place), Safe(f"{hidden} more") if hidden else EMPTY)


def what_if_rows(what_ifs: Iterable[WhatIf], place: CodePlace) -> tuple[WhatIfView, ...]:
    """Return all rows, the largest saving first."""
    return tuple(_row(each, place) for each in what_ifs)


def shown_what_ifs(what_ifs: tuple[WhatIf, ...]) -> tuple[WhatIf, ...]:
    """Return the few that a comment has room for: of those that come to the same machine, the two that give up least."""
    found: list[WhatIf] = []
    machines: dict[str, int] = {}
    for each in what_ifs:
        machine = f"{each.candidate.offer.label} {each.candidate.offer.cloud}"
        machines[machine] = machines.get(machine, 0) + 1
        if machines[machine] <= 2:
            found.append(each)
    return tuple(found[:MOST_SHOWN])


def _row(each: WhatIf, place: CodePlace) -> WhatIfView:
    alternative, candidate = each.alternative, each.candidate
    offer = candidate.offer
    return WhatIfView(
        words=alternative.words,
        setting=alternative.setting,
        where=place.link(alternative.evidence) if alternative.evidence is not None else EMPTY,
        edit=alternative.edit.new.strip().rstrip(",") if alternative.edit is not None else "",
        memory=formats.gib(alternative.expected_gib),
        machine=accelerator_label(offer.accelerator, offer.accelerator_count),
        price=formats.usd_per_hour(candidate.price_usd_per_hour),
        saves=formats.usd_per_hour(each.saves_usd_per_hour) if each.saves_usd_per_hour is not None else Safe("it fits"),
        costs=alternative.costs,
    )
