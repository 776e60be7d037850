"""Webhook payloads as GitHub hands them to a workflow (`GITHUB_EVENT_PATH`), built from the stand-in's state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_lol_action.rehearsal import github_payloads as payloads
from gpu_lol_action.rehearsal.github_payloads import Json
from gpu_lol_action.rehearsal.github_payloads_pulls import full_pull
from gpu_lol_action.rehearsal.github_state import Account, Comment, Issue, Repository, World


@dataclass(frozen=True, slots=True)
class Webhook:
    """`name` is what `GITHUB_EVENT_NAME` holds; a pull request's may also start `pull_request_target`."""

    name: str
    payload: Json
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """Where an event happens and who caused it."""

    world: World
    home: Repository
    sender: Account


def _frame(scene: Scene) -> Json:
    frame: Json = {
        "repository": webhook_repository(scene.world, scene.home),
        "sender": payloads.user(scene.world, scene.sender),
    }
    if scene.home.owner.kind == "Organization":
        login = scene.home.owner.login
        url = f"{scene.world.api_url}/orgs/{login}"
        frame["organization"] = {
            "login": login,
            "id": scene.home.owner.account_id,
            "node_id": payloads.node_id("O", scene.home.owner.account_id),
            "url": url,
            "repos_url": f"{url}/repos",
            "events_url": f"{url}/events",
            "hooks_url": f"{url}/hooks",
            "issues_url": f"{url}/issues",
            "members_url": f"{url}/members{{/member}}",
            "public_members_url": f"{url}/public_members{{/member}}",
            "avatar_url": payloads.user(scene.world, scene.home.owner)["avatar_url"],
            "description": "",
        }
    return frame


def webhook_repository(world: World, home: Repository) -> Json:
    """A webhook's repository: the API's shape, with the custom properties that only webhooks carry."""
    return {**payloads.repository(world, home), "custom_properties": {}}


def issue_comment(scene: Scene, comment: Comment, action: str = "created") -> Webhook:
    """`issue_comment`: GitHub's form for comments on pull requests too (`issue.pull_request` tells)."""
    issue = scene.home.issues[comment.number]
    payload: Json = {
        "action": action,
        "issue": payloads.issue(scene.world, scene.home, issue),
        "comment": payloads.comment(scene.world, scene.home, comment),
        **_frame(scene),
    }
    return Webhook("issue_comment", payload, issue.number)


def comment_edited(scene: Scene, comment: Comment, before: str) -> Webhook:
    """`issue_comment` edited, with the text before."""
    webhook = issue_comment(scene, comment, "edited")
    return Webhook(webhook.name, {**webhook.payload, "changes": {"body": {"from": before}}}, webhook.number)


def pull_request(scene: Scene, issue: Issue, action: str, extra: Mapping[str, str] | None = None) -> Webhook:
    """`pull_request` with any action; `extra` is `before` and `after` of `synchronize`."""
    if issue.pull is None:
        raise LookupError(f"#{issue.number} is no pull request")
    shape = full_pull(scene.world, scene.home, issue, issue.pull)
    for end in ("head", "base"):
        if shape[end]["repo"] is not None:
            shape[end]["repo"]["custom_properties"] = {}
    payload: Json = {
        "action": action,
        "number": issue.number,
        "pull_request": shape,
        **(extra or {}),
        **_frame(scene),
    }
    return Webhook("pull_request", payload, issue.number)


def labeled(scene: Scene, issue: Issue, name: str) -> Webhook:
    """`pull_request` labeled, with the label that was set."""
    webhook = pull_request(scene, issue, "labeled")
    shape = payloads.label(scene.world, scene.home, name)
    return Webhook(webhook.name, {**webhook.payload, "label": shape}, webhook.number)


def schedule(scene: Scene, cron: str, workflow: str) -> Webhook:
    """`schedule` is no webhook: the runner gets only this."""
    frame = {key: value for key, value in _frame(scene).items() if key != "sender"}
    return Webhook("schedule", {"schedule": cron, "workflow": f".github/workflows/{workflow}", **frame})


def workflow_dispatch(scene: Scene, inputs: Mapping[str, str], workflow: str) -> Webhook:
    """`workflow_dispatch`, with the inputs as typed."""
    payload: Json = {
        "inputs": dict(inputs) or None,
        "ref": f"refs/heads/{scene.home.default_branch}",
        "workflow": f".github/workflows/{workflow}",
        **_frame(scene),
    }
    return Webhook("workflow_dispatch", payload)
