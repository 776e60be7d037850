"""One suite for both ledgers: git refs through the stand-in's API, and a folder."""

from __future__ import annotations

import dataclasses
import multiprocessing
import threading
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

import pytest

from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.adapters.ledger_text import LONGEST_MESSAGE
from gpu_lol_action.domain.environment import Bill, EnvironmentRecord, Requester, State
from gpu_lol_action.domain.environment_json import first_page, page_to_json
from gpu_lol_action.domain.ledger import Entry, UnreadableEntry
from gpu_lol_action.errors import LostRace, OperatorError, TransientError
from tests.contract.github_setup import START, Place, started_place
from tests.support.records import claimed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gpu_lol_action.handlers.ports import Ledger

NAME = "gl-fra2cea-12"


def make_record(name: str = NAME, login: str = "ada", **changes: object) -> EnvironmentRecord:
    ours = {"repository": "acme/llm-lab", "repository_id": 740_583_231, "run_id": "98231"}
    return claimed(START, name=name, requester=Requester(login, 7), **{**ours, **changes})


class Bench(Protocol):
    """One kind of ledger: fresh ones on the same store, as other runs have them, and a hand to damage it."""

    def fresh(self) -> Ledger: ...
    def damage(self, name: str, text: str) -> None: ...


@dataclasses.dataclass
class RefBench:
    place: Place

    def fresh(self) -> RecordLedger:
        return RecordLedger(GitRefStore(self.place.forge().client))

    def damage(self, name: str, text: str) -> None:
        git = self.place.hub.repository.git
        ref = f"refs/gpu-lol/environments/{name}"
        tip = git.ref(ref)
        # git's messages hold no NUL, so nothing but this keeps it out.
        message = f"damage\n\n{text.replace(chr(0), '{')}"
        author = git.read_commit(git.history("main")[0]).author
        git.update_ref(ref, git.write_commit(git.write_tree({}), [tip] if tip else [], message, author), tip)


@dataclasses.dataclass
class FileBench:
    folder: Path

    def fresh(self) -> RecordLedger:
        return RecordLedger(FileStore(self.folder))

    def damage(self, name: str, text: str) -> None:
        numbers = sorted(int(path.stem) for path in (self.folder / name).glob("*.json"))
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / name / f"{(numbers or [0])[-1] + 1:06d}.json").write_text(text)


@pytest.fixture(params=["refs", "files"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    if request.param == "files":
        yield FileBench(tmp_path / "state" / "ledger")
        return
    with started_place(tmp_path / "hub") as place:
        yield RefBench(place)
        assert place.hub.problems() == []


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path / "hub") as started:
        yield started
        assert started.hub.problems() == []


def move(ledger: Ledger, entry: Entry, state: State, **changes: object) -> Entry:
    return ledger.update(entry, dataclasses.replace(entry.record, state=state, **changes))


def close(ledger: Ledger, entry: Entry, usd: str, days: int = 0) -> Entry:
    ending = move(ledger, entry, State.ENDING)
    at = START + timedelta(days=days)
    return move(ledger, ending, State.CLOSED, closed_at=at, bill=Bill(START, at, Decimal("2.49"), Decimal(usd)))


# --- life of a record -----------------------------------------------------------------------------------------
def test_empty_ledger_has_nothing(bench: Bench) -> None:
    ledger = bench.fresh()

    assert ledger.read(NAME) is None
    assert list(ledger.entries()) == []
    assert ledger.bills_usd(START) == 0
    assert ledger.last_sweep() is None


def test_claim_is_read_back_by_another_run(bench: Bench) -> None:
    entry = bench.fresh().claim(make_record())

    assert bench.fresh().read(NAME) == entry
    assert list(bench.fresh().entries()) == [entry]
    assert entry.record == make_record()


def test_update_moves_the_record_on(bench: Bench) -> None:
    ledger = bench.fresh()
    launching = move(ledger, ledger.claim(make_record()), State.LAUNCHING, cloud="runpod")
    other = bench.fresh()
    ready = move(other, move(other, launching, State.VALIDATING), State.READY)

    assert bench.fresh().read(NAME) == ready
    assert ready.record.cloud == "runpod"
    history = bench.fresh().history(NAME)
    states = [each.record.state for each in history if isinstance(each, Entry)]
    assert states == [State.READY, State.VALIDATING, State.LAUNCHING, State.CLAIMED]


def test_open_record_cannot_be_claimed(bench: Bench) -> None:
    bench.fresh().claim(make_record())

    with pytest.raises(LostRace, match="claim_lost") as caught:
        bench.fresh().claim(make_record(login="grace"))
    assert "@ada" in caught.value.explanation.why


def test_closed_record_is_taken_over_and_its_bill_kept(bench: Bench) -> None:
    ledger = bench.fresh()
    close(ledger, ledger.claim(make_record()), "3.40")
    again = bench.fresh().claim(make_record(login="grace", claimed_at=START + timedelta(hours=5)))

    assert again.record.requester.login == "grace"
    assert bench.fresh().bills_usd(START) == Decimal("3.40")
    assert len(bench.fresh().history(NAME)) == 4


def test_stale_entry_loses(bench: Bench) -> None:
    first, second = bench.fresh(), bench.fresh()
    entry = first.claim(make_record())
    seen = second.read(NAME)
    assert isinstance(seen, Entry)
    ending = move(second, seen, State.ENDING)

    with pytest.raises(LostRace, match="record_changed"):
        move(first, entry, State.LAUNCHING)
    assert bench.fresh().read(NAME) == ending


@pytest.mark.parametrize("target", [State.READY, State.CLOSED, State.FAILED])
def test_illegal_move_is_impossible(bench: Bench, target: State) -> None:
    ledger = bench.fresh()
    entry = ledger.claim(make_record())

    with pytest.raises(ValueError, match="no environment goes from claimed"):
        move(ledger, entry, target)
    assert bench.fresh().read(NAME) == entry


@pytest.mark.parametrize("name", ["../escape", "a/b", "", "x" * 64, "UPPER", "-a", "a..b", "a.lock", "a\n"])
def test_hostile_names_are_refused(bench: Bench, name: str) -> None:
    with pytest.raises(ValueError, match="is no environment's name"):
        bench.fresh().claim(make_record(name=name))
    assert list(bench.fresh().entries()) == []


def test_one_name_may_begin_with_another(bench: Bench) -> None:
    ledger = bench.fresh()
    ledger.claim(make_record("gl-a-1"))
    ledger.claim(make_record("gl-a-12"))

    assert isinstance(entry := bench.fresh().read("gl-a-1"), Entry)
    assert entry.record.name == "gl-a-1"
    assert bench.fresh().read("gl-a") is None


def test_entries_are_by_name_closed_ones_too(bench: Bench) -> None:
    ledger = bench.fresh()
    names = [f"gl-a-{number}" for number in (3, 1, 2, 55, 4)]
    for name in names:
        ledger.claim(make_record(name))
    closing = ledger.read("gl-a-2")
    assert isinstance(closing, Entry)
    close(ledger, closing, "1.00")

    found = bench.fresh().entries()
    assert [each.record.name for each in found if isinstance(each, Entry)] == sorted(names)


def test_bills_count_once_each_and_since_a_moment(bench: Bench) -> None:
    ledger = bench.fresh()
    first = close(ledger, ledger.claim(make_record("gl-a-1")), "3.40", days=1)
    # A closed record may be written again (a late comment's id): its bill is not doubled.
    move(ledger, first, State.CLOSED, status_comment_id=5)
    second = ledger.claim(make_record("gl-a-1", claimed_at=START + timedelta(days=2)))
    close(ledger, second, "1.10", days=2)
    close(ledger, ledger.claim(make_record("gl-a-2")), "0.05", days=3)
    fresh = bench.fresh()

    assert fresh.bills_usd(START) == Decimal("4.55")
    assert fresh.bills_usd(START + timedelta(days=2)) == Decimal("1.15")
    assert fresh.bills_usd(START + timedelta(days=9)) == 0


def test_sweep_is_noted_and_the_newest_counts(bench: Bench) -> None:
    bench.fresh().note_sweep(START)
    bench.fresh().note_sweep(START + timedelta(hours=1))

    assert bench.fresh().last_sweep() == START + timedelta(hours=1)
    assert list(bench.fresh().entries()) == []


# --- what cannot be read --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": 1}', '{"schema": 99, "record": {}}', "\x00", "[" * 100_000]
)
def test_unreadable_record_is_held_and_reported(bench: Bench, text: str) -> None:
    bench.fresh().claim(make_record("gl-a-1"))
    entry = bench.fresh().claim(make_record())
    bench.damage(NAME, text)
    ledger = bench.fresh()
    found = ledger.read(NAME)

    assert isinstance(found, UnreadableEntry)
    assert (found.name, bool(found.why)) == (NAME, True)
    assert [type(each) for each in ledger.entries()] == [Entry, UnreadableEntry]
    with pytest.raises(LostRace, match="claim_lost"):
        bench.fresh().claim(make_record(login="grace"))
    with pytest.raises(LostRace, match="record_changed"):
        move(bench.fresh(), entry, State.ENDING)


def test_record_under_another_name_is_unreadable(bench: Bench) -> None:
    bench.fresh().claim(make_record("gl-a-1"))
    bench.damage("gl-b-2", page_to_json(first_page(make_record("gl-a-1"))))
    found = bench.fresh().read("gl-b-2")

    assert isinstance(found, UnreadableEntry)
    assert "gl-a-1" in found.why


def test_bills_before_the_damage_still_count(bench: Bench) -> None:
    ledger = bench.fresh()
    close(ledger, ledger.claim(make_record()), "3.40")
    bench.damage(NAME, "broken")

    assert bench.fresh().bills_usd(START) == Decimal("3.40")


# --- races ----------------------------------------------------------------------------------------------------
def race(contenders: list[Callable[[], object]]) -> list[object]:
    """Run all at the same moment; the result or the error of each."""
    outcomes: list[object] = [None] * len(contenders)
    barrier = threading.Barrier(len(contenders))

    def run(place: int, contender: Callable[[], object]) -> None:
        barrier.wait()
        try:
            outcomes[place] = contender()
        except LostRace as lost:
            outcomes[place] = lost

    threads = [threading.Thread(target=run, args=each) for each in enumerate(contenders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def winners(outcomes: list[object]) -> list[Entry]:
    assert all(isinstance(each, Entry | LostRace) for each in outcomes)
    return [each for each in outcomes if isinstance(each, Entry)]


def test_of_racing_claims_one_wins(bench: Bench) -> None:
    ledgers = [bench.fresh() for _ in range(4)]
    outcomes = race(
        [lambda ledger=ledger, n=n: ledger.claim(make_record(login=f"u{n}")) for n, ledger in enumerate(ledgers)]
    )

    (won,) = winners(outcomes)
    assert bench.fresh().read(NAME) == won
    assert len(bench.fresh().history(NAME)) == 1


def test_of_racing_takeovers_one_wins(bench: Bench) -> None:
    ledger = bench.fresh()
    close(ledger, ledger.claim(make_record()), "1.00")
    ledgers = [bench.fresh() for _ in range(4)]
    outcomes = race(
        [lambda ledger=ledger, n=n: ledger.claim(make_record(login=f"u{n}")) for n, ledger in enumerate(ledgers)]
    )

    (won,) = winners(outcomes)
    assert bench.fresh().read(NAME) == won


def test_of_racing_updates_one_wins(bench: Bench) -> None:
    bench.fresh().claim(make_record())
    ledgers = [bench.fresh() for _ in range(4)]
    seen = [ledger.read(NAME) for ledger in ledgers]
    outcomes = race(
        [
            lambda ledger=ledger, entry=entry, n=n: move(ledger, entry, State.LAUNCHING, run_id=str(n))
            for n, (ledger, entry) in enumerate(zip(ledgers, seen, strict=True))
        ]
    )

    (won,) = winners(outcomes)
    assert bench.fresh().read(NAME) == won
    assert len(bench.fresh().history(NAME)) == 2


def claim_in_process(folder: Path, number: int, results: multiprocessing.Queue[str]) -> None:
    try:
        RecordLedger(FileStore(folder)).claim(make_record(login=f"u{number}"))
        results.put("won")
    except LostRace:
        results.put("lost")


def test_of_racing_processes_one_wins(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[str] = context.Queue()
    processes = [context.Process(target=claim_in_process, args=(tmp_path, number, results)) for number in range(3)]
    for process in processes:
        process.start()
    outcomes = sorted(results.get(timeout=60) for _ in processes)
    for process in processes:
        process.join()
    results.close()

    assert outcomes == ["lost", "lost", "won"]


# --- only over the network ------------------------------------------------------------------------------------
@pytest.mark.parametrize("status", [502, 0])
def test_claim_whose_answer_was_lost_is_ours(place: Place, status: int) -> None:
    place.hub.fail_next("POST git/refs", status, mode="after")
    entry = RefBench(place).fresh().claim(make_record())

    assert RefBench(place).fresh().read(NAME) == entry


@pytest.mark.parametrize("status", [502, 0])
def test_claim_that_did_not_arrive_is_made_again(place: Place, status: int) -> None:
    place.hub.fail_next("POST git/refs", status)
    entry = RefBench(place).fresh().claim(make_record())

    assert RefBench(place).fresh().read(NAME) == entry


@pytest.mark.parametrize("mode", ["before", "after"])
@pytest.mark.parametrize("status", [502, 0])
def test_update_whose_answer_was_lost_happens_once(place: Place, mode: str, status: int) -> None:
    ledger = RefBench(place).fresh()
    entry = ledger.claim(make_record())
    place.hub.fail_next("PATCH git/refs/{ref}", status, mode=mode)
    launching = move(ledger, entry, State.LAUNCHING)

    assert RefBench(place).fresh().read(NAME) == launching
    assert len(RefBench(place).fresh().history(NAME)) == 2


def test_lost_answers_of_git_objects_do_no_harm(place: Place) -> None:
    place.hub.fail_next("POST git/commits", 502, mode="after", times=2)
    RefBench(place).fresh().claim(make_record())

    assert len(RefBench(place).fresh().history(NAME)) == 1


def test_ref_that_exists_but_does_not_show_yet_is_not_claimed_elsewhere(place: Place) -> None:
    """GitHub answers reads from copies that lag: its refusal to create counts, not what a look finds."""
    body = {"message": "Reference already exists", "documentation_url": "x", "status": "422"}
    place.hub.fail_next("POST git/refs", 422, times=3, body=body)

    with pytest.raises(LostRace, match="claim_lost"):
        RefBench(place).fresh().claim(make_record())
    assert place.hub.repository.git.refs("refs/heads/gpu-lol/") == {}


def test_own_claim_that_did_not_show_at_once_is_recognized(place: Place) -> None:
    place.hub.fail_next("POST git/refs", 502, mode="after")
    place.hub.fail_next("GET git/ref/{ref}", 404)
    entry = RefBench(place).fresh().claim(make_record())

    assert RefBench(place).fresh().read(NAME) == entry


def test_race_that_does_not_show_yet_is_lost_all_the_same(place: Place) -> None:
    ledger = RefBench(place).fresh()
    entry = ledger.claim(make_record())
    body = {"message": "Update is not a fast forward", "documentation_url": "x", "status": "422"}
    place.hub.fail_next("PATCH git/refs/{ref}", 422, body=body)

    with pytest.raises(LostRace, match="record_changed"):
        move(ledger, entry, State.LAUNCHING)


def test_outage_claims_nothing(place: Place) -> None:
    place.hub.fail_next("POST git/refs", 502, times=2)

    with pytest.raises(TransientError, match="github_unreachable"):
        RefBench(place).fresh().claim(make_record())
    assert RefBench(place).fresh().read(NAME) is None


def test_refused_custom_refs_fall_back_to_a_branch_and_stay_there(place: Place) -> None:
    place.hub.repository.refuses_custom_refs = True
    entry = RefBench(place).fresh().claim(make_record())
    RefBench(place).fresh().note_sweep(START)
    # Custom refs are allowed later on: the records stay where they are, and nobody claims a second time.
    place.hub.repository.refuses_custom_refs = False

    assert place.hub.repository.git.ref(f"refs/heads/gpu-lol/environments/{NAME}") == entry.version
    with pytest.raises(LostRace, match="claim_lost"):
        RefBench(place).fresh().claim(make_record(login="grace"))
    assert RefBench(place).fresh().last_sweep() == START
    other = RefBench(place).fresh().claim(make_record("gl-a-1"))
    assert place.hub.repository.git.ref("refs/heads/gpu-lol/environments/gl-a-1") == other.version
    assert place.hub.repository.git.refs("refs/gpu-lol/") == {}


def test_ruleset_that_refuses_everything_is_the_maintainers(place: Place) -> None:
    body = {"message": "Repository rule violations found", "documentation_url": "x", "status": "422"}
    place.hub.fail_next("POST git/refs", 422, times=2, body=body)

    with pytest.raises(OperatorError, match="ledger_refused") as caught:
        RefBench(place).fresh().claim(make_record())
    assert caught.value.explanation.why == "Repository rule violations found"


def test_update_that_a_rule_refuses_is_no_lost_race(place: Place) -> None:
    ledger = RefBench(place).fresh()
    entry = ledger.claim(make_record())
    body = {"message": "Repository rule violations found", "documentation_url": "x", "status": "422"}
    place.hub.fail_next("PATCH git/refs/{ref}", 422, body=body)

    with pytest.raises(OperatorError, match="ledger_refused"):
        move(ledger, entry, State.LAUNCHING)


def test_without_graphql_records_are_read_one_by_one(place: Place) -> None:
    ledger = RefBench(place).fresh()
    names = [f"gl-a-{number}" for number in range(4)]
    for name in names:
        ledger.claim(make_record(name))
    place.hub.fail_next("POST graphql", 403)
    found = RefBench(place).fresh().entries()

    assert [each.record.name for each in found if isinstance(each, Entry)] == names


def test_requests_per_operation_are_few(place: Place) -> None:
    """The figures that the documentation quotes: a workflow's token has 1,000 requests an hour."""
    counts: dict[str, int] = {}

    def counted(what: str, act: Callable[[], object]) -> None:
        place.hub.forget_requests()
        act()
        counts[what] = sum(place.hub.counts().values())

    ledger = RefBench(place).fresh()
    for number in range(59):
        ledger.claim(make_record(f"gl-b-{number}"))
    ledger.claim(make_record())
    fresh = RefBench(place).fresh()
    counted("list 60", fresh.entries)
    counted("list 60 again", fresh.entries)
    counted("everything in a new run", lambda: RefBench(place).fresh().survey())
    counted("claim after listing", lambda: fresh.claim(make_record("gl-c-1")))
    entry = fresh.read(NAME)
    assert isinstance(entry, Entry)
    counted("update", lambda: move(fresh, entry, State.LAUNCHING))
    counted("bills", lambda: fresh.bills_usd(START))
    counted("read in a new run", lambda: RefBench(place).fresh().read(NAME))
    counted("note a first sweep", lambda: fresh.note_sweep(START))
    counted("note a sweep", lambda: fresh.note_sweep(START))
    counted("last sweep", fresh.last_sweep)

    assert counts == {
        "list 60": 1,
        "list 60 again": 1,
        "everything in a new run": 1,
        "claim after listing": 2,
        "update": 2,
        "bills": 1,
        "read in a new run": 1,
        "note a first sweep": 3,
        "note a sweep": 2,
        "last sweep": 1,
    }


def test_records_that_graphql_does_not_show_are_found_through_rest(place: Place) -> None:
    """Whether GraphQL lists refs outside of heads and tags is not promised; an empty list is not believed."""
    for number in range(4):
        RefBench(place).fresh().claim(make_record(f"gl-a-{number}"))
    RefBench(place).fresh().note_sweep(START)
    place.hub.repository.hides_custom_refs = True
    ledger = RefBench(place).fresh()
    survey = ledger.survey()

    assert [record.name for record in survey.records] == [f"gl-a-{number}" for number in range(4)]
    assert survey.swept_at == START
    place.hub.forget_requests()
    ledger.survey()
    # It was blind once, so it is not asked again; what a version holds never changes.
    assert place.hub.counts() == {"GET /repos/{owner}/{repo}/git/matching-refs/{ref}": 2}


def test_more_records_than_a_page(place: Place) -> None:
    ledger = RefBench(place).fresh()
    git = place.hub.repository.git
    tip = ledger.claim(make_record("gl-a-0")).version
    for number in range(1, 230):
        # The refs alone: what their versions hold is the first one's record, under another name.
        (git.path / f"refs/gpu-lol/environments/gl-a-{number}").write_text(tip + "\n")
    place.hub.forget_requests()
    found = RefBench(place).fresh().entries()

    assert len(found) == 230
    assert place.hub.counts() == {"POST /graphql": 3}


def test_record_too_long_for_a_message_is_kept_in_a_file(place: Place) -> None:
    record = make_record(failure="x" * (LONGEST_MESSAGE + 1))
    entry = RefBench(place).fresh().claim(record)

    assert entry.record == record
    assert RefBench(place).fresh().read(NAME) == entry
    assert [each.record for each in RefBench(place).fresh().entries() if isinstance(each, Entry)] == [record]


def test_empty_tree_that_is_refused_is_replaced_by_one_that_was_written(place: Place) -> None:
    place.hub.fail_next("POST git/commits", 422)
    ledger = RefBench(place).fresh()
    entry = ledger.claim(make_record())
    move(ledger, entry, State.LAUNCHING)

    assert place.hub.counts()["POST /repos/{owner}/{repo}/git/trees"] == 1
    assert [type(each) for each in RefBench(place).fresh().entries()] == [Entry]


def test_message_of_a_record_mentions_nobody_and_nothing(place: Place) -> None:
    """What GitHub would link or notify in a commit message is written as JSON's escapes."""
    hostile = "@grace #12 GH-12 https://github.com/acme/llm-lab/issues/12 acme/llm-lab#3 ü\u2028"
    entry = RefBench(place).fresh().claim(make_record(failure=hostile))
    message = place.hub.repository.git.read_commit(entry.version).message

    assert not any(sign in message for sign in ("@", "#", "GH-", "//", "acme/llm-lab"))
    assert RefBench(place).fresh().read(NAME) == entry
