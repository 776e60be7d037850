from __future__ import annotations

import copy
from typing import Any

import pytest

from gpu_lol_action.domain.request import (
    CommentCreated,
    Ignore,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestLabeled,
    Scheduled,
)
from gpu_lol_action.intake.events import parse_event

REPOSITORY: dict[str, Any] = {"id": 42, "full_name": "acme/train", "default_branch": "main", "private": False}
USER: dict[str, Any] = {"login": "ada", "id": 7, "type": "User"}
PULL: dict[str, Any] = {
    "number": 12,
    "title": "Longer context",
    "state": "open",
    "draft": False,
    "merged": False,
    "user": USER,
    "head": {"sha": "a" * 40, "ref": "long", "repo": {"full_name": "acme/train"}},
    "base": {"sha": "b" * 40, "ref": "main", "repo": {"full_name": "acme/train"}},
}
COMMENT: dict[str, Any] = {
    "action": "created",
    "repository": REPOSITORY,
    "issue": {"number": 12, "pull_request": {"url": "x"}},
    "comment": {"id": 5, "body": "/gpu-lol up", "user": USER, "author_association": "MEMBER"},
}


def pull_event(action: str, **changes: object) -> dict[str, object]:
    return {"action": action, "repository": REPOSITORY, "pull_request": PULL | changes, "sender": USER}


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target"])
@pytest.mark.parametrize("action", ["opened", "reopened", "synchronize", "ready_for_review"])
def test_a_changed_pull_request_is_understood(name: str, action: str) -> None:
    event = parse_event(name, pull_event(action))
    assert isinstance(event, PullRequestChanged)
    assert event.pull_request.head_sha == "a" * 40
    assert not event.pull_request.is_fork("Acme/Train")


def test_a_closed_pull_request_names_who_closed_it() -> None:
    event = parse_event("pull_request_target", pull_event("closed", merged=True, state="closed"))
    assert isinstance(event, PullRequestClosed)
    assert event.actor.login == "ada"
    assert event.pull_request.is_merged


def labeled(sender: dict[str, Any] = USER, label: object = None) -> dict[str, object]:
    return {**pull_event("labeled"), "sender": sender, "label": {"name": "gpu-smoke"} if label is None else label}


def test_label_names_who_set_it_and_the_commit_of_its_moment() -> None:
    event = parse_event("pull_request_target", labeled())
    assert isinstance(event, PullRequestLabeled)
    assert (event.label, event.actor.login, event.actor_is_bot) == ("gpu-smoke", "ada", False)
    assert event.pull_request.head_sha == "a" * 40


@pytest.mark.parametrize(
    "sender",
    [
        {"login": "renovate[bot]", "id": 8, "type": "Bot"},
        {"login": "acme", "id": 9, "type": "Organization"},
        {"login": "ada", "id": 7},
    ],
)
def test_label_of_anything_but_a_person_is_a_bots(sender: dict[str, Any]) -> None:
    event = parse_event("pull_request_target", labeled(sender))
    assert isinstance(event, PullRequestLabeled)
    assert event.actor_is_bot


def test_label_by_pull_request_has_no_secret_and_means_nothing() -> None:
    ignored = parse_event("pull_request", labeled())
    assert isinstance(ignored, Ignore)
    assert ignored.reason_code == "action_not_handled"


@pytest.mark.parametrize("label", [{}, {"name": 7}, [], "gpu-smoke"])
def test_label_without_a_name_is_malformed(label: object) -> None:
    ignored = parse_event("pull_request_target", labeled(label=label))
    assert isinstance(ignored, Ignore)
    assert ignored.reason_code == "event_not_understood"


def test_a_deleted_fork_counts_as_a_fork() -> None:
    event = parse_event("pull_request", pull_event("opened", head={"sha": "a" * 40, "ref": "x", "repo": None}))
    assert isinstance(event, PullRequestChanged)
    assert event.pull_request.is_fork("acme/train")


def test_a_comment_on_a_pull_request_is_understood() -> None:
    event = parse_event("issue_comment", COMMENT)
    assert isinstance(event, CommentCreated)
    assert (event.body, event.author.login, event.author_association) == ("/gpu-lol up", "ada", "MEMBER")
    assert not event.author_is_bot


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("action",), "edited", "comment_not_new"),
        (("issue", "pull_request"), None, "not_a_pull_request"),
        (("comment", "id"), "5", "event_not_understood"),
        (("comment",), None, "event_not_understood"),
        (("repository", "id"), True, "event_not_understood"),
    ],
)
def test_other_comments_are_ignored_with_a_reason(path: tuple[str, ...], value: object, reason: str) -> None:
    payload = copy.deepcopy(COMMENT)
    target = payload
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    event = parse_event("issue_comment", payload)
    assert isinstance(event, Ignore)
    assert event.reason_code == reason


@pytest.mark.parametrize("user", [{"login": "x[bot]", "id": 1, "type": "User"}, {"login": "x", "id": 1, "type": "Bot"}])
def test_bots_are_recognized(user: dict[str, object]) -> None:
    payload = copy.deepcopy(COMMENT)
    payload["comment"]["user"] = user
    event = parse_event("issue_comment", payload)
    assert isinstance(event, CommentCreated)
    assert event.author_is_bot


def test_an_app_acting_for_a_user_counts_as_a_bot() -> None:
    payload = copy.deepcopy(COMMENT)
    payload["comment"]["performed_via_github_app"] = {"id": 1}
    event = parse_event("issue_comment", payload)
    assert isinstance(event, CommentCreated)
    assert event.author_is_bot


def test_a_schedule_and_a_manual_run_ask_for_a_sweep() -> None:
    scheduled = parse_event("schedule", {"schedule": "7 * * * *", "repository": REPOSITORY})
    assert isinstance(scheduled, Scheduled)
    assert not scheduled.is_manual
    manual = parse_event("workflow_dispatch", {"repository": REPOSITORY, "sender": USER, "inputs": {"dry-run": "true"}})
    assert isinstance(manual, Scheduled)
    assert manual.is_dry_run


@pytest.mark.parametrize("name", ["push", "", "pull_request_review"])
def test_other_events_are_ignored(name: str) -> None:
    event = parse_event(name, {})
    assert isinstance(event, Ignore)


def test_labeling_a_pull_request_is_ignored() -> None:
    event = parse_event("pull_request", pull_event("labeled"))
    assert isinstance(event, Ignore)
