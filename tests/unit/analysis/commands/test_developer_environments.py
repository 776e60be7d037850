"""An environment full of tools is for those who work on a library, whatever one of its modules is tested with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
PROJECT = "[build-system]\nrequires = ['setuptools']\n[project]\nname = 'bars'\ndependencies = ['click']\n"
TOOLS = (
    "name: bars\nchannels:\n- conda-forge\ndependencies:\n- pytest\n- tox >=4\n- twine\n- pre-commit\n- tensorflow\n"
)
BARS = {f"bars/part{n}.py": "import click\ndef f():\n    pass\n" for n in range(24)}
NETS = {"bars/nets.py": "import tensorflow as tf\nclass Bar(tf.keras.callbacks.Callback):\n    pass\n"}


@pytest.mark.parametrize(
    ("environment", "readme", "expected"),
    [
        (TOOLS, "# Bars\n", "cpu-only"),
        (TOOLS.replace("- twine\n", ""), "# Bars\n", "interactive"),
        (TOOLS, "# Bars\n```\nconda env create -f environment.yml\n```\n", "interactive"),
    ],
)
def test_what_developers_install_is_no_workload(checkout: Build, environment: str, readme: str, expected: str) -> None:
    tree = checkout({"pyproject.toml": PROJECT, "environment.yml": environment, "README.md": readme, **BARS, **NETS})
    found = {finding.field: finding.value for finding in analyze(tree).findings}
    assert found["workload"] == expected
    listed = [f.value for f in analyze(tree).findings if f.field == "dependencies.requirements"]
    assert ("tensorflow" in listed) == (expected == "interactive")
