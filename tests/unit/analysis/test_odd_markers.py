"""Markers of requirements that cannot be decided: what they stand behind is kept, and nothing stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]


@pytest.mark.parametrize(
    "marker",
    ['implementation_name === "pypy"', 'platform_system ~= "x"', 'python_version > "three"', 'python_version === "3"'],
)
@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml"])
def test_a_list_with_such_a_marker_is_read(checkout: Build, name: str, marker: str) -> None:
    line = f"numpy==1.22.0 ; {marker}"
    quoted = line.replace('"', "'")
    text = (
        f"torch\n{line}\n"
        if name.endswith("txt")
        else f'[project]\nname = "net"\ndependencies = ["torch", "{quoted}"]\n'
    )
    train = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"
    spec = analyze(checkout({"train.py": train, name: text, "README.md": "```\npython train.py\n```\n"})).spec
    assert any(each.startswith("torch") for each in spec.dependencies.requirements)
