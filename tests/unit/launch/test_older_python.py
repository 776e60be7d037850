"""What runs on machines runs with Python 3.7, which images of PyTorch up to 1.12 have."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
import types
from importlib import resources
from pathlib import Path

import pytest
import vermin

from gpu_lol_action.launch.remote_scripts import build_script

REMOTE = Path(str(resources.files("gpu_lol_action").joinpath("launch/remote")))
SHIM = "older_python.py"
PROGRAMS = sorted(path for path in REMOTE.rglob("*.py") if path.name != SHIM)
_HERE = re.compile(r"<<-? ?'PYTHON'.*?\n(.*?)\nPYTHON\n", re.DOTALL)
_GIVEN = re.compile(r"(?:python\" -c|gpu_lol_run [^\n]*<<<) '([^']*)'")


def programs_of_the_shell() -> dict[str, str]:
    found = {}
    for script in sorted(REMOTE.glob("*.sh")):
        text = script.read_text(encoding="utf-8")
        for number, program in enumerate([*_HERE.findall(text), *_GIVEN.findall(text)]):
            found[f"{script.stem}-{number}"] = program
    return found


def least_python(program: str) -> tuple[int, int]:
    """Return the first Python 3 that has all words and modules of a program."""
    ast.parse(program)  # what cannot be read has no answer
    rules = vermin.Config()
    rules.set_eval_annotations(True)
    _, least = vermin.detect(program, rules)
    assert least is not None
    return (int(least[0]), int(least[1]))


def test_the_rules_know_what_3_7_lacks() -> None:
    assert least_python("from importlib import metadata") == (3, 8)
    assert least_python("if (found := 1):\n    print(found)") == (3, 8)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_program_runs_with_python_3_7(path: Path) -> None:
    assert least_python(path.read_text(encoding="utf-8")) <= (3, 7)


@pytest.mark.parametrize("name", programs_of_the_shell())
def test_a_program_in_a_script_runs_with_python_3_7(name: str) -> None:
    assert least_python(programs_of_the_shell()[name]) <= (3, 7)


def test_the_programs_in_scripts_are_found() -> None:
    assert {name.partition("-")[0] for name in programs_of_the_shell()} >= {"held", "machine_inventory", "setup"}


class Known:
    """A distribution, with the words of setuptools' ``pkg_resources.Distribution`` that are used."""

    location = "/opt/conda/lib/python3.7/site-packages"

    def __init__(self, name: str, version: str, files: dict[str, str]) -> None:
        self.project_name, self.version, self._files = name, version, files

    def has_metadata(self, name: str) -> bool:
        return name in self._files

    def get_metadata(self, name: str) -> str:
        return self._files[name]


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """What Python 3.7 gets in a conda environment: pip with its copy of pkg_resources, and no backport."""
    resources_ = types.ModuleType("pip._vendor.pkg_resources")
    known = [Known("ruamel-yaml", "0.17.21", {"INSTALLER": "conda\n"}), Known("torch", "1.12.1", {})]
    monkeypatch.setattr(resources_, "WorkingSet", lambda: known, raising=False)
    for name in ("pip", "pip._vendor"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "pip._vendor.pkg_resources", resources_)
    monkeypatch.setitem(sys.modules, "importlib_metadata", None)
    monkeypatch.setattr(sys, "version_info", (3, 7, 16, "final", 0))
    return types.SimpleNamespace(**runpy.run_path(str(REMOTE / "gpu_lol_probe" / SHIM)))


def test_what_is_installed_is_found_without_the_standard_library_s_help(older: types.SimpleNamespace) -> None:
    found = older.metadata
    assert found.version("Torch") == "1.12.1"
    assert [each.metadata["Name"] for each in found.distributions()] == ["ruamel-yaml", "torch"]
    yaml = found.distribution("ruamel.yaml")
    assert (yaml.read_text("INSTALLER"), yaml.read_text("direct_url.json")) == ("conda\n", None)
    assert str(yaml.locate_file("")).endswith("/site-packages/")
    with pytest.raises(found.PackageNotFoundError):
        found.version("absent")


def test_without_pip_and_setuptools_nothing_is_installed(
    older: types.SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pip._vendor.pkg_resources", None)
    monkeypatch.setitem(sys.modules, "pkg_resources", None)
    assert list(older.metadata.distributions()) == []


def test_a_program_of_the_shell_finds_what_is_installed() -> None:
    script = build_script("machine_python", values={"python": sys.executable})
    script += "\ngpu_lol_run PyYAML <<< 'import sys; print(metadata.version(sys.argv[1]))'"
    done = subprocess.run(["bash", "-uc", script], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"\d+\.[\d.]+\n", done.stdout)
