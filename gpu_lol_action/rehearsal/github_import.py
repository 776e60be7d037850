"""Takes a project on disk into the stand-in's repository, as git would commit it."""

from __future__ import annotations

from pathlib import Path

from gpu_lol_action.rehearsal.github_git import BareRepository, Signature


def import_folder(git: BareRepository, folder: Path, branch: str, message: str, author: Signature) -> str:
    """Commit the folder's files (tracked ones, and untracked ones that nothing ignores) as a branch's new tip."""
    index = git.path / "stand-in-import-index"
    environment = {"GIT_INDEX_FILE": str(index), "GIT_DIR": str(git.path), "GIT_WORK_TREE": str(folder)}
    try:
        tracked = _tracked(git, folder)
        if tracked:
            # Files that are tracked although an ignore rule names them: `add` alone would drop them.
            git.git("-C", str(folder), "update-index", "--add", "-z", "--stdin", stdin=tracked, environment=environment)
        git.git("-C", str(folder), "add", "--all", "--", ".", environment=environment)
        tree = git.git("write-tree", environment=environment).decode().strip()
    finally:
        index.unlink(missing_ok=True)
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
