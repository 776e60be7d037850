"""Python packages for a machine to install: wheels, an index of ours that serves them, and the installer."""

from __future__ import annotations

import functools
import http.server
import io
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path


def make_wheel(
    folder: Path, name: str, version: str, requires: Sequence[str] = (), files: Mapping[str, str] | None = None
) -> None:
    """Make a package that needs others and holds more modules than its own."""
    info = f"{name}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *(f"Requires-Dist: {r}" for r in requires)]
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        modules = {f"{name}.py": f"__version__ = {version!r}\n", **(files or {})}
        for path, text in modules.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{info}/METADATA", "\n".join(metadata) + "\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        listed = [*modules, *(f"{info}/{part}" for part in ("METADATA", "WHEEL", "RECORD"))]
        wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in listed))


# A build that needs no tool but Python, and imports what the test says; `value` is what it built with.
_BACKEND = """
import zipfile
{first}

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name, info = "{name}-{version}-py3-none-any.whl", "{name}-{version}.dist-info"
    with zipfile.ZipFile(f"{{folder}}/{{name}}", "w") as wheel:
        wheel.writestr("{name}.py", f"built_with = {{{value}!r}}")
        wheel.writestr(f"{{info}}/METADATA", {metadata!r})
        wheel.writestr(f"{{info}}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{{info}}/RECORD", "")
    return name
"""


def make_source(
    folder: Path,
    name: str,
    *,
    first: str,
    value: str = "''",
    build_requires: str = "[]",
    requires: Sequence[str] = (),
    version: str = "1.0",
) -> None:
    """Make an archive of the source of a package whose build begins with a statement (``import torch``)."""
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata = head + "".join(f"Requires-Dist: {text}\n" for text in requires)
    backend = _BACKEND.format(name=name, version=version, first=first, value=value, metadata=metadata)
    project = f'[build-system]\nrequires = {build_requires}\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    folder.mkdir(parents=True)
    with tarfile.open(folder / f"{name}-{version}.tar.gz", "w:gz") as archive:
        for path, text in {"PKG-INFO": head, "pyproject.toml": project, "backend.py": backend}.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))


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


def lay_python(folder: Path, *, has_pip: bool) -> None:
    """Give the machine an environment of its own, with our pip or without any, that its programs use before the system."""
    place = folder / "laid_over/opt/venv"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", str(place)], check=True)
    if has_pip:
        site = next(place.glob("lib/python*/site-packages"))
        ours = Path(str(distribution("pip").locate_file("")))
        for part in ("pip", f"pip-{distribution('pip').version}.dist-info"):
            shutil.copytree(ours / part, site / part, ignore=shutil.ignore_patterns("__pycache__"))
