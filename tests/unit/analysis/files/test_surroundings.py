"""What a project in a folder takes of the repository around it, with paths from there, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from gpu_lol_action.analysis.files import surroundings
from gpu_lol_action.analysis.files.located import read_in_folder
from gpu_lol_action.analysis.files.project_folder import project_of
from gpu_lol_action.analysis.formats.paths import Role

TRAIN = "import torch\nimport {}\nif __name__ == '__main__':\n    pass\n"
BUILT = "from setuptools import setup\nsetup(name='{}', install_requires=['einops'])\n"


def outside(root: Path, files: Mapping[str, str], folder: str = "examples/sft") -> dict[str, Role]:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    view = project_of(read_in_folder(root, folder))
    return {source.path: source.role for source in view.sources if source.path.startswith("..")}


def test_the_library_around_an_example_is_there_and_is_not_started(tmp_path: Path) -> None:
    files = {
        "examples/sft/train.py": TRAIN.format("acmetune"),
        "examples/dpo/train.py": TRAIN.format("acmetune"),
        "setup.py": BUILT.format("acmetune"),
        "src/acmetune/__init__.py": "from acmetune.core import run\n",
        "src/acmetune/core.py": "def run(): ...\n",
        "tests/test_core.py": "import acmetune\n",
        "docs/index.md": "# Acme\n",
    }
    found = outside(tmp_path, files)
    assert found == {
        "../../setup.py": Role.PACKAGES,
        "../../src/acmetune/__init__.py": Role.ASIDE,
        "../../src/acmetune/core.py": Role.ASIDE,
    }


def test_of_a_library_that_everybody_knows_only_that_it_lies_there_counts(tmp_path: Path) -> None:
    files = {
        "examples/sft/train.py": TRAIN.format("diffusers"),
        "setup.py": BUILT.format("diffusers"),
        "src/diffusers/__init__.py": "import torch\n",
        "src/diffusers/models.py": "import torch\n",
    }
    found = outside(tmp_path, files)
    assert set(found) == {"../../setup.py", "../../src/diffusers/__init__.py"}
    view = project_of(read_in_folder(tmp_path, "examples/sft"))
    package = view.find("../../src/diffusers/__init__.py")
    assert package is not None
    assert package.text == ""
    assert package.code is not None
    assert not package.code.imports


def test_a_copy_of_a_known_library_beside_the_project_is_not_meant(tmp_path: Path) -> None:
    files = {
        "projects/train/train.py": TRAIN.format("transformers"),
        "forks/old/setup.py": BUILT.format("transformers"),
        "forks/old/transformers/__init__.py": "",
        "transformers/__init__.py": "",  # nor a folder above that has its name
    }
    assert outside(tmp_path, files, "projects/train") == {}


def test_modules_above_are_followed_over_others(tmp_path: Path) -> None:
    files = {
        "projects/train/train.py": TRAIN.format("common.data"),
        "common/data.py": "import helpers\n",
        "common/unused.py": "",
        "helpers.py": "import os\n",
        "other/common/data.py": "",
        "projects/other/run.py": "",
    }
    found = outside(tmp_path, files, "projects/train")
    assert set(found) == {"../../common/data.py", "../../common/unused.py", "../../helpers.py"}


def test_of_modules_of_one_name_above_the_nearest_is_meant(tmp_path: Path) -> None:
    files = {
        "a/b/train.py": TRAIN.format("common"),
        "common.py": "",
        "a/common/__init__.py": "",
    }
    assert set(outside(tmp_path, files, "a/b")) == {"../common/__init__.py"}


def test_what_the_folder_has_itself_is_not_looked_for_outside(tmp_path: Path) -> None:
    files = {
        "a/train.py": TRAIN.format("common"),
        "a/common.py": "",
        "common.py": "",
    }
    assert outside(tmp_path, files, "a") == {}


@pytest.mark.parametrize(
    "asks",
    [
        {"projects/a/requirements.txt": "torch\n-e ../../libs/core\n"},
        {"projects/a/pyproject.toml": '[project]\nname="a"\ndependencies=["Acme_Core"]\n'},
        {"projects/a/pyproject.toml": '[tool.poetry.dependencies]\nx = { path = "../../libs/core" }\n'},
    ],
)
def test_projects_that_a_list_names_are_there_with_those_that_they_name(tmp_path: Path, asks: dict[str, str]) -> None:
    files = {
        "projects/a/train.py": "import torch\n",
        "libs/core/pyproject.toml": '[project]\nname = "acme-core"\ndependencies = ["acme-io"]\n',
        "libs/core/requirements.txt": "einops\n",
        "libs/io/pyproject.toml": '[project]\nname = "acme.io"\n',
        "libs/more/pyproject.toml": '[project]\nname = "acme-more"\n',
    }
    found = outside(tmp_path, {**files, **asks}, "projects/a")
    core = {"../../libs/core/pyproject.toml", "../../libs/core/requirements.txt"}
    assert set(found) == {*core, "../../libs/io/pyproject.toml"}


def test_the_nearest_list_above_counts_where_the_folder_has_none(tmp_path: Path) -> None:
    files = {
        "projects/nlp/bert/train.py": "import torch\n",
        "projects/nlp/requirements.txt": "torch\ntransformers\n",
        "requirements.txt": "numpy\n",
    }
    assert set(outside(tmp_path, files, "projects/nlp/bert")) == {"../requirements.txt"}
    files = {"projects/nlp/bert/requirements.txt": "torch\n"}
    assert outside(tmp_path, files, "projects/nlp/bert") == {}


def test_a_path_that_leads_out_of_the_repository_leads_nowhere(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/setup.py").write_text(BUILT.format("secret"), encoding="utf-8")
    files = {
        "a/train.py": TRAIN.format("secret"),
        "a/requirements.txt": "-e ../../secret\n-e ../../../../../../etc\n-e ..\n",
    }
    assert outside(root, files, "a") == {}


def test_only_so_many_files_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "MAX_TAKEN", 5)
    files = {"a/train.py": TRAIN.format("common"), **{f"common/m{n}.py": "" for n in range(20)}}
    assert len(outside(tmp_path, files, "a")) == 5


@pytest.mark.parametrize("name", ["stanza", "acmetune"])
def test_a_folder_may_lie_in_the_package_itself(tmp_path: Path, name: str) -> None:
    files = {
        f"{name}/pipeline/demo/server.py": TRAIN.format(name),
        f"{name}/__init__.py": "",
        "setup.py": BUILT.format(name),
    }
    found = outside(tmp_path, files, f"{name}/pipeline/demo")
    assert {"../../../setup.py", f"../../../{name}/__init__.py"} <= set(found)


@pytest.mark.parametrize(
    ("path", "text", "is_own"),
    [
        ("setup.cfg", "[metadata]\nname = trlx\n", True),
        ("setup.py", "from setuptools import setup\nsetup(name=NAME)\n", True),  # it puts its name together
        ("setup.py", BUILT.format("acme-tools"), False),  # what lies at its root under that name was copied in
        ("pyproject.toml", '[project]\nname = "trlx"\n', True),
    ],
)
def test_a_known_library_is_the_repositorys_own_by_its_name(tmp_path: Path, path: str, text: str, is_own: bool) -> None:
    files = {path: text, "trlx/__init__.py": "", "examples/sft/train.py": TRAIN.format("trlx")}
    assert ("../../trlx/__init__.py" in outside(tmp_path, files)) is is_own


def test_a_known_library_may_be_called_otherwise_on_the_index(tmp_path: Path) -> None:
    files = {
        "setup.py": BUILT.format("deepspeed-mii"),
        "mii/__init__.py": "",
        "examples/sft/train.py": TRAIN.format("mii"),
    }
    assert "../../mii/__init__.py" in outside(tmp_path, files)
