"""Requirements whose time has passed, installed on a real machine by pip and by uv out of a package index of ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.environment import CheckStatus
from tests.fixtures.machines.machine import Machine
from tests.support.packages import make_source, make_wheel, served
from tests.support.set_up import set_up

# An older pip, as far as this test needs one: it says who it is, and has the machine's own install what this test is about.
OLD_PIP = """
import subprocess, sys
print("here is pip 24.0")
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", "--no-deps", "tinypack"]))
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("index")
    make_wheel(folder / "tinypack", "tinypack", "1.0")
    make_wheel(folder / "numpy", "numpy", "1.26.4")
    make_wheel(folder / "numpy", "numpy", "2.4.0")
    make_wheel(folder / "wheel", "wheel", "0.45.0")
    for version in ("3.1", "2.0"):
        make_wheel(folder / "other-pack", "other_pack", version)
    # setuptools 82 took pkg_resources out.
    make_wheel(folder / "setuptools", "setuptools", "80.0", files={"pkg_resources.py": "version = 80"})
    make_wheel(folder / "setuptools", "setuptools", "82.0")
    make_wheel(folder / "wants-old", "wants_old", "1.0", ["other-pack<3", "tinypack"])
    make_wheel(folder / "wants-nothing", "wants_nothing", "1.0", ["other-pack==2.0+local"])
    make_source(
        folder / "by-setuptools", "by_setuptools", first="import pkg_resources", value="pkg_resources.version",
        build_requires='["setuptools"]',
    )  # fmt: skip
    make_source(folder / "by-numpy", "by_numpy", first="import numpy", value="numpy.__version__")
    make_source(folder / "by-nothing", "by_nothing", first="import nothing_that_exists")
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def machine(installing_machine: Machine) -> Machine:
    return installing_machine


@pytest.fixture
def shell(machine: Machine, shell: OpenSsh) -> Iterator[OpenSsh]:
    shell.run(machine.endpoint, "mkdir -p ~/code; cp -a /opt/venv /opt/venv.before")
    yield shell
    shell.run(machine.endpoint, "rm -rf ~/code ~/.gpu-lol ~/.cache /opt/venv; mv /opt/venv.before /opt/venv")


def installed(machine: Machine, shell: OpenSsh, what: str) -> str:
    program = f"import {what.partition('.')[0]}; print({what})"
    return shell.run(machine.endpoint, f"/opt/venv/bin/python -c '{program}'").stdout.strip()


def test_a_build_gets_the_setuptools_that_it_was_written_for(machine: Machine, shell: OpenSsh, index: str) -> None:
    reading = set_up(machine, shell, index, "by-setuptools", "tinypack")

    assert reading.failed is None, reading
    assert installed(machine, shell, "by_setuptools.built_with") == "80"
    assert [(note.status, note.name) for note in reading.notes] == [(CheckStatus.NOTED, "set-up")]
    assert "`setuptools<81`" in reading.notes[0].sentence
    # Held back for builds only: what is installed for programs stays as it is.
    assert not installed(machine, shell, "pkg_resources.version")


def test_so_does_a_set_up_command_that_installs(machine: Machine, shell: OpenSsh, index: str, installer: str) -> None:
    command = (
        "python3 -m pip install by-setuptools" if installer == "pip" else "uv pip install -p /opt/venv by-setuptools"
    )
    reading = set_up(machine, shell, index, commands=(command,))

    assert reading.failed is None, reading
    assert installed(machine, shell, "by_setuptools.built_with") == "80"


def test_a_build_sees_what_it_imports_in_the_version_of_the_list(machine: Machine, shell: OpenSsh, index: str) -> None:
    reading = set_up(machine, shell, index, "by-numpy==1.0", "numpy<2")

    assert reading.failed is None, reading
    assert installed(machine, shell, "by_numpy.built_with") == "1.26.4"
    assert [note.sentence.split(":")[0] for note in reading.notes] == ["Built in sight of what is installed"]


def test_versions_that_contradict_each_other_are_installed_as_asked(
    machine: Machine, shell: OpenSsh, index: str, installer: str
) -> None:
    reading = set_up(machine, shell, index, "Other_Pack==3.1", "wants-old==1.0")

    assert reading.failed is None, reading
    assert installed(machine, shell, "other_pack.__version__") == "3.1"
    assert installed(machine, shell, "tinypack.__version__") == "1.0"
    told = "contradict `Other_Pack`: it was installed last" if installer == "pip" else "contradict each other"
    assert [told in note.sentence for note in reading.notes] == [True]


def test_what_no_index_has_gives_way_to_what_is_asked_for(machine: Machine, shell: OpenSsh, index: str) -> None:
    reading = set_up(machine, shell, index, "other-pack==2.0", "wants-nothing==1.0")

    assert reading.failed is None, reading
    assert installed(machine, shell, "other_pack.__version__") == "2.0"
    assert ["contradict each other" in note.sentence for note in reading.notes] == [True]


@pytest.mark.parametrize(
    ("requirement", "word"), [("by-nothing", "nothing_that_exists"), ("nobody-has-this==1", "nobody-has-this")]
)
def test_what_nothing_helps_fails_once_and_says_so(
    machine: Machine, shell: OpenSsh, index: str, requirement: str, word: str
) -> None:
    reading = set_up(machine, shell, index, "tinypack", requirement)

    assert reading.failed is not None
    assert reading.failed.name == "requirements"
    assert any(word in line for line in reading.failed.tail)
    assert reading.notes == ()


def test_an_old_package_is_read_by_an_older_pip(
    machine: Machine, shell: OpenSsh, installer: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("old")
    make_wheel(folder / "tinypack", "tinypack", "1.0")
    make_wheel(folder / "omegaconf", "omegaconf", "2.0.6", ["tinypack (>=1.*)"])
    make_wheel(folder / "pip", "pip", "24.0", files={"pip/__init__.py": "", "pip/__main__.py": OLD_PIP})
    with served(folder) as index:
        reading = set_up(machine, shell, index, "omegaconf==2.0.6")

        assert reading.failed is None, reading
        is_older = "here is pip 24.0" in shell.run(machine.endpoint, "cat ~/.gpu-lol/setup.log").stdout
        assert is_older is (installer == "pip"), "uv reads it as it is"
        assert installed(machine, shell, "tinypack.__version__") == "1.0"
        assert ["`pip<24.1`" in note.sentence for note in reading.notes] == [True] * is_older
