"""What several contract tests ask for: a real machine and our way onto it, a web server, a checkout with a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from tests.fixtures.machines.machine import Machine, running_machine
from tests.support.packages import lay_python, lay_uv
from tests.support.terminal import Terminal, open_terminal
from tests.support.web import Web, web_server


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine that a module's tests share; a module that lays something over it has one of its own."""
    with running_machine(tmp_path_factory.mktemp("machine")) as started:
        yield started


@pytest.fixture(scope="module", params=["pip", "uv"])
def installer(request: pytest.FixtureRequest) -> str:
    """What a machine installs packages with."""
    return str(request.param)


@pytest.fixture(scope="module")
def installing_machine(tmp_path_factory: pytest.TempPathFactory, installer: str) -> Iterator[Machine]:
    """A machine with an environment of its own for Python, which has the one installer alone."""
    folder = tmp_path_factory.mktemp("machine")
    lay_python(folder, has_pip=installer == "pip")
    lay_uv(folder)
    with running_machine(folder) as started:
        yield started


@pytest.fixture
def shell(machine: Machine) -> Iterator[OpenSsh]:
    """Our SSH onto the machine; a module whose tests leave something there prepares and clears it around this."""
    shell = OpenSsh(machine.private_key)
    yield shell
    shell.close()


@pytest.fixture
def web() -> Iterator[Web]:
    """A server that says what the test tells it to."""
    with web_server() as server:
        yield server


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A checkout with a spec and a home of its own."""
    return open_terminal(tmp_path)
