"""Which command proves a repository: the spec's, tests marked for GPUs, or an import."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import timedelta

import pytest

from gpu_lol_action.analysis.answer import smoke_test as module
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.smoke import SmokeTest
from gpu_lol_action.domain.spec import EnvironmentSpec, Smoke
from tests.unit.analysis.conftest import Build


def smoke_test(checkout: Checkout, spec: EnvironmentSpec, besides: Mapping[str, str] | None = None) -> SmokeTest:
    return module.smoke_test(checkout, spec, besides or {})


MARKED = (
    '[tool.pytest.ini_options]\nmarkers = [\n  "slow: takes long",\n  "gpu: needs a card",\n  "cpu_only: none",\n]\n'
)


def test_the_specs_command_wins(checkout: Build) -> None:
    spec = EnvironmentSpec(smoke=Smoke("python check.py", 7))
    test = smoke_test(checkout({"pyproject.toml": MARKED}), spec)
    assert (test.command, test.time_box) == ("python check.py", timedelta(minutes=7))


@pytest.mark.parametrize(
    ("files", "expression"),
    [
        ({"pyproject.toml": MARKED}, "gpu"),
        ({"pytest.ini": "[pytest]\nmarkers =\n    cuda: needs CUDA\n    requires_gpu: needs one\naddopts = -q\n"}, "'cuda or requires_gpu'"),
        ({"setup.cfg": "[tool:pytest]\nmarkers =\n    slow\n    multi_gpu\n"}, "multi_gpu"),
    ],
    ids=["pyproject", "pytest.ini", "setup.cfg"],
)  # fmt: skip
def test_tests_marked_for_gpus_are_chosen_by_their_markers(
    checkout: Build, files: dict[str, str], expression: str
) -> None:
    besides = {path: text for path, text in files.items() if path in module.BESIDES}
    read = checkout({**files, "lab/__init__.py": ""})
    test = smoke_test(read, EnvironmentSpec(smoke=Smoke(timeout_minutes=20)), besides)
    assert test.command == f"python -m pytest -m {expression}"
    assert test.time_box == timedelta(minutes=20)
    assert "`" in test.why


@pytest.mark.parametrize("marker", ["no_gpu", "cpu_only", "not_cuda", "without_gpu", "gpuless"])
def test_markers_for_the_others_are_none(checkout: Build, marker: str) -> None:
    test = smoke_test(checkout({}), EnvironmentSpec(), {"pytest.ini": f"[pytest]\nmarkers =\n    {marker}: x\n"})
    assert test.command == "true"


def test_without_markers_its_own_packages_are_imported(checkout: Build) -> None:
    files = {"lab/__init__.py": "", "lab/deep/__init__.py": "", "tests/__init__.py": "", "not-a-name/__init__.py": ""}
    assert smoke_test(checkout(files), EnvironmentSpec()).command == "python -c 'import lab'"


def test_packages_below_src_are_found_where_they_lie(checkout: Build) -> None:
    command = smoke_test(checkout({"src/lab/__init__.py": ""}), EnvironmentSpec()).command
    assert command == """python -c 'import sys; sys.path[:0] = ['"'"'src'"'"', '"'"'.'"'"']; import lab'"""


def test_with_nothing_to_try_the_machines_checks_are_the_test(checkout: Build) -> None:
    test = smoke_test(checkout({"train.py": "import torch\n"}), EnvironmentSpec())
    assert test.command == "true"
    assert "checks alone" in test.why


@pytest.mark.parametrize("folder", ["ml", "my ml"])
def test_a_project_in_a_folder_is_tested_there(checkout: Build, folder: str) -> None:
    files = {"README.md": "# Acme\n", f"{folder}/README.md": "# Nets\n", f"{folder}/train.py": "import torch\n"}
    marked = checkout({**files, f"{folder}/pyproject.toml": MARKED})
    there = f"cd {shlex.quote(folder)} && "
    assert smoke_test(marked, EnvironmentSpec()).command == f"{there}python -m pytest -m gpu"
    assert smoke_test(marked, EnvironmentSpec()).folder == folder
    packed = checkout({f"{folder}/pyproject.toml": "", f"{folder}/nets/__init__.py": ""})
    assert smoke_test(packed, EnvironmentSpec()).command == f"{there}python -c 'import nets'"
    named = checkout({f"{folder}/nets/__init__.py": ""})
    besides = {"pytest.ini": "[pytest]\nmarkers =\n    cuda: x\n"}
    assert smoke_test(named, EnvironmentSpec(), besides).command == f"{there}python -m pytest -m cuda"
    own = smoke_test(named, EnvironmentSpec(smoke=Smoke("python check.py")))
    assert (own.command, own.folder) == ("python check.py", ""), "a spec's own command is run where it always was"
