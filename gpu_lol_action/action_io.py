"""The names of everything that goes in and out of a run: inputs, environment, outputs, log commands.

``INPUTS`` and ``OUTPUTS`` are compared with ``action.yml`` and the README by a test.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MAX_EVENT_BYTES = 25 * 1024 * 1024  # GitHub caps webhook payloads at 25 MB
MAX_SUMMARY_BYTES = 1000 * 1024  # the runner drops a step summary over 1024 KiB


@dataclass(frozen=True, slots=True)
class Input:
    """One input of ``action.yml``: its name, its default, what it is for, and the variable it arrives in."""

    name: str
    default: str
    summary: str
    is_secret: bool = False
    is_handed_on: bool = False
    """From one job to the next: `action.yml` makes `GPU_LOL_*` of it, and no user sets it."""

    @property
    def variable(self) -> str:
        """The environment variable that the runner (or our composite steps) sets."""
        return "INPUT_" + self.name.replace(" ", "_").upper()


INPUTS: tuple[Input, ...] = (
    Input(
        "github-token",
        "${{ github.token }}",
        "Token that reads pull requests and writes comments and refs.",
        is_secret=True,
    ),
    Input("runpod-api-key", "", "RunPod API key; with it `/gpu-lol up` works on RunPod.", is_secret=True),
    Input("lambda-api-key", "", "Lambda Cloud API key; with it `/gpu-lol up` works on Lambda.", is_secret=True),
    Input(
        "prices",
        "live",
        "`live`: ask SkyPilot's published catalogs for prices; `bundled`: ask nobody; or the address of a copy of the catalogs.",
    ),
    Input(
        "template-pattern",
        "",
        "A part of the names of your own RunPod templates: one that fits is taken, because its image boots faster.",
    ),
    Input("hub", "false", "`true`: look up on the Hugging Face Hub how large a model is that the bundled table lacks."),
    Input("hf-token", "", "Hugging Face token for models that are not public; never used for forks.", is_secret=True),
    Input(
        "llm-url",
        "",
        "Base URL of an OpenAI-compatible endpoint, or `copilot` for GitHub Copilot, which needs no key: a language model may correct the analysis.",
    ),
    Input("llm-key", "", "Key of that endpoint; for Copilot a token in place of the job's own.", is_secret=True),
    Input("llm-model", "", "Name of the model to ask there; Copilot chooses one itself without."),
    Input("dry-run", "false", "For scheduled runs: report what a sweep would end, and end nothing."),
    Input("smoke-schedule", "", "The schedule (as it stands in the workflow) that runs the GPU smoke test."),
    Input(
        "phase",
        "all",
        "`all`, or in jobs of their own `decide` (which needs no cloud key), `act`, and `finish` where that one died.",
        is_handed_on=True,
    ),
    Input(
        "clouds",
        "",
        "For `decide`: the clouds whose keys the job that acts will hold, as `runpod, lambda`.",
        is_handed_on=True,
    ),
    Input("deferred", "", "For `act` and `finish`: the output `deferred` of `decide`.", is_handed_on=True),
    Input("pinned-sha", "", "For `act`: the output `pinned_sha` of `decide`.", is_handed_on=True),
    Input(
        "job-minutes",
        "",
        "The job's `timeout-minutes`, which no runner tells: `up --wait` ends in time for what follows it.",
        is_handed_on=True,
    ),
    Input(
        "act-decision",
        "",
        "For `finish`: the output `decision` of `act`; empty where it died before it could say.",
        is_handed_on=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Output:
    """One output of ``action.yml``."""

    name: str
    summary: str


OUTPUTS: tuple[Output, ...] = (
    Output("decision", "`done`, `denied`, `ignored`, `failed` or `deferred`."),
    Output("reason_code", "Why, as one word of `docs/errors.md`."),
    Output("result", "The outcome as JSON."),
    Output("report_path", "Where a smoke test's logs and JUnit reports lie, for a step that keeps them."),
    Output("needs_cloud", "`true` when a second step with the cloud extra has to go on."),
    Output("deferred", "Which commands of the comment that second step carries out."),
    Output("pinned_sha", "The commit that this run is about, resolved once."),
    Output(
        "lane",
        "The queue for `act`: `spend` where a deferred command may rent a machine, `smoke` for scheduled tests, else `end`.",
    ),
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a job's environment says; secrets are kept out of ``repr``."""

    event_name: str
    event_path: str
    repository: str
    run_id: str
    server_url: str
    api_url: str
    workspace_temp: str
    phase: str
    pinned_sha: str
    deferred: str
    inputs: Mapping[str, str]
    github_sha: str = ""
    run_attempt: str = "1"
    triggering_actor: str = ""
    is_finishing: bool = False
    act_decision: str = ""
    job_minutes: str = ""
    clouds: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the names only: inputs hold secrets."""
        return f"Surroundings(event_name={self.event_name!r}, repository={self.repository!r})"

    @property
    def run_url(self) -> str:
        """The page of this workflow run."""
        return f"{self.server_url}/{self.repository}/actions/runs/{self.run_id}"


def read_surroundings(environ: Mapping[str, str] | None = None) -> Surroundings:
    """Return what the runner set for this step. ``INPUT_*`` wins over a plain variable, that over ``GPU_LOL_*``."""
    env = os.environ if environ is None else environ
    values = {}
    for item in INPUTS:
        if item.is_handed_on:
            continue
        plain = item.name.replace("-", "_").upper()
        raw = env.get(item.variable) or env.get("INPUT_" + plain) or env.get(plain) or env.get("GPU_LOL_" + plain) or ""
        values[item.name] = raw.strip() or ("" if item.default.startswith("${{") else item.default)
    return Surroundings(
        event_name=env.get("GITHUB_EVENT_NAME", ""),
        event_path=env.get("GITHUB_EVENT_PATH", ""),
        repository=env.get("GITHUB_REPOSITORY", ""),
        run_id=env.get("GITHUB_RUN_ID", "0"),
        server_url=env.get("GITHUB_SERVER_URL", "https://github.com"),
        api_url=env.get("GITHUB_API_URL", "https://api.github.com"),
        workspace_temp=env.get("RUNNER_TEMP", ""),
        phase=env.get("GPU_LOL_PHASE", "all"),
        pinned_sha=env.get("GPU_LOL_PINNED_SHA", ""),
        deferred=env.get("GPU_LOL_DEFERRED", ""),
        inputs=values,
        github_sha=env.get("GITHUB_SHA", ""),
        run_attempt=env.get("GITHUB_RUN_ATTEMPT", "1"),
        triggering_actor=env.get("GITHUB_TRIGGERING_ACTOR", ""),
        is_finishing=env.get("GPU_LOL_FINISHING", "") == "true",
        act_decision=env.get("GPU_LOL_ACT_DECISION", ""),
        job_minutes=env.get("GPU_LOL_JOB_MINUTES", ""),
        clouds=tuple(env.get("GPU_LOL_CLOUDS", "").lower().replace(",", " ").split()),
    )


def read_event(path: str) -> Mapping[str, object]:
    """Return the webhook payload of ``GITHUB_EVENT_PATH``; raises ValueError where it is none."""
    file = Path(path)
    if not path or not file.is_file():
        raise ValueError("GITHUB_EVENT_PATH names no file")
    if file.stat().st_size > MAX_EVENT_BYTES:
        raise ValueError("the event file is larger than GitHub's limit of 25 MB")
    payload = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(payload, dict):
        raise ValueError("the event file holds no JSON object")
    return payload


def write_outputs(outputs: Mapping[str, str], environ: Mapping[str, str] | None = None) -> None:
    """Append to ``GITHUB_OUTPUT``, each value behind a random delimiter so that none can forge another."""
    path = (os.environ if environ is None else environ).get("GITHUB_OUTPUT")
    if not path:
        return
    with Path(path).open("a", encoding="utf-8", errors="replace") as file:
        for name, value in outputs.items():
            delimiter = f"gpu-lol-{secrets.token_hex(16)}"
            file.write(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")


def write_summary(markdown: str, environ: Mapping[str, str] | None = None) -> None:
    """Append to the job summary, cut to what the runner accepts."""
    path = (os.environ if environ is None else environ).get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    data = (markdown + "\n\n").encode("utf-8", "replace")
    file = Path(path)
    room = MAX_SUMMARY_BYTES - (file.stat().st_size if file.exists() else 0)
    with file.open("ab") as out:
        # A character that the cut would split is left out whole.
        out.write(data[: max(room, 0)].decode("utf-8", "ignore").encode("utf-8"))


def annotate(level: str, message: str, *, path: str = "", line: int = 0, title: str = "") -> None:
    """Print a workflow command (``error``, ``warning``, ``notice``) that GitHub shows at a file's line."""
    properties = [
        f"{name}={_escape_property(value)}"
        for name, value in (("file", path), ("line", str(line) if line else ""), ("title", title))
        if value
    ]
    head = f"::{level} {','.join(properties)}" if properties else f"::{level}"
    print(_whole(f"{head}::{_escape_data(message)}"), flush=True)


def mask(secret: str) -> None:
    """Tell the runner to hide a value in its logs; each line on its own, as the runner matches by line."""
    for part in secret.splitlines():
        if part.strip():
            print(f"::add-mask::{_escape_data(part)}", flush=True)


def log(text: str) -> None:
    """Print text of any origin to the job's log so that no line of it is taken for a workflow command.

    The runner takes ``::`` at the start of a line, and the older ``##[`` anywhere in it (actions/runner,
    ActionCommand.cs).
    """
    for line in text.splitlines() or [""]:
        safe = line.replace("\r", "").replace("##[", "##\u200b[")
        if safe.lstrip().startswith("::"):
            safe = "\u200b" + safe.lstrip()
        print(_whole(safe), file=sys.stderr, flush=True)


def _whole(text: str) -> str:
    """Return text that can be encoded: JSON of a stranger may hold half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
