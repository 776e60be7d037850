"""Requests are counted by kind, the last of the hour are kept for teardown, and limits are waited for no longer than is sane."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from gpu_lol_action.adapters.github_answers import Reply, rate_limit_wait
from gpu_lol_action.adapters.github_budget import RESERVE, requests_line
from gpu_lol_action.errors import TransientError
from gpu_lol_action.rehearsal.stage import Stage
from tests.contract.github_setup import Place, started_place
from tests.support.fault_stories import STORIES
from tests.support.fault_world import started_world

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


# --- the last 200 --------------------------------------------------------------------------------------------
def test_last_requests_of_the_hour_are_kept(place: Place) -> None:
    place.hub.use_up_requests(place.hub.bot_token, left=RESERVE + 1)
    forge = place.forge()
    forge.repository()

    assert forge.is_short_of_requests()
    with pytest.raises(TransientError, match="github_requests_reserved") as caught:
        forge.role("ada")
    assert "kept for ending machines" in caught.value.explanation.what
    assert place.hub.counts() == {"GET /repos/{owner}/{repo}": 1}


def test_teardown_spends_what_is_kept(place: Place) -> None:
    place.hub.use_up_requests(place.hub.bot_token, left=RESERVE + 1)
    forge = place.forge()
    forge.repository()
    forge.open_reserve()

    assert forge.role("ada") == "write"


def test_graphqls_budget_is_not_taken_for_rests(place: Place) -> None:
    forge = place.forge()
    forge.repository()
    left = forge.client.budget.left
    forge.me()

    assert forge.client.budget.left == left
    assert left is not None


@pytest.mark.parametrize(
    ("story", "is_ended"), [("up", False), ("status", False), ("down", True), ("closed", True), ("sweep", True)]
)
def test_only_runs_that_end_machines_go_on_when_few_requests_are_left(story: str, is_ended: bool) -> None:
    with started_world() as world:
        STORIES[story].given(world)
        event = STORIES[story].event(world)
        world.hub.use_up_requests(world.hub.bot_token, left=RESERVE)
        world.ends.clear()
        world.act(event)
        if is_ended:
            assert not world.cloud.running
            assert {"torn_down", "swept"} & set(world.reason_codes)
        else:
            assert world.reason_codes == ["github_requests_reserved"]
            assert "kept for ending machines" in world.texts[-1]
            assert not [line for line in world.cloud.log if line.startswith("launch") and story == "up"]


def test_launch_that_began_is_brought_to_its_end_without_showing_progress() -> None:
    """From the claim on a machine's record depends on the run; what only shows how it goes on is left out."""
    with started_world() as world:
        event = STORIES["up"].event(world)
        world.cloud.answers = [lambda: world.hub.use_up_requests(world.hub.bot_token, left=RESERVE - 50)]
        world.act(event)

        assert world.reason_codes[-1] == "launched"
        assert len(world.cloud.running) == 1
        assert any("Ready for @ada" in comment.body for comment in world.comments)


# --- limits --------------------------------------------------------------------------------------------------
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait."}
PRIMARY = {"message": "API rate limit exceeded for installation ID 1."}
ABUSE = {"message": "You have triggered an abuse detection mechanism."}
REFUSED = {"message": "Resource not accessible by integration"}
GONE = {"x-ratelimit-remaining": "0"}


@pytest.mark.parametrize(
    ("status", "body", "headers", "wait"),
    [
        (403, SECONDARY, {"retry-after": "7"}, 7),
        (429, SECONDARY, {"retry-after": "7"}, 7),
        (403, SECONDARY, {}, 60),
        (429, {}, {}, 60),
        (403, ABUSE, {}, 60),
        (403, PRIMARY, GONE, 3600),
        (403, PRIMARY, {**GONE, "x-ratelimit-reset": "1795190430", "date": "Fri, 20 Nov 2026 16:00:00 GMT"}, 31),
        (429, PRIMARY, {**GONE, "x-ratelimit-reset": "soon", "date": "today"}, 3600),
        # The last request of the hour may be refused for another reason.
        (403, REFUSED, GONE, None),
        (404, SECONDARY, {"retry-after": "7"}, None),
        (403, REFUSED, {}, None),
    ],
)
def test_how_long_a_limit_wants_us_to_wait(
    status: int, body: object, headers: dict[str, str], wait: int | None
) -> None:
    found = rate_limit_wait(Reply(status, body, headers))

    assert found == (None if wait is None else timedelta(seconds=wait))


def test_primary_limit_that_ends_within_a_minute_is_waited_out(place: Place) -> None:
    reset = str(int((place.clock.now() + timedelta(seconds=40)).timestamp()))
    headers = {
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": reset,
        "Date": f"{place.clock.now():%a, %d %b %Y %H:%M:%S} GMT",
    }
    place.hub.fail_next("POST comments", 403, body=PRIMARY, headers=headers)
    place.forge().post_comment(place.number, "ready")

    assert len(place.hub.comments(place.number)) == 1
    assert len(place.clock.slept) == 1


@pytest.mark.parametrize("status", [403, 429])
def test_archive_waits_for_a_secondary_limit_too(place: Place, status: int) -> None:
    place.hub.fail_next("GET tarball/{ref}", status, body=SECONDARY, headers={"Retry-After": "9"})
    with place.forge().tree(place.head):
        pass

    assert place.clock.slept == [9]


# --- what is told --------------------------------------------------------------------------------------------
def test_requests_are_told_by_kind() -> None:
    counts = {
        "POST issues/comments/{comment_id}/reactions": 1,
        "GET collaborators/{login}/permission": 1,
        "POST graphql": 2,
        "POST git/commits": 4,
        "GET tarball/{ref}": 1,
        "PATCH issues/comments/{comment_id}": 3,
        "POST deployments": 1,
        "GET anything/else": 1,
    }

    assert requests_line(counts, 812) == (
        "GitHub requests: 14 (records and code 5, comments 3, looks 2, reactions 1, people 1, checks and deployments 1, "
        "other 1); 812 left this hour"
    )
    assert requests_line({}, None) == "GitHub requests: 0"


def test_log_and_job_summary_say_what_a_run_asked() -> None:
    with Stage() as stage:
        stage.hub.commit({"train.py": "import torch\n"})
        number = int(stage.hub.open_pull_request("ada", {"a.md": "x\n"}).number or 0)
        stage.hub.forget_requests()
        event = stage.hub.comment(number, stage.hub.maintainer, "/gpu-lol help")
        run = stage.run_step(
            event, stage.hub.start_run("issue_comment", stage.hub.maintainer), {"GPU_LOL_PHASE": "decide"}
        )

        asked = sum(stage.hub.counts().values())
        assert f"GitHub requests: {asked} (" in run.log
        assert f"GitHub requests: {asked} (" in run.summary
        assert "left this hour" in run.summary
        assert sum(json.loads(run.outputs["result"])["github_requests"].values()) == asked
