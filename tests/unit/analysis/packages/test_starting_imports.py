"""Extras and developers' lists whose packages a program needs to start, and the commands that ask for extras."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]
POETRY = """[tool.poetry]
name = "fares"
[tool.poetry.dependencies]
python = ">=3.9"
scipy = "^1.9"
mlflow = {version = "^1.28.0", optional = true}
Jupyter_Client = {version = "*", optional = true}
never = {version = "1.0", optional = true}
[tool.poetry.extras]
tests = ["mlflow"]
eda = ["jupyter-client", "not-there"]
all = ["mlflow", "jupyter-client"]
[tool.poetry.scripts]
fares = "fares.cli:main"
"""


def names(checkout: Checkout) -> set[str]:
    return {package_name(f.value) for f in packages.detect(checkout) if f.field == "dependencies.requirements"}


def test_what_a_console_command_imports_at_once_is_needed_whatever_extra_holds_it(checkout: Build) -> None:
    files = {
        "pyproject.toml": POETRY,
        "fares/__init__.py": "",
        "fares/cli.py": "import scipy\nfrom fares import train\n\ndef main() -> None: ...\n",
        "fares/train.py": "import mlflow\n",
    }
    assert names(checkout(files)) == {"scipy", "mlflow"}


@pytest.mark.parametrize(
    "inside",
    ["try:\n    import mlflow\nexcept ImportError:\n    mlflow = None\n", "def log() -> None:\n    import mlflow\n"],
    ids=["taken along", "when asked"],
)
def test_what_it_does_without_stays_an_extra(checkout: Build, inside: str) -> None:
    files = {
        "pyproject.toml": POETRY,
        "fares/__init__.py": "",
        "fares/cli.py": "import scipy\nfrom fares import train\n\ndef main() -> None: ...\n",
        "fares/train.py": inside,
        "fares/tracking.py": "import mlflow\n",
    }
    assert names(checkout(files)) == {"scipy"}


def test_an_application_imports_its_developers_packages_from_any_program(checkout: Build) -> None:
    files = {
        "Pipfile": '[packages]\ncatboost = "*"\n[dev-packages]\npandas = "*"\npylint = "*"\n',
        "pipeline/train.py": "import pandas\nfrom catboost import CatBoostRegressor\nCatBoostRegressor().fit(pandas.read_csv('x'))\n",
        "tests/test_train.py": "import pylint\n",
    }
    assert names(checkout(files)) == {"catboost", "pandas"}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("poetry install -E eda", {"scipy", "jupyter-client"}),
        ("poetry install --extras 'eda tests'", {"scipy", "jupyter-client"}),
        ("poetry install --extras=eda --no-root", {"scipy", "jupyter-client"}),
        ("poetry install -E tests", {"scipy"}),
        ("poetry install", {"scipy"}),
        ("poetry install -E all", {"scipy"}),
        ("pip install .[eda]", {"scipy", "jupyter-client"}),
    ],
)
def test_extras_that_a_reader_is_told_are_installed(checkout: Build, command: str, expected: set[str]) -> None:
    files = {"pyproject.toml": POETRY, "fares/__init__.py": "", "README.md": f"## Installation\n```\n{command}\n```\n"}
    assert names(checkout(files)) == expected


@pytest.mark.parametrize(
    ("command", "is_taken"),
    [("uv sync --extra train", True), ("uv sync --frozen --group train", True), ("uv sync # --extra train", False)],
)
def test_uvs_extras_and_groups_are_read_likewise(checkout: Build, command: str, *, is_taken: bool) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "x"\ndependencies = ["numpy"]\n[project.optional-dependencies]\ntrain = ["datasets"]\n'
        '[dependency-groups]\ntrain = ["datasets"]\n',
        "README.md": f"## Installation\n```\n{command}\n```\n",
    }
    assert ("datasets" in names(checkout(files))) is is_taken


def test_a_menu_of_extras_is_no_order(checkout: Build) -> None:
    flavours = "".join(f"- `{name}`: `uv sync --extra {name}`\n" for name in ("io", "train", "cli"))
    files = {
        "pyproject.toml": '[project]\nname = "x"\ndependencies = ["numpy"]\n[project.optional-dependencies]\n'
        'io = ["warcio"]\ntrain = ["datasets"]\ncli = ["typer"]\n',
        "README.md": f"## Installation\n{flavours}",
    }
    assert names(checkout(files)) == {"numpy"}


def test_what_beside_a_library_is_for_those_who_work_on_it_asks_for_nothing(checkout: Build) -> None:
    files = {
        "pyproject.toml": POETRY,
        "fares/__init__.py": "",
        "fares/cli.py": "import scipy\n\ndef main() -> None: ...\n",
        "scripts/report.py": "import mlflow\nif __name__ == '__main__': print(mlflow)\n",
    }
    assert names(checkout(files)) == {"scipy"}


def test_a_service_that_watches_leaves_its_pins_to_itself(checkout: Build) -> None:
    files = {
        "monitoring/requirements.txt": "pandas~=1.1.5\nWerkzeug~=2.0.1\nprefect~=2.0\n",
        "monitoring/app.py": "import werkzeug\nwerkzeug.run()\n",
        "train/requirements.txt": "pandas==2.2.2\nscikit-learn\n",
        "train/train.py": "import pandas\nimport prefect\nfrom sklearn.linear_model import Ridge\nRidge().fit(pandas.read_csv('x'))\n",
    }
    tree = checkout(files)
    found = [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]
    assert found == ["pandas==2.2.2", "scikit-learn", "prefect", "werkzeug"]


COMMANDED = {
    "requirements.txt": "openai\n",
    "run.sh": "python made/tasks.py --n 5\n",
    "made/tasks.py": "import pandas\nfrom made.io import save\nif __name__ == '__main__': save(pandas)\n",
    "made/io.py": "import jsonlines\n",
    "made/plot.py": "import seaborn\nif __name__ == '__main__': print(seaborn)\n",
}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, {"openai", "pandas", "jsonlines"}),
        ({"run.sh": "ls made\n"}, {"openai"}),
        # Beside a library its scripts are for those who work on it.
        ({"setup.py": "from setuptools import setup\nsetup(name='kept', install_requires=['openai'])\n"}, {"openai"}),
        ({"run.sh": "".join(f"python made/a{n}.py\n" for n in range(30)), **{f"made/a{n}.py": "import seaborn\n" for n in range(30)}}, {"openai"}),
    ],
    ids=["started", "not started", "a library", "a collection"],
)  # fmt: skip
def test_what_scripts_start_needs_what_it_loads_though_a_short_list_forgot_it(
    checkout: Build, more: Mapping[str, str], expected: set[str]
) -> None:
    assert names(checkout({**COMMANDED, **more})) == expected
