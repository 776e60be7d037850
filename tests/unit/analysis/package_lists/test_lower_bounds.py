"""Lists of the oldest versions that a library is tested with, and lists of its examples: neither says what to install."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

PROJECT = """
[build-system]
requires = ["hatchling"]
[project]
name = "watcher"
dependencies = ["numpy>=1.23", "pandas>=1.3", "scipy>=1.10", "plotly>=5.10", "rich>=13"]
[project.optional-dependencies]
llm = ["transformers[torch]>=4.39", "sentence-transformers>=2.7"]
spark = ["pyspark>=3.4"]
"""
OLDEST = "numpy==1.23.0\npandas==1.3.5\nscipy==1.10.0\nplotly==5.10.0\nrich==13\npyspark==3.4.0\ntransformers[torch]==4.39.3\n"
MODULES = {
    "src/watcher/__init__.py": "",
    **{f"src/watcher/metric_{n}.py": "import numpy\n\ndef of(x): return numpy.mean(x)\n" for n in range(30)},
    "src/watcher/similarity.py": "def of(x):\n    from transformers import AutoModel\n"
    "    return AutoModel.from_pretrained('bert-base-uncased')(x)\n",
}


def requirements(tree: Checkout) -> tuple[str, ...]:
    return analyze(tree).spec.dependencies.requirements


def test_a_list_of_lower_bounds_beside_the_project_is_not_installed_and_asks_for_no_gpu(checkout: Build) -> None:
    analysis = analyze(checkout({**MODULES, "pyproject.toml": PROJECT, "requirements.min.txt": OLDEST}))
    assert analysis.spec.meta.workload_type.value == "cpu-only"
    names = [item.split(">")[0] for item in analysis.spec.dependencies.requirements]
    assert names[:5] == ["numpy", "pandas", "scipy", "plotly", "rich"]
    assert "pyspark" not in names


def test_a_minimal_list_of_a_program_without_a_project_is_what_to_install(checkout: Build) -> None:
    files = {"train.py": "import torch\nloss.backward()\n", "requirements-min.txt": "torch==2.4.0\nnumpy==1.26.0\n"}
    assert requirements(checkout(files)) == ("torch==2.4.0", "numpy==1.26.0")


def test_a_pinned_list_of_another_name_beside_the_project_still_counts(checkout: Build) -> None:
    tree = checkout({**MODULES, "pyproject.toml": PROJECT, "requirements.txt": OLDEST})
    assert "pyspark==3.4.0" in requirements(tree)


def test_lists_of_examples_do_not_count_where_the_project_names_what_it_needs(checkout: Build) -> None:
    files = {**MODULES, "pyproject.toml": PROJECT, "examples/flow/requirements.txt": "prefect\npsycopg2\n"}
    assert "prefect" not in requirements(checkout(files))


def test_lists_further_down_count_where_no_project_says_anything(checkout: Build) -> None:
    assert "prefect" in requirements(checkout({**MODULES, "examples/flow/requirements.txt": "prefect\npsycopg2\n"}))


def test_a_library_that_computes_its_list_offers_to_work_with_what_few_modules_import(checkout: Build) -> None:
    setup = (
        "import setuptools\n\ndef read(path):\n    found = []\n    for line in open(path):\n        found.append(line)\n    return found\n\n"
        "main, nlp = read('requirements/requirements.txt'), read('requirements/nlp.txt')\n"
        "setuptools.setup(name='watcher', install_requires=main, extras_require={'nlp': nlp})\n"
    )
    vision = "import torch\n\ndef of(x):\n    return torch.load(x).cuda()\n"
    files = {
        **MODULES,
        "setup.py": setup,
        "requirements/requirements.txt": "numpy\npandas\n",
        "src/watcher/vision.py": vision,
    }
    assert analyze(checkout(files)).spec.meta.workload_type.value == "cpu-only"


def test_a_program_without_such_a_list_needs_what_it_imports(checkout: Build) -> None:
    vision = "import torch\n\ndef of(x):\n    return torch.load(x).cuda()\n"
    parts = {f"src/watcher/vision{number}.py": vision for number in range(8)}
    files = {**MODULES, "requirements.txt": "numpy\npandas\n", **parts}
    assert analyze(checkout(files)).spec.meta.workload_type.value != "cpu-only"
