"""Pull requests, the repository, people and limits of the stand-in."""

from __future__ import annotations

from gpu_lol_action.rehearsal import github_changes as changes
from gpu_lol_action.rehearsal import github_payloads as payloads
from gpu_lol_action.rehearsal.github_answers import Answer, Call, Route, not_found, paged, refuse
from gpu_lol_action.rehearsal.github_payloads_git import commit, file_change
from gpu_lol_action.rehearsal.github_payloads_pulls import full_pull
from gpu_lol_action.rehearsal.github_payloads_pulls import pull as pull_shape
from gpu_lol_action.rehearsal.github_state import LEGACY_PERMISSIONS, Account, Issue, Pull

_R = "/repos/{owner}/{repo}"
# GitHub lists at most this many files and commits of one pull request.
_MAX_FILES, _MAX_COMMITS = 3000, 250


def _pull(call: Call) -> tuple[Issue, Pull]:
    issue = call.repository.issues.get(call.number("pull_number"))
    if issue is None or issue.pull is None:
        raise not_found()
    return issue, issue.pull


def _list_pulls(call: Call) -> Answer:
    state, base, head = call.query.get("state", "open"), call.query.get("base"), call.query.get("head")
    found = [
        pull_shape(call.world, call.repository, issue, pull)
        for issue, pull in call.world.pulls(call.repository)
        if state in ("all", issue.state) and base in (None, pull.base_ref) and head in (None, pull.head_label)
    ]
    return paged(call, found)


def _create_pull(call: Call) -> Answer:
    body = call.body
    for issue, pull in call.world.pulls(call.repository):
        if issue.state == "open" and body["head"] in (pull.head_label, pull.head_ref) and pull.base_ref == body["base"]:
            raise refuse(
                422,
                "Validation Failed",
                [{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists."}],
            )
    draft = changes.PullRequestDraft(
        title=body.get("title", ""),
        head=body["head"],
        base=body["base"],
        body=body.get("body"),
        is_draft=body.get("draft", False),
    )
    try:
        made = changes.open_pull(call.world, call.repository, call.actor, draft)
    except LookupError as error:
        detail = {"resource": "PullRequest", "field": str(error.args[0]), "code": "invalid"}
        raise refuse(422, "Validation Failed", [detail]) from None
    half = made.pull
    if half is None:
        raise not_found()
    return Answer(201, full_pull(call.world, call.repository, made, half))


def _get_pull(call: Call) -> Answer:
    issue, pull = _pull(call)
    return Answer(200, full_pull(call.world, call.repository, issue, pull))


def _update_pull(call: Call) -> Answer:
    issue, pull = _pull(call)
    issue.title = call.body.get("title", issue.title)
    issue.body = call.body.get("body", issue.body)
    if call.body.get("state") == "closed" and issue.state == "open":
        changes.close_issue(call.world, issue, call.actor)
    if call.body.get("state") == "open" and issue.state == "closed":
        if pull.merged_at is not None:
            raise refuse(422, "Validation Failed", [{"message": "Cannot reopen a merged pull request."}])
        changes.reopen_issue(call.world, issue)
    issue.updated_at = call.world.now()
    return Answer(200, full_pull(call.world, call.repository, issue, pull))


def _list_files(call: Call) -> Answer:
    _, pull = _pull(call)
    git = call.repository.git
    fork_point = git.merge_base(pull.base_sha, pull.head_sha)
    found = git.changes(fork_point, pull.head_sha) if fork_point else []
    return paged(call, [file_change(call, change, pull.head_sha) for change in found[:_MAX_FILES]])


def _list_commits(call: Call) -> Answer:
    _, pull = _pull(call)
    found = call.repository.git.history(pull.head_sha, stop=pull.base_sha)
    return paged(call, [commit(call, sha) for sha in reversed(found[:_MAX_COMMITS])])


# --- repository and people -------------------------------------------------------------------------------
def _get_repository(call: Call) -> Answer:
    role = call.repository.role_of(call.actor)
    order = ["pull", "triage", "push", "maintain", "admin"]
    reach = {"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}.get(role, 1)
    permissions = {name: place < reach for place, name in enumerate(order)}
    return Answer(200, {**payloads.full_repository(call.world, call.repository), "permissions": permissions})


def _get_permission(call: Call) -> Answer:
    account = call.world.accounts.get(call.path["username"].lower())
    if account is None:
        raise refuse(404, f"{call.path['username']} is not a user")
    role = call.repository.role_of(account)
    return Answer(
        200,
        {
            # A custom role's legacy word is that of the role it is built on; the stand-in takes write.
            "permission": LEGACY_PERMISSIONS.get(role, "none" if role == "none" else "write"),
            "role_name": role,
            "user": {**payloads.user(call.world, account), "role_name": role},
        },
    )


def _get_me(call: Call) -> Answer:
    if call.actor.kind == "Bot":
        # What an installation token, GITHUB_TOKEN among them, is told.
        raise refuse(403, "Resource not accessible by integration")
    return Answer(200, payloads.full_user(call.world, call.actor))


def _person(call: Call) -> Account:
    account = call.world.accounts.get(call.path["username"].lower())
    if account is None:
        raise not_found()
    return account


def _get_user(call: Call) -> Answer:
    return Answer(200, payloads.full_user(call.world, _person(call)))


def _list_keys(call: Call) -> Answer:
    shapes = [{"id": key_id, "key": text} for key_id, text in _person(call).ssh_keys]
    return paged(call, shapes)


def _get_limits(call: Call) -> Answer:
    limit, left = call.world.request_limit(call.token), call.world.requests_left(call.token)
    reset = int(call.world.now().timestamp()) + 3600
    core = {"limit": limit, "used": limit - left, "remaining": left, "reset": reset}
    return Answer(200, {"resources": {"core": core, "search": {**core, "limit": 30, "remaining": 30}}, "rate": core})


PULL_ROUTES = {
    f"GET {_R}": Route(_get_repository),
    f"GET {_R}/collaborators/{{username}}/permission": Route(_get_permission),
    f"GET {_R}/pulls": Route(_list_pulls, ("pull_requests",)),
    f"POST {_R}/pulls": Route(_create_pull, ("pull_requests",)),
    f"GET {_R}/pulls/{{pull_number}}": Route(_get_pull, ("pull_requests",)),
    f"PATCH {_R}/pulls/{{pull_number}}": Route(_update_pull, ("pull_requests",)),
    f"GET {_R}/pulls/{{pull_number}}/files": Route(_list_files, ("pull_requests",)),
    f"GET {_R}/pulls/{{pull_number}}/commits": Route(_list_commits, ("pull_requests",)),
    "GET /rate_limit": Route(_get_limits),
    "GET /user": Route(_get_me),
    "GET /users/{username}": Route(_get_user),
    "GET /users/{username}/keys": Route(_list_keys),
}
