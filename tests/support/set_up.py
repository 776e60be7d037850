"""Set-up of a real machine out of a package index of ours, as the launch does it."""

from __future__ import annotations

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.spec import Dependencies
from gpu_lol_action.launch.setup import SetupReading, SetupRequest, build_setup_script, parse_setup_output
from tests.fixtures.machines.machine import Machine

NONCE = "0123456789abcdef"


def set_up(
    machine: Machine, shell: OpenSsh, index: str, *requirements: str, commands: tuple[str, ...] = ()
) -> SetupReading:
    """Install requirements and run commands; return what the script's output says. Nothing is cached, and no other index is asked."""
    env = {
        "UV_DEFAULT_INDEX": index,
        "PIP_INDEX_URL": index,
        "PIP_CONFIG_FILE": "/dev/null",
        "UV_NO_CACHE": "1",
        "PIP_NO_CACHE_DIR": "1",
    }
    request = SetupRequest(Dependencies(requirements=requirements, setup_commands=commands), "code", env, {})
    output = shell.run(machine.endpoint, build_setup_script(request, NONCE))
    return parse_setup_output(output.stdout, NONCE, commands)
