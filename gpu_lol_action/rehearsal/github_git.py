"""A real bare git repository behind the stand-in: GitHub's git data API is git's object store.

Trees, merges, archives, diffs and every move of a ref are the `git` program's own; loose objects and refs are read, and
plain objects written, by git_objects.py, because a process for each would be most of what a story costs.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from gpu_lol_action.rehearsal.git_objects import is_id, read_object, read_ref, read_refs, write_object
from gpu_lol_action.rehearsal.github_git_values import (
    Commit,
    FileChange,
    Signature,
    TreeEntry,
    parse_commit,
    signature_of,
)

ZERO = "0" * 40
# What git takes into a commit as it is; from other names it strips some characters.
_PLAIN = re.compile(r"\w(?:[\w @.+\[\]-]*[\w\]])?")
# No setting of this machine may change an object or a diff.
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C.UTF-8",
}


class GitError(Exception):
    """Git refused; the text is git's own."""


class BareRepository:
    """One bare repository on disk."""

    def __init__(self, path: Path) -> None:
        # Absolute: git runs inside it, and paths are handed on through the environment.
        self.path = path = path.resolve()
        # What a replica that lags behind shows instead of the refs as they are (github_stale.py).
        self.shown_refs: Mapping[str, str] | None = None
        if not (path / "HEAD").exists():
            path.mkdir(parents=True, exist_ok=True)
            _run(path, ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", "."])

    def git(self, *arguments: str, stdin: bytes | None = None, environment: Mapping[str, str] | None = None) -> bytes:
        """Git's output; raises GitError with git's words."""
        return _run(self.path, arguments, stdin, environment)

    def text(self, *arguments: str) -> str:
        """Git's output as stripped text."""
        return self.git(*arguments).decode("utf-8", "replace").strip()

    # --- refs -----------------------------------------------------------------------------------------
    def resolve(self, name: str, kind: str = "commit") -> str | None:
        """The full SHA that a branch, tag, full ref, or (abbreviated) SHA stands for; None where there is none."""
        if is_id(name) and self.kind(name) == kind:
            return name
        for candidate in (name, f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}"):
            found = self._parsed(f"{candidate}^{{{kind}}}")
            if found is not None:
                return found
        return None

    def parsed(self, expression: str) -> str | None:
        """The SHA behind git's own way of naming an object, as `BRANCH:PATH`; None where there is none."""
        known = expression if is_id(expression) and self.kind(expression) else None
        return known or self._parsed(expression)

    def _parsed(self, expression: str) -> str | None:
        try:
            return self.text("rev-parse", "--verify", "--quiet", "--end-of-options", expression)
        except GitError:
            return None

    def ref(self, name: str) -> str | None:
        """The SHA of a fully qualified ref, or None."""
        if self.shown_refs is not None:
            return self.shown_refs.get(name)
        return read_ref(self.path, name) if self.is_ref_name(name) else None

    def refs(self, prefix: str) -> dict[str, str]:
        """Every ref whose full name starts with the prefix (not only at a slash: GitHub's rule)."""
        if self.shown_refs is not None:
            return {name: sha for name, sha in self.shown_refs.items() if name.startswith(prefix)}
        return {name: sha for name, sha in read_refs(self.path).items() if name.startswith(prefix)}

    def is_ref_name(self, name: str) -> bool:
        """Whether git takes this as a full ref name."""
        if re.fullmatch(r"refs(?:/[A-Za-z0-9][A-Za-z0-9_-]*)+", name) and not name.endswith(".lock"):
            return True
        try:
            self.git("check-ref-format", name)
        except GitError:
            return False
        return True

    def update_ref(self, name: str, sha: str, expected: str | None) -> None:
        """Move a ref only if it still is at `expected` (None: it must not exist yet)."""
        self.git("update-ref", name, sha, expected if expected is not None else ZERO)

    def delete_ref(self, name: str) -> None:
        """Remove a ref."""
        self.git("update-ref", "-d", name)

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Whether one commit can be reached from the other."""
        if ancestor == descendant or ancestor in self.read_commit(descendant).parents:
            return True
        try:
            self.git("merge-base", "--is-ancestor", ancestor, descendant)
        except GitError:
            return False
        return True

    # --- objects --------------------------------------------------------------------------------------
    def kind(self, sha: str) -> str | None:
        """`blob`, `tree`, `commit`, `tag`, or None where there is no such object."""
        found = read_object(self.path, sha)
        if found is not None:
            return found[0]
        try:
            return self.text("cat-file", "-t", sha)
        except GitError:
            return None

    def write_blob(self, content: bytes) -> str:
        """Store bytes; returns the SHA."""
        return write_object(self.path, "blob", content)

    def read_blob(self, sha: str) -> bytes:
        """The bytes of a blob."""
        found = read_object(self.path, sha)
        if found is not None and found[0] == "blob":
            return found[1]
        return self.git("cat-file", "blob", sha)

    def write_tree(self, entries: Mapping[str, tuple[str, str] | None], base: str | None = None) -> str:
        """A tree from path -> (mode, SHA), None to remove, on top of a base tree or commit."""
        lines = []
        for path, entry in entries.items():
            mode, sha = entry or ("0", ZERO)
            lines.append(f"{mode} {sha}\t{path}\0")
        with self.own_index() as environment:
            self.git("read-tree", base or "--empty", environment=environment)
            self.git("update-index", "-z", "--index-info", stdin="".join(lines).encode(), environment=environment)
            return self.git("write-tree", environment=environment).decode().strip()

    def merged_tree(self, ours: str, theirs: str) -> str:
        """The tree of a merge; GitError where both sides changed one file."""
        base = self.text("merge-base", ours, theirs)
        with self.own_index() as environment:
            self.git("read-tree", "-i", "-m", "--aggressive", base, ours, theirs, environment=environment)
            return self.git("write-tree", environment=environment).decode().strip()

    @contextmanager
    def own_index(self) -> Iterator[dict[str, str]]:
        """The environment of git commands that share an index of their own."""
        with tempfile.TemporaryDirectory(prefix="index-", dir=self.path) as folder:
            yield {"GIT_INDEX_FILE": str(Path(folder) / "index")}

    def write_commit(self, tree: str, parents: Sequence[str], message: str, author: Signature) -> str:
        """Store a commit; author and committer are the same."""
        stamp = f"{int(author.when.timestamp())} +0000"
        if _PLAIN.fullmatch(author.name) and _PLAIN.fullmatch(author.email) and "\0" not in message:
            signed = f"{author.name} <{author.email}> {stamp}"
            head = [f"tree {tree}", *(f"parent {each}" for each in dict.fromkeys(parents))]
            lines = [*head, f"author {signed}", f"committer {signed}", "", message]
            return write_object(self.path, "commit", "\n".join(lines).encode())
        environment = {
            f"GIT_{role}_{field}": value
            for role in ("AUTHOR", "COMMITTER")
            for field, value in (("NAME", author.name), ("EMAIL", author.email), ("DATE", stamp))
        }
        flags = [flag for parent in parents for flag in ("-p", parent)]
        made = self.git("commit-tree", tree, *flags, stdin=message.encode(), environment=environment)
        return made.decode().strip()

    def read_commit(self, sha: str) -> Commit:
        """A commit as git stores it."""
        found = read_object(self.path, sha)
        if found is not None and found[0] == "commit":
            return parse_commit(sha, found[1].decode("utf-8", "replace"))
        layout = "%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B"
        fields = self.git("show", "--no-patch", f"--format={layout}", sha).decode("utf-8", "replace").split("\0")
        return Commit(
            sha=fields[0],
            tree=fields[1],
            parents=tuple(fields[2].split()),
            author=signature_of(*fields[3:6]),
            committer=signature_of(*fields[6:9]),
            message=fields[9].rstrip("\n"),
        )

    def read_tree(self, treeish: str, *, recursive: bool = False) -> list[TreeEntry]:
        """The entries of a tree (or of a commit), folders included where recursive."""
        flags = ["-r", "-t"] if recursive else []
        listing = self.git("ls-tree", "-z", "--long", *flags, treeish).decode("utf-8", "surrogateescape")
        entries = []
        for line in filter(None, listing.split("\0")):
            facts, path = line.split("\t", 1)
            mode, kind, sha, size = facts.split()
            entries.append(TreeEntry(mode, kind, sha, None if size == "-" else int(size), path))
        return entries

    def history(self, start: str, *, stop: str | None = None, limit: int = 1000, path: str = "") -> list[str]:
        """Commit SHAs, newest first, from `start` back to (not including) what `stop` reaches; those that touch `path`."""
        span = f"{stop}..{start}" if stop else start
        return self.text("rev-list", f"--max-count={limit}", span, *(("--", path) if path else ())).split()

    def merge_base(self, one: str, other: str) -> str | None:
        """The commit that both have in common, or None."""
        try:
            return self.text("merge-base", one, other)
        except GitError:
            return None

    def changes(self, base: str, head: str) -> list[FileChange]:
        """The files that differ, with rename detection, as a pull request shows them."""
        raw = self.git("diff-tree", "-r", "-z", "-M", "--raw", base, head).decode("utf-8", "replace")
        fields = iter(raw.split("\0"))
        changes = []
        for facts in fields:
            if not facts:
                continue
            _, _, _, new_sha, letter = facts.split()
            first = next(fields)
            renamed = letter[0] in "RC"
            path = next(fields) if renamed else first
            changes.append(self._change(base, head, path, first if renamed else None, letter[0], new_sha))
        return changes

    def _change(self, base: str, head: str, path: str, previous: str | None, letter: str, sha: str) -> FileChange:
        words = {"A": "added", "D": "removed", "M": "modified", "T": "changed", "R": "renamed", "C": "copied"}
        names = [name for name in (previous, path) if name]
        diff = self.git("diff", "-M", base, head, "--", *names).decode("utf-8", "replace")
        hunks = diff[diff.index("\n@@") + 1 :].rstrip("\n") if "\n@@" in diff else None
        lines = hunks.splitlines() if hunks else []
        blob = self.text("rev-parse", f"{base}:{path}") if sha == ZERO else sha
        return FileChange(
            path=path,
            previous_path=previous,
            status=words.get(letter, "changed"),
            additions=sum(line.startswith("+") for line in lines),
            deletions=sum(line.startswith("-") for line in lines),
            sha=blob,
            patch=hunks,
        )

    def archive(self, commit: str, prefix: str) -> bytes:
        """The tree as GitHub's tarball: `git archive` with one top folder and the SHA in the global header."""
        return self.git("archive", "--format=tar.gz", f"--prefix={prefix}/", commit)

    def fetch(self, source: Path, refspec: str) -> None:
        """Take objects and a ref from another repository on this machine: how a fork's head reaches its base."""
        self.git("fetch", "--quiet", "--no-tags", "--update-head-ok", str(source), refspec)


def _run(
    folder: Path,
    arguments: Sequence[str],
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    finished = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**_ENVIRONMENT, **(environment or {})},
        input=stdin if stdin is not None else b"",
        capture_output=True,
        check=False,
    )
    if finished.returncode != 0:
        raise GitError(finished.stderr.decode("utf-8", "replace").strip() or f"git {arguments[0]} failed")
    return finished.stdout
