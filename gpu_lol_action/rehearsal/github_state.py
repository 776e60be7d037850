"""What the GitHub stand-in remembers: people, repositories, pull requests, comments, runs."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from gpu_lol_action.rehearsal.github_git import BareRepository

# The legacy `permission` word that GitHub gives beside each role.
LEGACY_PERMISSIONS = {"admin": "admin", "maintain": "write", "write": "write", "triage": "read", "read": "read"}


@dataclass(slots=True)
class Account:
    """A person, a bot or an organization. `kind` is GitHub's `type`."""

    account_id: int
    login: str
    kind: str
    created_at: datetime
    ssh_keys: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Token:
    """Who a token speaks for. `permissions` as a workflow's `permissions:` key; None is a person's token."""

    account: Account
    permissions: Mapping[str, str] | None = None


@dataclass(slots=True)
class Pull:
    """The half of a pull request that an issue has not. `head_repository` is None when the fork was deleted."""

    pull_id: int
    head_repository: Repository | None
    head_label: str
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    is_draft: bool
    merged_at: datetime | None = None
    merged_by: Account | None = None
    merge_commit_sha: str | None = None
    may_maintainers_modify: bool = True


@dataclass(frozen=True, slots=True)
class Labeling:
    """That somebody set a label: what stays in the timeline when the label is gone."""

    name: str
    actor: Account
    at: datetime


@dataclass(slots=True)
class Issue:
    """An issue, or the conversation half of a pull request."""

    issue_id: int
    number: int
    title: str
    body: str | None
    author: Account
    created_at: datetime
    updated_at: datetime
    state: str = "open"
    state_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: Account | None = None
    labels: list[str] = field(default_factory=list)
    labelings: list[Labeling] = field(default_factory=list)
    pull: Pull | None = None


@dataclass(slots=True)
class Comment:
    """A comment on an issue or pull request; `first_body` is what it said before any edit."""

    comment_id: int
    number: int
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    first_body: str = ""
    edited_at: datetime | None = None
    edits: int = 0

    def __post_init__(self) -> None:
        self.first_body = self.first_body or self.body

    def edit(self, body: str, at: datetime) -> None:
        """Say something else from now on."""
        self.body, self.edits = body, self.edits + 1
        self.updated_at = self.edited_at = at


@dataclass(slots=True)
class Reaction:
    """A reaction; `subject` is ("comment", id) or ("issue", number)."""

    reaction_id: int
    subject: tuple[str, int]
    author: Account
    content: str
    created_at: datetime


@dataclass(slots=True)
class WorkflowRun:
    """A run of a workflow. `status` and `conclusion` are GitHub's words."""

    run_id: int
    run_number: int
    workflow: str
    event: str
    head_sha: str
    head_branch: str
    actor: Account
    created_at: datetime
    status: str = "in_progress"
    conclusion: str | None = None


@dataclass(slots=True)
class Repository:
    """One repository with everything in it. `records` holds checks, deployments and statuses as GitHub shows them."""

    repository_id: int
    owner: Account
    name: str
    is_private: bool
    default_branch: str
    created_at: datetime
    git: BareRepository
    fork_of: Repository | None = None
    refuses_custom_refs: bool = False
    hides_custom_refs: bool = False
    has_issues: bool = True
    pushed_at: datetime | None = None
    roles: dict[str, str] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    reactions: dict[int, Reaction] = field(default_factory=dict)
    runs: dict[int, WorkflowRun] = field(default_factory=dict)
    labels: dict[str, dict[str, Any]] = field(default_factory=dict)
    records: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    def role_of(self, account: Account) -> str:
        """GitHub's `role_name`: everybody may read a public repository."""
        if account is self.owner:
            return "admin"
        return self.roles.get(account.login.lower(), "none" if self.is_private else "read")

    def association_of(self, account: Account) -> str:
        """GitHub's `author_association`, as webhooks carry it."""
        if account is self.owner:
            return "OWNER"
        if account.login.lower() in self.roles:
            return "MEMBER" if self.owner.kind == "Organization" else "COLLABORATOR"
        pulls = [issue.pull for issue in self.issues.values() if issue.author is account and issue.pull]
        return "CONTRIBUTOR" if any(pull.merged_at for pull in pulls) else "NONE"

    def record(self, kind: str) -> dict[int, dict[str, Any]]:
        """Checks, deployments or statuses, by id."""
        return self.records.setdefault(kind, {})


class World:
    """Everything the stand-in knows, under one lock. `now` gives aware UTC time; GitHub keeps whole seconds."""

    def __init__(self, root: Path, now: Callable[[], datetime]) -> None:
        self.root = root
        self.lock = threading.RLock()
        self.api_url = ""
        self.web_url = ""
        self.archive_url = ""
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[str, Repository] = {}
        self.tokens: dict[str, Token] = {}
        self.archive_tickets: dict[str, tuple[Repository, str]] = {}
        self.page_limit = 100
        # As a server whose GraphQL is down, or a token that may not use it: REST has to do.
        self.refuses_graphql = False
        self.requests_used: dict[str, int] = {}
        # Team to member to state: "active", or "pending" until an invitation is taken.
        self.teams: dict[str, dict[str, str]] = {}
        self._now = now
        # Past 2**31, as GitHub's are: a 32-bit integer anywhere would show.
        self._ids = itertools.count(2_871_000_113, 37)
        self._small_ids = itertools.count(583_231, 1_009)

    def now(self) -> datetime:
        """The time in whole seconds."""
        return self._now().replace(microsecond=0)

    def request_limit(self, token: Token) -> int:
        """Requests an hour: a workflow's token has 1,000 for its repository, a person 5,000."""
        return 5000 if token.permissions is None else 1000

    def requests_left(self, token: Token) -> int:
        """What is left of the hour."""
        return max(self.request_limit(token) - self.requests_used.get(token.account.login, 0), 0)

    def next_id(self) -> int:
        """A new number, as large as GitHub has them."""
        return next(self._ids)

    def add_account(self, login: str, kind: str = "User", account_id: int | None = None) -> Account:
        """The account of that login, made when there is none yet."""
        known = self.accounts.get(login.lower())
        if known is None:
            made = account_id if account_id is not None else next(self._small_ids)
            known = Account(made, login, kind, self.now())
            self.accounts[login.lower()] = known
        return known

    def add_repository(self, full_name: str, *, is_private: bool, owner_kind: str) -> Repository:
        """A new, empty repository on disk."""
        owner_login, name = full_name.split("/")
        repository = Repository(
            repository_id=740_000_000 + next(self._small_ids),
            owner=self.add_account(owner_login, owner_kind),
            name=name,
            is_private=is_private,
            default_branch="main",
            created_at=self.now(),
            git=BareRepository(self.root / owner_login / f"{name}.git"),
        )
        self.repositories[full_name.lower()] = repository
        return repository

    def repository_by_id(self, repository_id: int) -> Repository | None:
        """The repository of that number, or None."""
        return next((each for each in self.repositories.values() if each.repository_id == repository_id), None)

    def pulls(self, repository: Repository) -> Iterator[tuple[Issue, Pull]]:
        """Pull requests, newest first, as GitHub lists them."""
        for number in sorted(repository.issues, reverse=True):
            issue = repository.issues[number]
            if issue.pull is not None:
                yield issue, issue.pull
