"""The hands that handlers are given: small protocols that adapters fulfil, and the context that carries them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Protocol

from gpu_lol_action.domain.confirmation import WrittenComment
from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint
from gpu_lol_action.domain.ledger import Entry, Survey, UnreadableEntry
from gpu_lol_action.domain.machine import Launched, LaunchRequest, Machine, NotLaunched, RemoteOutput
from gpu_lol_action.domain.request import Closing, CommitContent, Posted, PullRequest, Repository
from gpu_lol_action.domain.rescue import Kept


class Clock(Protocol):
    """Time, asked for and never stored."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    def sleep(self, duration: timedelta) -> None:
        """Wait that long."""
        ...


class Forge(Protocol):
    """The place where the repository lives: GitHub, or a folder in the terminal."""

    def repository(self) -> Repository:
        """Return the repository this run is about."""
        ...

    def pull_request(self, number: int) -> PullRequest:
        """Return the pull request as it is now."""
        ...

    def role(self, login: str) -> str:
        """Return GitHub's ``role_name`` of a user here; ``none`` where it is refused or unknown (fail closed)."""
        ...

    def is_team_member(self, team: str, login: str) -> bool:
        """Whether a user is an active member of a team of the repository's organization; False where it is not told."""
        ...

    def comment(self, comment_id: int) -> WrittenComment | None:
        """Return a comment of this repository as it stands now, or None when there is none."""
        ...

    def react(self, comment_id: int, content: str) -> None:
        """Add a reaction (``eyes``, ``+1``, ``-1``, ``rocket``, ``confused``); a refusal is not an error."""
        ...

    def post_comment(self, number: int, body: str) -> Posted:
        """Post a new comment, exactly once even when an answer is lost (the body's marker identifies it)."""
        ...

    def close_command(self, closing: Closing) -> Posted:
        """Post an answer once, with the reaction at its command and the status comment's last text; return the answer.

        Raises as `post_comment` does; that the other two cannot be done is no error.
        """
        ...

    def edit_comment(self, comment_id: int, body: str) -> None:
        """Replace a comment's text."""
        ...

    def find_comments(self, number: int, marker_prefix: str) -> Sequence[Posted]:
        """Return our own comments whose first line starts with the marker, over all pages, oldest first."""
        ...

    def ssh_keys(self, login: str) -> Sequence[str]:
        """Return a user's public SSH keys, each ``type base64``."""
        ...

    def read_file(self, path: str, ref: str) -> str | None:
        """Return a text file at a ref, or None when it does not exist there. At most 1 MiB."""
        ...

    def tree(self, sha: str) -> AbstractContextManager[Path]:
        """Yield a folder with the files of exactly that commit, unpacked as data; it goes away afterwards."""
        ...

    def commit(self, sha: str) -> CommitContent:
        """Return what identifies a commit: its tree, and its own bytes where they can be had."""
        ...

    def bundle(self, sha: str, destination: Path) -> Path:
        """Write a tar.gz of the tree of exactly that commit for shipping to a machine, and return its path."""
        ...

    def merge_base(self, base: str, head: str) -> str:
        """Return the commit that both have in common."""
        ...

    def changed_paths(self, base: str, head: str) -> frozenset[str]:
        """Return the paths that the head has otherwise than the commit that both have in common; of many the first 300."""
        ...

    def is_run_alive(self, run_id: str) -> bool:
        """Whether a workflow run is still queued or in progress; True when it cannot be told."""
        ...

    def open_reserve(self) -> None:
        """Spend from now on also what is kept for teardown: an end, or the record of a machine, depends on this run."""
        ...

    def is_short_of_requests(self) -> bool:
        """Whether so few requests of the hour are left that they are kept for teardown."""
        ...


class Ledger(Protocol):
    """Where environments are written down before money is spent; every change is compare-and-swap."""

    def claim(self, record: EnvironmentRecord) -> Entry:
        """Create the record, or take over a closed one. Raises LostRace when an open one exists."""
        ...

    def update(self, entry: Entry, record: EnvironmentRecord) -> Entry:
        """Write ``record`` over ``entry``. Raises LostRace when it changed meanwhile."""
        ...

    def read(self, name: str) -> Entry | UnreadableEntry | None:
        """Return the newest record of that name, or None when there never was one."""
        ...

    def version(self, name: str) -> str | None:
        """Return the newest version of that record alone, in one request; what a waiting run polls."""
        ...

    def entries(self) -> Sequence[Entry | UnreadableEntry]:
        """Return the newest record of every environment of this repository, closed ones too, by name."""
        ...

    def survey(self) -> Survey:
        """Return the whole ledger at one moment: records, bills and the last sweep for the price of one question."""
        ...

    def history(self, name: str) -> Sequence[Entry | UnreadableEntry]:
        """Return every record that a name ever had, newest first."""
        ...

    def bills_usd(self, since: datetime, names: Collection[str] | None = None) -> Decimal:
        """Return the sum of the bills closed since then, over the whole history; of these environments alone if named."""
        ...

    def note_sweep(self, at: datetime) -> None:
        """Write down that a sweep succeeded."""
        ...

    def last_sweep(self) -> datetime | None:
        """Return when a sweep last succeeded, or None when never."""
        ...


class Cloud(Protocol):
    """SkyPilot, and the providers behind it."""

    def warm(self) -> None:
        """Start loading and starting what the first launch needs, in the background."""
        ...

    def launch(self, request: LaunchRequest, on_progress: Callable[[str], None]) -> Launched | NotLaunched:
        """Try one offer within its time box; afterwards nothing of this try goes on launching."""
        ...

    def cancel(self) -> None:
        """Stop any launch for real: cancel the request and end the server; returns when both are gone."""
        ...

    def name_on_cloud(self, cluster_name: str) -> str:
        """Return the name under which the provider will list that cluster."""
        ...

    def teardown(self, cloud: str, name_on_cloud: str, provider_config: Mapping[str, str]) -> None:
        """End the machine by name; no server and no state needed. No such machine is not an error."""
        ...

    def machines(self, cloud: str, prefix: str) -> Sequence[Machine]:
        """List machines whose name starts with ``prefix``. Raises TransientError when the cloud does not answer."""
        ...

    def close(self) -> None:
        """End server and child processes."""
        ...


class Shell(Protocol):
    """SSH to one machine with our derived key and a pinned host key."""

    def host_key(self, endpoint: SshEndpoint) -> str:
        """Return the machine's ed25519 host key, read over the first connection and pinned from then on."""
        ...

    def answers_as_before(self, endpoint: SshEndpoint) -> bool:
        """Whether the address still shows the host key that was pinned: then that machine runs, whatever a list says."""
        ...

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
        """Run a bash script there; with ``into`` its standard output goes to that file instead. Raises TransientError when the machine cannot be reached or time is up."""
        ...


class Vault(Protocol):
    """Where saved work is kept, encrypted to its owner's SSH keys and to the key of this repository's machines."""

    def keep(self, name: str, data: bytes, public_keys: Sequence[str]) -> Kept:
        """Encrypt and keep it under an environment's name. Raises GpuLolError where it cannot be kept."""
        ...

    def fetch(self, locator: str) -> bytes:
        """Return what was kept, decrypted with the key of this repository's machines. Raises GpuLolError."""
        ...


class Progress(Protocol):
    """Where the phases of a run are shown while it goes on (job log, terminal)."""

    def phase(self, name: str) -> None:
        """A named phase begins."""
        ...

    def line(self, text: str) -> None:
        """Show one line of what is going on, already safe to print."""
        ...

    def warn(self, text: str) -> None:
        """Show one line that must not be overlooked."""
        ...

    def note(self, text: str) -> None:
        """Keep one line for the end of the run's summary: what was left out, and why."""
        ...

    def failure(self, error: BaseException) -> None:
        """Keep what an unexpected error says for us, in the log and nowhere else."""
        ...
