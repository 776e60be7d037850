"""GitHub as the handlers know it (the port `Forge`): what they ask, in as few requests as it takes."""

from __future__ import annotations

import base64
import binascii
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from gpu_lol_action.adapters.github import Ask, Connection, GitHubClient
from gpu_lol_action.adapters.github_closing import close_at_once
from gpu_lol_action.adapters.github_comments import Hands, OnePost, author_of, posted
from gpu_lol_action.adapters.github_commit_facts import rest_commit
from gpu_lol_action.adapters.github_compare import Comparisons
from gpu_lol_action.adapters.github_files import CommitFiles
from gpu_lol_action.adapters.github_first_look import FirstLook, Focus
from gpu_lol_action.adapters.github_people import is_team_member, read_comment
from gpu_lol_action.adapters.github_reaction import post_reaction
from gpu_lol_action.adapters.our_refs import OurRefs
from gpu_lol_action.domain.confirmation import WrittenComment
from gpu_lol_action.domain.request import Closing, CommitContent, Posted, PullRequest, Repository
from gpu_lol_action.errors import GpuLolError, OperatorError, TransientError, UserError
from gpu_lol_action.intake.events import parse_pull_request
from gpu_lol_action.launch.commit_object import rebuild_commit_object

__all__ = ["GitHubForge", "Hands"]

_STANDARD_ROLES = frozenset({"admin", "maintain", "write", "triage", "read", "none"})
_KEY = re.compile(r"(ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) ([A-Za-z0-9+/]+={0,3})(?: .*)?")  # fmt: skip
_MAX_FILE_BYTES = 1024 * 1024


class GitHubForge:
    """One repository on GitHub. `client.counts` tells what was asked."""

    def __init__(
        self,
        connection: Connection,
        hands: Hands,
        *,
        repository: Repository | None = None,
        focus: Focus | None = None,
    ) -> None:
        """Take the repository from the event where there is one, and what the run is about: both save requests."""
        self.client = GitHubClient(connection, hands.sleep)
        self.refs = OurRefs(self.client)
        self.first_look = FirstLook(self.client, focus, self.refs)
        self._connection = connection
        self._hands = hands
        self._repository = repository
        self._me: str | None = None
        self._nodes: dict[int, str] = dict(focus.nodes) if focus is not None else {}
        self._files = CommitFiles(self.client, hands.note)
        self._comparisons = Comparisons(self.client)

    def close(self) -> None:
        """End the connection to GitHub, and leave nothing on the disk."""
        self.client.close()
        self._files.close()

    def open_reserve(self) -> None:
        """Spend also what is kept for teardown."""
        self.client.budget.is_reserve_open = True

    def is_short_of_requests(self) -> bool:
        """Return whether no more than the reserve is left."""
        return self.client.budget.is_short

    # --- facts --------------------------------------------------------------------------------------------
    def repository(self) -> Repository:
        """Return the repository; asked once."""
        if self._repository is None:
            raw = self.client.get("")
            self._repository = Repository(
                full_name=raw["full_name"],
                repository_id=raw["id"],
                default_branch=raw["default_branch"],
                is_private=raw["private"],
            )
        return self._repository

    def pull_request(self, number: int) -> PullRequest:
        """Return the pull request as GitHub has it now; at the first time as the run's first look saw it.

        Number 0 is the default branch as it stands, in the form of a pull request from itself.
        """
        if not number:
            return self._default_branch()
        seen = self.first_look.pull_request(number)
        if seen is not None:
            return seen
        raw = self.client.get("pulls/{number}", {"number": number})
        try:
            return parse_pull_request(raw)
        except (KeyError, TypeError, ValueError):
            raise _not_understood(f"pull request {number}") from None

    def _default_branch(self) -> PullRequest:
        repository = self.repository()
        raw = self.client.get("branches/{branch}", {"branch": repository.default_branch})
        head = str(raw["commit"]["sha"])
        return PullRequest(
            number=0,
            title=repository.default_branch,
            state="open",
            is_draft=False,
            is_merged=False,
            author="",
            author_is_bot=False,
            head_sha=head,
            head_ref=repository.default_branch,
            head_repository=repository.full_name,
            base_sha=head,
            base_ref=repository.default_branch,
        )

    def role(self, login: str) -> str:
        """Return the user's role; a custom role by the standard one it is built on; `none` where GitHub refuses.

        An outage raises TransientError: nobody is let in, and nobody is told that they may not.
        """
        path = "collaborators/{login}/permission"
        try:
            raw = self.client.get(path, {"login": login})
        except (UserError, OperatorError):
            return "none"
        role, legacy = raw.get("role_name"), raw.get("permission")
        known = role if role in _STANDARD_ROLES else legacy
        return known if known in _STANDARD_ROLES else "none"

    def is_team_member(self, team: str, login: str) -> bool:
        """Whether a user is an active member of a team of the repository's organization."""
        return is_team_member(self.client, self._connection.full_name.partition("/")[0], team, login)

    def comment(self, comment_id: int) -> WrittenComment | None:
        """Return a comment of this repository as it stands now, or None when there is none."""
        return read_comment(self.client, comment_id)

    def ssh_keys(self, login: str) -> Sequence[str]:
        """Return the public keys that GitHub shows for a user, each as `type base64`."""
        try:
            listed = list(self.client.pages("/users/{login}/keys", {"login": login}))
        except UserError:
            return ()
        found = (_KEY.fullmatch(str(entry.get("key", "")).strip()) for entry in listed)
        return tuple(f"{match[1]} {match[2]}" for match in found if match)

    def is_run_alive(self, run_id: str) -> bool:
        """Whether a run may still act. One that GitHub does not know any more was deleted, so it had ended."""
        if not run_id.isdigit():
            return True
        ask = Ask("GET", "actions/runs/{run_id}", {"run_id": run_id}, allow=frozenset({404}))
        try:
            reply = self.client.ask(ask)
        except GpuLolError:
            return True
        return reply.status != 404 and reply.body.get("status") != "completed"

    def me(self) -> str:
        """Return the login under which this token writes.

        A workflow's or an app's token may not ask GET /user; GraphQL tells both. Whoever reacted first
        knows it already.
        """
        if self._me is None:
            self._me = str(self.client.graphql("query { viewer { login } }")["viewer"]["login"])
        return self._me

    # --- conversation -------------------------------------------------------------------------------------
    def react(self, comment_id: int, content: str) -> None:
        """Add a reaction; one that cannot be added is no reason to stop."""
        if "github" not in sys.modules:
            self.client.budget.counts["POST issues/comments/{comment_id}/reactions"] += 1
            reacted = post_reaction(self._connection, comment_id, content)
            if reacted is not None:
                self._me = reacted.login or self._me
                self.client.budget.learn(reacted.headers)
                return
        ask = Ask(
            "POST",
            "issues/comments/{comment_id}/reactions",
            {"comment_id": comment_id},
            body={"content": content},
            is_repeatable=True,  # GitHub keeps one of a kind per person
        )
        try:
            self._me = self.client.ask(ask).body["user"]["login"]
        except (GpuLolError, KeyError, TypeError) as error:
            self._hands.note(f"the reaction could not be added: {error}")

    def post_comment(self, number: int, body: str) -> Posted:
        """Post a comment once, also where GitHub's answer is lost."""
        return self._post(number, body)

    def close_command(self, closing: Closing) -> Posted:
        """Say the last word on a command: its answer, the reaction, the status; at once where GraphQL lets us."""
        done = close_at_once(self.client, self.first_look.pull_node, self._nodes, closing)
        posted = done.posted or self._post(closing.number, closing.body, is_doubtful=done.is_doubtful)
        if not done.has_reacted:
            self.react(closing.command_id, closing.reaction)
        if not done.has_edited:
            try:
                self.edit_comment(closing.status_id, closing.last_status)
            except GpuLolError as error:
                self._hands.note(f"the status comment could not be edited: {error.explanation.what}")
        return posted

    def _post(self, number: int, body: str, *, is_doubtful: bool = False) -> Posted:
        made = OnePost(self.client, self._hands, self.me, number, body).send(is_doubtful=is_doubtful)
        self._nodes[made.comment_id] = made.node_id
        return made

    def edit_comment(self, comment_id: int, body: str) -> None:
        """Replace a comment's text."""
        self.client.ask(
            Ask(
                "PATCH",
                "issues/comments/{comment_id}",
                {"comment_id": comment_id},
                body={"body": body},
                is_repeatable=True,
            )
        )

    def find_comments(self, number: int, marker_prefix: str) -> Sequence[Posted]:
        """Return our own comments that start with the marker; anybody can write the marker, only we are us."""
        if not marker_prefix:
            raise ValueError("an empty marker would find every comment")
        listed = self.client.pages("issues/{number}/comments", {"number": number})
        marked = [entry for entry in listed if str(entry.get("body") or "").startswith(marker_prefix)]
        # Most pull requests have none yet: then nobody needs to know who we are.
        return [posted(entry) for entry in marked if author_of(entry) == self.me()] if marked else []

    # --- code ---------------------------------------------------------------------------------------------
    def read_file(self, path: str, ref: str) -> str | None:
        """Return a text file, None where there is no such file; UserError where it is too large or no text."""
        seen = self.first_look.policy(path, ref)
        if seen is not None:
            return seen.text
        ask = Ask("GET", "contents/{path}", {"path": path}, {"ref": ref}, allow=frozenset({404}))
        raw = self.client.ask(ask)
        if raw.status == 404 or not isinstance(raw.body, dict) or raw.body.get("type") != "file":
            return None
        if raw.body.get("encoding") != "base64" or raw.body.get("size", 0) > _MAX_FILE_BYTES:
            raise UserError("file_too_large", f"`{path}` is larger than 1 MB", fix="Make it shorter.")
        try:
            return base64.b64decode(raw.body["content"]).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            raise UserError("file_not_text", f"`{path}` is no UTF-8 text", fix="Save it as UTF-8.") from None

    def tree(self, sha: str) -> AbstractContextManager[Path]:
        """Yield a folder with the files of exactly that commit; links and oversized files are left out."""
        return self._files.tree(sha)

    def commit(self, sha: str) -> CommitContent:
        """Return the commit's tree, and git's own bytes of it, rebuilt from what the API says."""
        seen = self.first_look.commit(sha)
        content = rebuild_commit_object(seen) if seen is not None else None
        if seen is None or content is None:
            # Only bytes whose hash is the commit's id prove what GraphQL said of it.
            raw = self.client.get("git/commits/{sha}", {"sha": sha})
            try:
                seen = rest_commit(raw)
            except (KeyError, TypeError, ValueError):
                raise _not_understood(f"commit {sha[:7]}") from None
            content = rebuild_commit_object(seen)
        return CommitContent(seen.tree_id, content, self._files.gitlinks(sha, seen.tree_id))

    def bundle(self, sha: str, destination: Path) -> Path:
        """Write the tree of exactly that commit, links included, as a tar.gz without a top folder."""
        return self._files.bundle(sha, destination)

    def merge_base(self, base: str, head: str) -> str:
        """Return the commit that both have in common."""
        return self._comparisons.of(base, head)[0]

    def changed_paths(self, base: str, head: str) -> frozenset[str]:
        """Return the paths that differ from what both have in common, as GitHub lists them: of at most 300 files."""
        return self._comparisons.of(base, head)[1]


def _not_understood(subject: str) -> GpuLolError:
    return TransientError("github_answer_not_understood", f"GitHub's answer about {subject} lacks what it always has")
