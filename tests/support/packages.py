"""Python packages for a machine to install: wheels, an index of ours that serves them, and the installer."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def make_wheel(folder: Path, name: str, version: str) -> None:
    info = f"{name}-{version}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", f"__version__ = {version!r}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        return


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Yield the address under which a folder's files can be had."""
    handler = functools.partial(_Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def lay_uv(folder: Path) -> None:
    """Give the machine our uv."""
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    assert uv is not None, "uv is in the group of packages that the install itself needs"
    target = folder / "laid_over/usr/local/bin/uv"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(uv, target)
