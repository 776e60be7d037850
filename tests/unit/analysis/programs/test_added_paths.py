"""What a program imports from a folder that it puts on Python's search path."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.program_behavior import program_behavior

Build = Callable[[Mapping[str, str]], Checkout]
BESIDE = "import os.path as osp\nimport sys\n\ndef add_path(path):\n    sys.path.insert(0, path)\n\nhere = osp.dirname(__file__)\n"
# A module of the loop alone imports no library that computes.
LOOP = "import logging\n\ndef do_epoch(loader, model, optimizer):\n    loss = model(loader)\n    loss.backward()\n    optimizer.step()\n"
PROGRAM = "import torch\n{}\nfrom core.loop import do_epoch\nif __name__ == '__main__':\n    net.cuda().load_state_dict(s)\n    do_epoch(a, b, c)\n"


def reached(tree: Checkout, path: str) -> list[str]:
    script = tree.find(path)
    assert script is not None
    return [source.path for source in import_closure(tree, script)]


@pytest.mark.parametrize(
    ("tools", "lib", "added"),
    [
        ("tools", "lib", "lib_path = osp.join(here, '..', 'lib')\nadd_path(lib_path)\n"),
        ("src", "src/lib", "add_path(osp.join(here, 'lib'))\n"),
        ("exp/coco/run", "lib", "sys.path.append(osp.join(here, '../../../lib'))\n"),
    ],
)
def test_a_module_of_paths_brings_the_folder_that_it_names(checkout: Build, tools: str, lib: str, added: str) -> None:
    program = PROGRAM.format("import _init_paths")
    tree = checkout(
        {f"{tools}/dist.py": program, f"{tools}/_init_paths.py": BESIDE + added, f"{lib}/core/loop.py": LOOP}
    )
    assert f"{lib}/core/loop.py" in reached(tree, f"{tools}/dist.py")


def test_a_program_s_own_line_does(checkout: Build) -> None:
    program = PROGRAM.format("import sys\nsys.path.append('./python')")
    assert "python/core/loop.py" in reached(checkout({"main.py": program, "python/core/loop.py": LOOP}), "main.py")


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("import sys", "lib"),  # nothing adds it
        ("import sys\nsys.path.append('third_party/core_kit')", "third_party/core_kit"),  # other people's
        ("import sys\nsys.path.append('..')", "lib"),  # names none
        ("import os\nroot = os.path.join('lib', 'data')", "lib"),  # no search path
    ],
)
def test_other_folders_stay_unknown(checkout: Build, line: str, folder: str) -> None:
    tree = checkout({"main.py": PROGRAM.format(line), f"{folder}/core/loop.py": LOOP})
    assert reached(tree, "main.py") == ["main.py"]


@pytest.mark.parametrize(
    ("loop", "expected"),
    [(LOOP, "trains"), (LOOP.replace("loss.backward()", "print(loss)"), "infers")],
)
def test_a_loop_that_walks_back_trains_whatever_its_own_module_imports(
    checkout: Build, loop: str, expected: str
) -> None:
    tree = checkout({"train_net.py": PROGRAM.format(""), "core/loop.py": loop})
    script = tree.find("train_net.py")
    assert script is not None
    assert program_behavior(tree, script).value == expected
