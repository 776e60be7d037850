"""The streams of one run over SSH: the script and its data go in, both outputs come out bounded, and the box of time holds."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO

from gpu_lol_action.domain.environment import SshEndpoint
from gpu_lol_action.domain.redaction import redact

MAX_STREAM_BYTES = 1 << 20
MAX_FILE_BYTES = 64 << 20
MAX_LINE_BYTES = 16 << 10
_CHUNK_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Call:
    """What one run carries; kept together because every step of it needs all."""

    endpoint: SshEndpoint
    script: str
    stdin: Path | bytes | None
    timeout: timedelta
    on_line: Callable[[str], None] | None
    into: Path | None = None


def converse(process: subprocess.Popen[bytes], call: Call) -> tuple[str, str]:
    """Feed the script and its data, collect both streams, and wait; raises ``TimeoutExpired``."""
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise AssertionError("the pipes are asked for where the process is started")
    tails = (bytearray(), bytearray())
    guard = threading.Lock()
    threads = [threading.Thread(target=_feed, args=(process.stdin, call), daemon=True)]
    for stream, tail in zip((process.stdout, process.stderr), tails, strict=True):
        if stream is process.stdout and call.into is not None:
            threads.append(threading.Thread(target=_save, args=(stream, call.into), daemon=True))
        else:
            threads.append(threading.Thread(target=_collect, args=(stream, tail, call.on_line, guard), daemon=True))
    for thread in threads:
        thread.start()
    try:
        process.wait(call.timeout.total_seconds())
    finally:
        kill(process)
        for thread in threads:
            thread.join(5)
    stdout, stderr = (tail.decode("utf-8", "replace") for tail in tails)
    return stdout, stderr


def _feed(pipe: IO[bytes], call: Call) -> None:
    script = call.script.encode("utf-8", "replace").replace(b"\0", b"")
    try:
        with pipe:
            pipe.write(b"%d\n" % len(script) + script)
            if isinstance(call.stdin, bytes):
                pipe.write(call.stdin)
            elif call.stdin is not None:
                with call.stdin.open("rb") as file:
                    shutil.copyfileobj(file, pipe, _CHUNK_BYTES)
    except (BrokenPipeError, ConnectionResetError):
        return  # the other side ended without reading everything; its exit status says why


def _collect(pipe: IO[bytes], tail: bytearray, on_line: Callable[[str], None] | None, guard: threading.Lock) -> None:
    """Keep the end of a stream, and show each line; a line without an end is cut, never waited for."""
    with pipe:
        while line := pipe.readline(MAX_LINE_BYTES):
            tail += line
            if len(tail) > 2 * MAX_STREAM_BYTES:
                del tail[:-MAX_STREAM_BYTES]
            if on_line is not None:
                text = redact(line.decode("utf-8", "replace"))
                with guard:
                    for part in text.splitlines():
                        on_line(part)
    if len(tail) > MAX_STREAM_BYTES:
        del tail[:-MAX_STREAM_BYTES]


def _save(pipe: IO[bytes], into: Path) -> None:
    """Write a stream to a file; what is over the limit is read and dropped, so that the other side can end."""
    left = MAX_FILE_BYTES
    with pipe, into.open("wb") as file:
        while chunk := pipe.read(_CHUNK_BYTES):
            file.write(chunk[:left])
            left = max(left - len(chunk), 0)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End ssh with all that it started, where it still runs."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
