"""Webhook JSON in, an event of ours out, or the reason why it is none of our business."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.domain.environment import Requester
from gpu_lol_action.domain.request import (
    CommentCreated,
    Event,
    Ignore,
    PullRequest,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestLabeled,
    Repository,
    Scheduled,
)

_PROPOSING_ACTIONS = ("opened", "reopened", "synchronize", "ready_for_review")
_MALFORMED = Ignore("event_not_understood", "the event lacks fields that GitHub always sends")


def parse_event(name: str, payload: Mapping[str, object]) -> Event | Ignore:
    """Return the event behind ``GITHUB_EVENT_NAME`` and its payload.

    A payload of another shape than GitHub's is ignored with a reason, never guessed at.
    """
    try:
        if name in ("pull_request", "pull_request_target"):
            return _pull_request_event(name, payload)
        if name == "issue_comment":
            return _comment_event(payload)
        if name in ("schedule", "workflow_dispatch"):
            return _scheduled_event(name, payload)
    except (KeyError, TypeError, ValueError):
        return _MALFORMED
    return Ignore("event_not_handled", f"gpu-lol does nothing on {name!r} events")


def _pull_request_event(name: str, payload: Mapping[str, object]) -> Event | Ignore:
    action = _text(payload["action"])
    repository = _repository(_mapping(payload["repository"]))
    pull_request = parse_pull_request(_mapping(payload["pull_request"]))
    if action == "closed":
        sender = _mapping(payload["sender"])
        return PullRequestClosed(repository, pull_request, _requester(sender))
    # By `pull_request` a fork's event has neither a secret nor a token that writes: nothing could come of it.
    if action == "labeled" and name == "pull_request_target":
        sender, label = _mapping(payload["sender"]), _text(_mapping(payload["label"])["name"])
        return PullRequestLabeled(repository, pull_request, label, _requester(sender), _is_bot(sender))
    if action in _PROPOSING_ACTIONS:
        return PullRequestChanged(repository, pull_request, action)
    return Ignore("action_not_handled", f"nothing to do when a pull request is {action!r}")


def _comment_event(payload: Mapping[str, object]) -> Event | Ignore:
    action = _text(payload["action"])
    if action != "created":
        return Ignore("comment_not_new", f"only new comments are read, this one was {action!r}")
    issue, comment = _mapping(payload["issue"]), _mapping(payload["comment"])
    if not issue.get("pull_request"):
        return Ignore("not_a_pull_request", "the comment stands on an issue")
    user = _mapping(comment["user"])
    return CommentCreated(
        repository=_repository(_mapping(payload["repository"])),
        pull_request_number=_number(issue["number"]),
        comment_id=_number(comment["id"]),
        body=_text(comment["body"]),
        author=_requester(user),
        author_is_bot=_is_bot(user) or bool(comment.get("performed_via_github_app")),
        author_association=str(comment.get("author_association", "NONE")),
        node_id=str(comment.get("node_id", "")),
    )


def _scheduled_event(name: str, payload: Mapping[str, object]) -> Event:
    sender = payload.get("sender")
    inputs = payload.get("inputs")
    is_dry_run = isinstance(inputs, Mapping) and str(inputs.get("dry-run", "")).lower() == "true"
    return Scheduled(
        repository=_repository(_mapping(payload["repository"])),
        actor=_requester(_mapping(sender)) if sender else Requester("schedule"),
        is_manual=name == "workflow_dispatch",
        is_dry_run=is_dry_run,
        cron=str(payload.get("schedule") or ""),
        is_smoke=isinstance(inputs, Mapping) and str(inputs.get("smoke", "")).lower() == "true",
    )


def parse_pull_request(raw: Mapping[str, object]) -> PullRequest:
    """Return the pull request of a payload or of an answer of GitHub's API.

    Raises KeyError, TypeError or ValueError where the shape is not GitHub's.
    """
    head, base, user = _mapping(raw["head"]), _mapping(raw["base"]), _mapping(raw["user"])
    head_repository = head.get("repo")
    return PullRequest(
        number=_number(raw["number"]),
        title=_text(raw["title"]),
        state=_text(raw["state"]),
        is_draft=bool(raw.get("draft")),
        is_merged=bool(raw.get("merged_at") or raw.get("merged")),
        author=_text(user["login"]),
        author_is_bot=_is_bot(user),
        head_sha=_text(head["sha"]),
        head_ref=_text(head["ref"]),
        head_repository=_text(_mapping(head_repository)["full_name"]) if head_repository else None,
        base_sha=_text(base["sha"]),
        base_ref=_text(base["ref"]),
        html_url=str(raw.get("html_url", "")),
    )


def _repository(raw: Mapping[str, object]) -> Repository:
    return Repository(
        full_name=_text(raw["full_name"]),
        repository_id=_number(raw["id"]),
        default_branch=str(raw.get("default_branch") or "main"),
        is_private=bool(raw.get("private")),
    )


def _requester(raw: Mapping[str, object]) -> Requester:
    return Requester(_text(raw["login"]), _number(raw["id"]))


def _is_bot(user: Mapping[str, object]) -> bool:
    """Whether an account is anything but a person: a bot, an organization, a kind that we do not know."""
    return user.get("type") != "User" or str(user.get("login", "")).endswith("[bot]")


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(type(value).__name__)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(type(value).__name__)
    return value
