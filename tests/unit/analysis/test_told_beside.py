"""Lists above a project that the same lines install: a run of the project has them as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
FILES = {
    "requirements.txt": "vllm\nsacrebleu\n",
    "engine/requirements.txt": "ray\n",
    "engine/setup.py": "from setuptools import setup\nsetup(name='engine')\n",
    "engine/engine/train.py": "import torch\nimport ray\nif __name__ == '__main__':\n    loss.backward()\n    opt.step()\n",
}
README = "# Net\n```\n{install}\n```\n## Training\n```\npython engine/engine/train.py\n```\n"


@pytest.mark.parametrize(
    ("install", "is_taken"),
    [
        ("cd net/engine\npip install -e .\n\ncd ..\npip install -r requirements.txt", True),
        ("cd engine && pip install -e . && cd ..\npip install -r requirements.txt", True),
        ("cd engine\npip install -e .", False),
        ("pip install -r requirements.txt", False),  # for what lies at the root
        ("cd engine\npip install -e .\n```\nor\n```\npip install -r requirements.txt", False),
    ],
)
def test_the_list_that_the_same_lines_install(checkout: Build, install: str, *, is_taken: bool) -> None:
    spec = analyze(checkout({**FILES, "README.md": README.format(install=install)})).spec
    names = set(spec.dependencies.requirements)
    assert "ray" in names
    assert ("sacrebleu" in names) is is_taken


@pytest.mark.parametrize(("name", "is_taken"), [("mminstall.txt", True), ("docs.txt", False)])
def test_what_openmmlab_s_installer_takes_is_installed(checkout: Build, name: str, *, is_taken: bool) -> None:
    files = {
        "requirements.txt": "-r requirements/runtime.txt\n",
        "requirements/runtime.txt": "numpy\n",
        f"requirements/{name}": "mmcv>=2.0.0\n",
        "tools/train.py": "import torch\nif __name__ == '__main__':\n    loss.backward()\n    opt.step()\n",
        "README.md": "# Net\n## Install\n```\npip install openmim\nmim install -e .\n```\n```\npython tools/train.py\n```\n",
    }
    names = analyze(checkout(files)).spec.dependencies.requirements
    assert any(each.startswith("mmcv") for each in names) is is_taken
