"""Projects of the checkout that are compiled: by a documented `setup.py install`, or because what is loaded imports their modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\n\ndef main():\n    from models import build\n    loss.backward()\n\nif __name__ == '__main__':\n    main()\n"
SETUP = (
    "from setuptools import setup\nfrom torch.utils.cpp_extension import CUDAExtension\nextension = CUDAExtension\n"
    "setup(name='attention', ext_modules=[extension('SparseAttention', ['a.cu'])])\n"
)
TREE = {
    "README.md": "```bash\npython train.py\n```\n",
    "train.py": TRAIN,
    "requirements.txt": "torch\n",
    "models/__init__.py": "from .net import build\n",
    "models/net.py": "from .ops.functions import attend\n",
    "models/ops/setup.py": SETUP,
    "models/ops/functions.py": "import SparseAttention\n",
}
OPS = "python3 -m pip install --no-build-isolation -e ./models/ops"


def commands(tree: Checkout) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.setup_commands"]


def test_what_compiles_a_module_that_is_loaded_is_installed(checkout: Build) -> None:
    assert commands(checkout(TREE)) == [OPS]


@pytest.mark.parametrize(
    "functions",
    [
        "try:\n    import SparseAttention\nexcept ImportError:\n    SparseAttention = None\n",
        "import torch\n",
        "def f():\n    import SparseAttention\n",
    ],
)
def test_what_may_be_missing_is_not_compiled_for_it(checkout: Build, functions: str) -> None:
    assert commands(checkout({**TREE, "models/ops/functions.py": functions})) == []


@pytest.mark.parametrize(
    "command", ["python setup.py install", "python3 setup.py build develop --user", "python setup.py build_ext install"]
)
def test_a_documented_setup_installs_the_project_of_its_folder(checkout: Build, command: str) -> None:
    readme = f"## Install\n```bash\ncd models/ops\n{command}\ncd ../..\n```\n## Train\n```bash\npython train.py\n```\n"
    assert commands(checkout({**TREE, "README.md": readme, "models/ops/functions.py": "import torch\n"})) == [OPS]


@pytest.mark.parametrize(
    "command",
    ["python setup.py test", "python setup.py install --help", "python setup.py develop --no_cuda_ext", "cat setup.py"],
)
def test_another_use_of_it_installs_nothing(checkout: Build, command: str) -> None:
    readme = f"## Install\n```bash\ncd models/ops\n{command}\ncd ../..\n```\n## Train\n```bash\npython train.py\n```\n"
    assert commands(checkout({**TREE, "README.md": readme, "models/ops/functions.py": "import torch\n"})) == []


@pytest.mark.parametrize(
    ("setup", "project", "is_isolated"),
    [
        ("import numpy\nfrom setuptools import setup\nsetup(name='ops')\n", "", False),
        ("from setuptools import setup\nsetup(name='ops')\n", "", True),
        (
            "import numpy\nfrom setuptools import setup\nsetup(name='ops')\n",
            "[build-system]\nrequires = ['setuptools', 'numpy']\n",
            True,
        ),
    ],
)
def test_a_build_that_imports_what_nothing_asks_for_sees_what_is_installed(
    checkout: Build, setup: str, project: str, is_isolated: bool
) -> None:
    readme = "## Install\n```bash\npip install -e ./ops\n```\n## Train\n```bash\npython train.py\n```\n"
    files = {"README.md": readme, "train.py": TRAIN, "models/__init__.py": "", "ops/setup.py": setup}
    tree = checkout({**files, "ops/pyproject.toml": project} if project else files)
    assert commands(tree) == [f"python3 -m pip install{'' if is_isolated else ' --no-build-isolation'} -e ./ops"]


BUILT = SETUP.replace("import CUDAExtension", "import BuildExtension, CUDAExtension")


def names(tree: Checkout) -> set[str]:
    return {f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"}


def test_kernels_that_are_compiled_beforehand_are_compiled_by_ninja(checkout: Build) -> None:
    assert "ninja" in names(checkout({**TREE, "models/ops/setup.py": BUILT}))


@pytest.mark.parametrize(
    "script",
    [
        BUILT.replace("CUDAExtension", "CppExtension"),  # a file or two, for the processor
        SETUP.replace("from torch.utils.cpp_extension", "from own_builder"),
    ],
)
def test_what_has_no_kernels_is_built_without_ninja(checkout: Build, script: str) -> None:
    assert "ninja" not in names(checkout({**TREE, "models/ops/setup.py": script}))
