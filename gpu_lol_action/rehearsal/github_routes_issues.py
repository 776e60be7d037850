"""Issues, comments, reactions and labels of the stand-in."""

from __future__ import annotations

from gpu_lol_action.rehearsal import github_changes as changes
from gpu_lol_action.rehearsal import github_payloads as payloads
from gpu_lol_action.rehearsal.github_answers import Answer, Call, Route, not_found, paged, refuse
from gpu_lol_action.rehearsal.github_state import Comment, Issue

_R = "/repos/{owner}/{repo}"
# GitHub's error text says 65,536 characters; it counts characters, not bytes.
MAX_BODY = 65_536


def _issue(call: Call) -> Issue:
    found = call.repository.issues.get(call.number("issue_number"))
    if found is None:
        raise not_found()
    return found


def _comment(call: Call) -> Comment:
    found = call.repository.comments.get(call.number("comment_id"))
    if found is None:
        raise not_found()
    return found


def _checked_body(body: str, resource: str) -> str:
    if len(body) > MAX_BODY:
        message = f"Body is too long (maximum is {MAX_BODY} characters)"
        raise refuse(
            422,
            "Validation Failed",
            [{"resource": resource, "code": "unprocessable", "field": "data", "message": message}],
        )
    if not body.strip():
        raise refuse(422, "Validation Failed", [{"resource": resource, "code": "missing_field", "field": "body"}])
    return body


def _label_names(call: Call, raw: object) -> list[str]:
    """GitHub makes a label that does not exist yet."""
    names = [each["name"] if isinstance(each, dict) else str(each) for each in raw] if isinstance(raw, list) else []
    for name in names:
        call.repository.labels.setdefault(name.lower(), {"id": call.world.next_id(), "name": name})
    return names


# --- issues ----------------------------------------------------------------------------------------------
def _has_issues(call: Call) -> None:
    """Where they are switched off GitHub answers 410, and pull requests stay what they are."""
    if not call.repository.has_issues:
        raise refuse(410, "Issues has been disabled in this repository.")


def _list_issues(call: Call) -> Answer:
    _has_issues(call)
    wanted = call.query.get("state", "open")
    labels = {name.lower() for name in call.query.get("labels", "").split(",") if name}
    creator = call.query.get("creator", "").lower()
    listed = sorted(call.repository.issues.items(), reverse=True)
    if call.query.get("sort") == "updated":
        listed.sort(key=lambda pair: pair[1].updated_at, reverse=True)
    found = [
        issue
        for _, issue in listed
        if wanted in ("all", issue.state)
        and labels <= {name.lower() for name in issue.labels}
        and creator in ("", issue.author.login.lower())
    ]
    return paged(call, [payloads.issue(call.world, call.repository, issue) for issue in found])


def _create_issue(call: Call) -> Answer:
    _has_issues(call)
    body = _checked_body(call.body["body"], "Issue") if call.body.get("body") else None
    issue = changes.open_issue(call.world, call.repository, call.actor, str(call.body["title"]), body)
    issue.labels = _label_names(call, call.body.get("labels"))
    return Answer(201, payloads.issue(call.world, call.repository, issue))


def _get_issue(call: Call) -> Answer:
    return Answer(200, payloads.issue(call.world, call.repository, _issue(call)))


def _update_issue(call: Call) -> Answer:
    issue = _issue(call)
    if call.body.get("body") is not None:
        issue.body = _checked_body(call.body["body"], "Issue")
    if "title" in call.body:
        issue.title = str(call.body["title"])
    if "labels" in call.body:
        issue.labels = _label_names(call, call.body["labels"])
    if call.body.get("state") == "closed" and issue.state == "open":
        changes.close_issue(call.world, issue, call.actor, call.body.get("state_reason"))
    if call.body.get("state") == "open" and issue.state == "closed":
        changes.reopen_issue(call.world, issue)
    issue.updated_at = call.world.now()
    return Answer(200, payloads.issue(call.world, call.repository, issue))


# --- comments --------------------------------------------------------------------------------------------
def _list_comments(call: Call) -> Answer:
    number = _issue(call).number
    found = [comment for _, comment in sorted(call.repository.comments.items()) if comment.number == number]
    return _comments(call, found)


def _list_repository_comments(call: Call) -> Answer:
    return _comments(call, [comment for _, comment in sorted(call.repository.comments.items())])


def _comments(call: Call, found: list[Comment]) -> Answer:
    since = call.query.get("since", "")
    fresh = [comment for comment in found if (payloads.stamp(comment.updated_at) or "") >= since]
    return paged(call, [payloads.comment(call.world, call.repository, comment) for comment in fresh])


def _create_comment(call: Call) -> Answer:
    issue = _issue(call)
    body = _checked_body(call.body["body"], "IssueComment")
    made = changes.add_comment(call.world, call.repository, issue.number, call.actor, body)
    shape = payloads.comment(call.world, call.repository, made)
    return Answer(201, shape, {"Location": shape["url"]})


def _get_comment(call: Call) -> Answer:
    return Answer(200, payloads.comment(call.world, call.repository, _comment(call)))


def _update_comment(call: Call) -> Answer:
    comment = _comment(call)
    comment.edit(_checked_body(call.body["body"], "IssueComment"), call.world.now())
    return Answer(200, payloads.comment(call.world, call.repository, comment))


def _delete_comment(call: Call) -> Answer:
    del call.repository.comments[_comment(call).comment_id]
    return Answer(204)


# --- reactions -------------------------------------------------------------------------------------------
def _list_reactions(call: Call, subject: tuple[str, int]) -> Answer:
    wanted = call.query.get("content")
    found = [
        payloads.reaction(call.world, each)
        for _, each in sorted(call.repository.reactions.items())
        if each.subject == subject and wanted in (None, each.content)
    ]
    return paged(call, found)


def _create_reaction(call: Call, subject: tuple[str, int]) -> Answer:
    made, is_new = changes.add_reaction(call.world, call.repository, subject, call.actor, call.body["content"])
    return Answer(201 if is_new else 200, payloads.reaction(call.world, made))


def _list_comment_reactions(call: Call) -> Answer:
    return _list_reactions(call, ("comment", _comment(call).comment_id))


def _create_comment_reaction(call: Call) -> Answer:
    return _create_reaction(call, ("comment", _comment(call).comment_id))


def _list_issue_reactions(call: Call) -> Answer:
    return _list_reactions(call, ("issue", _issue(call).number))


def _create_issue_reaction(call: Call) -> Answer:
    return _create_reaction(call, ("issue", _issue(call).number))


def _delete_comment_reaction(call: Call) -> Answer:
    found = call.repository.reactions.get(call.number("reaction_id"))
    if found is None or found.subject != ("comment", call.number("comment_id")):
        raise not_found()
    if found.author is not call.actor:
        raise refuse(403, "Must have admin rights to Repository.")
    del call.repository.reactions[found.reaction_id]
    return Answer(204)


# --- labels ----------------------------------------------------------------------------------------------
def _labels(call: Call, issue: Issue) -> Answer:
    return Answer(200, [payloads.label(call.world, call.repository, name) for name in issue.labels])


def _list_labels(call: Call) -> Answer:
    return _labels(call, _issue(call))


def _add_labels(call: Call) -> Answer:
    issue = _issue(call)
    # The schema knows only the object; GitHub's prose, and clients, also send a bare list.
    raw = call.body["labels"] if isinstance(call.body, dict) else call.body
    for name in _label_names(call, raw):
        changes.set_label(call.world, call.repository, issue, call.actor, name)
    return _labels(call, issue)


def _remove_label(call: Call) -> Answer:
    issue, name = _issue(call), call.path["name"].lower()
    if name not in {each.lower() for each in issue.labels}:
        raise refuse(404, "Label does not exist")
    issue.labels = [each for each in issue.labels if each.lower() != name]
    return _labels(call, issue)


_EITHER = ("issues", "pull_requests")
ISSUE_ROUTES = {
    f"GET {_R}/issues": Route(_list_issues, ("issues",)),
    f"POST {_R}/issues": Route(_create_issue, ("issues",)),
    f"GET {_R}/issues/{{issue_number}}": Route(_get_issue, _EITHER),
    f"PATCH {_R}/issues/{{issue_number}}": Route(_update_issue, _EITHER),
    f"GET {_R}/issues/comments": Route(_list_repository_comments, _EITHER),
    f"GET {_R}/issues/{{issue_number}}/comments": Route(_list_comments, _EITHER),
    f"POST {_R}/issues/{{issue_number}}/comments": Route(_create_comment, _EITHER),
    f"GET {_R}/issues/comments/{{comment_id}}": Route(_get_comment, _EITHER),
    f"PATCH {_R}/issues/comments/{{comment_id}}": Route(_update_comment, _EITHER),
    f"DELETE {_R}/issues/comments/{{comment_id}}": Route(_delete_comment, _EITHER),
    # GitHub's table lists reactions under Issues only: the stricter reading.
    f"GET {_R}/issues/comments/{{comment_id}}/reactions": Route(_list_comment_reactions, ("issues",)),
    f"POST {_R}/issues/comments/{{comment_id}}/reactions": Route(_create_comment_reaction, ("issues",)),
    f"DELETE {_R}/issues/comments/{{comment_id}}/reactions/{{reaction_id}}": Route(
        _delete_comment_reaction, ("issues",)
    ),
    f"GET {_R}/issues/{{issue_number}}/reactions": Route(_list_issue_reactions, ("issues",)),
    f"POST {_R}/issues/{{issue_number}}/reactions": Route(_create_issue_reaction, ("issues",)),
    f"GET {_R}/issues/{{issue_number}}/labels": Route(_list_labels, _EITHER),
    f"POST {_R}/issues/{{issue_number}}/labels": Route(_add_labels, _EITHER),
    f"DELETE {_R}/issues/{{issue_number}}/labels/{{name}}": Route(_remove_label, _EITHER),
}
