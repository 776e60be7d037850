"""``gpu-lol ledger``: both ledgers in one answer, nothing written, and what does not answer is said."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace

import pytest

from gpu_lol_action.domain.environment import Requester, Tombstone
from gpu_lol_action.domain.ledger import Entry, Survey
from gpu_lol_action.errors import TransientError, UserError
from gpu_lol_action.handlers.ledger import LedgerAnswer, Question, Source, describe_ledger
from gpu_lol_action.handlers.teardown import write_tombstone
from gpu_lol_action.render.screen import PLAIN
from tests.support.hands import START
from tests.unit.handlers.conftest import Bench


@dataclass
class Silent:
    """A ledger that does not answer."""

    def survey(self) -> Survey:
        raise TransientError("github_unreachable", "GitHub does not answer")

    def history(self, name: str) -> list[Entry]:
        raise AssertionError(name)


def ask(bench: Bench, name: str | None = None, *others: Source, is_csv: bool = False) -> LedgerAnswer:
    return describe_ledger(Question(name, is_csv, PLAIN, START), [Source("terminal", bench.ledger), *others])


def test_list_names_what_is_open_and_what_it_costs(bench: Bench) -> None:
    entry = bench.running()
    answer = ask(bench)
    assert entry.record.name in answer.text
    assert "1 on record, 1 open" in answer.text
    assert "Running: 1 machine at $0.44/h, $0.00 so far." in answer.text
    assert answer.errors == ()


def test_empty_ledger_says_that_nothing_runs(bench: Bench) -> None:
    assert ask(bench).text.endswith("Nothing is running.")


def test_versions_are_the_audit_log_oldest_first(bench: Bench) -> None:
    entry = bench.running()
    write_tombstone(bench.context, entry, Tombstone("bob", "down", START))
    lines = ask(bench, entry.record.name).text.splitlines()
    states = [line.split()[-1] for line in lines if line.startswith("  00000")]
    assert states == ["claimed", "launching", "validating", "ready", "ending"]
    assert any("tombstone: down, by bob" in line for line in lines)
    assert lines[-1].startswith("It may be running at $0.44/h")


def test_unknown_name_is_answered_with_the_nearest(bench: Bench) -> None:
    known = bench.running().record.name
    with pytest.raises(UserError) as caught:
        ask(bench, known[:-1] + "9")
    assert caught.value.reason_code == "environment_not_recorded"
    assert known in caught.value.explanation.why


def test_ledger_that_does_not_answer_is_said_and_concludes_nothing(bench: Bench) -> None:
    answer = ask(bench, None, Source("github", Silent()))
    assert [error.reason_code for error in answer.errors] == ["github_unreachable"]
    assert answer.text.endswith("A ledger could not be read: what is on record there may run.")
    assert "Nothing is running" not in answer.text
    with pytest.raises(TransientError):  # it may stand in the one that did not answer
        ask(bench, "gl-au-77", Source("github", Silent()))


def test_table_is_for_programs(bench: Bench) -> None:
    entry = bench.running(requester=Requester("ada", 7))
    (row,) = csv.DictReader(io.StringIO(ask(bench, is_csv=True).text))
    assert (row["environment"], row["state"], row["requester"]) == (entry.record.name, "ready", "ada")
    assert (row["price_usd_per_hour"], row["bill_usd"], row["lives"]) == ("0.44", "", "1")
    versions = list(csv.DictReader(io.StringIO(ask(bench, entry.record.name, is_csv=True).text)))
    assert [each["state"] for each in versions][:2] == ["claimed", "launching"]


def test_secret_in_a_record_is_not_printed(bench: Bench) -> None:
    entry = bench.running()
    bench.ledger.update(entry, replace(entry.record, failure="key rpa_" + "A1" * 21))
    assert "rpa_A1" not in ask(bench, entry.record.name).text
