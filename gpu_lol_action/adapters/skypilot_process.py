"""The child process that holds SkyPilot: started, asked, and ended for good with everything that it started."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

OWNER_VARIABLE = "GPU_LOL_SKYPILOT_OWNER"
"""Names the worker to the server that it starts, so that the server ends when the worker is gone."""

_PORT_VARIABLE = "SKYPILOT_API_SERVER_LOCAL_PORT"
_LOG_LIMIT_BYTES = 1024 * 1024


def started_at(pid: int) -> str | None:
    """Return a process's start time in clock ticks, by which a number used again is told apart; None when it is gone.

    Where there is no ``/proc`` (macOS), whether the process exists is all that is known.
    """
    if not Path("/proc/self/stat").exists():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            pass
        return ""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on.

    SkyPilot's server takes it seconds later. A port that the system itself gives away (32768 and up on Linux, 49152 on
    others) may be some connection's by then, so one below those is looked for.
    """
    candidates = random.SystemRandom().sample(range(20000, 32000), 50)
    for port in candidates:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"none of {len(candidates)} ports between 20000 and 32000 is free")


class WorkerProcess:
    """A running worker. Events of one order arrive in the order's own queue; None there means that the worker is gone."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        """Start it. What SkyPilot prints goes to ``log``, which only its owner may read."""
        self._environment = dict(environment)
        log.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gpu_lol_action.adapters.skypilot_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env=self._environment,
                cwd=environment["HOME"],
                start_new_session=True,  # a Ctrl-C in the terminal is ours to translate, not SkyPilot's to see
            )
        self._orders: IO[bytes] = _opened(self._process.stdin)
        self._events: IO[bytes] = _opened(self._process.stdout)
        self._queues: dict[int, queue.SimpleQueue[dict[str, object] | None]] = {}
        self._lock = threading.Lock()
        self._is_gone = False
        self._reader = threading.Thread(target=self._read, name="skypilot-events", daemon=True)
        self._reader.start()

    @property
    def is_alive(self) -> bool:
        """Whether it still answers."""
        return not self._is_gone

    def ask(self, op: str, order: Mapping[str, object]) -> queue.SimpleQueue[dict[str, object] | None]:
        """Send an order and return the queue of its events."""
        events: queue.SimpleQueue[dict[str, object] | None] = queue.SimpleQueue()
        with self._lock:
            number = len(self._queues) + 1
            self._queues[number] = events
            line = json.dumps({**order, "id": number, "op": op}) + "\n"
            if self._is_gone:
                events.put(None)
                return events
            with contextlib.suppress(
                OSError, ValueError
            ):  # its stdin is closed already, or it is just ending; the reader tells every queue
                self._orders.write(line.encode())
                self._orders.flush()
        return events

    def _read(self) -> None:
        for line in self._events:
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                known = self._queues.get(event.get("id"))
                if known is not None:
                    known.put(event)
        with self._lock:
            self._is_gone = True
            for events in self._queues.values():
                events.put(None)

    def end(self, grace: timedelta) -> None:
        """End the worker, its server, and whatever either started; returns when none of them is left.

        Closing stdin lets the worker end the server in good order; what is still there after ``grace`` is killed.
        """
        with contextlib.suppress(OSError):
            self._orders.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=grace.total_seconds())
        self._process.kill()
        self._process.wait()
        kill_family(self._environment)  # who else holds the pipe's other end is gone now
        self._reader.join()
        self._events.close()


def kill_family(environment: Mapping[str, str]) -> None:
    """Kill every process that runs with this home and this server port, until a look finds none.

    SkyPilot's server runs in a session of its own and its executors in further ones, so neither process group nor parent
    leads to all of them; the environment that each inherited does.
    """
    import psutil  # comes with the cloud extra, like SkyPilot itself

    for attempt in range(100):
        family = [
            process
            for process in psutil.process_iter()
            if process.pid != os.getpid() and _is_family(process, environment)
        ]
        if not family:
            return
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.send_signal(signal.SIGTERM if attempt == 0 else signal.SIGKILL)
        psutil.wait_procs(family, timeout=1.0)
    raise RuntimeError("SkyPilot's processes cannot be ended")


def _is_family(process: psutil.Process, environment: Mapping[str, str]) -> bool:
    """Whether SkyPilot's server or anything below it runs in this process; False when it is gone or not ours to see."""
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        # OpenSSH's connection masters write their title over their environment, and stay in the folder they started in.
        # The user hash in their socket's path is no proof: another run for the same repository has the same.
        title = " ".join(process.cmdline())
        if title.startswith("ssh: ") and "/sky_ssh_" in title:
            return Path(process.cwd()) == Path(environment["HOME"]).resolve()
        inherited = process.environ()
        return all(inherited.get(name) == environment[name] for name in ("HOME", _PORT_VARIABLE))
    return False


def _opened(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("the worker was started without pipes")
    return stream


def read_log_tail(log: Path, lines: int = 20) -> list[str]:
    """Return the last lines of a worker's log, for people who look for a cause."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _LOG_LIMIT_BYTES))
            return file.read().decode(errors="replace").splitlines()[-lines:]
    except OSError:
        return []
