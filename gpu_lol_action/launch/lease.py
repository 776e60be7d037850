"""The lease on the machine itself: a watcher that warns whoever is logged in, notes idleness, and ends what is over.

It is one layer of several and trusted by none of the others: whoever is root on the machine can stop it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gpu_lol_action.domain.environment import Lease
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.launch.remote_scripts import build_script, check_nonce, marked_lines, read_remote

WATCH_INTERVAL = timedelta(seconds=20)
_NUMBER = re.compile(r"[0-9]{1,9}")
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Watch:
    """What a machine watches: its lease, and the checkout (a name in the home folder, the commit that was shipped).

    ``grace``: so long after the lease it leaves work that is only there for the sweeper to save, before it ends itself.
    ``keep``: paths of the checkout that count as work though git ignores them.
    """

    lease: Lease
    folder: str
    sha: str
    grace: timedelta
    keep: tuple[str, ...] = ()


def build_lease_script(watch: Watch, now: datetime, nonce: str, *, watch_every: timedelta = WATCH_INTERVAL) -> str:
    """Return the script that tells the machine what to watch, and starts its watcher.

    The machine is told how long is left, not a time of day: its clock may be wrong.
    """
    if not _OBJECT_ID.fullmatch(watch.sha):
        raise ValueError(f"{watch.sha[:80]!r} is no commit")
    lease = watch.lease
    return build_script(
        "lease",
        values={
            "nonce": check_nonce(nonce),
            "left_seconds": str(int(lease.remaining(now).total_seconds())),
            "ends_text": f"{lease.expires_at:%Y-%m-%d %H:%M} UTC",
            "watch_seconds": str(max(int(watch_every.total_seconds()), 1)),
            "grace_seconds": str(max(int(watch.grace.total_seconds()), 0)),
            "checkout": watch.folder,
            "sha": watch.sha,
            "keep": _lines(watch.keep),
            "watcher": read_remote("watch.sh"),
        },
    )


def parse_lease_output(output: str, nonce: str) -> str | None:
    """Return None when the machine knows its lease, else why not."""
    for line in marked_lines(output, "lease", nonce):
        if line == "done":
            return None
        if line.startswith("failed "):
            return line.removeprefix("failed ")[:300]
    return "the script ended before it was done"


def build_look_script(folder: str, sha: str, nonce: str, keep: Sequence[str] = ()) -> str:
    """Return the script that says how long nobody has used the machine, and what of ``folder`` would be lost with it."""
    if not _OBJECT_ID.fullmatch(sha):
        raise ValueError(f"{sha[:80]!r} is no commit")
    return build_script(
        "look", values={"nonce": check_nonce(nonce), "folder": folder, "sha": sha, "keep": _lines(keep)}
    )


def parse_look_output(output: str, nonce: str) -> Look | None:
    """Return what the machine said, None where the look did not come to its end."""
    said: dict[str, int] = {}
    is_done = False
    for line in marked_lines(output, "look", nonce):
        key, _, value = line.partition(" ")
        is_done = is_done or key == "done"
        if _NUMBER.fullmatch(value):
            said[key] = int(value)
    if not is_done:
        return None
    return Look(
        idle=timedelta(seconds=said["idle_seconds"]) if "idle_seconds" in said else None,
        changed=said.get("changed"),
        untracked=said.get("untracked"),
        unpushed=said.get("unpushed"),
        kept=said.get("kept", 0),
    )


def _lines(paths: Sequence[str]) -> str:
    return "\n".join(path for path in paths if "\n" not in path)
