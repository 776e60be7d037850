"""The loopback cloud as a program (``python -m gpu_lol_action.rehearsal.cloud``) and as a thing that a story starts and ends.

It cleans up after itself on SIGTERM and SIGINT, and at its start after earlier ones that were killed: what a cloud owns is
written below ``/run`` with its process, so that a later one can tell a dead owner from a living neighbor.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gpu_lol_action.rehearsal.cloud_account import Account
from gpu_lol_action.rehearsal.cloud_pods import PodHouse
from gpu_lol_action.rehearsal.cloud_server import open_servers
from gpu_lol_action.rehearsal.image import ensure_image
from gpu_lol_action.rehearsal.pod import stop_leftover
from gpu_lol_action.rehearsal.pod_network import Network, close_network, open_network

if TYPE_CHECKING:
    from typing_extensions import Self

API_KEY = "rpa_LOOPBACK_CLOUD_NO_REAL_KEY"
_RUN = Path("/run/gpu-lol-loopback")


class LoopbackCloud:
    """A loopback cloud in a child process, for a ``with`` statement."""

    def __init__(
        self, state_dir: Path, image_dir: Path | None = None, port: int = 0, *, boot_delay: float = 2.0
    ) -> None:
        """Remember where to keep state; ``image_dir`` is the image's root (None: from the cache, built when lacking)."""
        self._state, self._image, self._port, self._boot_delay = state_dir, image_dir, port, boot_delay
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.api_key = API_KEY

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which RunPod's SDK (and SkyPilot) talks to this cloud."""
        return {"RUNPOD_API_BASE_URL": self.url}

    def __enter__(self) -> Self:
        """Start it; returns when it answers."""
        self._state.mkdir(parents=True, exist_ok=True)
        image = self._image or ensure_image()
        address = self._state / "address"
        address.unlink(missing_ok=True)
        command = [
            sys.executable,
            "-m",
            "gpu_lol_action.rehearsal.cloud",
            "--state",
            str(self._state),
            "--image",
            str(image),
        ]
        command += ["--port", str(self._port), "--boot-delay", str(self._boot_delay), "--end-with-parent"]
        package_root = str(Path(__file__).parent.parent.parent)
        paths = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH")]))
        with (self._state / "cloud.log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=dict(os.environ, PYTHONPATH=paths),
            )
        deadline = time.monotonic() + 60
        while not address.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(
                    f"the loopback cloud did not start: {(self._state / 'cloud.log').read_text()[-1000:]}"
                )
            time.sleep(0.02)
        self.url = address.read_text()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it with all its pods."""
        self.stop()

    def stop(self) -> None:
        """End it with all its pods; twice is as good as once."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def get(self, page: str) -> object:
        """Return a page of the control side: ``pods``, ``bills``, ``calls``, ``faults``, ``unexpected``, ``about``."""
        with urllib.request.urlopen(f"{self.url}/_lab/{page}", timeout=30) as answer:  # loopback only  # nosec B310
            return json.load(answer)

    def post(self, action: str, body: Mapping[str, object]) -> object:
        """Act on the control side: ``fault``, ``clear``, ``stand_in``, ``kill``, ``stop``; raises HTTPError for a bad body."""
        request = urllib.request.Request(
            f"{self.url}/_lab/{action}", json.dumps(dict(body)).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # loopback only  # nosec B310
            return json.load(answer)

    def pods(self) -> list[dict[str, object]]:
        """Return the pods that exist now."""
        return self._list("pods")

    def unexpected(self) -> list[str]:
        """Return what was asked of this cloud and nobody wrote an answer for; a story asserts that it is empty."""
        return [str(item) for item in self._list("unexpected")]

    def bills(self) -> list[dict[str, object]]:
        """Return what ended pods cost, the first that ended first."""
        return self._list("bills")

    def _list(self, page: str) -> list[Any]:
        found = self.get(page)
        if not isinstance(found, list):
            raise TypeError(f"/_lab/{page} is no list")
        return found


def _started_at(pid: int) -> str | None:
    """Return the process's start time in clock ticks, which tells it from a later one with its number; None when dead."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] == "Z" else fields[19]


def _claim(tag: str, network: Network, state: Path) -> Path:
    _RUN.mkdir(parents=True, exist_ok=True)
    record = _RUN / f"{tag}.json"
    owner = {
        "pid": os.getpid(),
        "started_at": _started_at(os.getpid()),
        "subnet": network.subnet,
        "mtu": network.mtu,
        "state": str(state),
    }
    record.write_text(json.dumps(owner))
    return record


def remove_leftovers() -> list[str]:
    """Take down what killed clouds left: pods, bridges, rules. Returns their tags."""
    removed = []
    for record in sorted(_RUN.glob("*.json")):
        with contextlib.suppress(OSError, ValueError):
            owner = json.loads(record.read_text())
            if _started_at(owner["pid"]) == owner["started_at"]:
                continue
            state = Path(owner["state"])
            with contextlib.suppress(OSError, ValueError):
                for pid in json.loads((state / "processes.json").read_text()):
                    if "pod_init.sh" in _command_line(pid):
                        stop_leftover(pid)
            close_network(Network(record.stem, owner["subnet"], owner["mtu"]))
            shutil.rmtree(state / "pods", ignore_errors=True)
            record.unlink()
            removed.append(record.stem)
    return removed


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def serve(state: Path, image: Path, port: int, boot_delay: float, *, ends_with_parent: bool) -> None:
    """Run a cloud until SIGTERM or SIGINT (or until stdin closes, when it ends with its parent)."""
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    remove_leftovers()
    state.mkdir(parents=True, exist_ok=True)
    tag = secrets.token_hex(2)
    network = open_network(tag)
    record = _claim(tag, network, state)
    account = Account(API_KEY)
    houses: list[PodHouse] = []

    def house_of(chosen: int) -> PodHouse:
        houses.append(PodHouse(account, image, state, network, chosen, boot_delay))
        return houses[0]

    try:
        servers = open_servers(account, house_of, ("127.0.0.1", network.gateway), port)
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        if ends_with_parent:
            threading.Thread(target=_wait_for_parent, args=(stop,), daemon=True).start()
        temporary = state / "address.new"
        temporary.write_text(f"http://127.0.0.1:{servers[0].server_address[1]}")
        temporary.rename(state / "address")
        stop.wait()
    finally:
        for house in houses:
            house.end_all("the loopback cloud ended")
        close_network(network)
        record.unlink(missing_ok=True)
        (state / "address").unlink(missing_ok=True)
        (state / "calls.json").write_text(json.dumps(account.calls, default=str, indent=1))


def _wait_for_parent(stop: threading.Event) -> None:
    while os.read(0, 4096):  # not sys.stdin: its lock would be held when the interpreter ends
        pass
    stop.set()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="A loopback RunPod for rehearsals. Needs root.")
    parser.add_argument("--state", type=Path, required=True, help="folder for pods and logs")
    parser.add_argument(
        "--image", type=Path, help="root of the machine image (default: from the cache, built when lacking)"
    )
    parser.add_argument(
        "--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one, written to STATE/address)"
    )
    parser.add_argument("--boot-delay", type=float, default=2.0, help="seconds before a pod exists")
    parser.add_argument("--end-with-parent", action="store_true", help="end when stdin closes")
    options = parser.parse_args()
    image = options.image or ensure_image(on_progress=lambda line: print(line, file=sys.stderr))
    serve(
        options.state.resolve(),
        image.resolve(),
        options.port,
        options.boot_delay,
        ends_with_parent=options.end_with_parent,
    )


if __name__ == "__main__":
    main()
