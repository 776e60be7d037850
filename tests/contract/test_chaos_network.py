"""The network that `benchmarks/chaos.py --real` harms: each harm does what it says, or the benchmark would prove nothing."""

from __future__ import annotations

import http.client
import importlib.util
import json
import random
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "_chaos_network.py"
SPEC = importlib.util.spec_from_file_location("_chaos_network", PATH)
assert SPEC is not None
assert SPEC.loader is not None
chaos_network = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = chaos_network
SPEC.loader.exec_module(chaos_network)
DICE = random.Random(1)  # noqa: S311 - repeatable


@pytest.fixture
def far() -> Iterator[tuple[str, list[str]]]:
    """A server that keeps what it was asked and names itself in its answers."""
    asked: list[str] = []

    class Far(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            body = json.dumps({"next": f"http://{self.headers['Host']}/page/2"}).encode()
            self.send_response(201)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Far)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/api", asked
    server.shutdown()
    server.server_close()
    thread.join()


def post(address: str, body: str) -> tuple[int, str]:
    """Ask once; ConnectionError where no answer comes."""
    url = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=30)
    try:
        connection.request("POST", url.path, body)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def test_what_is_asked_arrives_and_what_is_answered_leads_back_through_the_network(far: tuple[str, list[str]]) -> None:
    origin, asked = far
    with chaos_network.between(chaos_network.Network(DICE), origin) as address:
        status, body = post(address, "one")
        assert (status, asked) == (201, ["one"])
        assert address != origin
        assert json.loads(body)["next"].startswith(address.removesuffix("/api"))


@pytest.mark.parametrize(("harm", "arrives"), [("cut", False), ("faults", False), ("lost", True)])
def test_each_harm_does_what_it_says_and_is_counted(
    far: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch, harm: str, arrives: bool
) -> None:
    monkeypatch.setattr(chaos_network, "SHARE", 1.0)
    monkeypatch.setattr(chaos_network, "_MAX_DELAY_SECONDS", 0.0)
    origin, asked = far
    network = chaos_network.Network(DICE, harm)
    with chaos_network.between(network, origin) as address:
        if harm == "faults":
            assert post(address, "one")[0] == 502
        else:
            with pytest.raises(ConnectionError):
                post(address, "one")
    assert asked == (["one"] if arrives else [])
    assert network.delivered == {harm: 1}
