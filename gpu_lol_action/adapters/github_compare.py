"""What two commits have in common, and which files differ from it: one request a pair, whatever is asked of it.

``GET /repos/OWNER/NAME/compare/BASE...HEAD`` lists at most 300 files, all on its first page (docs.github.com, "Compare two commits").
"""

from __future__ import annotations

from gpu_lol_action.adapters.github import GitHubClient
from gpu_lol_action.errors import TransientError

Comparison = tuple[str, frozenset[str]]
"""The commit in common, and the paths of changed files: both of one that was renamed."""


class Comparisons:
    """Pairs of commits, each asked about once in a run: what commits are does not change."""

    def __init__(self, client: GitHubClient) -> None:
        """Keep whom to ask."""
        self._client = client
        self._known: dict[str, Comparison] = {}

    def of(self, base: str, head: str) -> Comparison:
        """Return what the two have in common, and the paths in which the head differs from that. Raises where GitHub's answer says neither."""
        span = f"{base}...{head}"
        if span not in self._known:
            raw = self._client.get("compare/{span}", {"span": span}, per_page=1)
            try:
                common, files = str(raw["merge_base_commit"]["sha"]), list(raw.get("files") or ())
                names = [file.get(key) for file in files for key in ("filename", "previous_filename")]
            except (AttributeError, KeyError, TypeError):
                raise TransientError(
                    "github_answer_not_understood", f"GitHub's answer about {span[:120]} lacks what it always has"
                ) from None
            self._known[span] = common, frozenset(name for name in names if isinstance(name, str))
        return self._known[span]
