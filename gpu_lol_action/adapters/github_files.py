"""The files of one commit on GitHub: as a folder to read, as a bundle to ship; its archive is asked for once."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gpu_lol_action.adapters import archive, github_archive
from gpu_lol_action.adapters.github import GitHubClient


class CommitFiles:
    """Archives of a repository's commits; the one that was read last lies on the disk until ``close``."""

    def __init__(self, client: GitHubClient, note: Callable[[str], None]) -> None:
        """Tell ``note`` what was left out of a commit."""
        self._client = client
        self._note = note
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._kept: tuple[str, Path] | None = None

    def close(self) -> None:
        """Leave nothing on the disk."""
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = self._kept = None

    @contextmanager
    def tree(self, sha: str) -> Iterator[Path]:
        """Yield a folder with the files of exactly that commit; links and oversized files are left out."""
        with tempfile.TemporaryDirectory(prefix="gpu-lol-tree-") as scratch:
            folder = Path(scratch) / "tree"
            folder.mkdir()
            unpacked = archive.unpack(self._archive(sha), folder, sha)
            for why, count in sorted(unpacked.skipped.items()):
                self._note(f"not read from the repository: {count} x {why}")
            yield folder

    def bundle(self, sha: str, destination: Path) -> Path:
        """Write the tree of exactly that commit, links included, as a tar.gz without a top folder."""
        return archive.repack(self._archive(sha), destination, sha)

    def gitlinks(self, sha: str, tree_id: str) -> dict[str, str]:
        """Path -> commit of each submodule. In an archive they are folders without entries, which git has no others of."""
        if not github_archive.has_empty_folder(self._archive(sha)):
            return {}
        tree = self._client.get("git/trees/{sha}", {"sha": tree_id}, recursive=1)
        return {entry["path"]: entry["sha"] for entry in tree["tree"] if entry.get("type") == "commit"}

    def _archive(self, sha: str) -> Path:
        """The archive of a commit; the one that was read last is kept, because what is analyzed is shipped next."""
        if self._kept is None or self._kept[0] != sha:
            if self._scratch is None:
                self._scratch = tempfile.TemporaryDirectory(prefix="gpu-lol-archive-")
            self._kept = None
            path = Path(self._scratch.name) / "archive.tar.gz"
            self._kept = (sha, github_archive.download(self._client, sha, path))
        return self._kept[1]
