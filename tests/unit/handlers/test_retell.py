"""What a run that died had still to say is said by the next sweep, once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gpu_lol_action.domain.environment import State, Tombstone
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers.down import handle_down
from gpu_lol_action.handlers.retell import HAND_OVER_TIME
from gpu_lol_action.handlers.sweep import handle_sweep
from gpu_lol_action.handlers.teardown import end_environment
from gpu_lol_action.render import comments
from tests.support.hands import START
from tests.unit.handlers.conftest import POLICY, Bench


def in_progress(bench: Bench) -> int:
    """A status comment as it was when its run died."""
    bench.running()
    posted = bench.forge.post_comment(12, comments.ending(record=replace(bench.record, state=State.ENDING), now=START))
    entry = bench.ledger.read(bench.record.name)
    bench.ledger.update(entry, replace(bench.record, status_comment_id=posted.comment_id))  # type: ignore[arg-type]  # it is there
    return posted.comment_id


def die_before_telling(bench: Bench) -> None:
    entry = bench.ledger.read(bench.record.name)
    end_environment(bench.context, entry, Tombstone("ada", "down", bench.clock.now()), POLICY)  # type: ignore[arg-type]  # it is there


def test_a_certificate_that_was_never_posted_is_posted_once(bench: Bench) -> None:
    comment = in_progress(bench)
    die_before_telling(bench)
    for _ in range(3):
        handle_sweep(bench.context, 5, POLICY)
    certificates = [text for text in bench.texts if "is gone:" in text]
    assert len(certificates) == 1
    assert "bill (estimate)" in certificates[0]
    assert bench.texts[comment - 1].split("\n")[1].startswith("### ⚪"), "the comment says no more that it is ending"


def test_what_was_said_is_not_said_again(bench: Bench) -> None:
    in_progress(bench)
    handle_down(bench.context, bench.order("/gpu-lol down"))
    said = list(bench.texts)
    handle_sweep(bench.context, 5, POLICY)
    assert bench.texts == said


def test_only_the_comment_that_is_stuck_is_mended(bench: Bench) -> None:
    comment = in_progress(bench)
    stuck = bench.texts[comment - 1]
    handle_down(bench.context, bench.order("/gpu-lol down"))
    bench.forge.edit_comment(comment, stuck)
    posted = len(bench.texts)
    handle_sweep(bench.context, 5, POLICY)
    assert len(bench.texts) == posted
    assert "is gone" in bench.texts[comment - 1]


def test_ssh_details_that_were_never_posted_are_posted_once(bench: Bench) -> None:
    bench.running()
    handle_sweep(bench.context, 5, POLICY)
    assert not bench.texts, "its run may be about to say it"
    bench.clock.at = START + HAND_OVER_TIME
    for _ in range(2):
        handle_sweep(bench.context, 5, POLICY)
    assert ["Ready for @ada" in text for text in bench.texts] == [True]
    assert "203.0.113.7" in bench.texts[0]


def test_a_machine_of_a_terminal_has_no_comments(bench: Bench) -> None:
    bench.running(pull_request=None)
    bench.clock.at = START + HAND_OVER_TIME
    handle_sweep(bench.context, 5, POLICY)
    assert not bench.texts


def test_an_old_end_is_left_as_it_is(bench: Bench) -> None:
    in_progress(bench)
    die_before_telling(bench)
    bench.ledger.note_sweep(bench.clock.now() + timedelta(hours=5))
    bench.clock.at += timedelta(hours=5)
    said = list(bench.texts)
    handle_sweep(bench.context, 5, POLICY)
    assert bench.texts == said


def test_github_that_does_not_answer_ends_no_sweep(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    in_progress(bench)
    die_before_telling(bench)

    def refuse(number: int, prefix: str) -> list[object]:
        raise TransientError("github_unreachable", "it did not answer")

    monkeypatch.setattr(bench.forge, "find_comments", refuse)
    assert handle_sweep(bench.context, 5, POLICY).reason_code == "swept"
