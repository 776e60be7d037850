"""Packages that compute on a GPU, where nothing needs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.needs.workload import gpu_need
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]

PROJECT = (
    '[build-system]\nrequires=["setuptools"]\n[project]\nname="judge"\ndependencies=["openai","tqdm","pandas","scipy"]\n'
    '[project.optional-dependencies]\nlocal=["torch","vllm"]\napi=["boto3"]\n'
)
FILES = {
    "pyproject.toml": PROJECT,
    "scripts/rank.py": "from judge import ask\nif __name__ == '__main__':\n    ask.generate()\n",
    "src/judge/__init__.py": "import openai\n",
    "src/judge/ask.py": "import openai\nfrom .decoders import decoder\n",
    "src/judge/decoders/__init__.py": (
        "def decoder(name):\n    if name == 'local':\n        from .local import run\n    else:\n        from .bedrock import run\n    return run\n"
    ),
    "src/judge/decoders/local.py": "import torch\nfrom vllm import LLM\n",
    "src/judge/decoders/bedrock.py": "import boto3\n",
    **{f"src/judge/part{number}.py": "import openai\n" for number in range(12)},
}


def requirements(tree: Checkout) -> tuple[str, ...]:
    return analyze(tree).proposed.dependencies.requirements


def test_what_only_an_extra_brings_is_left_to_who_has_a_gpu(checkout: Build) -> None:
    tree = checkout(FILES)
    assert analyze(tree).proposed.meta.workload_type is WorkloadType.CPU_ONLY
    assert requirements(tree) == ("openai", "tqdm", "pandas", "scipy", "boto3")


def test_what_the_list_itself_names_stays(checkout: Build) -> None:
    tree = checkout(
        {**FILES, "scripts/Dockerfile": "FROM python\n", "pyproject.toml": PROJECT.replace('"scipy"', '"optax"')}
    )
    assert "optax" in requirements(tree)


@pytest.mark.parametrize(
    "change",
    [
        {f"src/judge/part{number}.py": "import torch\n" for number in range(8)},  # a good part of it computes
        {"pyproject.toml": PROJECT.replace('"scipy"', '"torch"')},  # everybody installs it
    ],
)
def test_where_a_gpu_is_needed_nothing_is_left_out(checkout: Build, change: Mapping[str, str]) -> None:
    assert {"torch", "vllm"} <= {item.partition("=")[0] for item in requirements(checkout({**FILES, **change}))}


def test_a_program_that_stays_on_the_processor_keeps_what_it_imports(checkout: Build) -> None:
    tree = checkout(
        {"score.py": "import torch\nnet = torch.load('a.pt')\nif __name__ == '__main__':\n    print(net)\n"}
    )
    assert "torch" in requirements(tree)


def test_what_an_extra_brings_that_a_reader_may_ask_for_is_left_out(checkout: Build) -> None:
    readme = "# Judge\n## Installation\n```\npip install 'judge[local,api]'\n```\n"
    program = "from judge import ask\nif __name__ == '__main__':\n    ask.answer()\n"
    tree = checkout({**FILES, "README.md": readme, "scripts/rank.py": program})
    assert requirements(tree) == ("openai", "tqdm", "pandas", "scipy", "boto3")


@pytest.mark.parametrize(
    ("files", "image"),
    [
        ({"requirements.txt": "numpy==1.18.5\npandas\n"}, "python:3.8-slim"),
        ({"requirements.txt": "numpy==1.26.4\npandas\n"}, "python:3.11-slim"),
        ({"requirements.txt": "numpy==1.18.5\n", ".python-version": "3.7\n"}, "python:3.7-slim"),  # which is said
    ],
)
def test_without_a_gpu_old_pins_choose_the_python(checkout: Build, files: Mapping[str, str], image: str) -> None:
    tree = checkout({"run.py": "import numpy\nprint(numpy.ones(2))\n", **files})
    assert analyze(tree).proposed.environment.base_image == image


@pytest.mark.parametrize(
    ("line", "is_kept"), [("import torch\n", True), ("try:\n    import torch\nexcept ImportError:\n    pass\n", False)]
)
def test_what_the_started_program_imports_itself_stays(checkout: Build, line: str, *, is_kept: bool) -> None:
    tree = checkout({**FILES, "scripts/rank.py": f"{line}{FILES['scripts/rank.py']}"})
    assert analyze(tree).proposed.meta.workload_type is WorkloadType.CPU_ONLY
    assert any(item.startswith("torch") for item in requirements(tree)) is is_kept
    assert "vllm" not in requirements(tree)


def test_a_module_that_stands_for_the_run_brings_nothing(checkout: Build) -> None:
    module = "import torch\n\ndef rank(model):\n    return model.generate()\n"
    tree = checkout({**FILES, "scripts/rank.py": "import judge\n", "src/judge/part0.py": module})
    assert not any(item.startswith("torch") for item in requirements(tree))


def test_a_notebook_shows_one_use_of_many(checkout: Build) -> None:
    cell = '{"cell_type": "code", "source": ["import torch\\nimport judge\\njudge.ask()"], "outputs": [], "metadata": {}, "execution_count": null}'
    shown = f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    tree = checkout({**{path: text for path, text in FILES.items() if path != "scripts/rank.py"}, "show.ipynb": shown})
    assert not any(item.startswith("torch") for item in requirements(tree))


@pytest.mark.parametrize(
    ("line", "is_kept"), [("import tensorflow as tf", True), ("def f():\n    import tensorflow", False)]
)
def test_what_a_library_loads_with_itself_stays_though_an_extra_brings_it(
    checkout: Build, line: str, *, is_kept: bool
) -> None:
    extra = '[project.optional-dependencies]\ntensorflow=["tensorflow"]\n'
    files = {
        "pyproject.toml": f'[build-system]\nrequires=["setuptools"]\n[project]\nname="rows"\ndependencies=["absl-py"]\n{extra}',
        "rows/__init__.py": "from rows.types import Row\n",
        "rows/types.py": f"{line}\nclass Row: pass\n",
        **{f"rows/part{number}.py": "import absl\n" for number in range(12)},
    }
    assert ("tensorflow" in requirements(checkout(files))) is is_kept


def test_a_list_locked_with_every_extra_needs_none_of_them(checkout: Build) -> None:
    head = "# This file is autogenerated by pip-compile with Python 3.12\n#    pip-compile {} setup.py\n"
    pins = "openai==2.1.0\ntqdm==4.67.1\ntorch==2.9.0\nvllm==0.21.0\n"
    tree = checkout({**FILES, "requirements.txt": head.format("--all-extras") + pins})
    assert gpu_need(tree, None) is None
    assert not {"torch==2.9.0", "vllm==0.21.0"} & set(requirements(tree))
    told = checkout({**FILES, "requirements.txt": head.format("--strip-extras") + pins})
    assert gpu_need(told, None) is not None
