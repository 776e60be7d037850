"""An environment full of tools is for those who work on a library, whatever one of its modules is tested with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
PROJECT = "[build-system]\nrequires = ['setuptools']\n[project]\nname = 'bars'\ndependencies = ['click']\n"
TOOLS = (
    "name: bars\nchannels:\n- conda-forge\ndependencies:\n- pytest\n- tox >=4\n- twine\n- pre-commit\n- tensorflow\n"
)
BARS = {f"bars/part{n}.py": "import click\ndef f():\n    pass\n" for n in range(24)}
NETS = {"bars/nets.py": "import tensorflow as tf\nclass Bar(tf.keras.callbacks.Callback):\n    pass\n"}


@pytest.mark.parametrize(
    ("environment", "readme", "is_counted"),
    [
        (TOOLS, "# Bars\n", False),
        (TOOLS.replace("- twine\n", ""), "# Bars\n", True),
        (TOOLS, "# Bars\n```\nconda env create -f environment.yml\n```\n", True),
    ],
)
def test_what_developers_install_is_not_what_a_library_needs(
    checkout: Build, environment: str, readme: str, *, is_counted: bool
) -> None:
    tree = checkout({"pyproject.toml": PROJECT, "environment.yml": environment, "README.md": readme, **BARS, **NETS})
    assert ("tensorflow" in {item.requirement for item in declared_packages(tree)}) is is_counted
