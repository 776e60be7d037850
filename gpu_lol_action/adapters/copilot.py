"""GitHub Copilot as the language model, through its own program, which a job may use without any secret.

``copilot`` (GitHub Copilot CLI) takes a job's own token where the job has ``copilot-requests: write``: GitHub bills the
organization, or the repository's owner (docs.github.com, "About using Copilot CLI in GitHub Actions"). It is an agent, and is
asked one question as if it were none: it has no tool, an empty folder to lie in, a home that ends with the question, no
instructions of a repository, and of our environment what the lists below name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from gpu_lol_action.adapters.copilot_events import Printed, read_printed
from gpu_lol_action.adapters.heard import Heard
from gpu_lol_action.adapters.ssh_streams import kill
from gpu_lol_action.domain.lookup import Question, Unanswered
from gpu_lol_action.domain.redaction import redact

BOX = timedelta(seconds=120)
"""Its start takes two seconds, and it asks again by itself where Copilot is busy, for a minute in all."""

MAX_BYTES = 4 * 1024 * 1024
"""Of what it prints: a question of 60 KB is repeated in it."""

NOT_INSTALLED = "GitHub Copilot's program `copilot` is not installed here"

_ALONE = (
    "--silent",
    "--output-format=json",
    "--stream=off",
    # An allowlist with a name that no tool has leaves none; an empty one would count as no list.
    "--available-tools=none",
    "--disable-builtin-mcps",
    "--no-custom-instructions",
    "--disallow-temp-dir",
    "--no-ask-user",
    "--no-auto-update",
    "--no-remote",
    "--no-remote-export",
    "--disable-client-telemetry",
    "--log-level=none",
    "--no-color",
)
_TOKENS = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
"""Where it looks for one, in its order."""

_PASSED = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *(name for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY") for name in (proxy, proxy.lower())),
    *("COPILOT_GH_HOST", "GH_HOST", "COPILOT_OFFLINE"),
    # A model of one's own behind it, which its documents call BYOK.
    *("COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_WIRE_API"),
)
_PERSON = ("HOME", "USER", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "COPILOT_HOME")
"""Where a person's own login lies; it is looked for where there is no token."""


@dataclass(frozen=True, slots=True)
class CopilotSettings:
    """As whom, and which model; without ``model`` Copilot chooses. ``program`` empty: the installed one.

    ``environment`` is what may be passed on; a person's own login counts where neither ``token`` nor it holds a token.
    """

    environment: Mapping[str, str] = field(repr=False)
    token: str = field(default="", repr=False)
    model: str = ""
    program: str = ""
    box: timedelta = BOX


@dataclass(slots=True)
class CopilotProgram:
    """Fulfils the ``LanguageModel`` port."""

    settings: CopilotSettings
    _heard: Heard = field(default_factory=Heard)

    @property
    def name(self) -> str:
        """Copilot, and its model where one was named."""
        model = self.settings.model
        return f"GitHub Copilot ({model})" if model else "GitHub Copilot"

    def ask(self, question: Question) -> str | Unanswered:
        """Return the text of its answer, without the token even where it is repeated."""
        return self._heard.answer(question, self._ask)

    def _ask(self, question: Question) -> str | Unanswered:
        program = self.settings.program or installed_program(self.settings.environment)
        if not program:
            return Unanswered(NOT_INSTALLED)
        with tempfile.TemporaryDirectory(prefix="gpu-lol-copilot-", ignore_cleanup_errors=True) as folder:
            printed = self._run(program, f"{question.rules}\n\n{question.data}\n", Path(folder))
        answer = read_printed(printed) if isinstance(printed, Printed) else printed
        return redact(answer, self._secrets) if isinstance(answer, str) else answer

    @property
    def _secrets(self) -> list[str]:
        environment = self.settings.environment
        names = (*_TOKENS, "COPILOT_PROVIDER_API_KEY")
        return [secret for secret in (self.settings.token, *map(environment.get, names)) if secret]

    def _run(self, program: str, prompt: str, room: Path) -> Printed | Unanswered:
        empty, home = room / "empty", room / "home"
        for made in (empty, home):
            made.mkdir()
        (room / "question").write_text(prompt, encoding="utf-8", errors="replace")
        model = self.settings.model
        command = [program, *_ALONE, *([f"--model={model}"] if model else [])]
        # Files, not pipes: nobody has to read while it writes, and an argument has room for 128 KB only.
        with (
            (room / "question").open("rb") as asked,
            (room / "said").open("w+b") as said,
            (room / "told").open("w+b") as told,
        ):
            try:
                process = subprocess.Popen(
                    command,
                    cwd=empty,
                    env=self._environment(home),
                    stdin=asked,
                    stdout=said,
                    stderr=told,
                    start_new_session=True,
                )
            except OSError:
                return Unanswered("GitHub Copilot's program `copilot` does not start here")
            try:
                status = process.wait(self.settings.box.total_seconds())
            except subprocess.TimeoutExpired:
                return Unanswered(f"it took longer than {self.settings.box.total_seconds():.0f} s")
            finally:
                kill(process)
            for file in (said, told):
                file.seek(0)
            return Printed(said.read(MAX_BYTES), told.read(MAX_BYTES), status)

    def _environment(self, home: Path) -> dict[str, str]:
        """Return what the program sees: no cloud's key, and of the tokens one."""
        settings = self.settings
        passed = {name: settings.environment[name] for name in _PASSED if settings.environment.get(name)}
        passed["CI"] = "true"
        server = urlsplit(settings.environment.get("GITHUB_SERVER_URL", "")).hostname or ""
        if server.endswith(".ghe.com"):
            passed.setdefault("COPILOT_GH_HOST", server)  # a company's own GitHub Enterprise Cloud
        token = settings.token or next(filter(None, map(settings.environment.get, _TOKENS)), "")
        if token:
            return {**passed, "COPILOT_GITHUB_TOKEN": token, "HOME": str(home)}
        own = {name: settings.environment[name] for name in _PERSON if settings.environment.get(name)}
        return {**passed, "HOME": str(home), **own}


def installed_program(environment: Mapping[str, str]) -> str:
    """Return where `copilot` lies; empty: nowhere.

    The one that GPU_LOL_COPILOT names, else the one that ``scripts/install-copilot`` put beside us, else one on the PATH.
    """
    named = environment.get("GPU_LOL_COPILOT", "")
    if named:
        return named if os.access(named, os.X_OK) else ""
    ours = Path(sys.prefix) / "copilot" / "copilot"
    if os.access(ours, os.X_OK):
        return str(ours)
    return shutil.which("copilot", path=environment.get("PATH", "")) or ""
