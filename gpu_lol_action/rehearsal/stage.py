"""The stage of a rehearsal: a GitHub stand-in, a loopback cloud, and the Action's two steps as the runner starts them.

Each step is a child process with an environment of its own and an empty HOME, as on a fresh runner: what one run leaves
behind, no later one can lean on.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType

from gpu_lol_action.rehearsal.catalog import write_catalog
from gpu_lol_action.rehearsal.cloud import API_KEY, LoopbackCloud
from gpu_lol_action.rehearsal.github import Hub
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.github_setting import Setting

PACKAGE_ROOT = Path(__file__).parent.parent.parent

# What the runner hands on from its own machine; nothing else of this process reaches a step.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@dataclass(frozen=True, slots=True)
class StepRun:
    """One step of the action: its exit code, outputs, log, job summary, and how long it took."""

    exit_code: int
    outputs: Mapping[str, str]
    log: str
    summary: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ActionRun:
    """The action on one event. ``act`` is None where the light step had answered everything."""

    run_id: str
    decide: StepRun
    act: StepRun | None

    @property
    def last(self) -> StepRun:
        """The step that ended the run."""
        return self.act or self.decide

    @property
    def result(self) -> Mapping[str, object]:
        """The ``result`` output, parsed."""
        parsed = json.loads(self.last.outputs.get("result") or "{}")
        return parsed if isinstance(parsed, dict) else {}


@dataclass(slots=True)
class Stage:
    """Both stand-ins and the folder that they keep their things in; a context manager.

    ``prefix`` is ``/api/v3`` where GitHub is an Enterprise Server. ``has_catalogs`` False leaves a step with the ledger and the cloud key alone: enough to end a machine.
    ``furnish`` puts into each runner's folder (``home``, ``skypilot``) what a runner may have there, and returns variables.
    """

    full_name: str = "acme/llm-lab"
    prefix: str = ""
    python: str = sys.executable
    image: Path | None = None
    cloud: LoopbackCloud | None = None
    has_catalogs: bool = True
    furnish: Callable[[Path], Mapping[str, str]] = lambda _runner: {}
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="gpu-lol-rehearsal-")))
    _stack: ExitStack = field(default_factory=ExitStack)
    _hub: Hub | None = None
    _step_number: int = 0

    def __enter__(self) -> Stage:  # noqa: PYI034  a stage is not made to be inherited from
        """Start the GitHub stand-in; the cloud starts with ``open_cloud``."""
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        hub = Hub(
            self.folder / "github",
            now=lambda: datetime.now(timezone.utc),
            setting=Setting(self.full_name, prefix=self.prefix),
        )
        self._hub = self._stack.enter_context(hub)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the cloud with its pods, then GitHub."""
        self._stack.close()

    @property
    def hub(self) -> Hub:
        """The GitHub stand-in."""
        if self._hub is None:
            raise LookupError("the stage is not set")
        return self._hub

    def open_cloud(self) -> LoopbackCloud:
        """Start the loopback cloud (once), building its image where there is none yet."""
        if self.cloud is None:
            self.cloud = self._stack.enter_context(LoopbackCloud(self.folder / "cloud", self.image))
        return self.cloud

    def run_action(
        self,
        webhook: Webhook,
        *,
        before_act: Callable[[], None] = lambda: None,
        on_line: Callable[[str], None] = lambda _line: None,
    ) -> ActionRun:
        """Start the action's steps on an event, as ``action.yml`` does; ``before_act`` installs the cloud extra."""
        run_id = self.hub.start_run(webhook.name, self.hub.maintainer)
        try:
            # As in bot.yml: the job that decides has no key, and is told which clouds' keys the next one holds.
            keyless = {"GPU_LOL_PHASE": "decide", "GPU_LOL_CLOUDS": "runpod", "RUNPOD_API_KEY": ""}
            decide = self.run_step(webhook, run_id, keyless, on_line)
            if decide.outputs.get("needs_cloud") != "true":
                return ActionRun(run_id, decide, None)
            before_act()
            handed_on = {
                "GPU_LOL_PHASE": "act",
                "GPU_LOL_DEFERRED": decide.outputs.get("deferred", ""),
                "GPU_LOL_PINNED_SHA": decide.outputs.get("pinned_sha", ""),
            }
            return ActionRun(run_id, decide, self.run_step(webhook, run_id, handed_on, on_line))
        finally:
            self.hub.finish_run(run_id)

    def run_step(
        self,
        webhook: Webhook,
        run_id: str,
        variables: Mapping[str, str],
        on_line: Callable[[str], None] = lambda _line: None,
    ) -> StepRun:
        """Start the entry point once with an empty HOME and return what it left."""
        step = self.start_step(webhook, run_id, variables)
        return step.wait(on_line)

    def start_step(self, webhook: Webhook, run_id: str, variables: Mapping[str, str]) -> RunningStep:
        """Start the entry point in the background (stories signal it, or talk to the ledger meanwhile)."""
        self._step_number += 1
        runner = self.folder / f"runner-{self._step_number}"
        (runner / "home").mkdir(parents=True)
        (runner / "event.json").write_text(json.dumps(webhook.payload), encoding="utf-8")
        environment = self._environment(webhook, run_id, runner)
        environment |= {**self.furnish(runner), **variables}
        process = subprocess.Popen(
            [self.python, "-m", "gpu_lol_action"],
            cwd=runner / "home",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        return RunningStep(process, runner)

    def _environment(self, webhook: Webhook, run_id: str, runner: Path) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        hub, cloud = self.hub, self.cloud
        secrets = {"GITHUB_TOKEN": hub.bot_token, "RUNPOD_API_KEY": API_KEY}
        home = {}
        if cloud is not None:
            home = dict(cloud.environment)
            if self.has_catalogs:
                # SkyPilot's catalogs would be fetched from the network; the rehearsal's own lie in its home instead.
                write_catalog(runner / "skypilot")
                home["GPU_LOL_SKYPILOT_HOME"] = str(runner / "skypilot")
        return {
            **kept,
            **home,
            **secrets,
            "HOME": str(runner / "home"),
            "PYTHONPATH": str(PACKAGE_ROOT),
            "PYTHONUNBUFFERED": "1",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(PACKAGE_ROOT),
            "GITHUB_API_URL": hub.api_url,
            "GITHUB_SERVER_URL": hub.web_url,
            "GITHUB_EVENT_NAME": webhook.name,
            "GITHUB_EVENT_PATH": str(runner / "event.json"),
            "GITHUB_OUTPUT": str(runner / "output"),
            "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
            "GITHUB_REPOSITORY": self.full_name,
            "GITHUB_RUN_ID": run_id,
            "RUNNER_TEMP": str(runner),
            # The loopback cloud bills by the bundled tables, so that what was proposed is what is charged.
            "PRICES": "bundled",
        }


@dataclass(slots=True)
class RunningStep:
    """A step that goes on; ``process`` is its one entry process, to which a runner's signals would go."""

    process: subprocess.Popen[bytes]
    runner: Path
    started: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)

    def wait(self, on_line: Callable[[str], None] = lambda _line: None, timeout: float = 1800) -> StepRun:
        """Read its output to the end and return what it left. Kills it when ``timeout`` seconds have passed."""
        watchdog = threading.Timer(timeout, self.process.kill)
        watchdog.start()
        try:
            for raw in self.process.stdout or ():
                line = raw.decode("utf-8", "replace").rstrip("\n")
                self.lines.append(line)
                if not line.startswith("::add-mask::"):
                    on_line(line)
            code = self.process.wait()
        finally:
            watchdog.cancel()
            if self.process.stdout is not None:
                self.process.stdout.close()
        output, summary = self.runner / "output", self.runner / "summary.md"
        return StepRun(
            code,
            parse_outputs(output.read_text(encoding="utf-8")) if output.exists() else {},
            "\n".join(self.lines),
            summary.read_text(encoding="utf-8") if summary.exists() else "",
            time.monotonic() - self.started,
        )


def parse_outputs(text: str) -> dict[str, str]:
    """Return the outputs of a ``GITHUB_OUTPUT`` file as the runner reads it (actions/runner FileCommandManager.cs)."""
    outputs: dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in lines:
        name, heredoc, delimiter = line.partition("<<")
        if heredoc and "=" not in name:
            value: list[str] = []
            for content in lines:
                if content == delimiter:
                    break
                value.append(content)
            else:
                raise ValueError(f"the delimiter of {name} never comes")
            outputs[name] = "\n".join(value)
        elif line:
            name, _, value_text = line.partition("=")
            outputs[name] = value_text
    return outputs
