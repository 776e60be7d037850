"""scripts/install-copilot with an `npm` of the test's own: only the bytes that are pinned are installed."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import platform
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "install-copilot"
PLATFORM = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}[platform.machine()]
PROGRAM = b"#!/bin/sh\necho I am Copilot\n"


def package() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in {"copilot": PROGRAM, "LICENSE.md": b"terms", "other": b"not wanted"}.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)  # the same bytes in every second: their digest is what is pinned


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout with the script, and an `npm` that packs what lies in `fetched`, and writes down how it was called."""
    for name in ("scripts", "requirements", "bin"):
        (tmp_path / name).mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    fetched = package()
    (tmp_path / "fetched").write_bytes(fetched)
    digest = hashlib.sha256(fetched).hexdigest()
    pins = f"# What is pinned.\n9.8.7 linux-none {'0' * 64}\n1.2.3 {PLATFORM} {digest}\n"
    (tmp_path / "requirements" / "copilot.sha256").write_text(pins)
    npm = tmp_path / "bin" / "npm"
    npm.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n[ -e {tmp_path}/fetched ] || {{ echo "npm error 404"; exit 1; }}\n'
        f'while [ $# -gt 0 ]; do [ "$1" = --pack-destination ] && cp {tmp_path}/fetched "$2/github-copilot.tgz"; shift; done\n'
    )
    npm.chmod(0o755)
    return tmp_path


def install(folder: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    path = path or f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        [str(folder / "scripts" / "install-copilot")],
        env={"PATH": path, "GPU_LOL_VENV": str(folder / "env"), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_pinned_version_is_installed_once(folder: Path) -> None:
    before = set(folder.iterdir())
    done = install(folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    installed = folder / "env" / "copilot"
    assert {path.name for path in installed.iterdir()} == {"copilot", "LICENSE.md", ".installed"}
    assert subprocess.run([str(installed / "copilot")], capture_output=True, check=True).stdout == b"I am Copilot\n"
    called = (folder / "called").read_text()
    assert f"@github/copilot-{PLATFORM}@1.2.3" in called
    assert "--ignore-scripts" in called
    assert install(folder).returncode == 0
    assert (folder / "called").read_text() == called, "nothing is fetched where nothing changed"
    assert set(folder.iterdir()) - before == {folder / "env", folder / "called"}


def test_other_bytes_are_refused_and_nothing_is_left(folder: Path) -> None:
    with (folder / "fetched").open("ab") as file:
        file.write(b"\0")
    done = install(folder)
    assert done.returncode == 1
    assert "is not what requirements/copilot.sha256 names" in done.stderr
    assert not (folder / "env").exists()


def test_a_new_pin_replaces_what_was_installed(folder: Path) -> None:
    assert install(folder).returncode == 0
    pins = folder / "requirements" / "copilot.sha256"
    pins.write_text(pins.read_text().replace("1.2.3", "1.2.4").replace(hashlib.sha256(package()).hexdigest(), "0" * 64))
    done = install(folder)
    assert done.returncode == 1
    assert "@1.2.4" in (folder / "called").read_text()


def test_what_keeps_it_from_being_fetched_is_said(folder: Path) -> None:
    (folder / "fetched").unlink()
    done = install(folder)
    assert done.returncode == 1
    assert "npm error 404" in done.stderr
    assert "npm could not fetch GitHub Copilot's program." in done.stderr
    (folder / "bin" / "npm").unlink()
    tools = folder / "tools"
    tools.mkdir()
    for tool in ("bash", "dirname", "uname", "grep", "cat", "env"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    done = install(folder, str(tools))
    assert done.returncode == 1
    assert done.stderr == "npm is needed to fetch GitHub Copilot's program.\n"
