"""Projects that are installed from a submodule are fetched from where `.gitmodules` says they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages
from gpu_lol_action.launch.build_order import order_builds

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nfrom diff_surf_rasterization import Rasterizer\nloss.backward()\n"
MODULES = (
    '[submodule "submodules/diff-surf-rasterization"]\n\tpath = submodules/diff-surf-rasterization\n'
    "\turl = git@github.com:me/diff-surf-rasterization.git\n\tbranch = main\n"
    '[submodule "viewer"]\n\tpath = viewer\n\turl = https://github.com/me/viewer\n'
    '[submodule "odd"]\n\tpath = odd\n\turl = ../odd\n'
)
FETCHED = "git+https://github.com/me/diff-surf-rasterization.git@main"
README = "## Setup\n```\n{}\n```\n## Train\n```\npython train.py\n```\n"


def fetched(tree: Checkout) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements" and "git+" in f.value]


@pytest.mark.parametrize(
    "command",
    [
        "pip install submodules/diff-surf-rasterization",
        "pip install ./submodules/diff-surf-rasterization",
        "pip install -e submodules/diff-surf-rasterization",
        "cd submodules/diff-surf-rasterization && pip install .",
        "cd submodules/diff-surf-rasterization\npython setup.py install\ncd ../..",
    ],
)
def test_a_command_that_installs_a_submodule_fetches_it(checkout: Build, command: str) -> None:
    assert fetched(checkout({"README.md": README.format(command), "train.py": TRAIN, ".gitmodules": MODULES})) == [
        FETCHED
    ]


@pytest.mark.parametrize(
    "files",
    [
        {
            "environment.yml": "name: net\ndependencies:\n- python=3.10\n- pip:\n  - torch\n  - submodules/diff-surf-rasterization\n"
        },
        {"requirements.txt": "torch\nsubmodules/diff-surf-rasterization\n"},
    ],
)
def test_so_do_lists(checkout: Build, files: Mapping[str, str]) -> None:
    assert fetched(checkout({"train.py": TRAIN, ".gitmodules": MODULES, **files})) == [FETCHED]


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": README.format("git submodule update --init")},  # nothing installs it
        {"README.md": README.format("pip install ./odd")},  # beside the repository, wherever that is
    ],
)
def test_what_nothing_installs_or_has_no_address_is_not_fetched(checkout: Build, files: Mapping[str, str]) -> None:
    assert fetched(checkout({"train.py": TRAIN, ".gitmodules": MODULES, **files})) == []


def test_rasterizers_are_built_where_pytorch_is(checkout: Build) -> None:
    assert order_builds(["torch", FETCHED]).last == (FETCHED,)
