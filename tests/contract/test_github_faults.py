"""A fixed sample of the fault matrix (benchmarks/github_faults.py plays all of it), and what each fault looks like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gpu_lol_action.adapters.github import Ask, LostAnswer
from gpu_lol_action.errors import GpuLolError, OperatorError, TransientError, UserError
from gpu_lol_action.rehearsal.github_faults import KINDS
from tests.contract.github_setup import Place, started_place
from tests.support.fault_stories import ROOT, STORIES, Trial, good_requests, run_trial, trials
from tests.support.fault_world import IMPATIENT, started_world

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_R = "/repos/{owner}/{repo}"
POST_COMMENT, EDIT_COMMENT = f"POST {_R}/issues/{{issue_number}}/comments", f"PATCH {_R}/issues/comments/{{comment_id}}"
LOOK, ROLE, PULL = "POST /graphql", f"GET {_R}/collaborators/{{username}}/permission", f"GET {_R}/pulls/{{pull_number}}"
COMMIT, NEW_REF, MOVE_REF = f"POST {_R}/git/commits", f"POST {_R}/git/refs", f"PATCH {_R}/git/refs/{{ref}}"
TARBALL, REF = f"GET {_R}/tarball/{{ref}}", f"GET {_R}/git/ref/{{ref}}"
SAMPLE = [
    Trial("proposal_new", POST_COMMENT, 0, "lost_502", 2),
    Trial("proposal_new", POST_COMMENT, 0, "permission", 1),
    Trial("proposal_new", LOOK, 0, "truncated", 2),
    Trial("proposal_new", "archive", 0, "truncated", 1),
    Trial("proposal_update", LOOK, 0, "stale_read", 1),
    Trial("proposal_update", EDIT_COMMENT, 0, "lost_reset", 2),
    Trial("proposal_update", TARBALL, 0, "primary_exhausted", 1),
    Trial("stranger", ROLE, 0, "server_error", 2),
    Trial("stranger", ROLE, 0, "permission", 1),
    Trial("denial", POST_COMMENT, 0, "lost_timeout", 1),
    Trial("denial", LOOK, 0, "primary_exhausted", 2),
    Trial("help", ROLE, 0, "secondary_bare", 2),
    Trial("up", NEW_REF, 0, "lost_reset", 1),
    Trial("up", NEW_REF, 0, "unprocessable", 2),
    Trial("up", MOVE_REF, 0, "lost_502", 2),
    Trial("up", MOVE_REF, 1, "permission", 2),
    Trial("up", COMMIT, 2, "not_found", 2),
    Trial("up_second_offer", PULL, 0, "stale_read", 1),
    Trial("up", LOOK, 2, "lost_502", 1),
    Trial("up", LOOK, 2, "lost_reset", 2),
    Trial("up", LOOK, 2, "unprocessable", 1),
    Trial("up_failing", MOVE_REF, 2, "conflict", 2),
    Trial("up_failing", COMMIT, 3, "primary_exhausted", 2),
    Trial("status", LOOK, 0, "permission", 1),
    Trial("down", LOOK, 1, "reset", 2),
    Trial("down", MOVE_REF, 0, "lost_502", 1),
    Trial("down", MOVE_REF, 1, "unprocessable", 2),
    Trial("down", REF, 0, "stale_read", 1),
    Trial("down", POST_COMMENT, 0, "too_many_requests", 2),
    Trial("closed", LOOK, 0, "permission", 2),
    Trial("closed", COMMIT, 0, "primary_exhausted", 2),
    Trial("sweep", LOOK, 1, "server_error", 2),
    Trial("sweep", MOVE_REF, 0, "permission", 2),
]


@pytest.mark.parametrize("trial", SAMPLE, ids=str)
def test_failed_request_loses_nothing_and_says_so(trial: Trial) -> None:
    assert run_trial(trial) == []


def test_every_request_of_every_story_meets_every_fault_that_it_can() -> None:
    requests = [LOOK, POST_COMMENT, PULL, POST_COMMENT]
    matrix = list(trials("help", requests))
    lost = {name for name in KINDS if name.startswith("lost_")}

    # A read has no answer that can be lost after a change; a write cannot be stale.
    assert len([each for each in matrix if each.operation == PULL]) == 2 * (len(KINDS) - len(lost))
    assert len([each for each in matrix if each.operation == POST_COMMENT]) == 2 * 2 * (len(KINDS) - 1)
    assert {each.nth for each in matrix if each.operation == POST_COMMENT} == {0, 1}
    assert {each.times for each in matrix} == {1, 2}
    assert set(STORIES) >= {each.story for each in SAMPLE}


@pytest.mark.parametrize("name", ["proposal_update", "help", "down"])
def test_stories_are_as_good_with_one_entry_a_page(name: str) -> None:
    """Conversations of many pages: the page size is GitHub's to choose, and a marker may stand on any of them."""
    story = STORIES[name]
    with started_world() as world:
        for count in range(3):
            world.hub.comment(world.number, "ada", f"talk {count}")
        story.given(world)
        world.hub.world.page_limit = 1
        world.ends.clear()
        end = world.act(story.event(world))

        assert [outcome.decision for outcome, _ in end.outcomes] == ["done"]
        assert len({comment.first_body for comment in world.comments}) == len(world.comments)
        assert world.hub.problems() == []


FIGURES = {
    "proposal_update": "a push: the proposal is refreshed, with its check run",
    "up": "`/gpu-lol up`, both jobs, without edits of progress",
    "status": "`/gpu-lol status`",
    "help": "`/gpu-lol help`",
    "down": "`/gpu-lol down`, both jobs, with the certificate",
}


@pytest.mark.parametrize("name", list(FIGURES))
def test_stories_ask_as_few_questions_as_documented(name: str) -> None:
    page = (ROOT / "docs" / "github.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| (.+) \| (\d+) \|$", page, re.MULTILINE))
    found = [each for each in good_requests(name, is_swept=True) if each != "archive"]
    counted = [each for each in found if not (name == "up" and each == EDIT_COMMENT)]

    assert documented[FIGURES[name]] == str(len(counted)), counted


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


WRITE = Ask("POST", "git/commits", body={"message": "m", "tree": "4b825dc642cb6eb9a060e54bf8d69288fbee4904"})
EXPECTED: dict[str, type[GpuLolError] | None] = {
    **dict.fromkeys(("server_error", "lost_502", "reset", "lost_reset", "truncated"), LostAnswer),
    **dict.fromkeys(("secondary_retry_after", "secondary_bare", "too_many_requests", "stale_read"), None),
    **dict.fromkeys(("permission", "conflict", "unprocessable"), OperatorError),
    "primary_exhausted": TransientError,
    "not_found": UserError,
}


@pytest.mark.parametrize("kind", list(EXPECTED))
def test_fault_of_a_write_is_told_apart(place: Place, kind: str) -> None:
    """What may have happened is a lost answer; what was refused before anything was done is repeated, or explained."""
    client = place.forge().client
    place.hub.inject(kind, "POST git/commits")
    expected = EXPECTED[kind]
    if expected is None:
        assert client.ask(WRITE).status < 300
        assert place.clock.slept in ([30.0], [60.0], [])
        return
    with pytest.raises(expected) as caught:
        client.ask(WRITE)
    assert caught.type is expected


@pytest.mark.parametrize("kind", ["timeout", "lost_timeout"])
def test_silence_ends_at_the_time_limit(place: Place, kind: str) -> None:
    with started_world() as world:
        world.timeout = IMPATIENT
        until_end = place.until_end
        context = until_end.enter_context(world.context("1"))
        world.hub.inject(kind, "POST git/commits")
        with pytest.raises(LostAnswer):
            context.forge.client.ask(WRITE)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("primary_exhausted", "github_rate_limited"),
        ("permission", "github_permission_missing"),
        ("not_found", "github_refused"),
    ],
)
def test_refusal_of_graphql_comes_with_status_200(place: Place, kind: str, error: str) -> None:
    place.hub.inject(kind, "graphql")

    with pytest.raises(GpuLolError, match=error):
        place.forge().client.graphql("query { viewer { login } }")


def test_stale_read_is_the_world_before_the_last_change(place: Place) -> None:
    forge = place.forge()
    first = forge.post_comment(place.number, "<!-- m --> one")
    place.hub.inject("stale_read", "GET issues/{issue_number}/comments")
    forge.post_comment(place.number, "<!-- m --> two")
    stale = forge.find_comments(place.number, "<!-- m -->")

    assert [each.comment_id for each in stale] == [first.comment_id]
    assert len(forge.find_comments(place.number, "<!-- m -->")) == 2


def test_comment_that_showed_late_does_not_stand_twice(place: Place) -> None:
    """Its answer was lost, and two looks saw an old copy of the list: it is posted again, and the extra one deleted."""
    place.hub.inject("lost_502", "POST comments")
    place.hub.inject("stale_read", "GET issues/{issue_number}/comments", times=2)
    posted = place.forge().post_comment(place.number, "<!-- m --> once")

    assert [each.comment_id for each in place.hub.comments(place.number)] == [posted.comment_id]
    assert place.hub.problems() == []
