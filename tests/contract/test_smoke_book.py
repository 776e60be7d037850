"""The book of smoke tests on the stand-in's refs: what was begun is seen by every later run, and two at once lose nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.adapters.smoke_book import FOLDER, StoredSmokeBook
from gpu_lol_action.domain.environment import Requester
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.domain.request import Command
from gpu_lol_action.domain.smoke import SmokeHistory, SmokeIntent, SmokeResult, SmokeRun
from gpu_lol_action.domain.smoke_intent import LOST
from gpu_lol_action.errors import Door
from gpu_lol_action.handlers.context import Context, Order, Settings
from gpu_lol_action.handlers.smoke_book import close_lost, enter_run, tell_runs
from tests.contract.github_setup import Place, started_place
from tests.support.hands import JumpingClock, QuietProgress, ScriptedCloud, ScriptedShell

CELLS = ("L4",)
LEASE = timedelta(hours=1)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


class Night:
    """One workflow run: a connection of its own to the stand-in, which knows whether it goes on."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.run_id = place.hub.start_run("schedule", place.hub.maintainer)
        forge, clock = place.forge(), JumpingClock(place.clock.now())
        store = GitRefStore(forge.client, FOLDER, forge.refs)
        self.book = StoredSmokeBook(store)
        self.context = Context(
            forge=forge,
            ledger=RecordLedger(GitRefStore(forge.client, refs=forge.refs)),
            clock=clock,
            progress=QuietProgress(),
            cloud=lambda: ScriptedCloud(clock),
            shell=ScriptedShell,
            redact=redact,
            settings=Settings(Door.JOB, self.run_id, None, "https://github.com", ("runpod",)),
            smoke_book=lambda: self.book,
        )
        repository = forge.repository()
        self.order = Order(
            Command("smoke", "schedule"), Requester("schedule"), repository, forge.pull_request(0), Policy()
        )

    def begin(self) -> SmokeIntent:
        intent = enter_run(self.context, self.order, CELLS, LEASE)
        assert intent is not None
        return intent

    def tell(self, intent: SmokeIntent) -> SmokeHistory:
        run = SmokeRun("L4", intent.sha, intent.at, SmokeResult.PASSED, "passed")
        history = tell_runs(self.context, self.order, intent, [run])
        assert history is not None
        return history

    def end(self) -> None:
        self.place.hub.finish_run(self.run_id, "cancelled")


def seen(place: Place) -> SmokeHistory:
    forge = place.forge()
    return StoredSmokeBook(GitRefStore(forge.client, FOLDER, forge.refs)).read("main")


def test_lost_run_is_closed_by_the_next_one_that_begins(place: Place) -> None:
    lost = Night(place)
    lost.begin()
    lost.end()
    again = Night(place)
    intent = again.begin()
    history = seen(place)
    assert [(run.result, run.reason_code) for run in history.runs] == [(SmokeResult.NOT_RUN, LOST)]
    assert history.begun == (intent,)
    assert [run.reason_code for run in again.tell(intent).runs] == [LOST, "passed"]
    assert place.hub.problems() == []


def test_two_runs_at_once_leave_each_other_alone(place: Place) -> None:
    first, second = Night(place), Night(place)
    one = first.begin()
    two = second.begin()
    assert close_lost(Night(place).context, first.order.repository) == ()
    assert set(seen(place).begun) == {one, two}
    second.tell(two)
    assert seen(place).begun == (one,)
    assert len(first.tell(one).runs) == 2
    assert seen(place).begun == ()


def test_run_that_tells_its_end_while_another_reads_is_not_closed(place: Place) -> None:
    """The other one has read the book before; what it writes is what stands there by then, less nothing."""
    telling, other = Night(place), Night(place)
    intent = telling.begin()
    telling.end()
    read = other.book.read("main")
    assert read.begun == (intent,)
    other.book.read = lambda _branch: (telling.tell(intent), read)[1]  # type: ignore[method-assign]  # in between
    assert close_lost(other.context, other.order.repository) == ()
    assert [run.reason_code for run in seen(place).runs] == ["passed"]


def test_book_of_an_earlier_version_is_read_and_goes_on(place: Place) -> None:
    night = Night(place)
    night.tell(night.begin())
    forge = place.forge()
    store = GitRefStore(forge.client, FOLDER, forge.refs)
    ((name, tip),) = store.tips().items()
    document = json.loads(store.texts([(name, tip)])[name, tip] or "")
    del document["begun"]
    assert store.append(name, tip, json.dumps(document), "as it was written before")
    later = Night(place)
    later.begin()
    assert [run.reason_code for run in seen(place).runs] == ["passed"]
    assert len(seen(place).begun) == 1
