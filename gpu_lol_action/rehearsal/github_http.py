"""The stand-in over real HTTP on the loopback: requests in, answers out, and the ways in which an answer can fail to come."""

from __future__ import annotations

import http.server
import json
import select
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass

from gpu_lol_action.rehearsal.github_answers import Answer

SILENCE_SECONDS = 5
"""Longer than a client with a time limit of a test waits."""

_MAX_BODY = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as it came off the wire."""

    method: str
    target: str
    authorization: str
    if_none_match: str
    body: bytes


def serve(answer: Callable[[Incoming], Answer | None], port: int = 0) -> http.server.ThreadingHTTPServer:
    """Start a loopback server in a thread of its own; the port is in `server_address`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Unbuffered writes and Nagle's algorithm together make every kept-alive answer take 44 ms.
        wbufsize = 65536
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing on stderr: the journal has it all."""

        def answer_any(self) -> None:
            """Answer any verb."""
            length = min(int(self.headers.get("Content-Length") or 0), _MAX_BODY)
            incoming = Incoming(
                method=self.command,
                target=self.path,
                authorization=self.headers.get("Authorization", ""),
                if_none_match=self.headers.get("If-None-Match", ""),
                body=self.rfile.read(length),
            )
            given = answer(incoming)
            if given is None or given.delivery in ("reset", "silence"):
                self.close_connection = True
                _leave(self.connection, given.delivery if given is not None else "whole")
                return
            self._send(given)

        def _send(self, given: Answer) -> None:
            is_raw = isinstance(given.body, bytes)
            raw = given.body if is_raw else b"" if given.body is None else json.dumps(given.body).encode()
            self.send_response_only(given.status)
            # A story's clock is not this machine's: what tells a time brings its own.
            self.send_header("Date", given.headers.get("Date") or self.date_time_string())
            if given.body is not None:
                kind = "application/x-gzip" if is_raw else "application/json; charset=utf-8"
                self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(raw)))
            for name, value in given.headers.items():
                if name != "Date":
                    self.send_header(name, value)
            self.end_headers()
            if given.delivery == "cut":
                self.close_connection = True
                raw = raw[: len(raw) // 2]
            self.wfile.write(raw)
            self.wfile.flush()

    for verb in ("GET", "POST", "PATCH", "PUT", "DELETE"):
        setattr(Handler, f"do_{verb}", Handler.answer_any)

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that went away is its own business; what a route raises is recorded by Api."""

    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


def _leave(connection: socket.socket, delivery: str) -> None:
    """End the connection without an answer: closed, broken, or after a silence longer than anybody waits."""
    if delivery == "silence":
        select.select([connection], [], [], SILENCE_SECONDS)
    if delivery == "reset":
        # Lingering for no time at all makes the kernel send a reset instead of a farewell.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        return
    connection.shutdown(socket.SHUT_RDWR)
