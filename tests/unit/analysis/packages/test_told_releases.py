"""What a list leaves open has the release that the document's own commands install."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.packages.packages import effective_packages
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("listed", "commands", "expected"),
    [
        ("torch>=1.7.0", "conda install pytorch=1.7.0 -c pytorch", "torch==1.7.0"),
        ("torch", "pip install torch==2.1.0+cu118", "torch==2.1.0"),
        ("peft[all]>=0.5", "pip install peft==0.6.0", "peft[all]==0.6.0"),
        ("torch>=2.0", "pip install torch==2.1.0\npip install torch==2.1.0", "torch==2.1.0"),
        ("torch>=2.0", "pip install torch==1.13.1", "torch>=2.0"),  # the list would bring another
        ("torch>=2.0", "pip install torch==2.1.0\npip install torch==2.2.0", "torch>=2.0"),  # for one reader or another
        ("torch==2.0.1", "pip install torch==2.1.0", "torch==2.0.1"),
        ("torch>=2.0,<3", "pip install torch==2.1.0", "torch>=2.0,<3"),
        ("torch~=2.0", "pip install torch==2.1.0", "torch~=2.0"),
        ("torch>=2.0", "pip install 'torch>=2.1'", "torch>=2.0"),
        ("torch>=2.0", "pip install torch==2.1.*", "torch>=2.0"),
        ("peft @ git+https://github.com/huggingface/peft", "pip install peft==0.6.0", "peft @ git+https://github.com/huggingface/peft"),
    ],
)  # fmt: skip
def test_the_release_of_a_command_is_what_one_has(checkout: Build, listed: str, commands: str, expected: str) -> None:
    files = {"requirements.txt": f"{listed}\neinops\n", "train.py": "import torch, peft\nloss.backward()\n",
             "README.md": f"# Installation\n```\n{commands}\npip install -r requirements.txt\n```\n"}  # fmt: skip
    name = expected.partition(" ")[0].partition("[")[0].partition("=")[0].rstrip("<>~")
    found = [item.requirement for item in effective_packages(checkout(files))]
    assert [item for item in found if item.startswith(name)] == [expected]
