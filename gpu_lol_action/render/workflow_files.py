"""The text of the workflows that call ours, as `gpu-lol init` writes them."""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.domain.installation import (
    COMMANDING,
    MODEL_KEY,
    PROPOSING,
    SECRETS,
    SOURCE,
    ModelEndpoint,
    WorkflowChoice,
)
from gpu_lol_action.domain.permissions import (
    BOT,
    PROPOSE,
    PROPOSE_BY_COPILOT,
    PROPOSE_BY_MODEL,
    TokenPermission,
)

_TARGET_REASON = (
    "# pull_request_target, so that forks get proposals too. Safe because no code of the pull request runs: the workflow",
    "# called below checks out nothing of it, has no secret, and reads its files through the API, as data.",
)
_TOLD = (
    "# A language model may correct what the code says: it is told findings and lines of the code (docs/hub-and-llm.md).",
)
_OUTSIDE = "# zizmor: ignore[secrets-outside-env] an environment would show each proposal as a deployment"
_TARGET_WITH_KEY = (
    "# pull_request_target, so that forks get proposals too. Safe because no code of the pull request runs: the action checks",
    "# out nothing of it, reads its files through the API, as data, and asks no model about a fork's.",
)


def workflow_files(choice: WorkflowChoice, level: int) -> dict[str, str]:
    """Return path and text of each workflow of a level."""
    files = {PROPOSING: _proposing(choice)}
    if level > 1:
        files[COMMANDING] = _commanding(choice)
    return files


def _proposing(choice: WorkflowChoice) -> str:
    trigger, ignore = "pull_request", ""
    reason: tuple[str, ...] = ()
    if choice.takes_forks:
        trigger = "pull_request_target"
        reason = _TARGET_REASON if choice.model is None else _TARGET_WITH_KEY
        ignore = " # zizmor: ignore[dangerous-triggers] no code of the pull request runs (see above)"
    return _lines(
        "# Written by `gpu-lol init`: each pull request gets a comment with the GPU that its code needs, and the price.",
        *(_TOLD if choice.model is not None else ()),
        *reason,
        "name: gpu-lol",
        "on:",
        f"  {trigger}:{ignore}",
        "    types: [opened, reopened, synchronize, ready_for_review]",
        "permissions: {}",
        "jobs:",
        "  propose:",
        "    name: Propose",
        *(_with_model(choice, choice.model) if choice.model is not None else _without_model(choice)),
    )


def _without_model(choice: WorkflowChoice) -> list[str]:
    return [*_permissions(PROPOSE), _uses(choice, "propose")]


def _with_model(choice: WorkflowChoice, model: ModelEndpoint) -> list[str]:
    """Return a job of the repository's own: the reusable workflow takes no secret, and asks nobody.

    One that asked for ``copilot-requests: write`` would not start for any caller that does not grant it.
    """
    # Quoted: a name may look like a number.
    named = [f'          llm-model: "{model.model}"'] if model.model else []
    secret = [f"          llm-key: ${{{{ secrets.{MODEL_KEY} }}}} {_OUTSIDE}"] if not model.is_copilot else []
    return [
        "    if: ${{ !github.event.pull_request.draft }}",
        "    runs-on: ubuntu-24.04",
        "    timeout-minutes: 10",
        "    concurrency:",
        "      group: gpu-lol-propose-${{ github.event.pull_request.number }}",
        "      cancel-in-progress: true",
        *_permissions(PROPOSE_BY_COPILOT if model.is_copilot else PROPOSE_BY_MODEL),
        "    steps:",
        f"      - uses: {SOURCE}@{_pinned(choice)}",
        "        with:",
        f"          llm-url: {model.url}",
        *named,
        *secret,
    ]


def _commanding(choice: WorkflowChoice) -> str:
    secret = SECRETS[choice.cloud]
    # The called workflow's own default.
    clouds = () if choice.cloud == "runpod" else ("    with:", f"      clouds: {choice.cloud}")
    safe = "# zizmor: ignore[dangerous-triggers] no code of the pull request runs (see above)"
    return _lines(
        "# Written by `gpu-lol init`: answers /gpu-lol comments, ends machines of closed pull requests, and sweeps hourly.",
        "# Nothing of a pull request is checked out or executed; who may command is asked of GitHub at each command.",
        "# The secret is passed by name, to a job that runs only where a command needs a machine.",
        "name: gpu-lol bot",
        "on:",
        f"  issue_comment: {safe}",
        "    types: [created]",
        f"  pull_request_target: {safe}",
        # A label means something on forks' pull requests alone (the policy's `smoke.label`).
        "    types: [closed, labeled]" if choice.takes_forks else "    types: [closed]",
        "  schedule:",
        f'    - cron: "{choice.minute} * * * *"',
        "  workflow_dispatch:",
        "permissions: {}",
        "jobs:",
        "  bot:",
        "    name: Bot",
        *_permissions(BOT),
        _uses(choice, "bot"),
        *clouds,
        "    secrets:",
        f"      {secret}: ${{{{ secrets.{secret} }}}}",
    )


def _permissions(permissions: Iterable[TokenPermission]) -> list[str]:
    wanted = list(permissions)
    width = max(len(each.line) for each in wanted)
    lines = [f"      {each.line:<{width}}  # {each.purpose}{' (optional)' * each.is_optional}" for each in wanted]
    return ["    permissions:", *lines]


def _uses(choice: WorkflowChoice, workflow: str) -> str:
    return f"    uses: {SOURCE}/.github/workflows/{workflow}.yml@{_pinned(choice)}"


def _pinned(choice: WorkflowChoice) -> str:
    beside = f" # {choice.pin.version}" if choice.pin.is_commit and choice.pin.version else ""
    return f"{choice.pin.ref}{beside}"


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"
