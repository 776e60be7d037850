"""Scripted hands behind the ports: a clock that jumps, a cloud and a machine that do what a test says.

The real adapters have contract tests of their own, and the stories run them all together. These exist so that every
branch of a handler (a lost race, a silent cloud, a machine that comes back) is one quick test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

from gpu_lol_action.domain.confirmation import WrittenComment
from gpu_lol_action.domain.environment import SshEndpoint
from gpu_lol_action.domain.machine import Launched, LaunchRequest, Machine, NotLaunched, RemoteOutput
from gpu_lol_action.domain.request import Closing, CommitContent, Posted, PullRequest, Repository
from gpu_lol_action.errors import GpuLolError, OperatorError, TransientError, UserError

START = datetime(2026, 11, 20, 12, 0, tzinfo=timezone.utc)
BOT = "github-actions[bot]"
HEAD = "abc1234" + "0" * 33
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"  # OpenSSH's own example shape


@dataclass
class JumpingClock:
    """Time that passes only when somebody sleeps."""

    at: datetime = START

    def now(self) -> datetime:
        return self.at

    def sleep(self, duration: timedelta) -> None:
        self.at += duration


@dataclass
class ScriptedCloud:
    """A cloud with machines in a dictionary. ``answers`` are given to launches in turn; after them each launch works.

    An answer that is called may do something first, and raise, or return a refusal, or nothing for a launch that works.
    """

    clock: JumpingClock
    answers: list[NotLaunched | Callable[[], NotLaunched | None]] = field(default_factory=list)
    running: dict[str, datetime] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    is_silent: bool = False
    survives_teardowns: int = 0
    refuses_teardowns_of: set[str] = field(default_factory=set)
    cancel_raises: BaseException | None = None
    boots_in: timedelta = timedelta(seconds=60)
    price: Decimal | None = None
    listed_usd_per_hour: list[Decimal | None] = field(default_factory=list)
    catalog_usd_per_hour: list[Decimal | None] = field(default_factory=list)

    def warm(self) -> None:
        self.log.append("warm")

    def launch(self, request: LaunchRequest, on_progress: Callable[[str], None]) -> Launched | NotLaunched:
        self.log.append(f"launch {request.task['resources']['accelerators']}")  # type: ignore[index]  # a task is nested
        on_progress("booting")
        self.clock.sleep(self.boots_in)
        if self.answers:
            scripted = self.answers.pop(0)
            answer = scripted if isinstance(scripted, NotLaunched) else scripted()
            if answer is not None:
                return answer
        name = self.name_on_cloud(request.cluster_name)
        self.running[name] = self.clock.now()
        self.price = self.listed_usd_per_hour.pop(0) if self.listed_usd_per_hour else None
        catalog = self.catalog_usd_per_hour.pop(0) if self.catalog_usd_per_hour else None
        return Launched(name, "US", SshEndpoint("203.0.113.7", 41822, "root"), {}, catalog)

    def cancel(self) -> None:
        self.log.append("cancel")
        if self.cancel_raises is not None:
            raise self.cancel_raises

    def name_on_cloud(self, cluster_name: str) -> str:
        return f"{cluster_name}-c0ffee00"

    def teardown(self, cloud: str, name_on_cloud: str, provider_config: Mapping[str, str]) -> None:
        self._answer()
        self.log.append(f"teardown {name_on_cloud}")
        if name_on_cloud in self.refuses_teardowns_of:
            raise OperatorError("cloud_credentials_refused", "the cloud refuses the key")
        if self.survives_teardowns:
            self.survives_teardowns -= 1
            return
        self.running.pop(name_on_cloud, None)

    def machines(self, cloud: str, prefix: str) -> Sequence[Machine]:
        self._answer()
        self.log.append("list")
        return [
            Machine(
                cloud,
                name,
                "EXITED" if name in self.stopped else "RUNNING",
                created_at=created,
                price_usd_per_hour=self.price,
            )
            for name, created in self.running.items()
            if name.startswith(prefix)
        ]

    def close(self) -> None:
        self.log.append("close")

    def _answer(self) -> None:
        if self.is_silent:
            raise TransientError("cloud_unreachable", "the cloud does not answer")


@dataclass
class ScriptedForge:
    """A repository with one pull request; comments and reactions are kept in lists."""

    folder: Path
    pull: PullRequest
    repo: Repository = field(default_factory=lambda: Repository("acme/train", 5, "main"))
    roles: dict[str, str] = field(default_factory=lambda: {"ada": "admin", "bob": "read"})
    keys: dict[str, list[str]] = field(default_factory=lambda: {"ada": [KEY]})
    files: dict[str, str] = field(default_factory=dict)
    trees: dict[str, Path] = field(default_factory=dict)
    posted: list[Posted] = field(default_factory=list)
    reactions: list[tuple[int, str]] = field(default_factory=list)
    edits: int = 0
    asked: list[str] = field(default_factory=list)
    role_error: GpuLolError | None = None
    dead_runs: set[str] = field(default_factory=set)
    is_read_only: bool = False
    unreadable: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    teams: dict[str, set[str]] = field(default_factory=dict)
    comments: dict[int, WrittenComment] = field(default_factory=dict)
    url_of: str = ""
    is_short: bool = False
    is_reserve_open: bool = False

    def repository(self) -> Repository:
        return self.repo

    def pull_request(self, number: int) -> PullRequest:
        self.asked.append("pull_request")
        return self.pull

    def role(self, login: str) -> str:
        self.asked.append("role")
        if self.role_error is not None:
            raise self.role_error
        return self.roles.get(login, "none")

    def is_team_member(self, team: str, login: str) -> bool:
        self.asked.append("team")
        return login in self.teams.get(team, ())

    def comment(self, comment_id: int) -> WrittenComment | None:
        self.asked.append("comment")
        return self.comments.get(comment_id)

    def react(self, comment_id: int, content: str) -> None:
        self.asked.append("react")
        self.reactions.append((comment_id, content))

    def post_comment(self, number: int, body: str) -> Posted:
        if self.is_read_only:
            raise TransientError("github_refused", "this token may not write")
        number_of_comment = len(self.posted) + 1
        url = self.url_of.format(number_of_comment)
        self.posted.append(Posted(number_of_comment, body, "github-actions[bot]", url))
        return self.posted[-1]

    def close_command(self, closing: Closing) -> Posted:
        posted = self.post_comment(closing.number, closing.body)
        self.react(closing.command_id, closing.reaction)
        self.edit_comment(closing.status_id, closing.last_status)
        return posted

    def edit_comment(self, comment_id: int, body: str) -> None:
        if self.is_read_only:
            raise TransientError("github_refused", "this token may not write")
        self.edits += 1
        self.posted[comment_id - 1] = replace(self.posted[comment_id - 1], body=body)

    def find_comments(self, number: int, marker_prefix: str) -> Sequence[Posted]:
        ours = [posted for posted in self.posted if posted.author == BOT]
        return [posted for posted in ours if posted.body.startswith(marker_prefix)]

    def ssh_keys(self, login: str) -> Sequence[str]:
        self.asked.append("keys")
        return self.keys.get(login, [])

    def read_file(self, path: str, ref: str) -> str | None:
        return self.files.get(path)

    @contextmanager
    def tree(self, sha: str) -> Iterator[Path]:
        if sha in self.unreadable:
            raise UserError("github_not_found", "GitHub has no such archive")
        yield self.trees.get(sha, self.folder)

    def commit(self, sha: str) -> CommitContent:
        return CommitContent("d" * 40, b"tree " + b"d" * 40)

    def bundle(self, sha: str, destination: Path) -> Path:
        destination.write_bytes(b"archive")
        return destination

    def merge_base(self, base: str, head: str) -> str:
        return base

    def changed_paths(self, base: str, head: str) -> frozenset[str]:
        return frozenset(self.changed)

    def is_run_alive(self, run_id: str) -> bool:
        return run_id not in self.dead_runs

    def open_reserve(self) -> None:
        self.is_reserve_open = True

    def is_short_of_requests(self) -> bool:
        return self.is_short


@dataclass
class ScriptedShell:
    """A machine that answers each script by the first rule whose word stands in it."""

    answers: list[tuple[str, Callable[[str], RemoteOutput]]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    is_still_there: bool = False

    def answers_as_before(self, endpoint: SshEndpoint) -> bool:
        return self.is_still_there

    def host_key(self, endpoint: SshEndpoint) -> str:
        return KEY

    def run(
        self,
        endpoint: SshEndpoint,
        script: str,
        *,
        stdin: Path | bytes | None = None,
        timeout: timedelta = timedelta(minutes=5),
        on_line: Callable[[str], None] | None = None,
        into: Path | None = None,
    ) -> RemoteOutput:
        self.scripts.append(script)
        for word, answer in self.answers:
            if word in script:
                return answer(script)
        raise TransientError("machine_unreachable", "nobody scripted an answer")


@dataclass
class QuietProgress:
    """Keeps what would be shown."""

    lines: list[str] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def phase(self, name: str) -> None:
        self.lines.append(f"▸ {name}")

    def line(self, text: str) -> None:
        self.lines.append(text)

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def failure(self, error: BaseException) -> None:
        self.failures.append(error)


def pull_request(**changes: object) -> PullRequest:
    """An open pull request of the repository itself."""
    pull = PullRequest(
        number=12,
        title="Longer context",
        state="open",
        is_draft=False,
        is_merged=False,
        author="ada",
        author_is_bot=False,
        head_sha=HEAD,
        head_ref="long",
        head_repository="acme/train",
        base_sha="b" * 40,
        base_ref="main",
    )
    return replace(pull, **changes)  # type: ignore[arg-type]  # keyword bag of a test helper
