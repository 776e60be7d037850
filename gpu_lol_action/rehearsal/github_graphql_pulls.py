"""GraphQL about one pull request in the stand-in: how it stands with its comments, files at commits, and folding away.

The question is parsed, so that a field which GitHub does not have, or that the token may not see, fails the story.
"""

from __future__ import annotations

from typing import Any

from gpu_lol_action.rehearsal.cloud_graphql import Field, GraphqlError, Value, parse_operation, project
from gpu_lol_action.rehearsal.github_answers import refuse
from gpu_lol_action.rehearsal.github_git import BareRepository, GitError
from gpu_lol_action.rehearsal.github_payloads import node_id
from gpu_lol_action.rehearsal.github_state import Comment, Repository, Token, World

# GitHub cuts a blob's text at half a megabyte.
_TEXT_LIMIT = 512 * 1024


def answer(world: World, token: Token, query: str) -> dict[str, Any] | None:
    """The `data` of an answer, or None where the stand-in does not know the question."""
    try:
        operation = parse_operation(query)
        if operation.kind == "mutation":
            return {each.alias: _mutate(world, token, each) for each in operation.fields}
        return {each.alias: _query(world, token, each) for each in operation.fields}
    except (GraphqlError, KeyError):
        return None


def _query(world: World, token: Token, asked: Field) -> Value:
    if asked.name == "viewer":
        return project({"login": token.account.login}, asked.selection, "viewer")
    if asked.name != "repository":
        raise GraphqlError(f"the stand-in does not serve {asked.name}")
    home = world.repositories.get(f"{asked.arguments['owner']}/{asked.arguments['name']}".lower())
    if home is None or (home.role_of(token.account) == "none" and token.permissions is None):
        return None
    return {each.alias: _part(world, token, home, each) for each in asked.selection}


def _part(world: World, token: Token, home: Repository, asked: Field) -> Value:
    if asked.name == "pullRequest":
        return project(_pull(world, token, home, asked), asked.selection, "PullRequest")
    if asked.name == "object":
        return project(_object(home.git, asked), asked.selection, "GitObject")
    if asked.name == "refs":
        prefix = str(asked.arguments["refPrefix"])
        found = home.git.refs(prefix)
        nodes = [{"name": name.removeprefix(prefix), "target": {"oid": sha}} for name, sha in sorted(found.items())]
        return project({"nodes": nodes[: _count(asked)]}, asked.selection, "RefConnection")
    raise GraphqlError(f"the stand-in does not serve repository.{asked.name}")


def _count(asked: Field) -> int:
    count = asked.arguments["first"]
    if not isinstance(count, int) or not 1 <= count <= 100:
        raise GraphqlError("`first` must lie between 1 and 100")
    return count


def _pull(world: World, token: Token, home: Repository, asked: Field) -> Value:
    number = asked.arguments["number"]
    issue = home.issues.get(number) if isinstance(number, int) else None
    if issue is None or issue.pull is None:
        return None
    _need(token, home, ("pull_requests",), "read")
    state = "MERGED" if issue.pull.merged_at else issue.state.upper()
    listed = next((each for each in asked.selection if each.name == "comments"), None)
    comments = [comment for _, comment in sorted(home.comments.items()) if comment.number == number]
    return {
        "headRefOid": issue.pull.head_sha,
        "isDraft": issue.pull.is_draft,
        "state": state,
        "maintainerCanModify": issue.pull.head_repository is not home and issue.pull.may_maintainers_modify,
        "comments": _page(world, token, home, comments, listed) if listed else None,
    }


def _page(world: World, token: Token, home: Repository, comments: list[Comment], asked: Field) -> Value:
    after = str(asked.arguments.get("after") or "")
    start = int(after.removeprefix("cursor:")) if after else 0
    stop = start + _count(asked)
    return {
        "pageInfo": {"hasNextPage": stop < len(comments), "endCursor": f"cursor:{min(stop, len(comments))}"},
        "nodes": [_comment(world, token, home, each) for each in comments[start:stop]],
    }


def _comment(world: World, token: Token, home: Repository, comment: Comment) -> Value:
    return {
        "id": node_id("IC", comment.comment_id),
        "databaseId": comment.comment_id,
        "body": comment.body,
        "url": f"{world.web_url}/{home.full_name}/pull/{comment.number}#issuecomment-{comment.comment_id}",
        "viewerDidAuthor": comment.author is token.account,
        # GraphQL leaves out the `[bot]` that REST has.
        "author": {"login": comment.author.login.removesuffix("[bot]")},
    }


def _object(git: BareRepository, asked: Field) -> Value:
    if "oid" in asked.arguments:
        oid = str(asked.arguments["oid"])
        if git.kind(oid) != "commit":
            return None
        # One file of a commit: the path stands in the inner field.
        inner = next((each for each in asked.selection if each.name == "file"), None)
        blob = _blob(git, f"{oid}:{inner.arguments['path']}") if inner else None
        return {"oid": oid, "file": {"object": blob} if blob else None}
    return _blob(git, str(asked.arguments["expression"]))


def _blob(git: BareRepository, expression: str) -> Value:
    try:
        raw = git.git("cat-file", "blob", expression)
    except GitError:
        return None
    try:
        text: str | None = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    is_cut = len(raw) > _TEXT_LIMIT
    return {"text": text[:_TEXT_LIMIT] if text else text, "isTruncated": is_cut, "byteSize": len(raw)}


def _mutate(world: World, token: Token, asked: Field) -> Value:
    if asked.name != "minimizeComment":
        raise GraphqlError(f"the stand-in does not serve {asked.name}")
    given = asked.arguments["input"]
    if not isinstance(given, dict) or given["classifier"] != "OUTDATED":
        raise GraphqlError("minimizeComment wants subjectId and a classifier")
    for home in world.repositories.values():
        subjects = {node_id("IC", each): each for each in home.comments}
        subjects |= {shape["node_id"]: each for each, shape in home.record("review_comments").items()}
        if given["subjectId"] in subjects:
            _need(token, home, ("pull_requests", "issues"), "write")
            home.record("minimized")[subjects[str(given["subjectId"])]] = {"classifier": "OUTDATED"}
            return project({"minimizedComment": {"isMinimized": True}}, asked.selection, "MinimizeCommentPayload")
    raise GraphqlError("Could not resolve to a node with the global id")


def _need(token: Token, home: Repository, names: tuple[str, ...], level: str) -> None:
    """GraphQL refuses a workflow's token as REST does; what everybody may read needs nothing."""
    if token.permissions is None or (level == "read" and not home.is_private):
        return
    granted = {token.permissions.get(name, "none") for name in names}
    if "write" not in granted and level not in granted:
        raise refuse(403, "Resource not accessible by integration")
