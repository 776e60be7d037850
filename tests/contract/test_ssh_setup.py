"""Set-up on a real machine: environment, links, an installer with a package index of ours, commands, and what fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.spec import Dependencies
from gpu_lol_action.launch.setup import (
    SetupReading,
    SetupRequest,
    build_repair_script,
    build_setup_script,
    parse_setup_output,
    parse_setup_progress,
)
from tests.fixtures.machines.machine import Machine, lay_over, running_machine
from tests.support.packages import lay_uv, make_source, make_wheel, served

NONCE = "0123456789abcdef"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("index")
    make_wheel(folder / "tinypack", "tinypack", "1.0")
    for version in ("3.1", "2.0"):
        make_wheel(folder / "otherpack", "otherpack", version)
    make_source(
        folder / "flash-attn",
        "flash_attn",
        first="import tinypack",
        value="tinypack.__version__",
        requires=["otherpack"],
    )
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("machine")
    lay_uv(folder)
    lay_over(folder, "usr/local/bin/apt-get", '#!/bin/sh\nprintf "[%s]" "$@" >> /root/apt; echo >> /root/apt\n', 0o755)
    with running_machine(folder) as started:
        yield started


@pytest.fixture
def shell(machine: Machine, shell: OpenSsh) -> Iterator[OpenSsh]:
    shell.run(machine.endpoint, "mkdir -p ~/code")
    yield shell
    shell.run(machine.endpoint, "rm -rf ~/code ~/.gpu-lol ~/.bashrc ~/.cache")


def set_up(machine: Machine, shell: OpenSsh, dependencies: Dependencies, **env: str) -> tuple[SetupReading, list[str]]:
    request = SetupRequest(dependencies, "code", env, {"sha": "abc", "environment": "gl-x-7"})
    lines: list[str] = []
    output = shell.run(machine.endpoint, build_setup_script(request, NONCE), on_line=lines.append)
    steps = [step for step in (parse_setup_progress(line, NONCE) for line in lines) if step]
    return parse_setup_output(output.stdout, NONCE, dependencies.setup_commands), steps


def test_setup_does_all_steps_in_order(machine: Machine, shell: OpenSsh, index: str) -> None:
    dependencies = Dependencies(
        requirements=("tinypack>=1,<2", "never==9; sys_platform == 'win32'"),
        system_packages=("libsndfile1", "ffmpeg"),
        setup_commands=(
            "python3 -c 'import tinypack; print(tinypack.__version__)' > out",
            'echo "$A|$GPU_LOL_SHA|$PWD" >> out',
        ),
        asset_links=("/mnt/models:~/.cache/huggingface", "~/data:/srv/data/x"),
    )

    reading, steps = set_up(
        machine, shell, dependencies, UV_DEFAULT_INDEX=index, PIP_INDEX_URL=index, A="a 'b' $(touch /tmp/owned) é"
    )

    assert reading.failed is None, reading
    assert steps == [step.name for step in reading.steps]
    assert steps == ["environment", "system_packages", "asset_links", "requirements", "command_1", "command_2"]
    look = "cat ~/code/out; cat ~/apt; readlink ~/.cache/huggingface /srv/data/x; ls /tmp/owned; grep -c '^== ' ~/.gpu-lol/setup.log"
    assert shell.run(machine.endpoint, look).stdout.splitlines() == [
        "1.0",
        "a 'b' $(touch /tmp/owned) é|abc|/root/code",
        "[update]",
        "[install][-y][--no-install-recommends][libsndfile1][ffmpeg]",
        "/mnt/models",
        "/root/data",
        "6",
    ]


def test_what_is_built_with_the_others_comes_after_them(machine: Machine, shell: OpenSsh, index: str) -> None:
    dependencies = Dependencies(
        requirements=("flash-attn==1.0", "tinypack>=1,<2", "otherpack<3"),
        setup_commands=("python3 -c 'import flash_attn, otherpack; print(flash_attn.built_with, otherpack.__version__)' > out",),
    )  # fmt: skip

    reading, steps = set_up(machine, shell, dependencies, UV_DEFAULT_INDEX=index, PIP_INDEX_URL=index)

    assert reading.failed is None, reading
    assert steps == ["environment", "requirements", "command_1"]
    assert shell.run(machine.endpoint, "cat ~/code/out").stdout == "1.0 2.0\n"


def test_a_build_without_what_it_imports_fails_and_says_so(machine: Machine, shell: OpenSsh, index: str) -> None:
    shell.run(machine.endpoint, "python3 -m pip uninstall -y --break-system-packages tinypack flash-attn || uv pip uninstall --system "
              "--break-system-packages tinypack flash-attn")  # fmt: skip
    dependencies = Dependencies(requirements=("flash-attn",), setup_commands=("true",))

    reading, steps = set_up(machine, shell, dependencies, UV_DEFAULT_INDEX=index, PIP_INDEX_URL=index)

    assert steps == ["environment", "requirements"]
    assert reading.failed is not None
    assert reading.failed.exit_code not in {0, None}
    assert any("tinypack" in line for line in reading.failed.tail)


def test_setup_leaves_variables_for_every_kind_of_shell(machine: Machine, shell: OpenSsh) -> None:
    shell.run(machine.endpoint, "printf '%s\\n' 'case $- in *i*) ;; *) return ;; esac' > ~/.bashrc")
    for _ in range(2):
        reading, _steps = set_up(machine, shell, Dependencies(), NAME="value with 'quote'")
        assert reading.failed is None, reading

    show = "printf '%s\\n' 'echo \"$NAME,$GPU_LOL,$GPU_LOL_ENVIRONMENT,$HF_HOME\"' > ~/show"
    shell.run(machine.endpoint, show)
    expected = "value with 'quote',1,gl-x-7,/root/.cache/huggingface\n"
    for how in (
        "bash -lc '. ~/show'",
        "sh -lc '. ~/show'",
        "bash -c '. ~/.bashrc; . ~/show'",
        "bash -c '. ~/.gpu-lol/env; . ~/show'",
    ):
        assert shell.run(machine.endpoint, f"env -i HOME=/root {how}").stdout == expected, how
    assert shell.run(machine.endpoint, "grep -c gpu-lol/env ~/.bashrc; tail -n 1 ~/.bashrc").stdout.splitlines() == [
        "1",
        "case $- in *i*) ;; *) return ;; esac",
    ]


def test_setup_keeps_folders_that_hold_files(machine: Machine, shell: OpenSsh) -> None:
    shell.run(machine.endpoint, "mkdir -p ~/.cache/huggingface && echo x > ~/.cache/huggingface/token")

    reading, _ = set_up(machine, shell, Dependencies(asset_links=("/mnt/models:~/.cache/huggingface",)))

    assert reading.failed is None
    assert shell.run(machine.endpoint, "cat ~/.cache/huggingface/token").stdout == "x\n"


@pytest.mark.parametrize(
    ("dependencies", "name", "what", "fix"),
    [
        (Dependencies(requirements=("nosuchpack==1",)), "requirements", "requirements ended", "No requirement"),
        (Dependencies(setup_commands=("true", "echo broken >&2; exit 3")), "command_2", "exit code 3", "Run the step"),
        (Dependencies(setup_commands=("nosuchprogram x",)), "command_1", "nosuchprogram x", "not in the image"),
    ],
)
def test_setup_stops_at_the_step_that_fails_and_says_what_to_do(
    machine: Machine, shell: OpenSsh, index: str, dependencies: Dependencies, name: str, what: str, fix: str
) -> None:
    reading, _ = set_up(machine, shell, dependencies, UV_DEFAULT_INDEX=index, PIP_INDEX_URL=index)

    assert reading.failed is not None
    assert reading.failed.name == name
    assert what in reading.what
    assert reading.failed.tail
    if fix != "No requirement":
        assert fix in reading.fix


def test_repair_installs_what_is_missing(machine: Machine, shell: OpenSsh, index: str) -> None:
    set_up(machine, shell, Dependencies(), UV_DEFAULT_INDEX=index, PIP_INDEX_URL=index)

    output = shell.run(machine.endpoint, build_repair_script(["otherpack>=3"], NONCE))

    assert parse_setup_output(output.stdout, NONCE).failed is None, output
    assert shell.run(machine.endpoint, "python3 -c 'import otherpack; print(otherpack.__version__)'").stdout == "3.1\n"
