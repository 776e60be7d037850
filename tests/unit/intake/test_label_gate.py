"""What a label stands for, and on which commits it may."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from gpu_lol_action.domain.environment import Requester
from gpu_lol_action.domain.label import LabelWord
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Allow, Command, Deny, Ignore, PullRequestLabeled, Repository
from gpu_lol_action.intake.label_gate import SEEN_AFTER, check_label, needless, read_label
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import NOTHING_LAUNCHED
from gpu_lol_action.render.views_answers import message_view
from tests.support.hands import HEAD, pull_request

AT = datetime(2026, 11, 20, 14, 0, tzinfo=timezone.utc)
POLICY = Policy(smoke_label="gpu-smoke")
FORK = pull_request(head_repository="contributor/train")
EVENT = PullRequestLabeled(Repository("acme/train", 5, "main"), FORK, "gpu-smoke", Requester("ada", 7), False)


@pytest.mark.parametrize(
    ("event", "policy", "code"),
    [
        (EVENT, Policy(), "label_not_ours"),
        (EVENT, Policy(problem="line 3 is wrong"), "label_not_ours"),
        (replace(EVENT, label="bug"), POLICY, "label_not_ours"),
        (replace(EVENT, label=""), Policy(), "label_not_ours"),
        (replace(EVENT, actor_is_bot=True), POLICY, "author_is_bot"),
        (replace(EVENT, pull_request=pull_request()), POLICY, "label_needless"),
    ],
)
def test_label_that_stands_for_nothing(event: PullRequestLabeled, policy: Policy, code: str) -> None:
    found = read_label(event, policy)
    assert isinstance(found, Ignore)
    assert found.reason_code == code


@pytest.mark.parametrize("label", ["gpu-smoke", "GPU-Smoke"])
def test_label_stands_for_the_command_with_its_moments_commit_in_full(label: str) -> None:
    assert needless(EVENT) is None
    command = read_label(replace(EVENT, label=label), POLICY)
    assert isinstance(command, Command)
    assert (command.name, command.sha, command.is_dry_run) == ("smoke", HEAD, False)


def test_deleted_fork_is_a_fork() -> None:
    assert isinstance(read_label(replace(EVENT, pull_request=replace(FORK, head_repository=None)), POLICY), Command)


@pytest.mark.parametrize("ago", [SEEN_AFTER, SEEN_AFTER + timedelta(seconds=1), timedelta(days=400)])
def test_fork_that_was_left_alone_long_enough_has_been_seen(ago: timedelta) -> None:
    assert check_label(LabelWord(AT, AT - ago), HEAD) == Allow()


@pytest.mark.parametrize(
    ("word", "code", "said"),
    [
        (LabelWord(AT, AT - SEEN_AFTER + timedelta(seconds=1)), "push_unseen", "shortly before"),
        (LabelWord(AT, AT), "push_unseen", "shortly before"),
        (LabelWord(AT, AT + timedelta(seconds=1)), "push_unseen", "after you set"),
        (LabelWord(AT, AT + timedelta(days=1)), "push_unseen", "after you set"),
        (LabelWord(AT, None), "label_unproven", "last pushed to"),
        (LabelWord(None, AT - timedelta(days=1)), "label_unproven", "when you set"),
        (LabelWord(), "label_unproven", "when you set"),
    ],
)
def test_what_may_not_have_been_seen_or_is_not_known_is_refused_with_the_command_to_paste(
    word: LabelWord, code: str, said: str
) -> None:
    denied = check_label(word, HEAD)
    assert isinstance(denied, Deny)
    assert denied.reason_code == code
    assert said in denied.what
    assert not denied.is_quiet
    view = message_view(marker=Safe(""), what=denied.what, billing=NOTHING_LAUNCHED, fix=denied.fix)
    assert view.fix_command == f"/gpu-lol smoke {HEAD}"
    assert f"Look at `{HEAD[:7]}`" in view.fix
