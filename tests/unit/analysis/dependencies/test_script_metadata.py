"""Packages that a program names in its own head (PEP 723)."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.packages import packages
from tests.unit.analysis.conftest import Build

TRAINS = "import torch\nfrom trl import SFTTrainer\nSFTTrainer(model).train()\nif __name__ == '__main__': pass\n"
BLOCK = '# /// script\n# requires-python = ">=3.10"\n# dependencies = [\n#     "trl[vllm]>=0.20",\n#     "kernels",\n# ]\n# ///\n'
BESIDE = "import torch, deepspeed\ndef other(): pass\n"


def named(checkout: Build, files: dict[str, str]) -> dict[str, str]:
    found = packages.detect(checkout(files))
    return {f.value: str(f.evidence) for f in found if f.field == "dependencies.requirements"}


def test_what_a_program_names_for_itself_is_its_list(checkout):
    found = named(checkout, {"train.py": "# Copyright\n\n" + BLOCK + TRAINS, "tools/other.py": BESIDE})
    assert found == {"trl[vllm]>=0.20": "train.py:6", "kernels": "train.py:7", "torch": "train.py:10"}


def test_a_name_in_escapes_is_said_to_stand_in_the_block_and_not_in_the_code_below(checkout):
    block = '# /// script\n# dependencies = ["\\u006bernels"]\n# ///\n'
    assert named(checkout, {"train.py": block + TRAINS + "import kernels\n"})["kernels"] == "train.py:1"


@pytest.mark.parametrize(
    "head",
    [
        BLOCK.replace("# ///\n", ""),  # nobody ended it
        BLOCK.replace("# dependencies", "dependencies"),  # code within
        BLOCK.replace('"kernels",\n', '"kernels\n'),  # broken TOML
        BLOCK.replace("/// script", "/// other"),
        "",
    ],
)
def test_what_is_no_such_block_names_nothing(checkout, head):
    assert "kernels" not in named(checkout, {"train.py": head + TRAINS})


def test_projects_own_list_comes_first_and_a_neighbours_block_is_its_own(checkout):
    listed = named(checkout, {"train.py": BLOCK + TRAINS, "requirements.txt": "trl==0.19\n"})
    assert "trl==0.19" in listed
    assert "kernels" not in listed
    assert "kernels" not in named(checkout, {"train.py": TRAINS, "tools/other.py": BLOCK + BESIDE})
