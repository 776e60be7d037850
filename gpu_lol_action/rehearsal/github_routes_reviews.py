"""Review comments of the stand-in: at lines of the diff, and nowhere else."""

from __future__ import annotations

import re

from gpu_lol_action.rehearsal.github_answers import Answer, Call, Route, not_found, paged, refuse
from gpu_lol_action.rehearsal.github_payloads import Json, node_id, repository_url, stamp, user
from gpu_lol_action.rehearsal.github_state import Pull

_R = "/repos/{owner}/{repo}"
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")


def _pull(call: Call) -> Pull:
    issue = call.repository.issues.get(call.number("pull_number"))
    if issue is None or issue.pull is None:
        raise not_found()
    return issue.pull


def _hunks(call: Call, pull: Pull, path: str) -> list[range]:
    """The lines of the head's side that the diff of a file shows."""
    git = call.repository.git
    fork_point = git.merge_base(pull.base_sha, pull.head_sha)
    changes = git.changes(fork_point, pull.head_sha) if fork_point else []
    patch = next((change.patch for change in changes if change.path == path), None) or ""
    starts = [(int(found["start"]), int(found["count"] or 1)) for found in _HUNK.finditer(patch)]
    return [range(start, start + count) for start, count in starts]


def _create(call: Call) -> Answer:
    pull, body = _pull(call), call.body
    if body["commit_id"] != pull.head_sha:
        raise refuse(422, "Validation Failed", [{"resource": "PullRequestReviewComment", "field": "commit_id"}])
    first, last = body.get("start_line", body["line"]), body["line"]
    if not any(first in hunk and last in hunk and first <= last for hunk in _hunks(call, pull, body["path"])):
        # GitHub's words where a line is not in the diff, or two lines are in different hunks of it.
        problem = {"resource": "PullRequestReviewComment", "code": "custom", "field": "pull_request_review_thread.line"}
        raise refuse(422, "Validation Failed", [{**problem, "message": "must be part of the diff"}])
    comment_id = call.world.next_id()
    url = f"{repository_url(call.world, call.repository)}/pulls/comments/{comment_id}"
    number = call.number("pull_number")
    web = f"{call.world.web_url}/{call.repository.full_name}/pull/{number}"
    shape: Json = {
        "url": url,
        "pull_request_review_id": call.world.next_id(),
        "id": comment_id,
        "node_id": node_id("PRRC", comment_id),
        "diff_hunk": "@@",
        "path": body["path"],
        "commit_id": body["commit_id"],
        "original_commit_id": body["commit_id"],
        "user": user(call.world, call.actor),
        "body": body["body"],
        "created_at": stamp(call.world.now()),
        "updated_at": stamp(call.world.now()),
        "html_url": f"{web}#discussion_r{comment_id}",
        "pull_request_url": f"{repository_url(call.world, call.repository)}/pulls/{number}",
        "author_association": "NONE",
        "_links": {name: {"href": url} for name in ("self", "html", "pull_request")},
        "start_line": body.get("start_line"),
        "original_start_line": body.get("start_line"),
        "start_side": body.get("start_side"),
        "line": last,
        "original_line": last,
        "side": body.get("side", "RIGHT"),
    }
    call.repository.record("review_comments")[comment_id] = {**shape, "number": number}
    return Answer(201, shape)


def _shown(call: Call, kept: Json) -> Json:
    """What lists hold: a comment whose commit is no longer the head is outdated and has no line."""
    shape = {key: value for key, value in kept.items() if key != "number"}
    issue = call.repository.issues[kept["number"]]
    if issue.pull is not None and issue.pull.head_sha != kept["commit_id"]:
        # GitHub sends null there, which its own description does not allow; nobody here reads it.
        shape.pop("line")
    return shape


def _list(call: Call) -> Answer:
    _pull(call)
    kept = sorted(call.repository.record("review_comments").items())
    return paged(call, [_shown(call, each) for _, each in kept if each["number"] == call.number("pull_number")])


def _update(call: Call) -> Answer:
    kept = call.repository.record("review_comments").get(call.number("comment_id"))
    if kept is None:
        raise not_found()
    kept["body"], kept["updated_at"] = call.body["body"], stamp(call.world.now())
    return Answer(200, _shown(call, kept))


REVIEW_ROUTES = {
    f"GET {_R}/pulls/{{pull_number}}/comments": Route(_list, ("pull_requests",)),
    f"POST {_R}/pulls/{{pull_number}}/comments": Route(_create, ("pull_requests",)),
    f"PATCH {_R}/pulls/comments/{{comment_id}}": Route(_update, ("pull_requests",)),
}
