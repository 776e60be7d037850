"""How many requests of the hour are left, and what the last of them are kept for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gpu_lol_action.errors import TransientError

RESERVE = 200
"""Requests of the hour that only a teardown may spend: a machine that cannot be ended goes on costing money."""

# Which part of the work an operation belongs to, by the first word below the repository that tells.
_KINDS = (
    ("/reactions", "reactions"),
    ("comments", "comments"),
    ("git/", "records and code"),
    ("commits", "records and code"),
    ("contents", "records and code"),
    ("tarball", "records and code"),
    ("compare", "records and code"),
    ("graphql", "looks"),
    ("check-runs", "checks and deployments"),
    ("deployments", "checks and deployments"),
    ("collaborators", "people"),
    ("/users/", "people"),
    ("actions/", "runs"),
    ("pulls", "pull requests"),
)


class RequestBudget:
    """Counts what is asked, and says when the rest is kept."""

    def __init__(self) -> None:
        """Know of no limit yet: GitHub tells with its first answer."""
        self.counts: Counter[str] = Counter()
        self.left: int | None = None
        self.is_reserve_open = False

    @property
    def is_short(self) -> bool:
        """Whether no more than the reserve is left."""
        return self.left is not None and self.left <= RESERVE

    def spend(self, operation: str) -> None:
        """Count one request. Raises TransientError where it would eat into what is kept for teardown."""
        # GraphQL has a budget of its own.
        if self.is_short and not self.is_reserve_open and "graphql" not in operation:
            raise TransientError(
                "github_requests_reserved",
                f"Only {self.left} of this hour's GitHub requests are left, and they are kept for ending machines.",
                why="GitHub allows a workflow's token 1,000 requests an hour for all runs of a repository together.",
                fix="Try again in an hour; `/gpu-lol down` works meanwhile.",
            )
        self.counts[operation] += 1

    def learn(self, headers: Mapping[str, str]) -> None:
        """Take from an answer how many are left; other resources than `core` have limits of their own."""
        left = headers.get("x-ratelimit-remaining", "")
        if left.isdigit() and headers.get("x-ratelimit-resource", "core") == "core":
            self.left = int(left)


def requests_line(counts: Mapping[str, int], left: int | None) -> str:
    """Return one line that says how many requests a run made, of which kind, and how many are left."""
    kinds: Counter[str] = Counter()
    for operation, count in counts.items():
        kinds[next((kind for sign, kind in _KINDS if sign in operation), "other")] += count
    parts = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    rest = f"; {left} left this hour" if left is not None else ""
    return f"GitHub requests: {sum(counts.values())}{f' ({parts})' if parts else ''}{rest}"
