"""A snapshot of a real machine: what set-up made of a spec is nothing new, what came later becomes the spec, and that makes it again."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.snapshot import MachineState, Snapshot
from gpu_lol_action.domain.spec import Dependencies, EnvironmentSpec, Hardware, Software
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.domain.spec_yaml import parse_spec
from gpu_lol_action.launch.setup import SetupRequest, build_setup_script, parse_setup_output
from gpu_lol_action.launch.snapshot import NO_INVENTORY, build_snapshot_script, parse_snapshot_output
from gpu_lol_action.launch.snapshot_spec import Rented, snapshot_spec
from tests.fixtures.machines.machine import Machine, lay_over, running_machine
from tests.support.packages import lay_uv, make_wheel, served

NONCE = "0123456789abcdef"
IMAGE = "example/train:1.0"
# dpkg and apt-mark are the machine's own; only where packages come from is ours.
APT_GET = """#!/bin/sh
[ "$1" = install ] || exit 0
for name; do case $name in install|-*) ;; *) dpkg -i "/opt/debs/$name.deb" || exit 1 ;; esac; done
"""
# Debian's own Python has no pip on a machine that nobody prepared.
INSTALL = 'uv pip install -q --python "$(command -v python3)"'
SPEC = EnvironmentSpec(
    hardware=Hardware(gpu_type="RTX4090", vram_required_gb=20),
    environment=Software(base_image=IMAGE, python_version="3.11"),
    dependencies=Dependencies(
        requirements=("tinypack>=1,<2", "never==9; sys_platform == 'win32'"),
        system_packages=("gpu-lol-one",),
        setup_commands=(f"{INSTALL} --no-deps third-pack",),
    ),
    env={"MODE": "fast"},
    keep=("runs",),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("index")
    for name, version in (("tinypack", "1.0"), ("tinypack", "1.1"), ("otherpack", "3.1"), ("third_pack", "2.0")):
        make_wheel(folder / name.replace("_", "-"), name, version)
    with served(folder) as address:
        yield address


def make_deb(folder: Path, name: str) -> None:
    root = folder / name
    (root / "DEBIAN").mkdir(parents=True)
    control = f"Package: {name}\nVersion: 1.0\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: test\n"
    (root / "DEBIAN/control").write_text(control)
    subprocess.run(["dpkg-deb", "--build", str(root), f"{folder}/{name}.deb"], check=True, capture_output=True)
    shutil.rmtree(root)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    lay_over(tmp_path, "usr/local/bin/apt-get", APT_GET, 0o755)
    lay_uv(tmp_path)
    debs = tmp_path / "laid_over/opt/debs"
    debs.mkdir(parents=True)
    for name in ("gpu-lol-one", "gpu-lol-two"):
        make_deb(debs, name)
    with running_machine(tmp_path) as started:
        yield started


@pytest.fixture
def shell(machine: Machine, shell: OpenSsh) -> OpenSsh:
    shell.run(machine.endpoint, "mkdir -p ~/code")
    return shell


def set_up(machine: Machine, shell: OpenSsh, spec: EnvironmentSpec, index: str) -> None:
    env = {**spec.env, "PIP_INDEX_URL": index, "UV_DEFAULT_INDEX": index}
    request = SetupRequest(spec.dependencies, "code", env, {"image": spec.environment.base_image or ""})
    reading = parse_setup_output(shell.run(machine.endpoint, build_setup_script(request, NONCE)).stdout, NONCE)
    assert reading.failed is None, reading


def look(machine: Machine, shell: OpenSsh) -> MachineState:
    found = parse_snapshot_output(shell.run(machine.endpoint, build_snapshot_script(NONCE)).stdout, NONCE)
    assert isinstance(found, MachineState), found
    return found


def take(machine: Machine, shell: OpenSsh, spec: EnvironmentSpec, rented: str = "RTX4090") -> Snapshot:
    return snapshot_spec(spec, look(machine, shell), Rented(rented, 1), is_new=False)


def work(machine: Machine, shell: OpenSsh, script: str) -> None:
    done = shell.run(machine.endpoint, f"set -e; . ~/.gpu-lol/env; export UV_BREAK_SYSTEM_PACKAGES=1; {script}")
    assert done.exit_code == 0, done


def test_a_machine_made_from_a_spec_has_nothing_new(machine: Machine, shell: OpenSsh, index: str) -> None:
    set_up(machine, shell, SPEC, index)

    state = look(machine, shell)
    taken = snapshot_spec(SPEC, state, Rented("RTX4090", 1), is_new=False)

    assert taken.changes == ()
    assert write_spec(taken.spec) == write_spec(SPEC)
    assert state.setup.image == IMAGE
    assert "tinypack" not in state.image.packages
    assert state.now.packages["tinypack"].version == "1.1"
    assert state.now.packages["third-pack"].line == "third_pack==2.0"
    assert state.now.system_packages is not None
    assert state.image.system_packages is not None
    assert state.now.system_packages - state.image.system_packages == {"gpu-lol-one"}
    assert state.now.python.startswith("3.")


def test_what_came_later_becomes_the_spec_and_makes_the_machine_again(
    machine: Machine, shell: OpenSsh, index: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    set_up(machine, shell, SPEC, index)
    work(
        machine,
        shell,
        f"{INSTALL} otherpack tinypack==1.0; apt-get install gpu-lol-two; "
        'mkdir -p ~/mine/src; printf \'[project]\\nname = "mine"\\nversion = "1"\\n\' > ~/mine/pyproject.toml; '
        "P=$(python3 -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))'); mkdir -p $P/mine-1.dist-info; "
        "printf 'Metadata-Version: 2.1\\nName: mine\\nVersion: 1\\n' > $P/mine-1.dist-info/METADATA; "
        'printf \'{"url": "file:///root/mine", "dir_info": {"editable": true}}\' > $P/mine-1.dist-info/direct_url.json; '
        "mkdir -p $P/broken-1.dist-info; printf '\\377\\376' > $P/broken-1.dist-info/METADATA; "
        "mkdir -p $P/wheel_of_mine-1.dist-info; "
        "printf 'Metadata-Version: 2.1\\nName: wheel-of-mine\\nVersion: 1\\n' > $P/wheel_of_mine-1.dist-info/METADATA; "
        'printf \'{"url": "https://ada:hunter2hunter2@example.org/w.whl"}\' > $P/wheel_of_mine-1.dist-info/direct_url.json',
    )

    taken = take(machine, shell, SPEC, rented="A100-80GB")

    assert taken.spec.dependencies.requirements == (
        "tinypack==1.0",
        SPEC.dependencies.requirements[1],
        "otherpack==3.1",
    )
    assert taken.spec.dependencies.system_packages == ("gpu-lol-one", "gpu-lol-two")
    assert taken.spec.hardware.gpu_type == "A100-80GB"
    assert taken.spec.meta.created_from == "snapshot"
    kept = ("env", "keep", "profiles", "smoke")
    assert all(getattr(taken.spec, name) == getattr(SPEC, name) for name in kept)
    assert taken.spec.dependencies.setup_commands == SPEC.dependencies.setup_commands
    text = write_spec(taken.spec) + "\n".join(taken.left_out)
    assert "hunter2" not in text
    assert "/root/mine" not in text
    assert len(taken.left_out) == 3
    assert taken.left_out[-1].endswith("name no package: 1.")

    folder = tmp_path_factory.mktemp("again")
    shutil.copytree(Path(machine.log).parent / "laid_over", folder / "laid_over")
    with running_machine(folder) as other:
        again = OpenSsh(other.private_key)
        again.run(other.endpoint, "mkdir -p ~/code")
        spec = parse_spec(write_spec(taken.spec))
        set_up(other, again, spec, index)
        second = take(other, again, spec, rented="A100-80GB")
        state = look(other, again)
        again.close()
    assert second.changes == ()
    assert write_spec(second.spec) == write_spec(spec)
    assert state.now.packages["tinypack"].version == "1.0"
    assert "otherpack" in state.now.packages


def test_a_machine_without_lists_says_so(machine: Machine, shell: OpenSsh) -> None:
    output = shell.run(machine.endpoint, build_snapshot_script(NONCE))
    assert parse_snapshot_output(output.stdout, NONCE) == NO_INVENTORY
