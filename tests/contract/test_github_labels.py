"""Labels on the stand-in: who set one and when, beside the last push to the fork, as GitHub says it; and taking one off."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.adapters.github_labels import GitHubLabels
from gpu_lol_action.domain.label import LabelWord
from gpu_lol_action.errors import OperatorError, TransientError
from gpu_lol_action.rehearsal.github_setting import BOT_PERMISSIONS
from gpu_lol_action.rehearsal.github_state import Repository
from tests.contract.github_setup import START, Place, started_place

LABEL = "gpu-smoke"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


@pytest.fixture
def fork(place: Place) -> Repository:
    """A fork whose pull request is ten minutes old."""
    made = place.hub.fork("contributor")
    opened = place.hub.open_pull_request("contributor", {"train.py": "print('mine')\n"}, fork=made)
    place.number = int(opened.number or 0)
    place.clock.sleep(timedelta(minutes=10))
    return made


def labels(place: Place, token: str | None = None) -> GitHubLabels:
    return GitHubLabels(place.forge(token).client)


@pytest.mark.usefixtures("fork")
def test_label_is_told_with_the_last_push_to_the_fork_in_one_question(place: Place) -> None:
    place.hub.label(place.number, "ada", LABEL)
    place.hub.forget_requests()
    word = labels(place).word(place.number, LABEL, "ada")
    assert word == LabelWord(START + timedelta(minutes=10), START)
    assert place.hub.counts() == {"POST /graphql": 1}
    assert labels(place).word(place.number, LABEL.upper(), "Ada") == word
    assert place.hub.problems() == []


def test_push_to_any_branch_of_the_fork_counts(place: Place, fork: Repository) -> None:
    place.hub.label(place.number, "ada", LABEL)
    place.clock.sleep(timedelta(minutes=1))
    place.hub.push(place.number, "contributor", {"train.py": "print('other')\n"})
    assert labels(place).word(place.number, LABEL, "ada").pushed_at == START + timedelta(minutes=11)


@pytest.mark.usefixtures("fork")
def test_newest_of_one_persons_words_counts_and_no_other_persons_or_labels(place: Place) -> None:
    here = labels(place)
    place.hub.label(place.number, "ada", LABEL)
    here.take_off(place.number, LABEL)
    place.clock.sleep(timedelta(minutes=3))
    place.hub.label(place.number, "ada", LABEL)
    here.take_off(place.number, LABEL)
    place.clock.sleep(timedelta(minutes=3))
    place.hub.label(place.number, "ada", "bug")
    place.hub.label(place.number, "maintainer", LABEL)
    assert here.word(place.number, LABEL, "ada").set_at == START + timedelta(minutes=13)
    assert here.word(place.number, LABEL, "maintainer").set_at == START + timedelta(minutes=16)
    assert here.word(place.number, LABEL, "contributor").set_at is None
    assert here.word(place.number, "other", "ada").set_at is None


@pytest.mark.usefixtures("fork")
def test_app_of_that_name_is_not_that_person(place: Place) -> None:
    place.hub.add_user("helper[bot]", role="admin", kind="Bot")
    place.hub.label(place.number, "helper[bot]", LABEL)
    assert labels(place).word(place.number, LABEL, "helper").set_at is None
    assert labels(place).word(place.number, LABEL, "helper[bot]").set_at is None


def test_fork_that_is_gone_was_pushed_to_nobody_knows_when(place: Place, fork: Repository) -> None:
    place.hub.label(place.number, "ada", LABEL)
    place.hub.delete_fork(fork)
    assert labels(place).word(place.number, LABEL, "ada") == LabelWord(START + timedelta(minutes=10), None)


@pytest.mark.usefixtures("fork")
def test_token_that_may_not_ask_learns_nothing(place: Place) -> None:
    place.hub.label(place.number, "ada", LABEL)
    place.hub.world.refuses_graphql = True
    assert labels(place).word(place.number, LABEL, "ada") == LabelWord()


@pytest.mark.usefixtures("fork")
def test_outage_is_no_answer(place: Place) -> None:
    place.hub.label(place.number, "ada", LABEL)
    place.hub.inject("server_error", "POST /graphql", times=3)
    with pytest.raises(TransientError):
        labels(place).word(place.number, LABEL, "ada")


@pytest.mark.parametrize("name", [LABEL, "ready: GPU/smoke +1"])
def test_label_is_taken_off_and_can_be_set_again(place: Place, name: str) -> None:
    here = labels(place)
    place.hub.label(place.number, "ada", name)
    here.take_off(place.number, name)
    assert place.hub.issue(place.number).labels == []
    here.take_off(place.number, name)
    place.hub.label(place.number, "ada", name)
    assert len(place.hub.issue(place.number).labelings) == 2
    assert place.hub.problems() == []


def test_token_that_may_not_write_pull_requests_says_so(place: Place) -> None:
    place.hub.label(place.number, "ada", LABEL)
    rights = {**BOT_PERMISSIONS, "issues": "read", "pull_requests": "read"}
    with pytest.raises(OperatorError):
        labels(place, place.hub.add_token("github-actions[bot]", rights)).take_off(place.number, LABEL)
    assert place.hub.issue(place.number).labels == [LABEL]
