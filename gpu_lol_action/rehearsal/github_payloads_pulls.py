"""GitHub's JSON for pull requests, built from the stand-in's state and git."""

from __future__ import annotations

from gpu_lol_action.rehearsal.github_payloads import Json, label, node_id, repository, repository_url, stamp, user
from gpu_lol_action.rehearsal.github_state import Issue, Pull, Repository, World


def pull(world: World, home: Repository, subject: Issue, half: Pull) -> Json:
    """`pull-request-simple`: what lists hold."""
    url = f"{repository_url(world, home)}/pulls/{subject.number}"
    issue_url = f"{repository_url(world, home)}/issues/{subject.number}"
    web = f"{world.web_url}/{home.full_name}/pull/{subject.number}"
    links = {
        "self": url,
        "html": web,
        "issue": issue_url,
        "comments": f"{issue_url}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{repository_url(world, home)}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{repository_url(world, home)}/statuses/{half.head_sha}",
    }
    return {
        "url": url,
        "id": half.pull_id,
        "node_id": node_id("PR", half.pull_id),
        "html_url": web,
        "diff_url": f"{web}.diff",
        "patch_url": f"{web}.patch",
        **{f"{name}_url": links[name] for name in links if name not in ("self", "html")},
        "number": subject.number,
        "state": subject.state,
        "locked": False,
        "title": subject.title,
        "user": user(world, subject.author),
        "body": subject.body,
        "created_at": stamp(subject.created_at),
        "updated_at": stamp(subject.updated_at),
        "closed_at": stamp(subject.closed_at),
        "merged_at": stamp(half.merged_at),
        "merge_commit_sha": half.merge_commit_sha,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "labels": [label(world, home, name) for name in subject.labels],
        "milestone": None,
        "draft": half.is_draft,
        "head": _pull_end(world, half.head_label, half.head_sha, half.head_repository),
        "base": _pull_end(world, f"{home.owner.login}:{half.base_ref}", half.base_sha, home),
        "_links": {name: {"href": target} for name, target in links.items()},
        "author_association": home.association_of(subject.author),
        "auto_merge": None,
        "active_lock_reason": None,
    }


def full_pull(world: World, home: Repository, subject: Issue, half: Pull) -> Json:
    """`pull-request`: what GET /repos/{owner}/{repo}/pulls/{pull_number} and webhooks hold."""
    fork_point = home.git.merge_base(half.base_sha, half.head_sha)
    changes = home.git.changes(fork_point, half.head_sha) if fork_point else []
    return {
        **pull(world, home, subject, half),
        "merged": half.merged_at is not None,
        "mergeable": None if half.merged_at else True,
        "rebaseable": None,
        "mergeable_state": "draft" if half.is_draft else "clean" if subject.state == "open" else "unknown",
        "merged_by": user(world, half.merged_by) if half.merged_by else None,
        "comments": sum(each.number == subject.number for each in home.comments.values()),
        "review_comments": 0,
        "maintainer_can_modify": half.head_repository is not home and half.may_maintainers_modify,
        "commits": len(home.git.history(half.head_sha, stop=half.base_sha)),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def _pull_end(world: World, label_text: str, sha: str, home: Repository | None) -> Json:
    """One end of a pull request; a deleted fork leaves `repo` null and, as on GitHub, the label."""
    owner_login, ref = label_text.split(":", 1)
    owner = world.accounts.get(owner_login.lower())
    return {
        "label": label_text,
        "ref": ref,
        "sha": sha,
        "user": user(world, owner) if owner else None,
        "repo": repository(world, home) if home else None,
    }
