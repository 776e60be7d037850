"""The permissions of a workflow's token that gpu-lol uses: which, how far, what for, and which may be left out."""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.domain.records import record

LEVELS = ("none", "read", "write")


@record(frozen=True, slots=True)
class TokenPermission:
    """One line below ``permissions:``. ``is_optional``: without it something is not shown, and nothing fails."""

    name: str
    level: str
    purpose: str
    is_optional: bool = False

    @property
    def line(self) -> str:
        """As it stands in a workflow."""
        return f"{self.name}: {self.level}"


PROPOSE = (
    TokenPermission("contents", "read", "the head commit's files, read as data"),
    TokenPermission("pull-requests", "write", "the proposal"),
    TokenPermission(
        "checks", "write", "the proposal as a check, with notes at the lines of the code", is_optional=True
    ),
)
PROPOSE_BY_MODEL = (
    TokenPermission("contents", "write", "what the model answered, kept below refs/gpu-lol/ for `up`"),
    *PROPOSE[1:],
)
PROPOSE_BY_COPILOT = (
    *PROPOSE_BY_MODEL,
    TokenPermission("copilot-requests", "write", "GitHub Copilot is asked, and billed to the owner"),
)
BOT = (
    TokenPermission("actions", "read", "whether the run that launches is still alive"),
    TokenPermission("contents", "write", "the ledger: refs below refs/gpu-lol/"),
    TokenPermission("issues", "write", "reactions to comments"),
    TokenPermission("pull-requests", "write", "answers"),
    TokenPermission("deployments", "write", "the machine among the pull request's deployments", is_optional=True),
)


def block(permissions: Iterable[TokenPermission]) -> str:
    """Return the block to paste into a job, each line with its purpose."""
    wanted = list(permissions)
    width = max(len(each.line) for each in wanted)
    lines = [f"  {each.line:<{width}}  # {each.purpose}" for each in wanted]
    return "\n".join(["permissions:", *lines])
