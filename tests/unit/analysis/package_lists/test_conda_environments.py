"""An environment file has any name: its content tells what it is, and a command or the root that it is this project's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.package_lists.conda_environments import environments
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

RUN = "import torch\nmodel.cuda()\nloss.backward()\nif __name__ == '__main__': pass\n"
NET = "name: net\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.8\n  - pytorch=1.9\n  - pip:\n    - lpips==0.1.3\n"
OTHER = NET.replace("lpips", "kornia")
CREATE = "```\nconda env create {}\n```\n"


def named(tree: Checkout) -> list[str]:
    return [source.path for source in environments(tree)]


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        ({"net.yml": NET}, ["net.yml"]),
        ({"requirements.yml": "dependencies:  # all\n  - pip:\n    - lpips\n"}, ["requirements.yml"]),
        ({"a.yml": NET, "b.yml": OTHER}, ["a.yml"]),
        ({"a.yml": NET, "b.yml": OTHER, "README.md": CREATE.format("-n x -f b.yml")}, ["b.yml"]),
        ({"env/Net.yaml": NET, "README.md": CREATE.format("--file=env/Net.yaml")}, ["env/Net.yaml"]),
        ({"env/net.yml": NET, "setup.sh": "mamba env update -q --file net.yml\n"}, ["env/net.yml"]),
        ({"sub/net.yml": NET, "sub/README.md": CREATE.format("-f net.yml")}, ["sub/net.yml"]),
        ({"environment.yml": NET, "gpu.yml": OTHER}, ["environment.yml", "gpu.yml"]),
        # Of another folder, and named by nobody; what is no environment; one that nothing creates an environment from.
        ({"tools/lint.yml": NET}, []),
        ({"net.yml": "dependencies:\n  - a\n  - b\n"}, []),
        ({"net.yml": "model:\n  channels: 3\n  dependencies:\n    - python\n"}, []),
        ({"env/net.yml": NET, "README.md": "```\nconda install -c x y\ncat env/net.yml\n```\n"}, []),
    ],
)  # fmt: skip
def test_which_files_are_environments(checkout: Build, files: Mapping[str, str], paths: list[str]) -> None:
    assert named(checkout({"train.py": RUN, **files})) == paths


def test_its_packages_are_installed_and_its_python_has_the_image(checkout: Build) -> None:
    tree = checkout({"train.py": RUN, "net.yml": NET})
    spec = analyze(tree).spec
    assert {"lpips==0.1.3", "torch==1.9.*"} <= set(spec.dependencies.requirements)
    assert "pytorch:1.9" in (spec.environment.base_image or "")


def test_the_usual_name_goes_before_any_other(checkout: Build) -> None:
    tree = checkout({"train.py": RUN, "environment.yml": NET, "a.yml": OTHER})
    listed = [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]
    assert "lpips==0.1.3" in listed
    assert "kornia==0.1.3" not in listed
