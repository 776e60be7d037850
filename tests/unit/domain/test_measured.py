"""The book of measured runs: what is kept, what says only "at least", and what no text of ours may be."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from gpu_lol_action.adapters.ledger_text import to_message
from gpu_lol_action.domain.measured import KEPT_OF_WORKLOAD, KEPT_RUNS, MeasuredBook, MeasuredRun
from gpu_lol_action.domain.measured_json import UnreadableBook, book_from_json, book_to_json
from gpu_lol_action.domain.memory import Workload

NIGHT = datetime(2026, 11, 20, 3, 0, tzinfo=timezone.utc)
WORKLOAD = Workload("Qwen/Qwen2.5-7B", "lora", "bf16", 2, 1024, "0123456789abcdef")
RUN = MeasuredRun(
    at=NIGHT,
    sha="a" * 40,
    how="smoke",
    command="python train.py",
    card="NVIDIA L4",
    peak_gib=19.8,
    card_gib=22.5,
    samples=30,
    is_whole=True,
    workload=WORKLOAD,
    low_gib=18.0,
    expected_gib=21.3,
    high_gib=26.0,
)
TESTS = replace(RUN, workload=None, low_gib=None, expected_gib=None, high_gib=None)


def test_book_is_read_as_it_was_written() -> None:
    book = MeasuredBook((RUN, TESTS, replace(RUN, card_gib=None)))
    assert book_from_json(book_to_json(book)) == book


def test_newest_of_each_workload_are_kept_and_many_tests_push_none_out() -> None:
    book = MeasuredBook().with_run(RUN)
    for night in range(100):
        book = book.with_run(replace(TESTS, at=NIGHT + timedelta(days=night)))
    assert book.runs[0] == RUN
    assert len(book.runs) == 1 + KEPT_OF_WORKLOAD
    assert book.runs[-1].at == NIGHT + timedelta(days=99)


def test_full_book_of_long_commands_fits_a_commits_message() -> None:
    book = MeasuredBook()
    for number in range(2 * KEPT_RUNS):
        workload = replace(WORKLOAD, model="some-organization/" + "m" * 40, rest=f"{number:016x}")
        book = book.with_run(replace(RUN, command="python " + "x" * 190, workload=workload))
    assert len(book.runs) == KEPT_RUNS
    assert to_message("Measured runs", book_to_json(book)) is not None


@pytest.mark.parametrize(
    ("run", "is_at_least"),
    [
        (RUN, False),
        (replace(RUN, peak_gib=0.97 * 22.5), True),
        (replace(RUN, peak_gib=22.4, card_gib=None), False),
        (replace(RUN, is_whole=False), True),
        (replace(RUN, samples=4), True),
    ],
)
def test_what_says_only_at_least(run: MeasuredRun, is_at_least: bool) -> None:
    assert run.is_at_least is is_at_least


CHANGES = {
    "format": lambda book: book.update(format=2),
    "no list": lambda book: book.update(runs="many"),
    "endless": lambda book: book["runs"][0].update(peak_gib=float("inf")),
    "negative": lambda book: book["runs"][0].update(peak_gib=-1),
    "truth": lambda book: book["runs"][0].update(peak_gib=True),
    "huge": lambda book: book["runs"][0].update(card_gib=1e30),
    "no zone": lambda book: book["runs"][0].update(at="2026-11-20T03:00:00"),
    "control": lambda book: book["runs"][0].update(sha="\x1b[31m"),
    "long": lambda book: book["runs"][0].update(how="x" * 500),
    "workload": lambda book: book["runs"][0].update(workload=["m"]),
    "estimated": lambda book: book["runs"][0].update(estimated=[1]),
    "nothing": lambda book: book.clear(),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_what_is_none_of_ours_is_refused(change: str) -> None:
    book = json.loads(book_to_json(MeasuredBook((RUN,))))
    CHANGES[change](book)
    with pytest.raises(UnreadableBook):
        book_from_json(json.dumps(book))


def test_cards_name_is_held_to_what_such_names_are_made_of() -> None:
    hostile = replace(RUN, card="<img src=x> [a](http://b) `c` @ada " + "x" * 300)
    (read,) = book_from_json(book_to_json(MeasuredBook((hostile,)))).runs
    assert len(read.card) <= 60
    assert not set("<>[]`@:/") & set(read.card)
