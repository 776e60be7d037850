"""The terminal's forge: a git checkout on this machine in place of GitHub, answers on the screen.

Implements the same port as the GitHub adapter. There is no pull request: number 0 stands for what is checked out.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import re
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from gpu_lol_action.adapters import archive
from gpu_lol_action.adapters.skypilot_process import started_at
from gpu_lol_action.domain.confirmation import WrittenComment
from gpu_lol_action.domain.installation import CheckoutFacts
from gpu_lol_action.domain.request import Closing, CommitContent, Posted, PullRequest, Repository
from gpu_lol_action.errors import UserError

MAX_FILE_BYTES = 1024 * 1024
_NO_FILTER = (("smudge", ""), ("process", ""), ("required", "false"))
_REMOTE = re.compile(r"(?:[:/])([A-Za-z0-9_.-]{1,100})/([A-Za-z0-9_.-]{1,100}?)(?:\.git)?/?$")

_HOST = re.compile(r"^(?:[a-z+]+://)?(?:[^@/]+@)?([A-Za-z0-9.-]+)[:/]")


def this_run() -> str:
    """Return ``host:pid:start``: the start tells this process from a later one with its number."""
    return f"{socket.gethostname()}:{os.getpid()}:{started_at(os.getpid())}"


class LocalForge:
    """A checkout. ``show`` receives every answer as Markdown."""

    def __init__(
        self, folder: Path, show: Callable[[str], None], *, home: Path, environment: Mapping[str, str]
    ) -> None:
        """Take the folder, where answers go, and what git is given of the environment."""
        self._environment = {name: environment[name] for name in ("PATH", "HOME", "LANG") if name in environment}
        self._folder = folder
        self._show = show
        self._home = home
        self._posted = 0

    @classmethod
    def at_root(
        cls, folder: Path, show: Callable[[str], None], *, home: Path, environment: Mapping[str, str]
    ) -> LocalForge:
        """Return that of the whole checkout that a folder lies in: machines and their records are of it, wherever in it one stands."""
        here = cls(folder, show, home=home, environment=environment)
        root = here._git("rev-parse", "--show-toplevel", is_optional=True).removesuffix("\n")
        return cls(Path(root), show, home=home, environment=environment) if root else here

    def repository(self) -> Repository:
        """Return ``owner/name`` of the remote, else the folder's name; the id is a stable hash of it."""
        remote = self._git("remote", "get-url", "origin", is_optional=True)
        match = _REMOTE.search(remote.strip())
        name = f"{match[1]}/{match[2]}" if match else f"local/{_safe(self._folder.resolve().name)}"
        number = int.from_bytes(hashlib.sha256(name.lower().encode()).digest()[:4], "big")
        return Repository(name, number, self._git("branch", "--show-current", is_optional=True).strip() or "main")

    def survey(self) -> tuple[Path, CheckoutFacts]:
        """Return the checkout's root, and what git knows of where it lives."""
        root = Path(self._git("rev-parse", "--show-toplevel").strip())
        remote = _HOST.search(self._git("remote", "get-url", "origin", is_optional=True).strip())
        head = self._git("symbolic-ref", "--short", "refs/remotes/origin/HEAD", is_optional=True).strip()
        branch = head.removeprefix("origin/") or None
        return root, CheckoutFacts(self.repository().full_name, remote[1].lower() if remote else "github.com", branch)

    def pull_request(self, number: int) -> PullRequest:
        """Return what is checked out, in the form of a pull request without a number."""
        if number:
            raise UserError("no_pull_requests_here", f"A terminal knows no pull request #{number}.")
        head = self._git("rev-parse", "HEAD").strip()
        branch = self._git("branch", "--show-current").strip() or "HEAD"
        return PullRequest(
            number=0,
            title=branch,
            state="open",
            is_draft=False,
            is_merged=False,
            author=getpass.getuser(),
            author_is_bot=False,
            head_sha=head,
            head_ref=branch,
            head_repository=self.repository().full_name,
            base_sha=head,
            base_ref=branch,
        )

    def role(self, login: str) -> str:
        """Whoever holds the keys on this machine is its administrator."""
        return "admin" if login == getpass.getuser() else "none"

    def is_team_member(self, team: str, login: str) -> bool:
        """Return False: a terminal has no teams."""
        return False

    def comment(self, comment_id: int) -> WrittenComment | None:
        """Return None: a terminal has no comments."""
        return None

    def react(self, comment_id: int, content: str) -> None:
        """There is no comment to react to; the prompt itself shows that the command was read."""

    def post_comment(self, number: int, body: str) -> Posted:
        """Show an answer."""
        self._posted += 1
        self._show(body)
        return Posted(self._posted, body, getpass.getuser())

    def close_command(self, closing: Closing) -> Posted:
        """Show the answer."""
        return self.post_comment(closing.number, closing.body)

    def edit_comment(self, comment_id: int, body: str) -> None:
        """What was shown scrolls away: the live progress says the same."""

    def find_comments(self, number: int, marker_prefix: str) -> Sequence[Posted]:
        """A screen keeps no comments."""
        return ()

    def ssh_keys(self, login: str) -> Sequence[str]:
        """Return the user's own public keys from ``~/.ssh``, ed25519 first."""
        if login != getpass.getuser():
            return ()
        files = sorted((self._home / ".ssh").glob("*.pub"), key=lambda path: ("ed25519" not in path.name, path.name))
        lines = [file.read_text(encoding="utf-8", errors="replace").strip() for file in files if file.is_file()]
        return [" ".join(line.split()[:2]) for line in lines if line]

    def read_file(self, path: str, ref: str) -> str | None:
        """Return a file of a commit."""
        text = self._git("show", f"{ref}:{path}", is_optional=True)
        return text[:MAX_FILE_BYTES] or None

    @contextmanager
    def tree(self, sha: str) -> Iterator[Path]:
        """Unpack a commit as data into a folder that goes away."""
        with tempfile.TemporaryDirectory(prefix="gpu-lol-tree-") as name:
            packed, folder = Path(name) / "tree.tar.gz", Path(name) / "tree"
            # A folder in front, as GitHub's archives have it: one reader serves both.
            self._archive(f"--prefix=tree-{sha[:7]}/", f"--output={packed}", sha)
            folder.mkdir()
            archive.unpack(packed, folder, sha)
            yield folder

    def commit(self, sha: str) -> CommitContent:
        """Return a commit's tree and bytes from git itself."""
        content = self._run("cat-file", "commit", sha).stdout
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", sha).split("\0")
        links = (line.partition("\t") for line in listed if line.startswith("160000 commit "))
        gitlinks = {path: head.split(" ")[2] for head, _, path in links}
        return CommitContent(self._git("rev-parse", f"{sha}^{{tree}}").strip(), content, gitlinks)

    def bundle(self, sha: str, destination: Path) -> Path:
        """Write ``git archive`` of a commit."""
        self._archive(f"--output={destination}", sha)
        return destination

    def resolve(self, revision: str) -> str:
        """Return the full id of the commit that a branch, tag or id names."""
        self._git("rev-parse", "--git-dir")
        found = self._git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", is_optional=True)
        if not found:
            raise UserError(
                "base_not_found",
                f"There is no commit, branch or tag `{revision}` in {self._folder}.",
                fix="Fetch it (`git fetch`), or name another.",
            )
        return found.strip()

    def merge_base(self, base: str, head: str) -> str:
        """Return the common ancestor."""
        return self._git("merge-base", base, head).strip()

    def changed_paths(self, base: str, head: str) -> frozenset[str]:
        """Return the paths that differ from what both have in common."""
        named = self._git("diff", "--name-only", "--no-renames", "-z", f"{base}...{head}")
        return frozenset(filter(None, named.split("\0")))

    def is_run_alive(self, run_id: str) -> bool:
        """Return whether the process that a record names still runs here; a later one with its number is none."""
        _, pid, born = (*run_id.split(":"), "", "")[:3]
        found = started_at(int(pid)) if pid.isdigit() else None
        return found is not None and (not born or found == born)

    def open_reserve(self) -> None:
        """Do nothing: a terminal's requests are not counted."""

    def is_short_of_requests(self) -> bool:
        """Return that there are always enough."""
        return False

    def _archive(self, *arguments: str) -> None:
        """Write files as they are in the commit: a configured filter is a program, and its output another tree."""
        listed = self._git("config", "--null", "--name-only", "--get-regexp", r"^filter\.", is_optional=True)
        drivers = sorted({name.rpartition(".")[0] for name in listed.split("\0") if name})
        off = [(f"{driver}.{key}", value) for driver in drivers for key, value in _NO_FILTER]
        self._git("archive", "--format=tar.gz", *arguments, configuration=[("tar.tar.gz.command", "gzip -cn"), *off])

    def _git(self, *arguments: str, is_optional: bool = False, configuration: Sequence[tuple[str, str]] = ()) -> str:
        done = self._run(*arguments, configuration=configuration)
        if done.returncode == 0:
            return done.stdout.decode("utf-8", "replace")
        if is_optional:
            return ""
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UserError(
            "not_a_repository",
            f"git cannot {arguments[0]} in {self._folder}: {said[-1] if said else 'no reason given'}",
            fix="Run it in a git checkout with at least one commit.",
        )

    def _run(
        self, *arguments: str, configuration: Sequence[tuple[str, str]] = ()
    ) -> subprocess.CompletedProcess[bytes]:
        # The repository on disk may be anybody's: no hook, prompt or configured program of it may run. Objects that a
        # partial clone lacks are not fetched either: its configuration says by which program that would be.
        command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments]
        settings = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none"}
        # Not by `-c`, which ends a name at its first `=`.
        pairs = {"GIT_CONFIG_COUNT": str(len(configuration))}
        for index, (name, value) in enumerate(configuration):
            pairs |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
        environment = {**self._environment, **settings, **pairs}
        return subprocess.run(command, cwd=self._folder, env=environment, capture_output=True, check=False)


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "-", name)[:100] or "repository"
