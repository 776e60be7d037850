"""Whether the files on disk are those of the commit, by their own hashes: no git filter and no cached time stamp counts."""

from __future__ import annotations

import hashlib
import os
from typing import List

from .tools import Facts, read, run


def gather(request: Facts) -> Facts:
    """Return HEAD, its tree, the index's tree, and the tracked files that differ from the index."""
    folder = os.path.join(os.path.expanduser("~"), request["folder"])
    if not os.path.isdir(folder):
        return {"is_missing": True}
    facts: Facts = {"marker": read(os.path.expanduser("~/.gpu-lol/GPU_LOL_SHA"), 100).strip()}
    for name, arguments in (
        ("head", ["rev-parse", "HEAD"]),
        ("head_tree", ["rev-parse", "HEAD^{tree}"]),
        ("index_tree", ["write-tree"]),
    ):
        code, out, err = _git(folder, arguments)
        facts[name] = out.strip() if code == 0 else ""
        if code:
            facts["complaint"] = (err or out).strip()[-300:]
    code, listed, _ = _git(folder, ["ls-files", "-s", "-z"])
    _, skipped_text, _ = _git(folder, ["ls-files", "-t", "-z"])
    skipped = {entry[2:] for entry in skipped_text.split("\0") if entry.startswith("S ")}
    changed: List[str] = []
    count = 0
    for entry in listed.split("\0") if code == 0 else []:
        head, _, path = entry.partition("\t")
        if not path:
            continue
        count += 1
        mode, blob = head.split(" ")[:2]
        if path not in skipped and mode != "160000" and _differs(os.path.join(folder, path), mode, blob):
            changed.append(path)
    facts.update(files=count, changed=len(changed), examples=sorted(changed)[:5])
    return facts


def _git(folder: str, arguments: List[str]) -> "tuple[int, str, str]":
    options = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*"]
    return run(["git", *options, "-C", folder, *arguments], 60)


def _differs(path: str, mode: str, blob: str) -> bool:
    try:
        if mode == "120000":
            content = os.fsencode(os.readlink(path))
            return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() != blob  # git's own ids  # nosec B324
        if os.path.islink(path) or bool(os.stat(path).st_mode & 0o100) != (mode == "100755"):
            return True
        digest = hashlib.sha1(b"blob %d\0" % os.path.getsize(path))  # git's own ids  # nosec B324
        with open(path, "rb") as file:
            for chunk in iter(lambda: file.read(1 << 20), b""):
                digest.update(chunk)
        return digest.hexdigest() != blob
    except OSError:
        return True
