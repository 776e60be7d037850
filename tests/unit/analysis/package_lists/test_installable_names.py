"""What of a list pip can install at all, and what it is told to install on the image's Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.package_lists.conda_files import conda_requirement
from gpu_lol_action.analysis.package_lists.installable_names import meant
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

RUN = "import torch\nloss.cuda().backward()\nif __name__ == '__main__': pass\n"
SUM = "import numpy\nif __name__ == '__main__': print(numpy.ones(3))\n"


@pytest.mark.parametrize(
    ("listed", "installed"),
    [
        ("sklearn==0.0", "scikit-learn"), ("pytorch==2.1", "torch==2.1"), ("detectron2", "git+https://github.com/facebookresearch/detectron2.git"),
        ("opencv3==3.1", "opencv-python-headless"), ("msgpack-python==1.0.2", "msgpack==1.0.2"), ("numpy==1.26.4", "numpy==1.26.4"),
        ("tensorflow-gpu==1.15", "tensorflow-gpu==1.15"), ("tensorflow-gpu", "tensorflow"), ("pathlib", "pathlib"), ("dataclasses", "dataclasses"),
        ("python-dotenv", "python-dotenv"), ("conda-lock", "conda-lock"), ("anaconda", "anaconda"), ("clip==1.0", "git+https://github.com/openai/CLIP.git"), ("pygobject-stubs", "pygobject-stubs"), ("pprintpp", "pprintpp"), ("git+https://github.com/x/y", "git+https://github.com/x/y"),
        ("tb-nightly==1.15.0a20190708", "tensorboard==1.15.0"), ("tf_nightly_gpu==2.1.0.dev20191003", "tensorflow==2.1.0"), ("tfp-nightly==0.8.0.dev20190702", "tensorflow-probability==0.8.0"),
        ("transformers==4.57.0.dev0", "transformers>=4.57.0.dev0,<=4.57.0"), ("numpy>=2.0.dev0", "numpy>=2.0.dev0"),
        ("transformers==4.17.0.dev", "transformers>=4.17.0.dev0,<=4.17.0"), ("pyav==14.0.1", "av==14.0.1"), ("flashinfer", "flashinfer-python"),
        ("ai2thor==0", "ai2thor"), ("paddlepaddle-gpu==0.0.0.post116", "paddlepaddle-gpu"), ("numpy==0.10", "numpy==0.10"), ("mamba==0.0.3", "mamba==0.0.3"),
        ("torchvision==0.15.0", "torchvision==0.15.1"), ("torch == 1.8.2", "torch==1.8.1"), ("torchvision==0.15.2", "torchvision==0.15.2"),
        ("en-core-web-sm==2.1.0", "en_core_web_sm @ https://github.com/explosion/spacy-models/releases/download/en_core_web_sm-2.1.0/en_core_web_sm-2.1.0.tar.gz"),
        ("en_core_web_trf==3.7.1", "en_core_web_trf @ https://github.com/explosion/spacy-models/releases/download/en_core_web_trf-3.7.1/en_core_web_trf-3.7.1-py3-none-any.whl"),
        ("tf-nightly", "tf-nightly"), ("tf-nightly==2.21.0.dev20251003", "tf-nightly==2.21.0.dev20251003"),
    ],
)  # fmt: skip
def test_a_name_becomes_what_its_author_meant(listed: str, installed: str) -> None:
    assert meant(listed) == installed


@pytest.mark.parametrize(
    "listed",
    ["python==3.6.12", "python>=3.8", "pytorch-cuda==11.8", "cudatoolkit==11.3", "pprint", "uuid==1.30", "asyncio", "isaacgym",
     "nb_conda_kernels", "magma-cuda90", "python-apt==1.6.5", "unattended-upgrades==0.1", "conda==4.9.2", "conda-build==3.21.4",
     "conda-package-handling", "anaconda-client==1.7.2", "clyent==1.2.2", "dbus-python==1.2.18", "lazr.uri==1.0.6", "PyGObject==3.42.1",
     "pkg_resources==0.0.0", "graph-tool==2.45", "ros-humble-desktop", "rosbag", "en_core_web_sm"],
)  # fmt: skip
def test_what_no_index_has_and_what_python_holds_is_not_installed(listed: str) -> None:
    assert meant(listed) is None


def test_one_line_that_cannot_be_installed_does_not_stop_the_others(checkout: Build) -> None:
    tree = checkout({"train.py": RUN, "requirements.txt": "torch\npytorch-cuda==11.8\npprint\neinops\n"})
    found = [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]
    assert found == ["torch", "einops"]


@pytest.mark.parametrize(
    ("text", "requirement"),
    [("opencv=4.6.0", "opencv-python-headless==4.6.0.*"), ("opencv==4.5.1", "opencv-python-headless==4.5.1"), ("opencv3=3.1.0", "opencv-python-headless==3.1.0.*"),
     ("numpy=1.23.3", "numpy==1.23.3"), ("nb_conda_kernels=2.3", None), ("igl=2.2.1", "libigl"), ("https://conda.example/x/einops/0.7.5/download/linux-64/einops-0.7.5-py39.tar.bz2", None), ("https://conda.example/x::einops=0.7", "einops==0.7.*"), ("openslide", None), ("openbabel=3.1.1", "openbabel-wheel==3.1.1.*"), ("python-build>=1.2", "build"), ("ibis-duckdb>=11", "ibis-framework[duckdb]>=11")],
)  # fmt: skip
def test_condas_versions_in_the_numbers_of_pip(text: str, requirement: str | None) -> None:
    assert conda_requirement(text) == requirement


def test_a_version_without_a_build_gives_way_to_the_nearest_and_is_told(checkout: Build) -> None:
    analysis = analyze(checkout({"train.py": RUN, "requirements.txt": "torch==2.5.1\nnumpy==1.13.3\nscipy==1.0.0\n"}))
    assert analysis.spec.dependencies.requirements == ("torch==2.5.1", "numpy==1.23.2", "scipy==1.9.2")
    assert any(
        "no build for Python 3.11" in gap and "numpy==1.13.3 (1.23.2 instead)" in gap for gap in analysis.not_understood
    )


def test_nothing_gives_way_where_the_image_is_not_known(checkout: Build) -> None:
    files = {"train.py": RUN, "requirements.txt": "torch\nnumpy==1.13.3\n", "Dockerfile": "FROM acme/cuda-ours:11.1\n"}
    assert "numpy==1.13.3" in analyze(checkout(files)).spec.dependencies.requirements


def test_a_program_without_a_gpu_gets_the_python_of_its_pins(checkout: Build) -> None:
    analysis = analyze(checkout({"main.py": SUM, "requirements.txt": "numpy==1.22.0\n"}))
    assert analysis.spec.environment.base_image == "python:3.10-slim"
    assert analysis.spec.dependencies.requirements == ("numpy==1.22.0",)


def test_a_range_of_pythons_leaves_the_choice_to_the_pins(checkout: Build) -> None:
    files = {"main.py": SUM, "requirements.txt": "numpy==1.22.0\n", "setup.py": "from setuptools import setup\nsetup(name='x', python_requires='>=3.8')\n"}  # fmt: skip
    assert analyze(checkout(files)).spec.environment.base_image == "python:3.10-slim"


@pytest.mark.parametrize(("least", "image"), [("3.10", "python:3.11-slim"), ("3.7", "python:3.8-slim")])
def test_a_python_further_down_that_the_project_rules_out_is_not_its_own(
    checkout: Build, least: str, image: str
) -> None:
    project = f'[project]\nname = "x"\nrequires-python = ">={least}"\ndependencies = ["numpy"]\n'
    files = {"main.py": SUM, "pyproject.toml": project, "website/runtime.txt": "3.8\n"}
    assert analyze(checkout(files)).spec.environment.base_image == image
