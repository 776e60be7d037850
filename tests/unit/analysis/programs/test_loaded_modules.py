"""What a program or a library loads as it starts, however far away, and what of it has to be installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.packages import packages
from gpu_lol_action.analysis.programs.loaded_modules import loaded_modules

Build = Callable[[Mapping[str, str]], Checkout]
FAR = {
    "README.md": "```bash\npython train.py\n```\n",
    "train.py": "import torch\nfrom net.data import build\nloss.backward()\n",
    "net/__init__.py": "",
    "net/data/__init__.py": "from .sets import build\n",
    "net/data/sets.py": "from . import coco\n",
    "net/data/coco.py": "from .masks import Mask\n",
}
LISTED = "[project]\nname = 'net'\ndependencies = ['torch', 'einops', 'timm', 'tqdm', 'wandb']\n[build-system]\nrequires = ['setuptools']\n"
LIBRARY = "[project]\nname = 'cube'\ndependencies = ['scipy', 'pandas', 'networkx', 'joblib']\n[build-system]\nrequires = ['setuptools']\n"


def names(tree: Checkout) -> set[str]:
    return {package_name(f.value) for f in packages.detect(tree) if f.field == "dependencies.requirements"}


@pytest.mark.parametrize("list_", [{"requirements.txt": "torch\n"}, {"pyproject.toml": LISTED}])
def test_what_is_imported_far_away_ends_the_run_as_well(checkout: Build, list_: Mapping[str, str]) -> None:
    assert "pycocotools" in names(checkout({**FAR, **list_, "net/data/masks.py": "import pycocotools.mask\n"}))


@pytest.mark.parametrize(
    "masks",
    [
        "def read():\n    import pycocotools.mask\n",
        "try:\n    import pycocotools.mask\nexcept ImportError:\n    mask = None\n",
        "import contextlib\nwith contextlib.suppress(ImportError):\n    import pycocotools.mask\n",
        "from .tools import try_import\nwith try_import() as found:\n    import pycocotools.mask\n",
        "x = 1\n\nif __name__ == '__main__':\n    import pycocotools.mask\n",
    ],
)
def test_what_may_be_missing_far_away_is_not(checkout: Build, masks: str) -> None:
    assert "pycocotools" not in names(checkout({**FAR, "requirements.txt": "torch\n", "net/data/masks.py": masks}))


def test_another_context_guards_nothing(checkout: Build) -> None:
    for masks in (
        "with torch.no_grad():\n    import pycocotools.mask\n",
        "with suppress(KeyError):\n    import pycocotools\n",
    ):
        assert "pycocotools" in names(checkout({**FAR, "requirements.txt": "torch\n", "net/data/masks.py": masks}))


def test_the_packages_that_a_dotted_name_leads_through_are_loaded_too(checkout: Build) -> None:
    tree = checkout(
        {
            "train.py": "import net.data.sets\n",
            "net/__init__.py": "import yaml\n",
            "net/data/sets.py": "",
            "net/other.py": "",
        }
    )
    script = tree.find("train.py")
    assert script is not None
    assert {source.path for source in loaded_modules(tree, script)} == {
        "train.py",
        "net/__init__.py",
        "net/data/sets.py",
    }


def test_a_library_that_nothing_starts_needs_what_it_loads(checkout: Build) -> None:
    files = {
        "pyproject.toml": LIBRARY,
        "cube/__init__.py": "from .core import run\n",
        "cube/core.py": "import scanpy\n",
        "cube/extra.py": "import anndata\n",
    }
    assert {"scanpy", "scipy"} <= names(checkout(files))
    assert "anndata" not in names(checkout(files))


@pytest.mark.parametrize(("init", "is_shown"), [("", True), ("from .core import run\n", False)])
def test_of_an_empty_one_the_readme_tells_what_is_loaded(checkout: Build, init: str, is_shown: bool) -> None:
    readme = "# Cube\n```python\nfrom cube import extra\nextra.run()\n```\n"
    files = {
        "README.md": readme,
        "pyproject.toml": LIBRARY,
        "cube/__init__.py": init,
        "cube/core.py": "",
        "cube/extra.py": "import anndata\n",
    }
    assert ("anndata" in names(checkout(files))) == is_shown


def test_what_a_complete_list_leaves_to_others_stays_left(checkout: Build) -> None:
    files = {"pyproject.toml": LIBRARY, "cube/__init__.py": "import numpy\n", "tests/__init__.py": "import scanpy\n"}
    assert names(checkout(files)) == {"scipy", "pandas", "networkx", "joblib"}


@pytest.mark.parametrize(("is_started", "is_needed"), [(False, True), (True, False)])
def test_of_a_module_that_nobody_starts_the_packages_around_it_are_loaded_first(
    checkout: Build, *, is_started: bool, is_needed: bool
) -> None:
    model = "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return self.net(x)\n\n"
    model += (
        "def load(path):\n    net = Net().cuda()\n    net.load_state_dict(torch.load(path))\n    return net.eval()\n"
    )
    files = {
        "pyproject.toml": LISTED,
        "net/__init__.py": "from .image import read\n",
        "net/image.py": "import cv2\n",
        "net/parts/__init__.py": "",
        "net/parts/model.py": model + ("if __name__ == '__main__':\n    print(load('x'))\n" if is_started else ""),
    }
    assert ("opencv-python-headless" in names(checkout(files))) is is_needed
