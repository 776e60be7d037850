"""The one issue about smoke tests on the stand-in: ours alone, opened once though answers are lost, refused where it may not be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.adapters.github_comments import Hands
from gpu_lol_action.adapters.github_issues import GitHubIssues
from gpu_lol_action.domain.smoke_issue import IssueDraft
from gpu_lol_action.errors import GpuLolError, OperatorError, UserError
from gpu_lol_action.rehearsal.github_setting import BOT, BOT_PERMISSIONS
from tests.contract.github_setup import Place, started_place

PREFIX = "<!-- gpu-lol v1 smoke_issue branch=main "
BODY = f"{PREFIX}-->\n### It fails\n"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


def issues(place: Place, token: str | None = None) -> GitHubIssues:
    forge = place.forge(token)
    return GitHubIssues(forge.client, Hands(place.clock.now, place.clock.sleep, place.notes.append), forge.me)


def ours(place: Place) -> list[tuple[int, str]]:
    marked = [issue for issue in place.hub.repository.issues.values() if (issue.body or "").startswith(PREFIX)]
    return [(issue.number, issue.state) for issue in marked if issue.author.login == BOT]


def test_issue_from_its_opening_to_its_end_and_back(place: Place) -> None:
    here = issues(place)
    assert here.find(PREFIX) is None
    opened = here.open("It fails", BODY)
    assert opened.is_open
    here.edit(opened.number, IssueDraft("It still fails", BODY + "more"))
    here.comment(opened.number, "Another test fails.")
    here.edit(opened.number, IssueDraft("It passes", BODY, is_open=False))
    found = here.find(PREFIX)
    assert found is not None
    assert (found.number, found.is_open, found.is_unwanted, found.title) == (opened.number, False, False, "It passes")
    assert found.closed_at is not None
    here.edit(opened.number, IssueDraft("It fails again", BODY))
    read = here.read(opened.number, PREFIX)
    assert read is not None
    assert (read.is_open, read.closed_at) == (True, None)
    assert [comment.body for comment in place.hub.comments(opened.number, BOT)] == ["Another test fails."]
    assert place.hub.problems() == []


@pytest.mark.parametrize("kind", ["lost_502", "lost_reset", "server_error", "reset"])
def test_opened_once_though_the_answer_is_lost(place: Place, kind: str) -> None:
    place.hub.inject(kind, "POST issues")
    issues(place).open("It fails", BODY)
    assert len(ours(place)) == 1


def test_of_two_that_stand_the_later_is_closed(place: Place) -> None:
    """Its answer was lost, and two looks saw an old copy of the list: it is opened again, and the later one closed."""
    place.hub.inject("lost_502", "POST issues")
    place.hub.inject("stale_read", "GET issues", times=2)
    opened = issues(place).open("It fails", BODY)
    standing = ours(place)
    assert [state for _, state in standing].count("open") == 1
    assert (opened.number, "open") in standing


def test_somebody_elses_issue_with_our_marker_is_not_ours(place: Place) -> None:
    ada = place.http(place.hub.add_token("ada", {"issues": "write"}))
    number = ada.post("issues", json={"title": "Mine", "body": BODY}).json()["number"]
    here = issues(place)
    assert here.find(PREFIX) is None
    assert here.read(number, PREFIX) is None
    assert here.read(place.number, PREFIX) is None, "a pull request is no issue of ours"
    assert here.read(4711, PREFIX) is None


def test_closed_as_not_planned_is_somebodys_word(place: Place) -> None:
    here = issues(place)
    number = here.open("It fails", BODY).number
    ada = place.http(place.hub.add_token("ada", {"issues": "write"}))
    ada.patch(f"issues/{number}", json={"state": "closed", "state_reason": "not_planned"})
    found = here.read(number, PREFIX)
    assert found is not None
    assert found.is_unwanted


def test_issues_that_are_switched_off_are_an_error_with_that_word(place: Place) -> None:
    place.hub.repository.has_issues = False
    with pytest.raises(UserError, match="switched off"):
        issues(place).open("It fails", BODY)
    with pytest.raises(GpuLolError):
        issues(place).find(PREFIX)


def test_token_that_may_not_write_issues_is_told(place: Place) -> None:
    token = place.hub.add_token(BOT, {**BOT_PERMISSIONS, "issues": "read"})
    with pytest.raises(OperatorError) as refused:
        issues(place, token).open("It fails", BODY)
    assert refused.value.reason_code == "github_permission_missing"
