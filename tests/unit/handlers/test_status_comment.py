"""The comment that shows a launch: no faster than every five seconds, only what changed, and nothing after the last word."""

from __future__ import annotations

import itertools
import time
from datetime import timedelta

import pytest

from gpu_lol_action.handlers import status_comment
from gpu_lol_action.handlers.status_comment import EDIT_INTERVAL, StatusComment
from gpu_lol_action.handlers.up import handle_up
from tests.support.machine import GoodMachine
from tests.unit.handlers.conftest import Bench

SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: story, workload_type: training}
"""


@pytest.fixture
def shown(bench: Bench) -> StatusComment:
    posted = bench.forge.post_comment(12, "claimed")
    comment = StatusComment(bench.context)
    comment.opened(posted.comment_id, "claimed")
    return comment


def test_edits_come_no_faster_than_every_five_seconds(bench: Bench, shown: StatusComment) -> None:
    times = []
    for second in range(23):
        before = bench.forge.edits
        shown.show(lambda second=second: f"second {second}")
        if bench.forge.edits > before:
            times.append(second)
        bench.clock.sleep(timedelta(seconds=1))
    shown.close_with("over")

    assert times == [5, 10, 15, 20]
    assert bench.texts == ["over"]


def test_what_has_not_changed_is_not_written_again(bench: Bench, shown: StatusComment) -> None:
    for _ in range(5):
        bench.clock.sleep(timedelta(minutes=1))
        shown.show(lambda: "launching")

    assert bench.forge.edits == 1


def test_what_came_too_early_is_shown_when_the_interval_is_over(
    bench: Bench, shown: StatusComment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A phase that says nothing more for minutes must show all the same."""
    monkeypatch.setattr(status_comment, "EDIT_INTERVAL", timedelta(seconds=0.05))
    shown.show(lambda: "early")
    shown.show(lambda: "later")
    deadline = time.monotonic() + 5
    while bench.forge.edits == 0 and time.monotonic() < deadline:
        time.sleep(0.01)

    assert bench.texts == ["later"]
    assert bench.forge.edits == 1


def test_nothing_follows_the_last_word(bench: Bench, shown: StatusComment) -> None:
    shown.show(lambda: "waits for its turn")
    shown.close_with("ready")
    bench.clock.sleep(timedelta(minutes=1))
    shown.show(lambda: "late progress")

    assert bench.texts == ["ready"]


def test_progress_is_the_first_to_go_without_requests(bench: Bench, shown: StatusComment) -> None:
    bench.forge.is_short = True
    bench.clock.sleep(timedelta(minutes=1))
    shown.show(lambda: "launching")
    shown.close_with("ready")

    assert bench.forge.edits == 1
    assert bench.texts == ["ready"]


def test_a_whole_launch_edits_its_comment_rarely(bench: Bench) -> None:
    """Each edit of a launch, with its moment: five seconds between any two, but for the last word."""
    moments = []
    edit = bench.forge.edit_comment

    def noted(comment_id: int, body: str) -> None:
        moments.append(bench.clock.now())
        edit(comment_id, body)

    bench.forge.edit_comment = noted  # type: ignore[method-assign]  # watches what the port is asked
    bench.shell = GoodMachine(before=lambda _kind: bench.clock.sleep(timedelta(seconds=2)))
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
    assert handle_up(bench.context, bench.order()).reason_code == "launched"

    *progress, _last_word = moments
    assert len(progress) > 1
    assert all(later - earlier >= EDIT_INTERVAL for earlier, later in itertools.pairwise(progress))
