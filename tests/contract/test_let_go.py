"""What installers say of a contradiction, recorded: whether the image's PyTorch has part in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpu_lol_action.launch.remote_scripts import read_remote

HELD = "torch==2.6.0\ntorchvision==0.21.0\n"
# pip 24.3.1 names no constraint here.
OF_PIP = """
Collecting triton==3.2.0 (from torch==2.6.0->-r wanted.txt (line 3))
ERROR: Cannot install -r wanted.txt (line 7) and torch because these package versions have conflicting dependencies.
The conflict is caused by:
    torch 2.6.0 depends on triton==3.2.0; platform_system == "Linux" and platform_machine == "x86_64"
    whisper-at 0.5 depends on triton==2.0.0
ERROR: ResolutionImpossible: for help visit the documentation of pip
"""
OF_NEWER_PIP = """
    The user requested torch>=2.10
    The user requested (constraint) torch==2.6.0
ERROR: ResolutionImpossible: for help visit the documentation of pip
"""
OF_UV = """
error: No solution found when resolving dependencies
  cause: Because whisper-at==0.5 depends on triton==2.0.0 and torch==2.6.0 depends on triton==3.2.0, we can conclude that torch==2.6.0
         and whisper-at==0.5 are incompatible.
         And because you require torch==2.6.0 and whisper-at, we can conclude that your requirements are unsatisfiable.
"""
OF_A_BUILD = "ERROR: No matching distribution found for torch==2.6.0\n"
OTHERS = """
Requirement already satisfied: torch==2.6.0 in /opt/conda/lib/python3.11/site-packages (from -r wanted.txt (line 1))
    transformers 4.30 depends on tokenizers<0.14
    The user requested tokenizers==0.15
ERROR: ResolutionImpossible: for help visit the documentation of pip
"""
ALMOST = "error: No solution found when resolving\n  because you require torch==2.6.0.post1 and xtorch==2.6.0\n"
NO_CONTRADICTION = (
    "    torch 2.6.0 depends on triton==3.2.0\nERROR: could not install packages: no space left on device\n"
)


@pytest.mark.parametrize(
    ("said", "moved"),
    [
        (OF_PIP, ["torch==2.6.0"]),
        (OF_NEWER_PIP, ["torch==2.6.0"]),
        (OF_UV, ["torch==2.6.0"]),
        (OF_A_BUILD, ["torch==2.6.0"]),
        (OTHERS, []),
        (ALMOST, []),
        (NO_CONTRADICTION, []),
        ("", []),
    ],
)
def test_it_is_let_go_where_it_has_part_in_the_contradiction(tmp_path: Path, said: str, moved: list[str]) -> None:
    (tmp_path / "held.txt").write_text(HELD)
    (tmp_path / "said").write_text(said)
    program = "\n".join(
        [
            "set -u",
            f"state={tmp_path} said={tmp_path}/said held={tmp_path}/held.txt python=python3 let_go=()",
            read_remote("held.sh"),
            read_remote("installer.sh"),
            'gpu_lol_let_go; echo "code: $?"; printf "let go: %s\\n" ${let_go[@]+"${let_go[@]}"}',
        ]
    )
    lines = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True).stdout.splitlines()

    assert [told for line in lines if line.startswith("let go: ") and (told := line.removeprefix("let go: "))] == moved
    assert f"code: {0 if moved else 1}" in lines
    assert (tmp_path / "held.txt").read_text() == ("" if moved else HELD)
