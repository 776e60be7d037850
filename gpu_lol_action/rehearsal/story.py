"""The story that ``gpu-lol rehearse`` and ``make demo`` play: from the pull request to the certificate, for real.

Every step checks what it claims; one that does not hold ends the story with StoryError, and the command fails.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from gpu_lol_action.rehearsal.catalog import rented_gpus
from gpu_lol_action.rehearsal.display import Display
from gpu_lol_action.rehearsal.github_state import Comment
from gpu_lol_action.rehearsal.page import PageEntry, build_page
from gpu_lol_action.rehearsal.stage import ActionRun, Stage
from gpu_lol_action.rehearsal.transcript import transcribe

AUTHOR = "researcher"
NOTE = "REHEARSAL.md"
_SSH_COMMAND = re.compile(r"^ssh -p (\d+) .*?([a-z0-9_-]+)@([A-Za-z0-9.:-]+)\s*$", re.MULTILINE)
_FOLDER = re.compile(r"in `~/([A-Za-z0-9._-]+)`")
_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")


class StoryError(Exception):
    """A step did not do what it claims."""


@dataclass(slots=True)
class Story:
    """The pieces that steps hand to each other."""

    stage: Stage
    display: Display
    prepare_cloud: Callable[[Callable[[str], None]], None]
    number: int = 0
    proposal: str = ""
    ready: str = ""
    preparing: str = ""
    beside: list[PageEntry] = field(default_factory=list)
    shown: set[int] = field(default_factory=set)
    failure: list[BaseException] = field(default_factory=list)

    def play(self, project: Path) -> None:
        """Play all steps in order."""
        self.set_the_scene(project)
        self.open_pull_request(project)
        preparing = self.start_preparing()
        self.bring_up(preparing)
        self.log_in()
        self.ask_status()
        self.ask_for_time()
        self.tear_down()
        self.look_back()

    # --- steps ------------------------------------------------------------------------------------------
    def set_the_scene(self, project: Path) -> None:
        with self.display.step("A repository, a maintainer with an SSH key, a GitHub stand-in"):
            key = self.key_path
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)], check=True)
            public = " ".join(key.with_suffix(".pub").read_text(encoding="utf-8").split()[:2])
            hub = self.stage.hub
            hub.add_user(hub.maintainer, role="admin", ssh_keys=[public])
            hub.add_user(AUTHOR, role="write")
            hub.commit_folder(project, message="The project")

    def open_pull_request(self, project: Path) -> None:
        with self.display.step("A pull request opens, and the bot proposes the machine that it needs") as step:
            change = change_of(project)
            event = self.stage.hub.open_pull_request(AUTHOR, change.files, title=change.title, branch="rehearsal")
            self.number = int(event.number or 0)
            self.beside.append(PageEntry("event", AUTHOR, _now(), "opened this pull request"))
            self._expect_green(self.stage.run_action(event, on_line=step.tell))
            proposal = self._new_comments()
            if not proposal and list(change.files) == [NOTE]:
                # Nobody is told of what stays as it is, but who asks.
                self._command("/gpu-lol analyze", step.tell)
                proposal = self._new_comments()
            require(len(proposal) == 1, "the pull request got one proposal")
            self.proposal = proposal[0].body
        self._show(proposal)

    def start_preparing(self) -> threading.Thread:
        """Install SkyPilot and build the machines' image while the maintainer reads the proposal."""

        def prepare() -> None:
            try:
                self.prepare_cloud(self._tell_preparing)
            except BaseException as error:  # noqa: BLE001  raised again where the story waits for it
                self.failure.append(error)

        thread = threading.Thread(target=prepare, daemon=True)
        thread.start()
        return thread

    def bring_up(self, preparing: threading.Thread) -> None:
        with self.display.step("SkyPilot and the loopback cloud (the first time only: some minutes)") as step:
            while preparing.is_alive():
                preparing.join(0.5)
                step.tell(self.preparing)
            if self.failure:
                raise self.failure[0]
            self.stage.open_cloud()
        body = "/gpu-lol up"
        with self.display.step(f"A maintainer comments {body}: gates, claim, launch, code, keys, checks") as step:
            require("eyes" in self._command(body, step.tell), "the bot reacted to the command")
            fresh = self._new_comments()
            ready = [comment for comment in fresh if _SSH_COMMAND.search(comment.body)]
            require(len(ready) == 1, "one comment holds the SSH details")
            self.ready = ready[0].body
            require(len(self._pods()) == 1, "the cloud has one machine")
        self._show(fresh)

    def log_in(self) -> None:
        with self.display.step("The maintainer logs in with her own key, by the command of the comment") as step:
            folder = _FOLDER.search(self.ready)
            require(folder is not None, "the comment says where the code is")
            place = folder[1] if folder else ""
            script = f"hostname; nvidia-smi -L; cd ~/{place} && git log -1 --format=%H && git status --short"
            answer = self._ssh(script)
            step.tell(answer)
            head = self.stage.hub.issue(self.number).pull
            require(head is not None and head.head_sha in answer, "the machine's HEAD is the pull request's commit")
        shown = f"$ {_ssh_line(self.ready)} '{script}'\n{answer}"
        self.beside.append(PageEntry("terminal", self.stage.hub.maintainer, _now(), shown))
        self.display.said("terminal", f"```\n{shown}\n```")

    def ask_status(self) -> None:
        with self.display.step("/gpu-lol status") as step:
            self._command("/gpu-lol status", step.tell)
            fresh = self._new_comments()
            require(len(fresh) == 1 and "/h" in fresh[0].body, "the status shows the price")
        self._show(fresh)

    def ask_for_time(self) -> None:
        with self.display.step("/gpu-lol extend 1h: in the ledger, and on the machine's own timer") as step:
            self._command("/gpu-lol extend 1h", step.tell)
            fresh = self._new_comments()
            require(len(fresh) == 1 and "More time" in fresh[0].body, "the answer says until when")
            told = self._ssh("cat ~/.gpu-lol/ends_text; cat /etc/motd")
            step.tell(told.splitlines()[0])
            require(told.count(told.splitlines()[0]) == 2, "the machine says the same end at each login")
        self._show(fresh)

    def tear_down(self) -> None:
        with self.display.step("/gpu-lol down, on another runner with an empty HOME: teardown, proof, bill") as step:
            self.stage.has_catalogs = False
            self._command("/gpu-lol down", step.tell)
            fresh = self._new_comments()
            require(self._pods() == [], "the cloud has no machine left")
            require(any("Nothing is running" in comment.body for comment in fresh), "a certificate was posted")
        self._show(fresh)

    def look_back(self) -> None:
        with self.display.step("Looking back: no machine, no unread request, no unknown route"):
            require(self._pods() == [], "the cloud has no machine left")
            require(self.stage.hub.problems() == [], f"GitHub was asked properly: {self.stage.hub.problems()[:3]}")
            unexpected = self.stage.open_cloud().unexpected()
            require(unexpected == [], f"the cloud was asked properly: {unexpected[:3]}")

    def cheapest_gpu_type(self) -> str:
        """Return the cloud's name for the GPU of the proposal's cheapest offer (stories make it scarce)."""
        names = {gpu.accelerator: gpu.gpu_type_id for gpu in rented_gpus().values()}
        found = [name for name in names if re.search(rf"\*\*1 × {re.escape(name)}\*\*", self.proposal)]
        require(len(found) == 1, f"the proposal names one GPU: {found}")
        return names[found[0]]

    # --- hands ------------------------------------------------------------------------------------------
    @property
    def key_path(self) -> Path:
        """The maintainer's private key."""
        return self.stage.folder / "maintainer_key"

    def _tell_preparing(self, text: str) -> None:
        self.preparing = text

    def _command(self, body: str, on_line: Callable[[str], None]) -> tuple[str, ...]:
        """Let the maintainer comment, run the action on it, and return the reactions that the comment got."""
        event = self.stage.hub.comment(self.number, self.stage.hub.maintainer, body)
        self._expect_green(self.stage.run_action(event, on_line=on_line))
        return tuple(self.stage.hub.reactions(event.payload["comment"]["id"]))

    def _expect_green(self, run: ActionRun) -> None:
        if run.last.exit_code != 0:
            self._show(self._new_comments())
            tail = "\n".join(run.last.log.splitlines()[-40:])
            raise StoryError(f"the action ended with exit code {run.last.exit_code}:\n{tail}")

    def _new_comments(self) -> list[Comment]:
        """Return the bot's comments that were not shown before."""
        bot = self.stage.hub.bot.login
        fresh = [c for c in self.stage.hub.comments(self.number, by=bot) if c.comment_id not in self.shown]
        self.shown |= {comment.comment_id for comment in fresh}
        return fresh

    def _show(self, fresh: list[Comment]) -> None:
        for comment in fresh:
            self.display.said(comment.author.login, comment.body)

    def _pods(self) -> list[dict[str, object]]:
        return self.stage.open_cloud().pods()

    def _ssh(self, script: str, seconds: float = 60) -> str:
        """Log in as the comment says, and hold the machine's key to the fingerprint that stands there."""
        match, fingerprint = _SSH_COMMAND.search(self.ready), _FINGERPRINT.search(self.ready)
        require(match is not None and fingerprint is not None, "the comment has an SSH command and a fingerprint")
        if match is None or fingerprint is None:
            return ""
        known = self.stage.folder / "known_hosts"
        command = ["ssh", "-F", "/dev/null", "-p", match[1], "-i", str(self.key_path), "-o", "IdentitiesOnly=yes"]
        command += [
            "-o",
            "BatchMode=yes",
            "-o",
            "StrictHostKeyChecking=accept-new",
            "-o",
            f"UserKnownHostsFile={known}",
        ]
        command += [f"{match[2]}@{match[3]}", script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        require(done.returncode == 0, f"the login worked: {done.stderr[-400:]}")
        listed = subprocess.run(["ssh-keygen", "-lf", str(known)], capture_output=True, text=True, check=True).stdout
        require(fingerprint[0] in listed, "the machine's host key is the one in the comment")
        return done.stdout.strip()

    def write_page(self, destination: Path) -> None:
        """Write the conversation as one HTML page."""
        page = build_page(transcribe(self.stage.hub, self.number, self.beside))
        destination.write_text(page, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Change:
    """What the story's pull request is about."""

    title: str
    files: dict[str, str | bytes]


def change_of(project: Path) -> Change:
    """Return what ``NAME.patch`` beside the project changes, under the title of its first line; else a note is added."""
    patch = project.with_name(project.name + ".patch")
    if not patch.is_file():
        note = "This file makes a pull request of a rehearsal; nothing else was changed.\n"
        return Change(f"Rehearse gpu-lol on {project.name}", {NOTE: note})
    title = patch.read_text(encoding="utf-8").partition("\n")[0]
    with tempfile.TemporaryDirectory(prefix="gpu-lol-patch-") as name:
        changed = Path(name) / "project"
        shutil.copytree(project, changed, symlinks=True)
        subprocess.run(["git", "apply", str(patch.resolve())], cwd=changed, check=True)
        files = {path.relative_to(changed): path.read_bytes() for path in changed.rglob("*") if path.is_file()}
    return Change(
        title,
        {
            str(path): content
            for path, content in sorted(files.items())
            if not (project / path).is_file() or (project / path).read_bytes() != content
        },
    )


def require(condition: bool, claim: str) -> None:  # noqa: FBT001  reads as a sentence
    """Raise StoryError where a claim of the story does not hold."""
    if not condition:
        raise StoryError(f"this does not hold: {claim}")


def _ssh_line(ready: str) -> str:
    match = _SSH_COMMAND.search(ready)
    return match[0].strip() if match else "ssh"


def _now() -> datetime:
    return datetime.now(timezone.utc)
