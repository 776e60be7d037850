"""Projects of others that a text clones and installs from their folder are fetched by their address."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nimport fast_nets\nfast_nets.train()\nloss.backward()\n"
README = "## Setup\n```\n{}\n```\n## Train\n```\npython train.py\n```\n"
FETCHED = "git+https://github.com/me/fast-nets.git"


def required(tree: Checkout) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]


def set_up(tree: Checkout) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.setup_commands"]


def fetched(tree: Checkout) -> list[str]:
    return [value for value in required(tree) if "git+" in value]


@pytest.mark.parametrize(
    ("commands", "wanted"),
    [
        ("git clone https://github.com/me/fast-nets\ncd fast-nets\npip install .", FETCHED),
        ("git clone https://github.com/me/fast-nets.git && cd fast-nets && python setup.py install", FETCHED),
        ("git clone git@github.com:me/fast-nets.git\npip install -e fast-nets", FETCHED),
        ("git clone --depth 1 -b v2 https://github.com/me/fast-nets nets\npip install ./nets", f"{FETCHED}@v2"),
        ("git clone https://github.com/me/fast-nets\npip install -v .", FETCHED),  # the step into it was forgotten
        (
            "git clone https://github.com/me/fast-nets/\ncd fast-nets\ngit checkout tags/v1.0\ncd python\npip install -e '.[gpu]'",
            f"{FETCHED}@v1.0#subdirectory=python",
        ),
        (
            (
                "git clone https://github.com/me/fast-nets\n```\nSwitch to the release:\n```\ncd fast-nets\ngit checkout 1.2\n```\n"
                "### Install\n```\npip install -e ."
            ),
            f"{FETCHED}@1.2",
        ),
    ],
)
def test_a_clone_of_what_a_program_imports_is_fetched(checkout: Build, commands: str, wanted: str) -> None:
    assert fetched(checkout({"README.md": README.format(commands), "train.py": TRAIN})) == [wanted]


def test_items_of_a_list_are_commands_too(checkout: Build) -> None:
    readme = "## Requirements\n* pip install -r requirements.txt\n* git clone https://github.com/me/fast-nets\n* cd fast-nets\n* pip install .\n"
    files = {"README.md": readme, "train.py": TRAIN, "requirements.txt": "torch\n"}
    assert required(checkout(files)) == ["torch", FETCHED]


def test_so_are_the_steps_of_an_image(checkout: Build) -> None:
    image = (
        "FROM nvidia/cuda:12.1.0-devel-ubuntu22.04\nRUN cd / && git clone --recursive https://github.com/me/fast-nets\n"
        "RUN cd /fast-nets && \\\n    # for every card\n    FORCE_CUDA=1 python setup.py develop\nRUN pip install einops\n"
    )
    tree = checkout({"Dockerfile": image, "train.py": TRAIN})
    assert fetched(tree) == [FETCHED]
    assert "einops" in required(tree)


@pytest.mark.parametrize(
    "files",
    [
        {"fast_nets/__init__.py": ""},  # the checkout itself
        {"train.py": "import torch\nloss.backward()\n"},  # nobody needs it
        {"README.md": README.format("git clone https://github.com/me/fast-nets\ncd fast-nets\nmake")},
    ],
)
def test_other_clones_are_not(checkout: Build, files: Mapping[str, str]) -> None:
    readme = README.format("git clone https://github.com/me/fast-nets\ncd fast-nets\npip install -e .")
    assert fetched(checkout({"README.md": readme, "train.py": TRAIN, **files})) == []


def test_what_is_installed_behind_a_clone_is_the_checkout(checkout: Build) -> None:
    commands = (
        "git clone https://github.com/me/fast-nets\ncd fast-nets\npip install .\n```\n## Install\n```\npip install -e ."
    )
    setup = "from setuptools import setup\nsetup(name='mine', install_requires=['torch'])\n"
    tree = checkout({"README.md": README.format(commands), "train.py": TRAIN, "setup.py": setup})
    assert fetched(tree) == [FETCHED]
    assert set_up(tree) == ["python3 -m pip install -e ."]


def test_lists_of_a_clone_are_not_the_checkouts(checkout: Build) -> None:
    commands = (
        "git clone https://github.com/me/fast-nets\ncd fast-nets\npip install -r requirements-old.txt\npip install ."
    )
    files = {"README.md": README.format(commands), "train.py": TRAIN, "requirements-old.txt": "scipy\n"}
    assert "scipy" not in required(checkout({**files, "requirements.txt": "torch\n"}))


def test_a_project_of_another_name_than_its_repository_is_named(checkout: Build) -> None:
    commands = "git clone https://github.com/me/flash-attention\ncd flash-attention\npip install ."
    files = {"README.md": README.format(commands), "train.py": "import torch\nimport flash_attn\nloss.backward()\n"}
    assert fetched(checkout(files)) == ["flash-attn @ git+https://github.com/me/flash-attention.git"]
    part = commands.replace("pip install .", "cd csrc/layer_norm\npip install .")
    assert fetched(checkout({**files, "README.md": README.format(part)})) == []


def test_a_clone_is_what_a_list_names_by_that_name(checkout: Build) -> None:
    commands = (
        "git clone -b v1 https://github.com/me/rsl_rl\ncd rsl_rl\npip install -e .\npip install -r requirements.txt"
    )
    files = {"README.md": README.format(commands), "train.py": TRAIN.replace("fast_nets", "rsl_rl")}
    found = required(checkout({**files, "requirements.txt": "torch\nrsl-rl\n"}))
    assert found == ["torch", "git+https://github.com/me/rsl_rl.git@v1"]


def test_a_script_that_installs_tools_counts(checkout: Build) -> None:
    files = {
        "install_tools.sh": "pip install torch\npip install einops\n",
        "train.py": "import torch\nloss.backward()\n",
    }
    assert "einops" in required(checkout({**files, "requirements.txt": "torch\n"}))
