"""The GitHub stand-in as tests and the rehearsal hold it: people act on it, the bot talks to it over HTTP.

with Hub(folder, now=clock.now) as hub:
    pull = hub.open_pull_request("ada", {"train.py": "..."}, title="Train longer")
    event = hub.comment(pull.number, "ada", "/gpu-lol up")      # -> the webhook, as GitHub sends it
    ...                                                          # run the bot with hub.api_url and hub.bot_token
    assert hub.problems() == []
"""

from __future__ import annotations

import http.server
import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from gpu_lol_action.rehearsal import github_changes as changes
from gpu_lol_action.rehearsal import github_events as events
from gpu_lol_action.rehearsal.github_changes import Content, PullRequestDraft, Push
from gpu_lol_action.rehearsal.github_events import Scene, Webhook
from gpu_lol_action.rehearsal.github_faults import KINDS, Fault, kind_of
from gpu_lol_action.rehearsal.github_http import serve
from gpu_lol_action.rehearsal.github_import import import_folder
from gpu_lol_action.rehearsal.github_log import Journal
from gpu_lol_action.rehearsal.github_server import Api, ArchiveHost
from gpu_lol_action.rehearsal.github_setting import BOT, BOT_PERMISSIONS, Setting
from gpu_lol_action.rehearsal.github_state import Account, Comment, Issue, Repository, Token, World

if TYPE_CHECKING:
    from typing_extensions import Self


class Hub:
    """One stand-in with one repository; `journal` keeps what the bot asked."""

    def __init__(self, root: Path, *, now: Callable[[], datetime], setting: Setting | None = None) -> None:
        self.setting = setting or Setting()
        self.world = World(root, now)
        self.journal = Journal()
        self._servers: list[http.server.ThreadingHTTPServer] = []
        self._token_numbers = itertools.count(1)
        self.repository = self.world.add_repository(
            self.setting.full_name, is_private=self.setting.is_private, owner_kind=self.setting.owner_kind
        )
        self.bot = self.world.add_account(BOT, "Bot", account_id=41_898_282)
        self.bot_token = self.add_token(BOT, BOT_PERMISSIONS)
        self.maintainer = self.add_user("maintainer", role="admin").login

    def __enter__(self) -> Self:
        archive = serve(ArchiveHost(self.world, self.journal).answer)
        self._servers.append(archive)
        self.world.archive_url = f"http://127.0.0.1:{archive.server_address[1]}"
        answers = Api(self.world, self.journal, self.setting.prefix)
        self._replica = answers.replica
        api = serve(answers.answer, self.setting.port)
        self._servers.append(api)
        self.world.web_url = f"http://127.0.0.1:{api.server_address[1]}"
        self.world.api_url = self.world.web_url + self.setting.prefix
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._servers:
            server = self._servers.pop()
            server.shutdown()
            server.server_close()

    @property
    def api_url(self) -> str:
        """What `GITHUB_API_URL` holds."""
        return self.world.api_url

    @property
    def web_url(self) -> str:
        """What `GITHUB_SERVER_URL` holds."""
        return self.world.web_url

    def add_user(
        self, login: str, *, role: str | None = None, ssh_keys: Sequence[str] = (), kind: str = "User"
    ) -> Account:
        """A person with a role here (admin, maintain, write, triage, read, or a custom one) and SSH keys."""
        account = self.world.add_account(login, kind)
        if role is not None:
            self.repository.roles[login.lower()] = role
        account.ssh_keys = [(self.world.next_id(), key) for key in ssh_keys]
        return account

    def add_to_team(self, team: str, login: str, state: str = "active") -> None:
        """Make somebody a member of a team of this organization, or invite them (`pending`)."""
        self.world.teams.setdefault(team.lower(), {})[login.lower()] = state

    def add_token(self, login: str, permissions: Mapping[str, str] | None = None) -> str:
        """A token for that login; with permissions it is a workflow's, without a person's."""
        kind = "ghs" if permissions is not None else "ghp"
        # Long enough and shaped so that a redactor has to recognize it.
        text = f"{kind}_{next(self._token_numbers):036d}"
        self.world.tokens[text] = Token(self._account(login), permissions)
        return text

    def use_up_requests(self, token: str, left: int = 0) -> None:
        """Leave that many requests of the hour to the token's account."""
        held = self.world.tokens[token]
        self.world.requests_used[held.account.login] = self.world.request_limit(held) - left

    def commit(
        self, files: Mapping[str, Content], *, branch: str = "main", by: str = "", message: str = "Change"
    ) -> str:
        """Commit files straight onto a branch; returns the SHA."""
        author = self._account(by or self.maintainer)
        with self.world.lock:
            return changes.commit_files(self.world, self.repository, Push(branch, files, message, author))

    def commit_folder(self, folder: Path, *, branch: str = "main", message: str = "Add the project") -> str:
        """Commit what git would commit of a folder on disk, a repository or not; returns the SHA."""
        author = changes.signature(self.world, self._account(self.maintainer))
        with self.world.lock:
            return import_folder(self.repository.git, folder, branch, message, author)

    def fork(self, owner: str) -> Repository:
        """Somebody's fork, with the default branch as it is now."""
        with self.world.lock:
            return changes.fork(self.world, self.repository, owner)

    def delete_fork(self, fork: Repository) -> None:
        """The fork goes away; its pull requests stay, with `head.repo` null."""
        with self.world.lock:
            changes.delete_fork(self.world, self.repository, fork)

    def open_pull_request(
        self,
        author: str,
        files: Mapping[str, Content],
        *,
        title: str = "Change the training",
        branch: str = "feature",
        fork: Repository | None = None,
        is_draft: bool = False,
    ) -> Webhook:
        """Commit files to a branch (of a fork) and open a pull request from it: `pull_request` opened."""
        account = self._account(author)
        with self.world.lock:
            source = fork or self.repository
            changes.commit_files(self.world, source, Push(branch, files, title, account))
            head = f"{source.owner.login}:{branch}" if fork else branch
            draft = PullRequestDraft(title, head, self.repository.default_branch, None, is_draft)
            issue = changes.open_pull(self.world, self.repository, account, draft)
            return events.pull_request(self._scene(author), issue, "opened")

    def push(self, number: int, author: str, files: Mapping[str, Content], *, message: str = "More") -> Webhook:
        """New commits on a pull request's branch: `pull_request` synchronize."""
        with self.world.lock:
            issue = self.repository.issues[number]
            pull = issue.pull
            if pull is None or pull.head_repository is None:
                raise LookupError(f"#{number} has no branch to push to")
            before = pull.head_sha
            source = pull.head_repository
            push = Push(pull.head_ref, files, message, self._account(author))
            after = changes.commit_files(self.world, source, push)
            return events.pull_request(self._scene(author), issue, "synchronize", {"before": before, "after": after})

    def close_pull_request(self, number: int, by: str) -> Webhook:
        """`pull_request` closed, not merged."""
        with self.world.lock:
            changes.close_issue(self.world, self.repository.issues[number], self._account(by))
            return events.pull_request(self._scene(by), self.repository.issues[number], "closed")

    def merge(self, number: int, by: str) -> Webhook:
        """`pull_request` closed, merged."""
        with self.world.lock:
            issue = self.repository.issues[number]
            changes.merge_pull(self.world, self.repository, issue, self._account(by))
            return events.pull_request(self._scene(by), issue, "closed")

    def reopen_pull_request(self, number: int, by: str) -> Webhook:
        """`pull_request` reopened."""
        with self.world.lock:
            changes.reopen_issue(self.world, self.repository.issues[number])
            return events.pull_request(self._scene(by), self.repository.issues[number], "reopened")

    def mark_ready(self, number: int, by: str) -> Webhook:
        """A draft becomes a pull request like any other: `pull_request` ready_for_review."""
        with self.world.lock:
            issue = self.repository.issues[number]
            if issue.pull is not None:
                issue.pull.is_draft = False
            return events.pull_request(self._scene(by), issue, "ready_for_review")

    def label(self, number: int, by: str, name: str) -> Webhook:
        """Somebody sets a label: `pull_request` labeled."""
        with self.world.lock:
            issue = self.repository.issues[number]
            changes.set_label(self.world, self.repository, issue, self._account(by), name)
            return events.labeled(self._scene(by), issue, name)

    def comment(self, number: int, author: str, body: str) -> Webhook:
        """Somebody writes: `issue_comment` created."""
        with self.world.lock:
            made = changes.add_comment(self.world, self.repository, number, self._account(author), body)
            return events.issue_comment(self._scene(author), made)

    def edit_comment(self, comment_id: int, body: str) -> Webhook:
        """Somebody edits a comment: `issue_comment` edited."""
        with self.world.lock:
            made = self.repository.comments[comment_id]
            before = made.body
            made.edit(body, self.world.now())
            return events.comment_edited(self._scene(made.author.login), made, before)

    def comments(self, number: int, by: str | None = None) -> list[Comment]:
        """The conversation, oldest first; of one person where `by` is given."""
        with self.world.lock:
            return [
                comment
                for _, comment in sorted(self.repository.comments.items())
                if comment.number == number and by in (None, comment.author.login)
            ]

    def reactions(self, comment_id: int) -> list[str]:
        """The reactions to a comment, oldest first."""
        with self.world.lock:
            kept = sorted(self.repository.reactions.items())
            return [each.content for _, each in kept if each.subject == ("comment", comment_id)]

    def schedule(self, cron: str = "17 * * * *", workflow: str = "bot.yml") -> Webhook:
        """The clock strikes: what a scheduled run gets."""
        with self.world.lock:
            return events.schedule(self._scene(self.maintainer), cron, workflow)

    def workflow_dispatch(self, by: str, inputs: Mapping[str, str] | None = None, workflow: str = "bot.yml") -> Webhook:
        """Somebody starts a workflow by hand."""
        with self.world.lock:
            return events.workflow_dispatch(self._scene(by), inputs or {}, workflow)

    def start_run(self, event: str, by: str, workflow: str = "bot.yml") -> str:
        """A workflow run that is in progress on the default branch; returns its id, as `GITHUB_RUN_ID`."""
        with self.world.lock:
            run = changes.start_run(self.world, self.repository, self._account(by), workflow, event)
            run.status = "in_progress"
            return str(run.run_id)

    def finish_run(self, run_id: str, conclusion: str = "success") -> None:
        """The run ends: success, failure, cancelled, timed_out."""
        with self.world.lock:
            run = self.repository.runs[int(run_id)]
            run.status, run.conclusion = "completed", conclusion

    def fail_next(
        self,
        pattern: str,
        status: int,
        *,
        times: int = 1,
        mode: Literal["before", "after"] = "before",
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer the next requests of an operation wrongly; see Fault for patterns, FaultKind for status 0 and `after`."""
        with self.world.lock:
            self.journal.faults.extend(Fault(pattern, kind_of(status, mode, headers), body) for _ in range(times))

    def inject(self, kind: str, pattern: str = "*", *, times: int = 1, skip: int = 0) -> None:
        """Answer requests of an operation with a fault of github_faults.KINDS, after `skip` of them went well.

        A stale read answers as everything is now, or as it was before the last write that came after.
        """
        with self.world.lock:
            if KINDS[kind].mode == "stale":
                self._replica.keep()
            self.journal.faults.extend(Fault(pattern, KINDS[kind], skip=skip) for _ in range(times))

    def counts(self) -> dict[str, int]:
        """Requests per operation since the last `forget_requests`."""
        with self.world.lock:
            return self.journal.counts()

    def forget_requests(self) -> None:
        """Count requests anew from here."""
        with self.world.lock:
            self.journal.requests.clear()

    def problems(self) -> list[str]:
        """Unknown routes, requests and answers against GitHub's description, faults that nothing met."""
        with self.world.lock:
            return self.journal.problems()

    def issue(self, number: int) -> Issue:
        """An issue or the conversation half of a pull request."""
        return self.repository.issues[number]

    def _account(self, login: str) -> Account:
        known = self.world.accounts.get(login.lower())
        return known or self.add_user(login)

    def _scene(self, login: str) -> Scene:
        return Scene(self.world, self.repository, self._account(login))
