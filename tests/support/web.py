"""A web server on the loopback that says what a test tells it to, for clients that must not be faked themselves."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; header names in small letters."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def fields(self) -> dict[str, object]:
        return json.loads(self.body)


@dataclass
class Said:
    """One answer. ``chunks`` are sent one by one, with ``pause_s`` in front of each; ``head_pause_s`` is in front of all."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    chunks: tuple[bytes, ...] = ()
    pause_s: float = 0
    head_pause_s: float = 0


def said_json(value: object, **more: object) -> Said:
    return Said(json.dumps(value).encode(), **more)  # type: ignore[arg-type]  # keyword bag


@dataclass
class Web:
    """A server with a script. Without one it answers 404."""

    address: str = ""
    script: Callable[[Seen], Said] = field(default=lambda _seen: Said(b"not here", 404))
    seen: list[Seen] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)


@contextmanager
def web_server(certificate: tuple[Path, Path] | None = None) -> Iterator[Web]:
    """Yield a running server; ``certificate`` (file and key) makes it an encrypted one."""
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            web.seen.append(Seen(self.command, self.path, headers, body))
            said = web.script(web.seen[-1])
            try:
                self.say(said)
            except OSError:
                self.close_connection = True

        def say(self, said: Said) -> None:
            web.stopping.wait(said.head_pause_s)
            self.send_response(said.status)
            length = len(said.body) + sum(map(len, said.chunks))
            for name, value in {"Content-Length": str(length), **said.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.body)
            for chunk in said.chunks:
                if web.stopping.wait(said.pause_s):
                    break
                self.wfile.write(chunk)
                self.wfile.flush()

        do_GET = do_POST = answer  # noqa: N815  names of the standard library

        def log_message(self, *_arguments: object) -> None:
            """Say nothing: what a test looks at is in ``seen``."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_arguments: object) -> None:
            """A client that hangs up is what many tests are about."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        scheme = "https" if certificate else "http"
        web.address = f"{scheme}://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield web
        finally:
            web.stopping.set()
            server.shutdown()
            thread.join()


def own_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for the loopback that nobody signed but itself, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nobody")])
    now = datetime.now(timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files
