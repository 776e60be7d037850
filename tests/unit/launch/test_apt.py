"""Packages of the system on images whose lists are only partly of use."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gpu_lol_action.launch.remote_scripts import read_remote

# Answers as apt does where one of its lists has a revoked key: 100 to `update`, whatever the others said.
APT = '#!/bin/sh\necho "$@" >> "$LOG"\n[ "$1" != update ] || exit {updates}\nexit {installs}\n'


@pytest.mark.parametrize(("updates", "installs", "expected"), [(0, 0, 0), (100, 0, 0), (100, 100, 100), (0, 100, 100)])
def test_the_installation_decides_and_not_the_lists(tmp_path: Path, updates: int, installs: int, expected: int) -> None:
    log = tmp_path / "log"
    for name, text in {
        "apt-get": APT.format(updates=updates, installs=installs),
        "sudo": '#!/bin/sh\nshift\nexec "$@"\n',
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    script = f"set -u\n{read_remote('apt.sh')}\ngpu_lol_apt git libgl1"
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(log)}
    done = subprocess.run(["bash", "-c", script], env=env, check=False, capture_output=True, text=True)

    assert done.returncode == expected
    assert log.read_text().splitlines() == ["update", "install -y --no-install-recommends git libgl1"]
    assert ("could be refreshed" in done.stdout) is (updates != 0)
