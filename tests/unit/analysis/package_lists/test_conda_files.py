"""conda's environments: what of them pip has, and what was only on somebody's machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.package_lists.conda_environments import environments
from gpu_lol_action.analysis.package_lists.conda_files import conda_requirement
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

RUN = "import torch\nloss.backward()\nif __name__ == '__main__': pass\n"


def found(tree: Checkout) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]


def environment(*names: str) -> str:
    return "dependencies:\n" + "".join(f"  - {name}\n" for name in names)


EXPORT = environment(
    "pytorch=2.0.1=py310_0",
    "numpy=1.24.3=py310_0",
    *(f"part{number}=1.2.{number}=py310_0" for number in range(60)),
    *(f"library{number}=1.2.3=h_0" for number in range(9)),
)


@pytest.mark.parametrize(
    "text",
    ["m2w64-gmp=6.1.0", "ucrt=10.0.22621.0", "aws-c-auth=0.7.0", "mpfr=4.0.2", "attr=2.5.1", "pywin32=305", "glew=2.2.0",
     "suitesparse=5.10", "mamba", "arrow-cpp=4.0.0=py38_cpu", "abseil-cpp=20210324.0", "aws-crt-cpp=0.20", "pandoc=2.12", "sip=4.19.8", "sox", "anaconda", "conda-build", "libsndfile=1.2", "git-lfs", "psipred=4.01=1", "blast-legacy=2.2.26", "maven", "cpuonly", "xz-tools=5.8.1", "conda-forge::bash", "coreutils", "pkg-config"],
)  # fmt: skip
def test_libraries_of_the_system_are_nobodys_packages(text: str) -> None:
    assert conda_requirement(text) is None


@pytest.mark.parametrize(
    ("text", "requirement"),
    [("librosa=0.9.2", "librosa==0.9.2"), ("gitpython", "gitpython"), ("libcst", "libcst"), ("awscli", "awscli"), ("attrs", "attrs"),
     ("python-xxhash=3.3.0=py39_0", "xxhash==3.3.0"), ("vcrpy", "vcrpy"), ("dash=2.9", "dash==2.9.*"), ("orchestra", "orchestra"), ("dgl-cuda10.2=0.6.1", "dgl==0.6.1"),
     ("pysoundfile=0.10.3.post1=py_0", "soundfile==0.10.3.post1"), ("python-kaleido=0.2.1", "kaleido==0.2.1"), ("python-annoy", "annoy"), ("ignite", "pytorch-ignite"), ("dask-core=2021.10.0", "dask==2021.10.0"), ("pandocfilters=1.4.2", "pandocfilters==1.4.2"),
     ("llama-cpp-python=0.2.11", "llama-cpp-python==0.2.11"), ("siphash24=1.7", "siphash24==1.7.*"), ("astropy-base=6.0.0", "astropy==6.0.0")],
)  # fmt: skip
def test_packages_with_names_like_those_stay(text: str, requirement: str) -> None:
    assert conda_requirement(text) == requirement


def test_an_export_beside_a_list_only_tells_versions(checkout: Build) -> None:
    files = {
        "train.py": RUN.replace("torch", "torch, numpy", 1),
        "requirements.txt": "torch\n",
        "environment.yml": EXPORT,
    }
    assert found(checkout(files)) == ["torch", "numpy==1.24.3"]


@pytest.mark.parametrize(
    ("files", "counted"),
    [
        ({"environment.yml": EXPORT}, 62),  # all there is, but for what was built without Python
        (
            {"requirements.txt": "torch\n", "environment.yml": environment("pytorch", "einops=0.6.1", "timm")},
            3,
        ),  # by hand
    ],
)
def test_other_environments_are_installed(checkout: Build, files: Mapping[str, str], counted: int) -> None:
    assert len(found(checkout({"train.py": RUN, **files}))) == counted


def test_an_environment_further_down_is_another_programs_where_a_list_is_at_hand(checkout: Build) -> None:
    files = {"train.py": RUN, "requirements.txt": "torch\n", "experiments/env.yml": environment("prophet")}
    assert found(checkout(files)) == ["torch"]
    assert found(checkout({**files, "requirements.txt": ""})) == ["prophet", "torch"]


NAMED_OTHERWISE = "name: torch18\nchannels:\n  - pytorch\ndependencies:\n  - python=3.7\n  - pytorch=1.8.0\n  - pip:\n    - einops==0.3\n"


@pytest.mark.parametrize(
    ("readme", "path", "is_read"),
    [
        ("Go to `net`:\n```\nconda env create -f torch18.yml\n```\n", "net/torch18.yml", True),
        ("```\nmamba env update -n x --file=net/torch18.yaml\n```\n", "net/torch18.yaml", True),
        ("See [it](torch18.yml).\n", "net/torch18.yml", False),
        ("```\nconda env create -f other.yml\n```\n", "net/torch18.yml", False),
        ("```\nconda env create -n torch18.yml\n```\n", "net/torch18.yml", False),
    ],
)
def test_an_environment_of_any_name_from_which_a_document_makes_one(
    checkout: Build, readme: str, path: str, *, is_read: bool
) -> None:
    tree = checkout(
        {
            "README.md": f"# Net\n{readme}",
            path: NAMED_OTHERWISE,
            "net/train.py": "import torch\nloss.cuda().backward()\nif __name__ == '__main__': pass\n",
        }
    )
    assert ("torch==1.8.0" in found(tree)) is is_read
    assert (analyze(tree).spec.environment.python_version in {"3.7", "3.8"}) is is_read  # the oldest that images have


def test_a_file_that_lists_nothing_is_no_environment_though_one_is_made_from_it(checkout: Build) -> None:
    config = "model:\n  dependencies: 3\nchannels: 8\n"
    tree = checkout({"README.md": "```\nconda env create -f a.yml\n```\n", "a.yml": config})
    assert environments(tree) == ()
