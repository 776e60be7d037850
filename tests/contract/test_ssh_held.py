"""The image's PyTorch stays while requirements are installed, unless they need another: by pip and by uv, on a real machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.environment import CheckStatus
from tests.fixtures.machines.machine import Machine
from tests.support.packages import make_source, make_wheel, served
from tests.support.set_up import set_up


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("index")
    for version, triton in (("2.5.1", "3.1.0"), ("2.15.0", "3.9.0")):
        make_wheel(folder / "torch", "torch", version, [f"triton=={triton}"])
        make_wheel(folder / "triton", "triton", triton)
    # The image's build, which no index has: what is installed is no wheel to be fetched again.
    make_wheel(folder / "images", "torch", "2.6.0+cu124", ["triton==3.2.0"])
    make_wheel(folder / "triton", "triton", "3.2.0")
    make_wheel(folder / "images", "torchvision", "0.21.0+cu124", ["torch==2.6.0"])
    make_wheel(folder / "torchvision", "torchvision", "0.29.2", ["torch==2.15.0"])
    make_wheel(folder / "xformers", "xformers", "0.0.29", ["torch==2.6.0"])
    make_wheel(folder / "xformers", "xformers", "0.0.35", ["torch>=2.10"])
    make_wheel(folder / "wants-newest", "wants_newest", "1.0", ["torch>=2.10"])
    make_wheel(folder / "wants-triton", "wants_triton", "1.0", ["triton==3.1.0"])
    make_wheel(folder / "wants-none", "wants_none", "1.0")
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def machine(installing_machine: Machine) -> Machine:
    return installing_machine


@pytest.fixture
def shell(machine: Machine, shell: OpenSsh, index: str) -> Iterator[OpenSsh]:
    shell.run(machine.endpoint, "mkdir -p ~/code; cp -a /opt/venv /opt/venv.before")
    images = ("images/torch-2.6.0%2Bcu124", "images/torchvision-0.21.0%2Bcu124", "triton/triton-3.2.0")
    wheels = " ".join(f"{index}{name}-py3-none-any.whl" for name in images)
    done = shell.run(machine.endpoint, f"uv pip install --no-deps --no-index --python /opt/venv/bin/python {wheels}")
    assert done.exit_code == 0, done
    yield shell
    shell.run(machine.endpoint, "rm -rf ~/code ~/.gpu-lol ~/.cache /opt/venv; mv /opt/venv.before /opt/venv")


def versions(machine: Machine, shell: OpenSsh, *names: str) -> list[str]:
    program = f"from importlib.metadata import version; print(*map(version, {names!r}))"
    return shell.run(machine.endpoint, f'/opt/venv/bin/python -c "{program}"').stdout.split()


@pytest.mark.parametrize(
    "requirements", [("xformers",), ("torch", "xformers"), ("torch>=2.1", "torchvision", "xformers")]
)
def test_a_package_gets_the_release_for_the_images_pytorch(
    machine: Machine, shell: OpenSsh, index: str, requirements: tuple[str, ...]
) -> None:
    reading = set_up(machine, shell, index, *requirements)

    assert reading.failed is None, reading
    assert versions(machine, shell, "torch", "torchvision", "xformers") == ["2.6.0+cu124", "0.21.0+cu124", "0.0.29"]
    assert reading.notes == ()


def test_so_does_what_a_set_up_command_installs(machine: Machine, shell: OpenSsh, index: str, installer: str) -> None:
    command = "python3 -m pip install xformers" if installer == "pip" else "uv pip install -p /opt/venv xformers"
    reading = set_up(machine, shell, index, commands=(command,))

    assert reading.failed is None, reading
    assert versions(machine, shell, "torch", "xformers") == ["2.6.0+cu124", "0.0.29"]


@pytest.mark.parametrize(("wants", "torch"), [("wants-newest", "2.15.0"), ("wants-triton", "2.5.1")])
def test_what_needs_another_pytorch_gets_it_and_that_is_told(
    machine: Machine, shell: OpenSsh, index: str, wants: str, torch: str
) -> None:
    reading = set_up(machine, shell, index, "wants-none", "torch", wants)

    assert reading.failed is None, reading
    assert versions(machine, shell, "torch", wants) == [torch, "1.0"]
    assert [note.status for note in reading.notes] == [CheckStatus.NOTED]
    assert "The image's `torch` 2.6.0 gave way" in reading.notes[0].sentence


@pytest.mark.parametrize(
    ("requirements", "torch"),
    [
        (("torch==2.5.1",), "2.5.1"),
        (("torch>=2.10", "wants-none"), "2.15.0"),
        (("torchvision==0.29.2", "torch"), "2.15.0"),
    ],
)
def test_what_the_list_itself_asks_for_needs_no_word(
    machine: Machine, shell: OpenSsh, index: str, requirements: tuple[str, ...], torch: str
) -> None:
    reading = set_up(machine, shell, index, *requirements)

    assert reading.failed is None, reading
    assert versions(machine, shell, "torch") == [torch]
    assert reading.notes == ()


def test_a_contradiction_among_others_does_not_let_it_go(
    machine: Machine, shell: OpenSsh, index: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("others")
    make_wheel(folder / "torch", "torch", "2.15.0")
    for version in ("1.0", "2.0"):
        make_wheel(folder / "other-pack", "other_pack", version)
    make_wheel(folder / "wants-old", "wants_old", "1.0", ["other-pack<2"])
    make_wheel(folder / "xformers", "xformers", "0.0.35", ["torch>=2.10"])
    make_wheel(folder / "xformers", "xformers", "0.0.29", ["torch==2.6.0"])
    with served(folder) as others:
        reading = set_up(machine, shell, others, "other-pack==2.0", "wants-old", "xformers")

    assert reading.failed is None, reading
    assert versions(machine, shell, "torch", "other-pack", "xformers") == ["2.6.0+cu124", "2.0", "0.0.29"]
    assert all("image's" not in note.sentence for note in reading.notes)


def test_a_command_that_asks_for_another_gets_it(machine: Machine, shell: OpenSsh, index: str, installer: str) -> None:
    command = (
        "python3 -m pip install torch==2.5.1" if installer == "pip" else "uv pip install -p /opt/venv torch==2.5.1"
    )
    reading = set_up(machine, shell, index, commands=(command,))

    assert reading.failed is None, reading
    assert versions(machine, shell, "torch") == ["2.5.1"]


@pytest.mark.parametrize(("published", "built_with"), [("2.6.0", "2.6.0"), ("2.5.1", "2.15.0")])
def test_what_is_built_is_built_with_the_images_where_an_index_has_it(
    machine: Machine, shell: OpenSsh, tmp_path_factory: pytest.TempPathFactory, published: str, built_with: str
) -> None:
    folder = tmp_path_factory.mktemp("builds")
    for version in (published, "2.15.0"):
        make_wheel(folder / "torch", "torch", version)
    make_source(
        folder / "by-torch", "by_torch", first="import torch", value="torch.__version__", build_requires='["torch"]'
    )
    with served(folder) as index:
        reading = set_up(machine, shell, index, "by-torch")

    assert reading.failed is None, reading
    program = "import by_torch; print(by_torch.built_with)"
    assert shell.run(machine.endpoint, f"/opt/venv/bin/python -c '{program}'").stdout.strip() == built_with
    assert versions(machine, shell, "torch") == ["2.6.0+cu124"]
    assert reading.notes == ()
