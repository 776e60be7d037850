"""A repository whose files git would rather change, and what GitHub would say and send of its last commit."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

from gpu_lol_action.launch.code import CodeRequest

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ünï Côdé",
    "GIT_AUTHOR_EMAIL": "u@example.org",
    "GIT_AUTHOR_DATE": "1700000000 +0530",
    "GIT_COMMITTER_NAME": "GitHub",
    "GIT_COMMITTER_EMAIL": "noreply@example.org",
    "GIT_COMMITTER_DATE": "1700000100 -0800",
}


def git(folder: Path, *arguments: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], env=ENVIRONMENT, check=True, capture_output=True
    ).stdout


def make_odd_repository(folder: Path) -> Path:
    """Make a repository with what goes wrong elsewhere: ignored tracked files, CRLF under text=auto, filters, odd names, modes."""
    git(folder, "init", "-q")
    (folder / "first").write_text("first\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    (folder / ".git/info/attributes").write_text("* -text -filter -ident\n")
    (folder / ".gitattributes").write_text("* text=auto\n*.bin filter=lfs diff=lfs merge=lfs -text\n*.py ident\n")
    (folder / ".gitignore").write_text("*.log\ndata/\n")
    (folder / "kept.log").write_bytes(b"tracked though ignored\r\n")
    (folder / "data").mkdir()
    (folder / "data/weights.bin").write_bytes(bytes(range(256)))
    (folder / "train.py").write_text("print('$Id$')\r\n")
    (folder / "run.sh").write_text("#!/bin/sh\necho run\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "with space 'quote' é\n$(touch owned)").write_text("x")
    (folder / "-rf").write_text("x")
    (folder / "inside").symlink_to("data/weights.bin")
    (folder / "data/up").symlink_to("../train.py")
    (folder / "outside").symlink_to("../../etc/passwd")
    (folder / "absolute").symlink_to("/etc/shadow")
    git(folder, "add", "-A", "-f")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'ab' * 20},third_party/lib")
    git(folder, "commit", "-q", "-m", "second\n\nwith a body")
    return folder


def request_of(repository: Path) -> CodeRequest:
    sha, tree = git(repository, "rev-parse", "HEAD", "HEAD^{tree}").decode().split()
    return CodeRequest(
        repository="octo/My.Repo",
        sha=sha,
        tree_id=tree,
        branch="feature/x",
        origin_url="https://github.com/octo/My.Repo.git",
        commit_object=git(repository, "cat-file", "commit", "HEAD"),
        gitlinks={"third_party/lib": "ab" * 20},
        strip_components=1,
    )


def archive_of(repository: Path) -> bytes:
    raw = io.BytesIO(git(repository, "archive", "--format=tar.gz", "--prefix=octo-repo-1234/", "HEAD"))
    return raw.getvalue()
