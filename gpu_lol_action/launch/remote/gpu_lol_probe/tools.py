"""Programs with a time box, and results that never raise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

MARK = "gpu-lol-worker "
MAX_TEXT = 4000
Facts = Dict[str, Any]


def run(
    arguments: List[str], seconds: float, env: Optional[Dict[str, str]] = None, cwd: str = "/"
) -> Tuple[int, str, str]:
    """Run a program; returns exit code, stdout, stderr. 127: not there; 124: its time was up (its whole group is killed)."""
    try:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    except OSError as error:
        return 127, "", str(error)
    try:
        out, err = process.communicate(timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        kill(process)
        out, err = process.communicate()
        code = 124
    return code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def kill(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()  # does nothing to one that is known to have ended


def worker(name: str, arguments: List[str], seconds: float, cwd: str = "/") -> Tuple[int, str, str]:
    """Run another part of this archive in a Python process of its own: a crash in a library ends only that."""
    return run([sys.executable, sys.argv[0], name, *arguments], seconds, cwd=cwd)


def guarded(gather: Callable[[], Facts]) -> Facts:
    """Return what ``gather`` finds, or ``{"error": ...}``."""
    try:
        return gather()
    except Exception as error:  # noqa: BLE001 - one part that fails must not end the others
        return {"error": cut(f"{type(error).__name__}: {error}")}


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """Return the end of a text."""
    return text if len(text) <= limit else "..." + text[-limit:]


def read(path: str, limit: int = 1 << 20) -> str:
    """Return the beginning of a file, empty when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
