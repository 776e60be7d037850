"""The network of one loopback cloud.

A bridge with a subnet nobody else uses, address translation to the outside, and public ports on 127.0.0.1 that lead into
pods, as RunPod maps TCP ports.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import ipaddress
import json
import os
import subprocess
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")
_LOCK = Path("/run/gpu-lol-loopback.lock")
_POOL = [ipaddress.IPv4Network(f"10.{second}.{third}.0/24") for second in (213, 214) for third in range(256)]
TOOL_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def tool(*command: str, check: bool = True) -> str:
    """Run a system tool and return what it printed; raises RuntimeError with that text when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ, PATH=TOOL_PATH))
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Network:
    """A bridge of ours: ``tag`` is part of every name we give, so that two clouds never meet."""

    tag: str
    subnet: str
    mtu: int

    @property
    def bridge(self) -> str:
        """Name of the bridge (at most 15 characters, as the kernel wants)."""
        return f"glb-{self.tag}"

    @property
    def gateway(self) -> str:
        """Our own address in the subnet; pods reach the cloud's API there."""
        return str(ipaddress.IPv4Network(self.subnet)[1])

    def address(self, number: int) -> str:
        """Address of pod ``number`` (2 to 250)."""
        return str(ipaddress.IPv4Network(self.subnet)[number])


def pick_subnet(routes: list[dict[str, object]]) -> str:
    """Return the first /24 of our pool that no route of this machine overlaps."""
    taken = []
    for route in routes:
        with contextlib.suppress(ValueError):
            taken.append(ipaddress.IPv4Network(str(route.get("dst")), strict=False))
    for candidate in _POOL:
        if not any(candidate.overlaps(network) for network in taken if network.prefixlen > 0):
            return str(candidate)
    raise RuntimeError("no free /24 in 10.213.0.0/16 and 10.214.0.0/16 for the rehearsal's pods")


def open_network(tag: str) -> Network:
    """Make the bridge and its rules."""
    with _LOCK.open("w") as lock:  # two clouds that start together must not pick the same subnet
        fcntl.flock(lock, fcntl.LOCK_EX)
        routes = json.loads(tool("ip", "-j", "-4", "route", "show", "table", "all") or "[]")
        network = Network(tag, pick_subnet(routes), _outside_mtu(routes))
        tool("ip", "link", "add", network.bridge, "type", "bridge")
        tool("ip", "addr", "add", f"{network.gateway}/24", "dev", network.bridge)
        tool("ip", "link", "set", network.bridge, "mtu", str(network.mtu), "up")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    for rule in _rules(network):
        tool("iptables", "-w", "-t", rule[0], "-I", *rule[1:])
    return network


def close_network(network: Network) -> None:
    """Take away bridge and rules; what is gone already is not an error."""
    tool("ip", "link", "del", network.bridge, check=False)
    for rule in _rules(network):
        tool("iptables", "-w", "-t", rule[0], "-D", *rule[1:], check=False)


def _rules(network: Network) -> list[list[str]]:
    # FORWARD too: a machine with Docker on it (a GitHub runner) drops what it forwards by default.
    return [
        ["nat", "POSTROUTING", "-s", network.subnet, "!", "-d", network.subnet, "-j", "MASQUERADE"],
        ["filter", "FORWARD", "-i", network.bridge, "-j", "ACCEPT"],
        ["filter", "FORWARD", "-o", network.bridge, "-j", "ACCEPT"],
    ]


def _outside_mtu(routes: list[dict[str, object]]) -> int:
    """Return the MTU of the default route: a pod with a larger one would send what cannot leave."""
    for route in routes:
        if route.get("dst") == "default":
            with contextlib.suppress(OSError, ValueError):
                return int(Path(f"/sys/class/net/{route.get('dev')}/mtu").read_text())
    return 1500


class PortForwarder:
    """Public ports of 127.0.0.1 that lead to addresses in the subnet, served by one event loop in one thread."""

    def __init__(self) -> None:
        """Start the loop."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ports", daemon=True)
        self._thread.start()

    def open(self, address: str, port: int) -> asyncio.AbstractServer:
        """Open a public port that leads to ``address:port``."""
        return self._call(self._listen(address, port))

    def close(self, server: asyncio.AbstractServer) -> None:
        """Close a public port; connections that run through it end with the pod."""
        self._loop.call_soon_threadsafe(server.close)

    def _call(self, coroutine: Coroutine[object, object, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=10)

    @staticmethod
    async def _listen(address: str, port: int) -> asyncio.AbstractServer:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                there_reader, there_writer = await asyncio.open_connection(address, port)
            except OSError:
                writer.close()
                return
            await asyncio.gather(_pump(reader, there_writer), _pump(there_reader, writer))
            writer.close()
            there_writer.close()

        return await asyncio.start_server(accept, "127.0.0.1", 0)


def public_port(server: asyncio.AbstractServer) -> int:
    """Return the number of a port that ``PortForwarder.open`` opened."""
    if not isinstance(server, asyncio.Server):
        raise TypeError("not a server with sockets")
    return int(server.sockets[0].getsockname()[1])


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncio.CancelledError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        if writer.can_write_eof():
            writer.write_eof()
