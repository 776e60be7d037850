"""Takes a project on disk into the stand-in's repository, as git would commit it."""

from __future__ import annotations

from pathlib import Path

from gpu_lol_action.rehearsal.github_git import BareRepository
from gpu_lol_action.rehearsal.github_git_values import Signature


def import_folder(git: BareRepository, folder: Path, branch: str, message: str, author: Signature) -> str:
    """Commit the folder's files (tracked ones, and untracked ones that nothing ignores) as a branch's new tip."""
    with git.own_index() as index:
        environment = {**index, "GIT_DIR": str(git.path.resolve()), "GIT_WORK_TREE": str(folder.resolve())}
        tracked = _tracked(git, folder.resolve())
        if tracked:
            # Files that are tracked although an ignore rule names them: `add` alone would drop them.
            arguments = ("-C", str(folder.resolve()), "update-index", "--add", "-z", "--stdin")
            git.git(*arguments, stdin=tracked, environment=environment)
        git.git("-C", str(folder.resolve()), "add", "--all", "--", ".", environment=environment)
        tree = git.git("write-tree", environment=environment).decode().strip()
    tip = git.ref(f"refs/heads/{branch}")
    sha = git.write_commit(tree, [tip] if tip else [], message, author)
    git.update_ref(f"refs/heads/{branch}", sha, tip)
    return sha


def _tracked(git: BareRepository, folder: Path) -> bytes:
    if not (folder / ".git").exists():
        return b""
    listing = git.git("-c", "safe.directory=*", "-C", str(folder), "ls-files", "-z")
    # A tracked file that was deleted on disk is none of the project as it lies there.
    kept = [
        name for name in listing.split(b"\0") if name and (folder / name.decode("utf-8", "surrogateescape")).exists()
    ]
    return b"".join(name + b"\0" for name in kept)
