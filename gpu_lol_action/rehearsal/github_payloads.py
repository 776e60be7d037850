"""GitHub's JSON for people, repositories and conversations, built from the stand-in's state."""

from __future__ import annotations

import base64
from collections import Counter
from datetime import datetime, timezone
from typing import Any

from gpu_lol_action.rehearsal.github_state import Account, Comment, Issue, Reaction, Repository, World

Json = dict[str, Any]

_USER_URLS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
_REPOSITORY_URLS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
_REACTION_KEYS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def stamp(moment: datetime | None) -> str | None:
    """GitHub's form of a time: UTC, whole seconds, `Z`."""
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def node_id(prefix: str, number: int) -> str:
    """An opaque global id in the shape of GitHub's own."""
    return f"{prefix}_kwDO{base64.urlsafe_b64encode(number.to_bytes(8, 'big')).decode().rstrip('=')}"


def repository_url(world: World, repository: Repository) -> str:
    """Where the API has this repository."""
    return f"{world.api_url}/repos/{repository.full_name}"


def user(world: World, account: Account) -> Json:
    """`simple-user`."""
    url = f"{world.api_url}/users/{account.login}"
    slug = account.login.removesuffix("[bot]")
    return {
        "login": account.login,
        "id": account.account_id,
        "node_id": node_id("BOT" if account.kind == "Bot" else "U", account.account_id),
        "avatar_url": f"{world.web_url}/avatars/u/{account.account_id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{world.web_url}/apps/{slug}" if account.kind == "Bot" else f"{world.web_url}/{account.login}",
        **{key: url + tail for key, tail in _USER_URLS.items()},
        "type": account.kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def full_user(world: World, account: Account) -> Json:
    """`public-user`."""
    return {
        **user(world, account),
        **dict.fromkeys(("name", "company", "location", "email", "hireable", "bio", "twitter_username")),
        "blog": "",
        "public_repos": sum(each.owner is account for each in world.repositories.values()),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": stamp(account.created_at),
        "updated_at": stamp(account.created_at),
    }


def repository(world: World, subject: Repository) -> Json:
    """`repository`, as it also appears in pull requests and webhooks."""
    url = repository_url(world, subject)
    web = f"{world.web_url}/{subject.full_name}"
    open_issues = sum(issue.state == "open" for issue in subject.issues.values())
    return {
        "id": subject.repository_id,
        "node_id": node_id("R", subject.repository_id),
        "name": subject.name,
        "full_name": subject.full_name,
        "private": subject.is_private,
        "owner": user(world, subject.owner),
        "html_url": web,
        "description": None,
        "fork": subject.fork_of is not None,
        "url": url,
        **{key: url + tail for key, tail in _REPOSITORY_URLS.items()},
        "created_at": stamp(subject.created_at),
        "updated_at": stamp(subject.created_at),
        "pushed_at": stamp(subject.pushed_at or subject.created_at),
        "git_url": f"git://{web.split('://', 1)[1]}.git",
        "ssh_url": f"git@{web.split('://', 1)[1].split('/', 1)[0]}:{subject.full_name}.git",
        "clone_url": f"{web}.git",
        "svn_url": web,
        **dict.fromkeys(("homepage", "language", "mirror_url", "license")),
        **dict.fromkeys(("size", "stargazers_count", "watchers_count", "forks_count", "forks", "watchers"), 0),
        **dict.fromkeys(("has_issues", "has_projects", "has_downloads", "has_wiki", "allow_forking"), True),
        **dict.fromkeys(("has_pages", "has_discussions", "archived", "disabled", "is_template"), False),
        "web_commit_signoff_required": False,
        "open_issues_count": open_issues,
        "open_issues": open_issues,
        "topics": [],
        "visibility": "private" if subject.is_private else "public",
        "default_branch": subject.default_branch,
    }


def full_repository(world: World, subject: Repository) -> Json:
    """`full-repository`: what GET /repos/{owner}/{repo} answers."""
    extra: Json = {"network_count": 0, "subscribers_count": 0}
    if subject.fork_of is not None:
        extra["parent"] = extra["source"] = repository(world, subject.fork_of)
    return {**repository(world, subject), **extra}


def reactions(home: Repository, subject: tuple[str, int], url: str) -> Json:
    """`reaction-rollup`."""
    counts = Counter(each.content for each in home.reactions.values() if each.subject == subject)
    return {"url": f"{url}/reactions", "total_count": counts.total(), **{key: counts[key] for key in _REACTION_KEYS}}


def reaction(world: World, subject: Reaction) -> Json:
    """`reaction`."""
    return {
        "id": subject.reaction_id,
        "node_id": node_id("REA", subject.reaction_id),
        "user": user(world, subject.author),
        "content": subject.content,
        "created_at": stamp(subject.created_at),
    }


def label(world: World, home: Repository, name: str) -> Json:
    """`label`."""
    known = home.labels.get(name.lower(), {})
    label_id = known.get("id", 1)
    return {
        "id": label_id,
        "node_id": node_id("LA", label_id),
        "url": f"{repository_url(world, home)}/labels/{name}",
        "name": known.get("name", name),
        "color": "ededed",
        "default": False,
        "description": None,
    }


def comment(world: World, home: Repository, subject: Comment) -> Json:
    """`issue-comment`."""
    url = f"{repository_url(world, home)}/issues/comments/{subject.comment_id}"
    kind = "pull" if home.issues[subject.number].pull else "issues"
    return {
        "url": url,
        "html_url": f"{world.web_url}/{home.full_name}/{kind}/{subject.number}#issuecomment-{subject.comment_id}",
        "issue_url": f"{repository_url(world, home)}/issues/{subject.number}",
        "id": subject.comment_id,
        "node_id": node_id("IC", subject.comment_id),
        "user": user(world, subject.author),
        "created_at": stamp(subject.created_at),
        "updated_at": stamp(subject.updated_at),
        "body": subject.body,
        "author_association": home.association_of(subject.author),
        "reactions": reactions(home, ("comment", subject.comment_id), url),
        "performed_via_github_app": None,
    }


def issue(world: World, home: Repository, subject: Issue) -> Json:
    """`issue`; a pull request's has `pull_request`."""
    url = f"{repository_url(world, home)}/issues/{subject.number}"
    web = f"{world.web_url}/{home.full_name}/{'pull' if subject.pull else 'issues'}/{subject.number}"
    shape: Json = {
        "url": url,
        "repository_url": repository_url(world, home),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": web,
        "id": subject.issue_id,
        "node_id": node_id("PR" if subject.pull else "I", subject.issue_id),
        "number": subject.number,
        "title": subject.title,
        "user": user(world, subject.author),
        "labels": [label(world, home, name) for name in subject.labels],
        "state": subject.state,
        "locked": False,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": sum(each.number == subject.number for each in home.comments.values()),
        "created_at": stamp(subject.created_at),
        "updated_at": stamp(subject.updated_at),
        "closed_at": stamp(subject.closed_at),
        "author_association": home.association_of(subject.author),
        "active_lock_reason": None,
        "body": subject.body,
        "reactions": reactions(home, ("issue", subject.number), url),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": None,
        "state_reason": subject.state_reason,
    }
    if subject.pull is not None:
        shape["draft"] = subject.pull.is_draft
        shape["pull_request"] = {
            "url": f"{repository_url(world, home)}/pulls/{subject.number}",
            "html_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "merged_at": stamp(subject.pull.merged_at),
        }
    return shape
