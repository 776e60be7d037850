"""What GraphQL changes, as far as the bot asks: comments posted, edited and folded away, and reactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpu_lol_action.rehearsal import github_changes as changes
from gpu_lol_action.rehearsal.github_payloads import node_id
from gpu_lol_action.rehearsal.github_routes_issues import MAX_BODY
from gpu_lol_action.rehearsal.github_state import Comment, Repository, Token, World

CHANGES_SCHEMA = """
enum ReportedContentClassifiers { ABUSE DUPLICATE LOW_QUALITY OFF_TOPIC OUTDATED RESOLVED SPAM }
input MinimizeCommentInput { subjectId: ID! classifier: ReportedContentClassifiers! clientMutationId: String }
type MinimizeCommentPayload { minimizedComment: Minimizable clientMutationId: String }
type IssueCommentEdge { cursor: String! node: IssueComment }
input AddCommentInput { subjectId: ID! body: String! clientMutationId: String }
type AddCommentPayload { commentEdge: IssueCommentEdge subject: Node clientMutationId: String }
input UpdateIssueCommentInput { id: ID! body: String! clientMutationId: String }
type UpdateIssueCommentPayload { issueComment: IssueComment clientMutationId: String }
enum ReactionContent { THUMBS_UP THUMBS_DOWN LAUGH HOORAY CONFUSED HEART ROCKET EYES }
input AddReactionInput { subjectId: ID! content: ReactionContent! clientMutationId: String }
type Reaction implements Node { id: ID! content: ReactionContent! }
type AddReactionPayload { reaction: Reaction subject: Node clientMutationId: String }
type Mutation {
  minimizeComment(input: MinimizeCommentInput!): MinimizeCommentPayload
  addComment(input: AddCommentInput!): AddCommentPayload
  updateIssueComment(input: UpdateIssueCommentInput!): UpdateIssueCommentPayload
  addReaction(input: AddReactionInput!): AddReactionPayload
}
"""
_WORDS = {
    "THUMBS_UP": "+1", "THUMBS_DOWN": "-1", "LAUGH": "laugh", "HOORAY": "hooray",
    "CONFUSED": "confused", "HEART": "heart", "ROCKET": "rocket", "EYES": "eyes",
}  # fmt: skip


class NotFoundError(Exception):
    """GitHub's error of type NOT_FOUND beside a null."""


class ForbiddenError(Exception):
    """GitHub's error of type FORBIDDEN beside a null."""


class UnprocessableError(Exception):
    """GitHub's error of type UNPROCESSABLE beside a null."""


Shown = Callable[[Repository, Comment], dict[str, Any]]


def roots(world: World, token: Token, shown: Shown) -> dict[str, Callable[..., dict[str, Any]]]:
    """Return a resolver for each change; ``shown`` is a comment as GraphQL shows it."""
    hands = _Changes(world, token, shown)
    return {
        "minimizeComment": hands.minimize,
        "addComment": hands.comment,
        "updateIssueComment": hands.edit,
        "addReaction": hands.react,
    }


class _Changes:
    """One token's changes of a world."""

    def __init__(self, world: World, token: Token, shown: Shown) -> None:
        self._world, self._token, self._shown = world, token, shown

    def comment(self, _info: object, input: Mapping[str, Any]) -> dict[str, Any]:  # noqa: A002 - GraphQL's argument
        for home in self._world.repositories.values():
            for issue in home.issues.values():
                if node_id("PR" if issue.pull else "I", issue.issue_id) == input["subjectId"]:
                    need(self._token, home, ("pull_requests", "issues"), "write")
                    body = _checked(input["body"])
                    made = changes.add_comment(self._world, home, issue.number, self._token.account, body)
                    return {"commentEdge": {"cursor": "1", "node": self._shown(home, made)}}
        raise _unresolved(input["subjectId"])

    def edit(self, _info: object, input: Mapping[str, Any]) -> dict[str, Any]:  # noqa: A002 - GraphQL's argument
        home, comment = self._find(input["id"])
        need(self._token, home, ("pull_requests", "issues"), "write")
        comment.edit(_checked(input["body"]), self._world.now())
        return {"issueComment": self._shown(home, comment)}

    def react(self, _info: object, input: Mapping[str, Any]) -> dict[str, Any]:  # noqa: A002 - GraphQL's argument
        home, comment = self._find(input["subjectId"])
        need(self._token, home, ("issues",), "write")
        content = _WORDS[input["content"]]
        subject = ("comment", comment.comment_id)
        made, _ = changes.add_reaction(self._world, home, subject, self._token.account, content)
        return {"reaction": {"id": node_id("REA", made.reaction_id), "content": input["content"]}}

    def minimize(self, _info: object, input: Mapping[str, Any]) -> dict[str, Any]:  # noqa: A002 - GraphQL's argument
        for home in self._world.repositories.values():
            subjects = {node_id("IC", each): ("IssueComment", each) for each in home.comments}
            reviewed = home.record("review_comments").items()
            subjects |= {shape["node_id"]: ("PullRequestReviewComment", each) for each, shape in reviewed}
            if input["subjectId"] in subjects:
                need(self._token, home, ("pull_requests", "issues"), "write")
                kind, number = subjects[input["subjectId"]]
                home.record("minimized")[number] = {"classifier": input["classifier"]}
                shown = {"__typename": kind, "isMinimized": True, "minimizedReason": str(input["classifier"]).lower()}
                return {"minimizedComment": shown}
        raise _unresolved(input["subjectId"])

    def _find(self, node: str) -> tuple[Repository, Comment]:
        for home in self._world.repositories.values():
            for comment in home.comments.values():
                if node_id("IC", comment.comment_id) == node:
                    return home, comment
        raise _unresolved(node)


def need(token: Token, home: Repository, names: tuple[str, ...], level: str) -> None:
    """GraphQL refuses a workflow's token as REST does; what everybody may read needs nothing."""
    if token.permissions is None or (level == "read" and not home.is_private):
        return
    granted = {token.permissions.get(name, "none") for name in names}
    if "write" not in granted and level not in granted:
        raise ForbiddenError("Resource not accessible by integration")


def _checked(body: str) -> str:
    if not body.strip() or len(body) > MAX_BODY:
        raise UnprocessableError("Body is too long or blank")
    return body


def _unresolved(node: str) -> NotFoundError:
    return NotFoundError(f"Could not resolve to a node with the global id of '{node}'")
