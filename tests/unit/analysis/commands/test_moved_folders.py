"""Commands are started in the folder to which the lines above them went."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.commands.moved_folders import moved
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"
TWO = {"classify/train.py": TRAIN, "detect/train.py": TRAIN, "detect/tools/fit.py": TRAIN}


def started(tree: Checkout) -> str | None:
    run = primary_run(tree)
    return run.script.path if run is not None and run.script is not None else None


@pytest.mark.parametrize(
    ("folder", "text", "then"),
    [
        ("", "cd detect", "detect"),
        ("", "cd ./detect/tools/", "detect/tools"),
        ("detect", "cd tools", "detect/tools"),
        ("detect/tools", "cd ..", "detect"),
        ("detect", "cd ..", ""),
        ("", "pushd 'detect'", "detect"),
        ("detect", "popd", ""),
        ("detect", "cd", ""),
        ("detect", "cd -", ""),
        ("detect", "cd $ROOT", ""),
        ("detect", "cd /workspace/detect", ""),
        ("", "(cd detect", "detect"),
        ("", "cd ../../other", "../../other"),
        # What goes nowhere.
        ("detect", "cdo info", "detect"),
        ("detect", "python cd.py", "detect"),
        ("detect", "pip install x", "detect"),
        ("", "cd a/" + "b/" * 40, ""),
    ],
)
def test_a_line_goes_to_a_folder(folder: str, text: str, then: str) -> None:
    assert moved(folder, text) == then


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ("cd detect\npython train.py", "detect/train.py"),
        ("cd net\ncd detect && python train.py", "detect/train.py"),  # the first is the clone's own name
        ("cd classify\npython prepare.py\ncd ../detect\npython train.py", "detect/train.py"),
        ("cd build && cmake ..\ncd ..\npython train.py", "classify/train.py"),
        ("python train.py", "classify/train.py"),
        ("cd detect\n```\nThen:\n```\npython train.py", "detect/train.py"),
        ("cd detect\n```\n## Other\n```\npython train.py", "classify/train.py"),
        ("cd missing\npython train.py", "classify/train.py"),
        ("(cd detect; pip install .)\npython train.py", "classify/train.py"),
    ],
)
def test_a_documented_program_is_the_one_of_the_folder(checkout: Build, block: str, path: str) -> None:
    assert started(checkout({**TWO, "README.md": f"# Use\n```\n{block}\n```\n"})) == path


def test_a_script_is_started_where_its_caller_went(checkout: Build) -> None:
    files = {**TWO, "detect/run.sh": "cd tools\npython fit.py\n", "classify/run.sh": "python train.py\n"}
    assert (
        started(checkout({**files, "README.md": "# Use\n```\ncd detect\nbash run.sh\n```\n"})) == "detect/tools/fit.py"
    )


def test_a_configuration_lies_in_the_folder(checkout: Build) -> None:
    files = {**TWO, "classify/a.yaml": "lr: 1\n", "detect/a.yaml": "lr: 2\n"}
    run = primary_run(checkout({**files, "README.md": "# Use\n```\ncd detect\npython train.py --config a.yaml\n```\n"}))
    assert run is not None
    assert [source.path for source in run.configs] == ["detect/a.yaml"]


def test_a_folder_beside_the_checkout_starts_nothing_of_it(checkout: Build) -> None:
    above = "# Use\n```\ncd ../../Tokenizer\npython train.py tok.yaml\n```\nThen:\n```\npython train.py net.yaml\n```\n"
    run = primary_run(checkout({"train.py": TRAIN, "README.md": above, "tok.yaml": "lr: 1\n", "net.yaml": "lr: 2\n"}))
    assert run is not None
    assert [source.path for source in run.configs] == ["net.yaml"]


def test_one_step_up_may_lead_back_into_the_clone(checkout: Build) -> None:
    files = {"train.py": TRAIN, "README.md": "# Use\n```\ncd ../net\npython train.py\n```\n"}
    run = primary_run(checkout(files))
    assert run is not None
    assert run.command is not None
