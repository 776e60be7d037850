"""The text of the workflows that call ours, as `gpu-lol init` writes them."""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.domain.installation import COMMANDING, PROPOSING, SECRETS, SOURCE, WorkflowChoice
from gpu_lol_action.domain.permissions import BOT, PROPOSE, TokenPermission

_TARGET_REASON = (
    "# pull_request_target, so that forks get proposals too. Safe because no code of the pull request runs: the workflow",
    "# called below checks out nothing of it, has no secret, and reads its files through the API, as data.",
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
        trigger, reason = "pull_request_target", _TARGET_REASON
        ignore = " # zizmor: ignore[dangerous-triggers] no code of the pull request runs (see above)"
    return _lines(
        "# Written by `gpu-lol init`: each pull request gets a comment with the GPU that its code needs, and the price.",
        *reason,
        "name: gpu-lol",
        "on:",
        f"  {trigger}:{ignore}",
        "    types: [opened, reopened, synchronize, ready_for_review]",
        "permissions: {}",
        "jobs:",
        "  propose:",
        "    name: Propose",
        *_permissions(PROPOSE),
        _uses(choice, "propose"),
    )


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
    beside = f" # {choice.pin.version}" if choice.pin.is_commit and choice.pin.version else ""
    return f"    uses: {SOURCE}/.github/workflows/{workflow}.yml@{choice.pin.ref}{beside}"


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"
