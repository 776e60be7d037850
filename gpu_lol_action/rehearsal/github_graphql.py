"""GitHub's GraphQL, as far as the bot asks: a schema of those fields, answered from the stand-in's state.

The field names, arguments and nullability are those of GitHub's public schema. A question that this schema refuses is an
unknown route: a story fails on it instead of getting a made-up answer.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from graphql import DocumentNode, GraphQLError, GraphQLSchema, build_schema, execute_sync, parse, validate

from gpu_lol_action.rehearsal.github_git import BareRepository
from gpu_lol_action.rehearsal.github_git_values import Signature
from gpu_lol_action.rehearsal.github_graphql_changes import (
    CHANGES_SCHEMA,
    ForbiddenError,
    NotFoundError,
    UnprocessableError,
    need,
    roots,
)
from gpu_lol_action.rehearsal.github_graphql_timeline import TIMELINE_SCHEMA, labelings
from gpu_lol_action.rehearsal.github_payloads import node_id, stamp
from gpu_lol_action.rehearsal.github_state import Account, Comment, Issue, Pull, Repository, Token, World

SCHEMA = """
scalar GitObjectID
scalar URI
scalar BigInt
scalar DateTime
enum PullRequestState { OPEN CLOSED MERGED }
interface Actor { login: String! url: URI! }
type User implements Actor { login: String! url: URI! }
type Bot implements Actor { login: String! url: URI! }
type Organization implements Actor { login: String! url: URI! }
interface GitObject { oid: GitObjectID! }
type Blob implements GitObject { oid: GitObjectID! text: String isTruncated: Boolean! isBinary: Boolean byteSize: Int! }
type Tree implements GitObject { oid: GitObjectID! }
type Commit implements GitObject {
  oid: GitObjectID! message: String! file(path: String!): TreeEntry tree: Tree! parents(first: Int): CommitConnection!
  author: GitActor committer: GitActor signature: GitSignature
}
type CommitConnection { nodes: [Commit] totalCount: Int! }
scalar GitTimestamp
type GitActor { name: String email: String date: GitTimestamp }
type GitSignature { payload: String! signature: String! }
type TreeEntry { object: GitObject }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Ref { name: String! prefix: String! target: GitObject }
type RefConnection { nodes: [Ref] pageInfo: PageInfo! totalCount: Int! }
interface Node { id: ID! }
type IssueComment implements Minimizable & Node {
  isMinimized: Boolean! minimizedReason: String lastEditedAt: DateTime
  id: ID! fullDatabaseId: BigInt body: String! url: URI! viewerDidAuthor: Boolean! author: Actor
}
type IssueCommentConnection { nodes: [IssueComment] pageInfo: PageInfo! totalCount: Int! }
type PullRequest implements Node {
  id: ID! number: Int! title: String! state: PullRequestState! isDraft: Boolean! merged: Boolean! maintainerCanModify: Boolean! url: URI! author: Actor
  headRefOid: GitObjectID! headRefName: String! headRepository: Repository baseRefOid: GitObjectID! baseRefName: String!
  comments(first: Int, after: String): IssueCommentConnection!
}
type Repository {
  nameWithOwner: String! pushedAt: DateTime
  object(oid: GitObjectID, expression: String): GitObject
  pullRequest(number: Int!): PullRequest
  ref(qualifiedName: String!): Ref
  refs(refPrefix: String!, first: Int, after: String): RefConnection
}
interface Minimizable { isMinimized: Boolean! minimizedReason: String }
type PullRequestReviewComment implements Minimizable { isMinimized: Boolean! minimizedReason: String }
type Query { viewer: User! repository(owner: String!, name: String!): Repository node(id: ID!): Node }
"""

# GitHub cuts a blob's text at half a megabyte.
_TEXT_LIMIT = 512 * 1024
_MAX_PAGE = 100


_TYPES: Mapping[type[Exception], str] = {
    NotFoundError: "NOT_FOUND",
    ForbiddenError: "FORBIDDEN",
    UnprocessableError: "UNPROCESSABLE",
}


def answer(world: World, token: Token, query: str, variables: Mapping[str, Any]) -> dict[str, Any] | None:
    """The body of an answer, or None where the stand-in does not know the question."""
    root: dict[str, Any] = {
        "viewer": _actor(world, token.account),
        "repository": functools.partial(_repository, world, token),
    }
    root["node"] = functools.partial(_node, world)
    root |= roots(world, token, functools.partial(_comment, world, token))
    document = _read(query)
    if document is None:
        return None
    result = execute_sync(_schema(), document, root_value=root, variable_values=dict(variables))
    errors = [_error(error) for error in result.errors or ()]
    if any("type" not in error for error in errors):
        return None
    return {"data": result.data, **({"errors": errors} if errors else {})}


@functools.lru_cache(maxsize=256)
def _read(query: str) -> DocumentNode | None:
    """The question as the schema understands it; None where it does not. The bot has a handful, and asks them often."""
    try:
        document = parse(query)
    except GraphQLError:
        return None
    return None if validate(_schema(), document) else document


@functools.cache
def _schema() -> GraphQLSchema:
    return build_schema(SCHEMA + TIMELINE_SCHEMA + CHANGES_SCHEMA)


def _error(error: GraphQLError) -> dict[str, Any]:
    kind = _TYPES.get(type(error.original_error)) if error.original_error else None
    return {"message": error.message, **({"type": kind, "path": error.path} if kind else {})}


def _node(world: World, _info: object, id: str) -> dict[str, Any]:  # noqa: A002 - GraphQL's argument
    """The comment of a global id; no other kind of node is asked for."""
    for home in world.repositories.values():
        for comment in home.comments.values():
            if node_id("IC", comment.comment_id) == id:
                return {"__typename": "IssueComment", "id": id, "lastEditedAt": stamp(comment.edited_at)}
    raise NotFoundError(f"Could not resolve to a node with the global id of '{id}'.")


def _repository(world: World, token: Token, _info: object, owner: str, name: str) -> dict[str, Any]:
    home = world.repositories.get(f"{owner}/{name}".lower())
    if home is None or (home.role_of(token.account) == "none" and token.permissions is None):
        raise NotFoundError(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
    return {
        **_home(home),
        "object": lambda _info, oid=None, expression=None: _object(home.git, oid or expression),
        "pullRequest": lambda _info, number: _pull_request(world, token, home, number),
        "ref": lambda _info, qualifiedName: _ref(home, qualifiedName),  # noqa: N803 - GraphQL's argument
        "refs": functools.partial(_refs, home),
    }


# --- git -------------------------------------------------------------------------------------------------
def _object(git: BareRepository, expression: str) -> dict[str, Any] | None:
    oid = git.parsed(expression)
    if oid is None:
        return None
    kind = git.kind(oid)
    if kind == "commit":
        return _commit(git, oid)
    return {"__typename": "Tree", "oid": oid} if kind == "tree" else _blob(oid, git.read_blob(oid))


def _commit(git: BareRepository, oid: str) -> dict[str, Any]:
    commit = git.read_commit(oid)
    return {
        "__typename": "Commit",
        "oid": oid,
        "message": commit.message,
        "file": lambda _info, path: (found := _object(git, f"{oid}:{path}")) and {"object": found},
        "tree": {"oid": commit.tree},
        "parents": lambda _info, first=_MAX_PAGE: {
            "nodes": [{"oid": each} for each in commit.parents[:first]],
            "totalCount": len(commit.parents),
        },
        "author": _git_actor(commit.author),
        "committer": _git_actor(commit.committer),
        "signature": None,
    }


def _git_actor(signer: Signature) -> dict[str, Any]:
    """Who signed a commit; unlike other times in GraphQL this one keeps its zone."""
    return {"name": signer.name, "email": signer.email, "date": signer.when.isoformat()}


def _blob(oid: str, raw: bytes) -> dict[str, Any]:
    try:
        text: str | None = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    return {
        "__typename": "Blob",
        "oid": oid,
        "text": text[:_TEXT_LIMIT] if text else text,
        "isTruncated": len(raw) > _TEXT_LIMIT,
        "isBinary": b"\0" in raw,
        "byteSize": len(raw),
    }


def _ref(home: Repository, name: str) -> dict[str, Any] | None:
    sha = home.git.ref(name)
    if sha is None or _is_hidden(home, name):
        return None
    prefix = next((known for known in ("refs/heads/", "refs/tags/") if name.startswith(known)), "refs/")
    return {"name": name.removeprefix(prefix), "prefix": prefix, "target": _object(home.git, sha)}


def _refs(
    home: Repository,
    _info: object,
    refPrefix: str,  # noqa: N803 - GraphQL's argument
    first: int | None = None,
    after: str | None = None,
) -> dict[str, Any]:
    found = sorted(name for name in home.git.refs(refPrefix) if not _is_hidden(home, name))
    names, page = _page(found, first, after)
    return {"nodes": [_ref(home, name) for name in names], **page}


def _is_hidden(home: Repository, name: str) -> bool:
    return home.hides_custom_refs and not name.startswith(("refs/heads/", "refs/tags/"))


def _page(items: list[Any], first: int | None, after: str | None) -> tuple[list[Any], dict[str, Any]]:
    begin = int(after or 0)
    end = begin + min(first or _MAX_PAGE, _MAX_PAGE)
    info = {"hasNextPage": end < len(items), "endCursor": str(end) if items else None}
    return items[begin:end], {"pageInfo": info, "totalCount": len(items)}


# --- conversation ----------------------------------------------------------------------------------------
def _actor(world: World, account: Account) -> dict[str, Any]:
    """GraphQL writes a bot's login without `[bot]`, but for the viewer's."""
    return {"__typename": account.kind, "login": account.login, "url": f"{world.web_url}/{account.login}"}


def _author(world: World, account: Account) -> dict[str, Any]:
    return {**_actor(world, account), "login": account.login.removesuffix("[bot]")}


def _pull_request(world: World, token: Token, home: Repository, number: int) -> dict[str, Any]:
    issue = home.issues.get(number)
    if issue is None or issue.pull is None:
        raise NotFoundError(f"Could not resolve to a PullRequest with the number of {number}.")
    pull = issue.pull
    need(token, home, ("pull_requests",), "read")

    def comments(_info: object, first: int | None = None, after: str | None = None) -> dict[str, Any]:
        found = [each for _, each in sorted(home.comments.items()) if each.number == number]
        shown, page = _page(found, min(first or _MAX_PAGE, world.page_limit), after)
        return {"nodes": [_comment(world, token, home, each) for each in shown], **page}

    return {
        **_pull(world, home, issue, pull),
        "comments": comments,
        "timelineItems": functools.partial(labelings, issue),
    }


def _home(home: Repository) -> dict[str, Any]:
    return {"nameWithOwner": home.full_name, "pushedAt": stamp(home.pushed_at or home.created_at)}


def _pull(world: World, home: Repository, issue: Issue, pull: Pull) -> dict[str, Any]:
    state = "MERGED" if pull.merged_at else issue.state.upper()
    return {
        "id": node_id("PR", issue.issue_id),
        "number": issue.number,
        "title": issue.title,
        "state": state,
        "isDraft": pull.is_draft,
        "maintainerCanModify": pull.head_repository is not home and pull.may_maintainers_modify,
        "merged": pull.merged_at is not None,
        "url": f"{world.web_url}/{home.full_name}/pull/{issue.number}",
        "author": _author(world, issue.author),
        "headRefOid": pull.head_sha,
        "headRefName": pull.head_ref,
        "headRepository": _home(pull.head_repository) if pull.head_repository else None,
        "baseRefOid": pull.base_sha,
        "baseRefName": pull.base_ref,
    }


def _comment(world: World, token: Token, home: Repository, comment: Comment) -> dict[str, Any]:
    return {
        "id": node_id("IC", comment.comment_id),
        "fullDatabaseId": str(comment.comment_id),
        "body": comment.body,
        "url": f"{world.web_url}/{home.full_name}/pull/{comment.number}#issuecomment-{comment.comment_id}",
        "viewerDidAuthor": comment.author is token.account,
        "author": _author(world, comment.author),
    }
