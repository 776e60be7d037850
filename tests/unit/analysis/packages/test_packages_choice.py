"""Which lists count, what commands and imports add, how the machine is set up, which image follows, what contradicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.import_names import is_known, package_names, package_of
from gpu_lol_action.analysis.package_lists.package_files import clean_requirement, package_name
from gpu_lol_action.analysis.packages import base_image, packages

Build = Callable[[Mapping[str, str]], Checkout]
RUN = "import torch\nmodel.cuda()\nloss.backward()\nif __name__ == '__main__': pass\n"


def found(checkout: Checkout, field: str = "dependencies.requirements") -> list[str]:
    return [f.value for f in packages.detect(checkout) if f.field == field]


def image(checkout: Checkout) -> str:
    return analyze(checkout).spec.environment.base_image or ""


def test_the_list_nearest_to_what_is_started_counts(checkout: Build) -> None:
    files = {
        "requirements.txt": "dask\n",
        "examples/lora/requirements.txt": "peft\ntorch\n",
        "examples/lora/train.py": RUN,
        "README.md": "```\npython examples/lora/train.py\n```\n",
    }
    assert found(checkout(files)) == ["peft", "torch"]


def test_the_list_that_readers_are_told_counts_among_several(checkout: Build) -> None:
    files = {
        "train.py": RUN,
        "requirements-cuda.txt": "torch==2.4.0\n",
        "requirements-api.txt": "flask\n",
        "requirements-dev.txt": "pytest\n",
        "README.md": "## Installation\n```\npip install -r requirements-cuda.txt\n```\n",
    }
    assert found(checkout(files)) == ["torch==2.4.0"]


def test_commands_of_the_installation_section_count_beside_a_list_and_others_do_not(checkout: Build) -> None:
    files = {
        "train.py": RUN,
        "requirements.txt": "transformers\n",
        "README.md": "## Installation\n```\nconda create -n x python=3.10\nconda install pytorch==1.12.1 cudatoolkit=11.3 -c pytorch\n"
        "pip install -r requirements.txt\npip install flash-attn==2.5.8 --no-build-isolation\n```\n"
        "## Evaluation\n```\npip install lm-eval\n```\n## Serving\n```\npip install vllm\n```\n",
    }
    tree = checkout(files)
    assert found(tree) == ["transformers<4.48", "torch==1.12.1", "flash-attn==2.5.8", "huggingface-hub<1"]
    assert image(tree) == "pytorch/pytorch:1.12.1-cuda11.3-cudnn8-devel"


def test_a_dockerfile_speaks_with_its_variables(checkout: Build) -> None:
    text = "FROM python:3.10\nARG TORCH=2.6.0\nRUN pip install torch==${TORCH} \\\n  'peft>=0.10' && pip install -r extra.txt\n"
    assert found(checkout({"train.py": RUN, "Dockerfile": text})) == ["torch==2.6.0", "peft>=0.10"]


def test_magics_of_the_notebook_that_is_the_run(checkout: Build) -> None:
    cells = '{"cells": [{"cell_type": "code", "source": ["!pip install -q trl peft\\n", "# !pip install vllm\\n", "import torch\\n", "loss.backward()"]}]}'
    assert found(checkout({"train.ipynb": cells})) == ["trl", "peft", "torch"]


@pytest.mark.parametrize(
    ("program", "requirements"),
    [
        ("import cv2, sklearn\n", ["opencv-python-headless", "scikit-learn", "torch"]),
        ("try:\n  import wandb\nexcept ImportError:\n  wandb = None\n", ["torch"]),
        ("try:\n  import wandb\nexcept ImportError:\n  raise ImportError('install wandb')\n", ["torch", "wandb"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import vllm\n", ["torch"]),
        ("def load():\n  from transformers import AutoModel\n  return AutoModel\n", ["torch", "transformers"]),
        ("def load(x):\n  if x:\n    import vllm\n", ["torch"]),
        ("import os, json, tomllib, distutils, imp\n", ["torch"]),
        ("from google.cloud import storage\nimport google.cloud.storage\n", ["google-cloud-storage", "torch"]),
        ("import datasets.loader\nimport models, datasets\n", ["torch"]),
        ("import nobody_knows_this\n", ["torch"]),
        ("from torch.utils.tensorboard import SummaryWriter\n", ["tensorboard", "torch"]),
        ("from torch.utils.data import DataLoader\n", ["torch"]),
        ("try:\n  from torch.utils.tensorboard import SummaryWriter\nexcept ImportError:\n  pass\n", ["torch"]),
    ],
)
def test_imports_without_a_list(checkout: Build, program: str, requirements: list[str]) -> None:
    files = {"train.py": program + RUN, "datasets/__init__.py": "", "datasets/loader.py": "", "models.py": "x = 1\n"}
    assert found(checkout(files)) == requirements


def test_a_folder_without_init_hides_no_package(checkout: Build) -> None:
    files = {"train.py": "from datasets import load_dataset\n" + RUN, "datasets/convert.py": "x = 1\n"}
    assert found(checkout(files)) == ["datasets", "torch"]


def test_a_lazy_import_of_a_module_that_the_run_uses_counts(checkout: Build) -> None:
    files = {
        "train.py": "from model import GPT\n" + RUN,
        "model.py": "import torch\ndef load():\n    from transformers import GPT2Model\n",
    }
    assert found(checkout(files)) == ["torch", "transformers"]
    assert found(checkout({**files, "requirements.txt": "torch\n"})) == ["torch"]  # left off the list on purpose


def test_an_unknown_import_is_said_and_not_installed(checkout: Build) -> None:
    analysis = analyze(checkout({"train.py": "import nobody_knows_this\n" + RUN}))
    assert any("nobody_knows_this (train.py:1)" in gap for gap in analysis.not_understood)
    assert "nobody-knows-this" not in str(analysis.spec.dependencies.requirements)


def test_an_import_takes_the_version_of_an_extra(checkout: Build) -> None:
    text = '[project]\nname="x"\ndependencies=["torch"]\n[project.optional-dependencies]\nlog=["wandb==0.17"]\n'
    assert found(checkout({"train.py": "import wandb\n" + RUN, "pyproject.toml": text})) == ["torch", "wandb==0.17"]


def test_a_script_that_imports_the_project_from_elsewhere_needs_it_installed(checkout: Build) -> None:
    files = {
        "pyproject.toml": '[build-system]\nrequires=[]\n[project]\nname="mine"\ndependencies=["torch"]\n',
        "src/mine/__init__.py": "",
        "scripts/train.py": "from mine import x\n" + RUN,
    }
    assert found(checkout(files), "dependencies.setup_commands") == ["python3 -m pip install -e ."]
    assert analyze(checkout(files)).spec.dependencies.setup_commands == ("python3 -m pip install -e .",)


def test_a_project_beside_its_script_needs_no_installation(checkout: Build) -> None:
    files = {"setup.py": "setup(name='mine')\n", "mine/__init__.py": "", "train.py": "from mine import x\n" + RUN}
    assert found(checkout(files), "dependencies.setup_commands") == []


def test_a_repository_of_packages_has_the_lists_of_those_that_others_build_on(checkout: Build) -> None:
    def project(name: str, *needs: str) -> str:
        return f'[project]\nname = "{name}"\ndependencies = {list(needs)}\n'

    files = {
        "packages/core/pyproject.toml": project("core", "magika"),
        "packages/core/src/core/__init__.py": "import magika\n",
        "packages/server/pyproject.toml": project("server", "core[all]>=1", "mcp"),
    }
    assert found(checkout(files)) == ["magika"]
    files["pyproject.toml"] = project("whole", "numpy")
    assert "numpy" in found(checkout(files))


def test_a_local_project_with_an_extension_is_built_with_the_installed_torch(checkout: Build) -> None:
    files = {
        "requirements.txt": "torch\n-e ./ops\n-e ../outside\n",
        "ops/setup.py": "from torch.utils.cpp_extension import CUDAExtension\nsetup(name='ops', ext_modules=[CUDAExtension('o', ['o.cu'])])\n",
        "train.py": RUN,
    }
    tree = checkout(files)
    assert found(tree, "dependencies.setup_commands") == ["python3 -m pip install --no-build-isolation -e ./ops"]
    assert image(tree).endswith("-devel")


def test_system_packages_and_pages_of_wheels(checkout: Build) -> None:
    text = "opencv-python\ntrl @ git+https://github.com/x/trl\n-f https://data.pyg.org/whl/torch-2.4.html\n"
    spec = analyze(checkout({"requirements.txt": text, "train.py": RUN})).spec
    assert spec.dependencies.system_packages == ("git", "libgl1", "libglib2.0-0")
    assert dict(spec.env) == {"PIP_FIND_LINKS": "https://data.pyg.org/whl/torch-2.4.html"}


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({"requirements.txt": "torch==2.1.0+cu118\n"}, "pytorch/pytorch:2.1.0-cuda11.8-cudnn8-runtime"),
        ({"requirements.txt": "--extra-index-url https://w.example/whl/cu121\ntorch==2.5.1\n"}, "pytorch/pytorch:2.5.1-cuda12.1-cudnn9-runtime"),
        ({"environment.yml": "dependencies:\n- pytorch=2.2.0\n- pytorch-cuda=11.8\n"}, "pytorch/pytorch:2.2.0-cuda11.8-cudnn8-runtime"),
        ({"requirements.txt": "tensorflow == 2.11.0\n", "train.py": "import tensorflow as tf\nmodel.fit(x)\n"}, "tensorflow/tensorflow:2.11.0-gpu"),
        ({"requirements.txt": "jax\nflax\ntensorflow\n"}, "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        ({"requirements.txt": "sglang\n"}, "lmsysorg/sglang:v0.4.10.post2-cu126"),
        ({"requirements.txt": "megatron-core\ntorch\n"}, "nvcr.io/nvidia/pytorch:24.12-py3"),
        ({"requirements.txt": "torch\n", "Dockerfile": "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\n"}, "pytorch/pytorch:2.6.0-cuda11.8-cudnn9-devel"),
        ({"requirements.txt": "torch\n", "Dockerfile": "FROM pytorch/pytorch:2.3.0-cuda12.1-cudnn8-devel\n"}, "pytorch/pytorch:2.3.0-cuda12.1-cudnn8-devel"),
        ({"requirements.txt": "torch\n", "Dockerfile": "FROM registry.corp.example/torch:1-cuda12.1\n"}, "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
        ({"requirements.txt": "torch\n", "ops.py": "from torch.utils.cpp_extension import load\nimport torch\ntorch.utils.cpp_extension.load('x')\n",
          "train.py": "import ops\n" + RUN}, "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"),
    ],
)  # fmt: skip
def test_image(checkout: Build, files: dict[str, str], chosen: str) -> None:
    assert image(checkout({"train.py": RUN, **files})) == chosen


def test_jax_gets_its_cuda_on_a_gpu(checkout: Build) -> None:
    program = "import jax\njax.value_and_grad(f)\nif __name__ == '__main__': pass\n"
    spec = analyze(checkout({"train.py": program, "requirements.txt": "jax>=0.4.30\njaxlib\nflax\njaxtyping\n"})).spec
    assert spec.dependencies.requirements == ("jax[cuda12]>=0.4.30", "flax", "jaxtyping")


@pytest.mark.parametrize(
    ("listed", "installed"),
    [
        ("jax[tpu]\n", "jax[cuda12]"),
        ("jax[tpu,minimum-jaxlib]>=0.5\n", "jax[minimum-jaxlib,cuda12]>=0.5"),
        ("jax[cuda13]\n", "jax[cuda13]"),
    ],
)
def test_jax_of_a_tpu_is_no_use_on_a_gpu(checkout: Build, listed: str, installed: str) -> None:
    program = "import jax\njax.value_and_grad(f)\nif __name__ == '__main__': pass\n"
    spec = analyze(checkout({"train.py": program, "requirements.txt": listed})).spec
    assert spec.dependencies.requirements == (installed,)


@pytest.mark.parametrize(
    ("listed", "program", "installed"),
    [
        ("monai-weekly[pillow]\n", "import monai\n", ["monai-weekly[pillow]"]),
        ("rdkit-pypi\n", "from rdkit import Chem\n", ["rdkit-pypi"]),
        ("cudf\ncuml==24.10.*\n", "import cudf, cuml\n", ["cudf-cu12", "cuml-cu12==24.10.*"]),
        ("cudf-cu11\n", "import cudf, cuml\n", ["cudf-cu11", "cuml-cu12"]),
        ("monai-generative\n", "import monai\n", ["monai-generative", "monai"]),
    ],
)
def test_a_module_comes_from_one_package(checkout: Build, listed: str, program: str, installed: list[str]) -> None:
    assert found(checkout({"train.py": program + RUN, "requirements.txt": "torch\n" + listed})) == ["torch", *installed]


def test_clients_of_a_host_are_not_installed_on_the_machine(checkout: Build) -> None:
    readme = "# Model\n```\npip install --upgrade truss\npip install einops\n```\n"
    assert found(checkout({"train.py": RUN, "README.md": readme})) == ["einops", "torch"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"requirements.txt": "torch==2.1.0\n", "Dockerfile": "FROM python:3.10\nRUN pip install torch==2.3.0\n"}, "torch 2.3.0 in Dockerfile:2"),
        ({"requirements.txt": "torch==2.4.0\n", "Dockerfile": "FROM nvidia/cuda:11.3.1-devel-ubuntu20.04\n"}, "built for 11.8, 12.1, 12.4"),
        ({"requirements.txt": "torch==2.4.0\n", "Dockerfile": "FROM pytorch/pytorch:1.13.1-cuda11.6-cudnn8-devel\n"}, "pins torch 2.4.0"),
        ({"requirements.txt": "torch==1.12.1\n", ".python-version": "3.12\n"}, "exists for Python 3.7 to 3.10 only"),
        ({"environment.yml": "dependencies:\n- python=3.8\n- pytorch\n", "setup.py": "setup(python_requires='>=3.10')\n"}, "asks for >=3.10"),
        ({"requirements.txt": "torch==2.1.0\ntorchvision==0.15.2\n"}, "torchvision 0.15.2 is built for torch 2.0.1"),
    ],
)  # fmt: skip
def test_contradictions_are_reported(checkout: Build, files: dict[str, str], said: str) -> None:
    gaps = analyze(checkout({"train.py": RUN, **files})).not_understood
    assert any(said in gap for gap in gaps), gaps


def test_findings_name_their_lines(checkout: Build) -> None:
    files = {
        "train.py": RUN,
        "requirements.txt": "# x\ntorch==2.1.0+cu118\n",
        "Dockerfile": "# y\nFROM nvidia/cuda:11.8.0-devel-ubuntu22.04\n",
    }
    places = {f.field: str(f.evidence) for f in reversed(base_image.detect(checkout(files)))}
    assert places["framework.torch"] == "requirements.txt:2"
    assert places["framework.cuda"] == "Dockerfile:2"


def test_the_table_of_import_names_holds_requirements() -> None:
    for module, requirement in package_names().items():
        assert requirement == "" or clean_requirement(requirement) == requirement, module
        assert is_known(module)
    assert package_of("cv2.dnn") == "opencv-python-headless"
    assert package_of("google.cloud.storage.blob") == "google-cloud-storage"
    assert package_of("os.path") is None
    assert package_of("nobody_knows_this") is None


def test_imports_of_programs_at_the_root_count_beside_a_list_where_no_gpu_is_needed(checkout: Build) -> None:
    program = "import optuna\nimport catboost\nif __name__ == '__main__':\n    optuna.create_study()\n"
    files = {
        "requirements.txt": "catboost>=0.26\n",
        "tune.py": program,
        "tests/test_tune.py": "import pytest\n" + program,
    }
    assert found(checkout(files)) == ["catboost>=0.26", "optuna"]


@pytest.mark.parametrize(
    ("members", "taken"), [('["packages/*"]', True), ('["libs/*"]', False), ('["packages"]', False)]
)
def test_packages_of_a_workspace_are_its_project(checkout: Build, members: str, taken: bool) -> None:
    files = {
        "pyproject.toml": f'[project]\nname="mono"\n[tool.uv]\npackage=false\n[tool.uv.workspace]\nmembers={members}\n',
        "packages/core/pyproject.toml": '[project]\nname="core"\ndependencies=["networkx"]\n[build-system]\nrequires=[]\n',
        "packages/rag/pyproject.toml": '[project]\nname="rag"\ndependencies=["core","nltk"]\n[build-system]\nrequires=[]\n',
        "viewer/pyproject.toml": '[project]\nname="viewer"\ndependencies=["streamlit"]\n[build-system]\nrequires=[]\n',
    }
    assert set(found(checkout(files))) == ({"networkx", "nltk"} if taken else {"streamlit"})


def test_of_a_large_workspace_only_what_the_others_build_on_is_taken(checkout: Build) -> None:
    files = {"pyproject.toml": '[project]\nname="mono"\n[tool.uv.workspace]\nmembers=["packages/*"]\n'}
    for number in range(20):
        files[f"packages/link{number}/pyproject.toml"] = (
            f'[project]\nname="link{number}"\ndependencies=["core","client{number}"]\n[build-system]\nrequires=[]\n'
        )
    files["packages/core/pyproject.toml"] = (
        '[project]\nname="core"\ndependencies=["numpy"]\n[build-system]\nrequires=[]\n'
    )
    assert found(checkout(files)) == ["numpy"]


def test_lists_of_examples_stay_out_of_a_project_that_setuptools_builds_without_being_told(checkout: Build) -> None:
    files = {
        "pyproject.toml": '[project]\nname="evals"\ndependencies=["openai"]\n[tool.setuptools]\npackages=["evals"]\n',
        "evals/__init__.py": "import openai\n",
        "evals/suite/agent/requirements.txt": "torch\n",
    }
    assert found(checkout(files)) == ["openai"]


@pytest.mark.parametrize(
    ("script", "counts"),
    [("install.sh", True), ("scripts/install.sh", True), ("docker/setup_env.sh", True), ("model/setup.sh", True),
     ("beta/install.sh", False), ("rendering/setup.sh", False), ("scripts/deep/install.sh", False)],
)  # fmt: skip
def test_an_installing_script_of_some_part_speaks_for_that_part(checkout: Build, script: str, counts: bool) -> None:
    files = {
        "README.md": "# Model\n```\npython model/train.py\n```\n",
        "model/train.py": "import torch\nloss.cuda().backward()\nif __name__ == '__main__': pass\n",
        "requirements.txt": "torch\nnumpy\n",
        script: "pip install torch==1.10.0 ninja\n",
    }
    assert ("ninja" in found(checkout(files))) == counts


@pytest.mark.parametrize(
    ("requirement", "name"),
    [
        ("https://github.com/NVIDIA/dllogger/archive/26a0f8f1958de2c0c460925ff6102a4d2486d6cc.zip", "dllogger"),
        ("https://github.com/mlcommons/logging/archive/refs/tags/1.1.0-rc4.zip", "logging"),
        ("https://github.com/mlperf/logging/tarball/master", "logging"),
        ("https://files.example.org/net-1.2.tar.gz", "net"),
    ],
)
def test_a_repository_s_archive_is_called_by_the_repository(requirement: str, name: str) -> None:
    assert package_name(requirement) == name


@pytest.mark.parametrize(("line", "kept"), [("jaxlib>=0.4.30", ("jaxlib>=0.4.30",)), ("jaxlib", ())])
def test_a_bound_of_jaxlib_holds_beside_jax(checkout: Build, line: str, kept: tuple[str, ...]) -> None:
    program = "import jax\njax.value_and_grad(f)\nif __name__ == '__main__': pass\n"
    spec = analyze(checkout({"train.py": program, "requirements.txt": f"jax>=0.4.30\n{line}\n"})).spec
    assert spec.dependencies.requirements == ("jax[cuda12]>=0.4.30", *kept)
