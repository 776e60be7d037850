"""Which project files and lists count: the run's own, those that readers are told to install, and not those of examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

RUN = "import torch\nmodel.cuda()\nloss.backward()\nif __name__ == '__main__': pass\n"


def found(tree: Checkout) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]


def project(name: str, *needs: str) -> str:
    return f'[build-system]\nrequires=[]\n[project]\nname="{name}"\ndependencies={list(needs)}\n'


def test_projects_further_down_are_others_where_a_list_is_at_hand(checkout: Build) -> None:
    files = {
        "train.py": RUN,
        "requirements.txt": "torch\ntrl\n",
        "eval/harness/pyproject.toml": project("harness", "peft", "evaluate"),
    }
    assert found(checkout(files)) == ["torch", "trl"]


def test_without_a_list_at_hand_they_count(checkout: Build) -> None:
    files = {"train.py": RUN, "engine/pyproject.toml": project("engine", "torch", "einops")}
    assert found(checkout(files)) == ["torch", "einops"]


def test_a_list_of_tests_is_none_at_hand(checkout: Build) -> None:
    files = {
        "train.py": RUN,
        "requirements-dev.txt": "pytest\n",
        "engine/pyproject.toml": project("engine", "torch", "einops"),
    }
    assert found(checkout(files)) == ["torch", "einops"]


def test_a_project_that_readers_install_from_the_checkout_counts(checkout: Build) -> None:
    told = "# Net\n## Install\n```bash\ngit clone https://example.org/net\ncd net\npip install -e ./engine\npip install -e .\n```\n"
    files = {
        "README.md": told,
        "run.sh": "python -m engine.trainer.main --lr 1e-4\n",
        "setup.py": "from setuptools import setup\nsetup(name='net', install_requires=['tabulate'])\n",
        "engine/pyproject.toml": project("engine", "torch", "ray>=2.38"),
        "engine/engine/trainer/main.py": RUN,
        "other/pyproject.toml": project("other", "flask"),
    }
    assert found(checkout(files)) == ["tabulate", "torch", "ray>=2.38"]


def test_lists_of_examples_are_not_those_of_a_project_that_needs_nothing(checkout: Build) -> None:
    files = {
        "pyproject.toml": project("pure"),
        "pure/__init__.py": "import math\n",
        "examples/requirements.txt": "pygame\n",
    }
    assert found(checkout(files)) == []


def test_lists_of_examples_are_those_of_a_run_among_them(checkout: Build) -> None:
    files = {
        "pyproject.toml": project("pure"),
        "pure/__init__.py": "import math\n",
        "examples/requirements.txt": "torch\npygame\n",
        "examples/train.py": RUN,
    }
    assert found(checkout(files)) == ["torch", "pygame"]


def test_a_folder_of_lists_without_a_project_is_taken(checkout: Build) -> None:
    assert found(checkout({"examples/requirements.txt": "pygame\n"})) == ["pygame"]


def test_a_script_that_sets_up_another_machine_says_nothing(checkout: Build) -> None:
    files = {
        "train.py": RUN,
        "requirements.txt": "torch\n",
        "scripts/install_mlx.sh": "pip install mlx-vlm\n",
        "scripts/install_dev.sh": "pip install pytest-cov\n",
        "scripts/install.sh": "mim install 'mmcv==2.0.1'\n",
    }
    assert found(checkout(files)) == ["torch", "mmcv==2.0.1"]


def test_a_list_beside_another_program_is_that_programs(checkout: Build) -> None:
    files = {"net/train.py": RUN, "demo/requirements.txt": "gradio\n", "demo/app.py": "import gradio\n"}
    tree = {**files, "README.md": "```bash\npython net/train.py\n```\n"}
    assert "torch" in found(checkout(tree))
    assert [f.confidence.name for f in packages.detect(checkout(tree)) if f.value == "gradio"] == ["MEDIUM"]


def test_a_list_in_a_folder_without_programs_is_the_runs(checkout: Build) -> None:
    tree = {
        "net/train.py": RUN,
        "docker/requirements.txt": "torch==2.2.0\n",
        "README.md": "```bash\npython net/train.py\n```\n",
    }
    assert found(checkout(tree)) == ["torch==2.2.0"]


def test_desks_of_other_programs_tell_no_versions(checkout: Build) -> None:
    files = {"train.py": RUN.replace("torch", "torch, packaging", 1), "requirements.txt": "torch\n"}
    assert found(checkout({**files, "evals/dev-requirements.txt": "packaging==19.2\n"})) == ["torch", "packaging"]
    assert found(checkout({**files, "dev-requirements.txt": "packaging==24.2\n"})) == ["torch", "packaging==24.2"]


def test_a_folder_within_the_clone_is_this_one_whatever_the_clone_is_called(checkout: Build) -> None:
    files = {
        "train.py": RUN,
        "requirements.txt": "torch\n",
        "engine/pyproject.toml": project("engine", "einops"),
        "other/pyproject.toml": project("other", "timm"),
        "README.md": "```\ngit clone https://host.example/o/net\ncd net/engine\npip install -e .\ncd ..\n```\n",
    }
    assert found(checkout(files)) == ["torch", "einops"]


DOCKER = "FROM nvcr.io/nvidia/pytorch:24.05-py3\nRUN pip install megatron-core\n"


def test_the_image_of_a_project_that_was_copied_in_is_that_projects(checkout: Build) -> None:
    engine = {"engine/pyproject.toml": project("engine", "einops"), "engine/docker/Dockerfile.ngc": DOCKER}
    own = {**engine, "train.py": RUN, "requirements.txt": "torch\n"}
    assert "megatron-core" not in found(checkout(own))
    assert analyze(checkout(own)).spec.environment.base_image != "nvcr.io/nvidia/pytorch:24.05-py3"


def test_the_image_of_the_project_that_is_started_counts(checkout: Build) -> None:
    engine = {"engine/pyproject.toml": project("engine", "einops"), "engine/docker/Dockerfile.ngc": DOCKER}
    start = {"run.sh": "python engine/main.py --lr 1\n", "engine/main.py": RUN, "requirements.txt": "torch\n"}
    assert "megatron-core" in found(checkout({**engine, **start}))


def test_the_image_of_the_only_project_counts(checkout: Build) -> None:
    files = {"engine/pyproject.toml": project("engine", "einops"), "engine/Dockerfile": DOCKER, "train.py": RUN}
    assert "megatron-core" in found(checkout(files))
