"""What a change does, for a comment: the causes with their lines, the environment's parts, the other runs that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from gpu_lol_action.domain.change import Cause, Change, Kind, PartChange, RunNeed, is_telling
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.priced_change import PricedChange, PricedRun
from gpu_lol_action.domain.records import record
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import EMPTY, accelerator_label
from gpu_lol_action.render.views_evidence import CodePlace

MOST_PARTS = 6
MOST_RUNS = 4
LEAST_EFFECT = 0.05
_NONE = Safe("–")


@record(frozen=True, slots=True)
class CauseView:
    """The change behind a difference: ``name old → new`` at its line; ``new`` is None where a setting is gone."""

    name: str
    old: str | None
    new: str | None
    why: str
    where: Safe
    effect: Safe


@record(frozen=True, slots=True)
class PartView:
    """One part of the environment that is another; None: there is none."""

    what: Safe
    old: str | None
    new: str | None
    where: Safe


@record(frozen=True, slots=True)
class RunView:
    """One run beside the first: what it needed and needs, and why."""

    name: str
    kind: Safe
    before: Safe
    after: Safe
    is_more: bool
    is_dearer: bool
    cause: CauseView | None
    where: Safe


@record(frozen=True, slots=True)
class ChangeView:
    """What ``_moved``, ``_environment`` and ``_other_runs`` show. ``environment`` names what differs there in a few words.

    ``cause`` is what moved the memory, ``file_cause`` what a hand wrote into the repository's own file.
    """

    cause: CauseView | None = None
    file_cause: CauseView | None = None
    moved: tuple[CauseView, ...] = ()
    is_other_run: bool = False
    first_memory: Safe = EMPTY
    parts: tuple[PartView, ...] = ()
    parts_hidden: Safe = EMPTY
    environment: str = ""
    runs: tuple[RunView, ...] = ()
    runs_hidden: Safe = EMPTY


NO_CHANGE = ChangeView()


def change_view(priced: PricedChange | None, place: CodePlace, base_sha: str | None, least_percent: int) -> ChangeView:
    """Return what of a change is told; nothing where there was nothing to compare with."""
    if priced is None:
        return NO_CHANGE
    change = priced.change
    base_place = replace(place, sha=base_sha or "")
    by_hand = [_cause(each, place, base_place) for each in change.file_causes]
    causes = [_cause(each, place, base_place) for each in (change.first.causes if change.first is not None else ())]
    runs = [each for each in priced.others if is_telling(each.change, float(least_percent))]
    runs.sort(key=lambda each: _price(each.after) == _price(each.before))  # what costs as before comes last
    parts = tuple(_part(each, place) for each in change.parts)
    return ChangeView(
        cause=causes[0] if causes else None,
        file_cause=by_hand[0] if by_hand else None,
        moved=tuple(causes) if len(causes) > 1 and any(each.effect for each in causes) else (),
        is_other_run=change.is_other_run,
        first_memory=_first_memory(change, least_percent),
        parts=parts[:MOST_PARTS],
        parts_hidden=_hidden(len(parts) - MOST_PARTS, "more"),
        environment=_in_words(change.parts),
        runs=tuple(_run(each, place, base_place) for each in runs[:MOST_RUNS]),
        runs_hidden=_hidden(len(runs) - MOST_RUNS, "more"),
    )


def _hidden(count: int, word: str) -> Safe:
    return Safe(f"{count} {word}") if count > 0 else EMPTY


def _cause(cause: Cause, place: CodePlace, base_place: CodePlace) -> CauseView:
    where = place if cause.new_value is not None else base_place
    effect = cause.effect_gib
    return CauseView(
        name=cause.name,
        old=cause.old_value,
        new=cause.new_value,
        why=cause.finding.why,
        where=where.link(cause.evidence),
        effect=formats.gib_difference(effect) if effect is not None and abs(effect) >= LEAST_EFFECT else EMPTY,
    )


def _first_memory(change: Change, least_percent: int) -> Safe:
    """Return ``9.3 → 8.5 GiB`` where the first run's memory differs by more than is overlooked."""
    first = change.first
    if first is None or not is_telling(first, float(least_percent)):
        return EMPTY
    return Safe(f"{_size(first.before)} → {_size(first.after)}")


def _size(need: RunNeed) -> str:
    if not need.gpu_count:
        return "no GPU"
    return str(formats.gib(need.expected_gib) if need.expected_gib is not None else f"{need.required_gib} GiB")


def _in_words(parts: Sequence[PartChange]) -> str:
    """Return the parts in a few words: versions with both sides, packages by their number, or by name where it is one."""
    words = []
    for part in parts:
        if part.what == "image":
            words.append("image")
        elif part.what in {"CUDA", "Python"}:
            sides = (
                f" {part.old} → {part.new}"
                if part.old and part.new
                else f" {part.new}"
                if part.new
                else " no longer set"
            )
            words.append(part.what + sides)
    packages = [part for part in parts if part.what == "package"]
    if len(packages) == 1:
        words.append(f"package {packages[0].name}")
    elif packages:
        words.append(f"{len(packages)} packages")
    others = sum(part.what not in {"image", "CUDA", "Python", "package"} for part in parts)
    return ", ".join(words) + (f"{' and ' if words else ''}{others} more" if others else "")


def _part(part: PartChange, place: CodePlace) -> PartView:
    where = place.link(part.evidence) if part.evidence is not None else EMPTY
    return PartView(Safe(part.what), part.old, part.new, where)


def _run(priced: PricedRun, place: CodePlace, base_place: CodePlace) -> RunView:
    run = priced.change
    first: Sequence[Cause] = run.causes[:1]
    return RunView(
        name=run.name,
        kind=Safe(run.kind.value),
        before=_need(run.before, priced.before) if run.kind is not Kind.NEW else _NONE,
        after=_need(run.after, priced.after) if run.kind is not Kind.GONE else _NONE,
        is_more=run.is_more,
        is_dearer=_price(priced.after) > _price(priced.before),
        cause=_cause(first[0], place, base_place) if first else None,
        where=(base_place if run.kind is Kind.GONE else place).link(run.evidence),
    )


def _price(candidate: Candidate | None) -> Decimal:
    return candidate.price_usd_per_hour if candidate is not None else Decimal(0)


def _need(need: RunNeed, candidate: Candidate | None) -> Safe:
    """Return memory, machine and price in one cell."""
    size = _size(need)
    if not need.gpu_count or candidate is None:
        return Safe(size)
    offer, price = candidate.offer, candidate.price_usd_per_hour
    machine = accelerator_label(offer.accelerator, offer.accelerator_count)
    return (
        Safe(f"{size}, {machine}, {formats.usd_per_hour(price)}") if price > Decimal(0) else Safe(f"{size}, {machine}")
    )
