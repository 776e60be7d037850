"""One pod: a sandbox that looks like a rented machine.

It has namespaces of its own over the shared image, an address behind the cloud's bridge, and runs the start command that
SkyPilot sends, unchanged.

What only a real cloud has is not here: a GPU (stand-ins answer for it), limits on CPU and memory, isolation that would hold
against a hostile program (it is a container of the host's root).
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpu_lol_action.rehearsal.pod_files import network_environment, write_pod_files
from gpu_lol_action.rehearsal.pod_network import TOOL_PATH, Network, tool

_INIT = Path(__file__).parent / "pod_init.sh"
_BASE_ENVIRONMENT = {
    "HOME": "/root",
    "TERM": "xterm",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}


@dataclass(frozen=True, slots=True)
class PodSpec:
    """What a pod is started with. ``number`` gives its address; ``command`` is the container's command line."""

    pod_id: str
    number: int
    image: Path
    folder: Path
    network: Network
    command: str
    environment: Mapping[str, str]
    stand_in: Mapping[str, object]

    @property
    def address(self) -> str:
        """The pod's address on the bridge."""
        return self.network.address(self.number)


def start_pod(spec: PodSpec) -> subprocess.Popen[bytes]:
    """Start the sandbox; returns when its namespaces and network exist (its command has just begun to run)."""
    spec.folder.mkdir(parents=True)
    write_pod_files(spec.folder / "upper", spec.image, spec.pod_id, spec.stand_in)
    _write_environment(spec)
    ready_read, ready_write = os.pipe()
    go_read, go_write = os.pipe()
    try:
        process = _spawn(spec, ready_write, go_read)
    finally:
        os.close(ready_write)
        os.close(go_read)
    try:
        _wait_for_namespaces(spec, ready_read)
        _give_interface(spec, process.pid)
        os.write(go_write, b"go\n")
    except BaseException:
        stop_process(process)
        raise
    finally:
        os.close(ready_read)
        os.close(go_write)
    return process


def _wait_for_namespaces(spec: PodSpec, ready_read: int) -> None:
    if not select.select([ready_read], [], [], 20)[0] or os.read(ready_read, 16) == b"":
        raise RuntimeError(f"pod {spec.pod_id} did not start: {_tail(spec.folder / 'container.log')}")


def _spawn(spec: PodSpec, ready_write: int, go_read: int) -> subprocess.Popen[bytes]:
    network = spec.network
    init = ["/bin/bash", str(_INIT), str(ready_write), str(go_read), str(spec.image), str(spec.folder), spec.pod_id]
    init += [spec.address, network.gateway, str(network.mtu)]
    namespaces = [
        "unshare",
        "--mount",
        "--propagation",
        "unchanged",
        "--pid",
        "--net",
        "--uts",
        "--ipc",
        "--fork",
        "--kill-child",
    ]
    with (spec.folder / "container.log").open("wb") as log:
        return subprocess.Popen(
            [*namespaces, *init, *shlex.split(spec.command)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(ready_write, go_read),
            start_new_session=True,
            env={"PATH": TOOL_PATH},
            cwd="/",
        )


def _give_interface(spec: PodSpec, pid: int) -> None:
    """Move one end of a cable into the pod as its eth0; it goes away with the pod's network namespace."""
    tag, number = spec.network.tag, spec.number
    outer, inner = f"glh-{tag}-{number}", f"glc-{tag}-{number}"
    tool("ip", "link", "add", outer, "type", "veth", "peer", "name", inner)
    tool("ip", "link", "set", outer, "master", spec.network.bridge, "mtu", str(spec.network.mtu), "up")
    tool("ip", "link", "set", inner, "netns", str(pid), "name", "eth0")


def _write_environment(spec: PodSpec) -> None:
    variables = {**_BASE_ENVIRONMENT, **network_environment(os.environ), **spec.environment}
    path = spec.folder / "environment"
    path.touch(mode=0o600)
    path.write_text("".join(f"{name}={shlex.quote(value)}\n" for name, value in variables.items()))


def stop_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a pod: every process in it dies with its first one."""
    _kill_group(process.pid)
    process.wait()


def stop_leftover(pid: int) -> None:
    """Kill the pod of a cloud that crashed; we are not its parent, so its end is watched, not waited for."""
    _kill_group(pid)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def remove_folder(folder: Path) -> None:
    """Remove a stopped pod's files. Its mounts went with its namespace; one that leaked out of a chroot is taken down."""
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        tool("umount", "-l", str(folder), check=False)
        time.sleep(0.1)
    raise RuntimeError(f"{folder} cannot be removed")


def _tail(log: Path) -> str:
    return " / ".join(log.read_text(errors="replace").splitlines()[-3:]) if log.exists() else "no output"
