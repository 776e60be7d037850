"""Projects elsewhere in the checkout that a run takes something of: installed from their folders, and never asked of an index."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.dependencies.project_choice import every_project
from gpu_lol_action.analysis.dependencies.used_projects import dependencies_first
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages
from gpu_lol_action.analysis.programs.import_graph import import_closure

Build = Callable[[Mapping[str, str]], Checkout]
BUILT = '[build-system]\nrequires = ["hatchling"]\n'
RUN = "import torch\nfrom lab_core.models import make\nmake().cuda()\nloss.backward()\nif __name__ == '__main__':\n    pass\n"
LIBRARY = {
    "libs/core/pyproject.toml": BUILT + '[project]\nname = "lab-core"\ndependencies = ["einops"]\n',
    "libs/core/src/lab_core/__init__.py": "",
    "libs/core/src/lab_core/models.py": "import einops\ndef make(): ...\n",
}
INSTALLED = "python3 -m pip install -e ./libs/core"


def told(tree: Checkout, field: str) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == f"dependencies.{field}"]


def test_what_is_imported_of_a_project_elsewhere_is_followed_and_installed(checkout: Build) -> None:
    tree = checkout({"projects/train/train.py": RUN, "projects/train/requirements.txt": "torch\n", **LIBRARY})
    script = tree.find("projects/train/train.py")
    assert script is not None
    assert "libs/core/src/lab_core/models.py" in [source.path for source in import_closure(tree, script)]
    assert told(tree, "setup_commands") == [INSTALLED]
    assert told(tree, "requirements") == ["torch", "einops"]
    (finding,) = [f for f in packages.detect(tree) if f.field == "dependencies.setup_commands"]
    assert (finding.evidence.path, finding.evidence.line) == ("projects/train/train.py", 2)


@pytest.mark.parametrize(
    ("asks", "where"),
    [
        ('[project]\nname="t"\ndependencies=["torch","lab-core"]\n[tool.uv.sources]\nlab-core={workspace=true}\n', ""),
        ('[project]\nname="t"\ndependencies=["torch","lab_core"]\n[tool.uv.sources]\nLab-Core={path="../../libs/core"}\n', ""),
        ('[project]\nname="t"\ndependencies=["torch","lab-core"]\n', "[tool.uv.sources]\nlab-core={workspace=true}\n"),
        ('[project]\nname="t"\ndependencies=["torch","lab-core @ {root:parent:parent:uri}/libs/core"]\n', ""),
        ('[project]\nname="t"\ndependencies=["torch","lab-core @ file:///${PROJECT_ROOT}/../../libs/core"]\n', ""),
        ('[tool.poetry]\nname="t"\n[tool.poetry.dependencies]\ntorch="*"\nlab-core={path="../../libs/core",develop=true}\n', ""),
        ('[tool.pixi.pypi-dependencies]\ntorch="*"\nlab-core={path="../../libs/core",editable=true}\n', ""),
    ],
)  # fmt: skip
def test_what_a_list_takes_from_the_checkout_is_installed_from_there(checkout: Build, asks: str, where: str) -> None:
    # Nothing imports it by a name that is seen: a configuration does.
    run = RUN.replace("from lab_core.models import make\n", "")
    files = {"projects/train/train.py": run, "projects/train/pyproject.toml": asks, **LIBRARY}
    tree = checkout({**files, **({"pyproject.toml": where} if where else {})})
    assert told(tree, "setup_commands") == [INSTALLED]
    assert told(tree, "requirements") == ["torch", "einops"]
    (finding,) = [f for f in packages.detect(tree) if f.field == "dependencies.setup_commands"]
    assert finding.evidence.line > 0


def test_what_a_library_asks_for_in_turn_is_installed_before_it(checkout: Build) -> None:
    needs = (
        '[project]\nname = "lab-core"\ndependencies = ["lab-io"]\n[tool.uv.sources]\nlab-io = { workspace = true }\n'
    )
    files = {
        "train.py": RUN,
        "requirements.txt": "torch\n",
        **LIBRARY,
        "libs/core/pyproject.toml": BUILT + needs,
        "libs/io/pyproject.toml": BUILT + '[project]\nname = "lab-io"\ndependencies = ["fsspec"]\n',
        "libs/io/src/lab_io/__init__.py": "",
    }
    tree = checkout(files)
    assert told(tree, "setup_commands") == ["python3 -m pip install -e ./libs/io", INSTALLED]
    assert "fsspec" in told(tree, "requirements")
    assert not {"lab-io", "lab-core"} & set(told(tree, "requirements"))


def test_projects_that_ask_for_each_other_are_installed_all_the_same(checkout: Build) -> None:
    one = BUILT + '[project]\nname = "one"\ndependencies = ["two"]\n'
    other = BUILT + '[project]\nname = "two"\ndependencies = ["one"]\n'
    tree = checkout({"a/pyproject.toml": one, "b/pyproject.toml": other})
    assert dependencies_first(every_project(tree), ["b", "a"]) == ["b", "a"]


def test_what_is_asked_for_in_a_version_comes_from_the_index(checkout: Build) -> None:
    # A repository that publishes its parts: whoever installs it gets the released ones.
    tree = checkout({"train.py": RUN, "requirements.txt": "torch\nlab-core>=0.3\n", **LIBRARY})
    assert told(tree, "setup_commands") == []
    assert "lab-core>=0.3" in told(tree, "requirements")


def test_a_known_package_that_was_copied_in_is_the_one_of_the_index(checkout: Build) -> None:
    files = {
        "requirements.txt": "torch\ntransformers\n",
        "train.py": "import torch\nimport transformers\ntorch.zeros(1).cuda()\nif __name__ == '__main__': pass\n",
        "old/setup.py": "from setuptools import setup\nsetup(name='transformers')\n",
        "old/transformers/__init__.py": "",
    }
    tree = checkout(files)
    assert told(tree, "setup_commands") == []
    assert told(tree, "requirements") == ["torch", "transformers"]


def test_what_a_program_puts_on_its_path_needs_no_installation(checkout: Build) -> None:
    run = "import sys\nsys.path.insert(0, '../../libs/core/src')\n" + RUN
    tree = checkout({"projects/train/train.py": run, "projects/train/requirements.txt": "torch\n", **LIBRARY})
    assert told(tree, "setup_commands") == []


def test_of_two_libraries_of_one_name_the_nearer_counts_and_none_where_both_are_as_near(checkout: Build) -> None:
    files = {"a/train.py": RUN, "a/requirements.txt": "torch\n"}
    near = {path.replace("libs/core", "a/core"): text for path, text in LIBRARY.items()}
    far = {path.replace("libs/core", "b/core"): text for path, text in LIBRARY.items()}
    assert told(checkout({**files, **near, **far}), "setup_commands") == ["python3 -m pip install -e ./a/core"]


def test_of_two_as_near_none_is_taken(checkout: Build) -> None:
    files = {"a/train.py": RUN, "a/requirements.txt": "torch\n"}
    one = {path.replace("libs/core", "b/core"): text for path, text in LIBRARY.items()}
    other = {path.replace("libs/core", "c/core"): text for path, text in LIBRARY.items()}
    assert told(checkout({**files, **one, **other}), "setup_commands") == []


def test_a_build_tool_may_be_told_where_a_package_lies(checkout: Build) -> None:
    files = {
        "ch01/train.py": RUN,
        "pyproject.toml": BUILT.replace("hatchling", "setuptools")
        + '[project]\nname = "lab"\ndependencies = ["torch"]\n[tool.setuptools.packages.find]\nwhere = ["pkg"]\n',
        "pkg/lab_core/__init__.py": "",
        "pkg/lab_core/models.py": "import einops\ndef make(): ...\n",
    }
    tree = checkout(files)
    assert told(tree, "setup_commands") == ["python3 -m pip install -e ."]
    assert told(tree, "requirements") == ["torch", "einops"]


@pytest.mark.parametrize("name", ["co re", "$(touch x)", "a;b", "-e", "q'q", "`id`", "a&&b", "новый"])
def test_a_folder_may_be_called_anything(checkout: Build, name: str) -> None:
    files = {path.replace("libs/core", f"libs/{name}"): text for path, text in LIBRARY.items()}
    (command,) = told(checkout({"a/train.py": RUN, "a/requirements.txt": "torch\n", **files}), "setup_commands")
    assert shlex.split(command) == ["python3", "-m", "pip", "install", "-e", f"./libs/{name}"]
    echoed = subprocess.run(
        ["bash", "-c", command.replace("python3 -m pip", "printf '%s|'", 1)], capture_output=True, text=True, check=True
    )
    assert echoed.stdout == f"install|-e|./libs/{name}|"
