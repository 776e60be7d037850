"""An address that leads to a machine until it is closed: a machine that is ended answers nobody any more."""

from __future__ import annotations

import contextlib
import socket
import threading


class Doorway:
    """A port of the loopback whose connections go on to another one."""

    def __init__(self, target: int) -> None:
        """Listen, and lead to this port."""
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Refuse new connections and break those that are open."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                visitor, _ = self._listener.accept()
                self._open.append(visitor)
                try:
                    host = socket.create_connection(("127.0.0.1", self._target))
                except OSError:  # it refuses this one; the next may be let in
                    visitor.close()
                    continue
                self._open.append(host)
                for source, target in ((visitor, host), (host, visitor)):
                    threading.Thread(target=_pump, args=(source, target), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
