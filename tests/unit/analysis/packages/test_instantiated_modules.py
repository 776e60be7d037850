"""Packages of modules that only a configuration names: Hydra makes their classes, and no program imports them."""

from __future__ import annotations

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = "import hydra\nimport torch\n\n@hydra.main(config_path='../configs', config_name='train.yaml')\ndef main(cfg):\n    net = hydra.utils.instantiate(cfg.model)\n    net.cuda().fit().backward()\n\nif __name__ == '__main__':\n    main()\n"
FILES = {
    "README.md": "# Net\n```\npython src/train.py\n```\n",
    "setup.py": "from setuptools import setup\nsetup(name='net', install_requires=['hydra-core'])\n",
    "src/__init__.py": "",
    "src/train.py": TRAIN,
    "src/models/__init__.py": "",
    "src/models/net.py": "import torch\nfrom torch_geometric.nn import GCNConv\nfrom src.models.parts import part\n\nclass Net:\n    pass\n",
    "src/models/parts.py": "import einops\n\ndef part(x):\n    return x\n",
    "src/models/other.py": "import timm\n\nclass Other:\n    pass\n",
    "configs/train.yaml": "defaults:\n  - model: net\n",
    "configs/model/net.yaml": "_target_: src.models.net.Net\noptimizer:\n  _target_: torch.optim.Adam\n",
    "configs/model/other.yaml": "_target_: src.models.other.Other\n",
}


def installed(build: Build, files: dict[str, str]) -> set[str]:
    return set(analyze(build(files)).proposed.dependencies.requirements)


def test_what_the_run_s_own_configuration_makes_is_installed_for(checkout: Build) -> None:
    names = installed(checkout, FILES)
    assert {"torch", "torch-geometric", "einops"} <= names
    assert "timm" not in names  # of a configuration that the run does not take


def test_without_a_configuration_there_is_nothing_to_make(checkout: Build) -> None:
    program = {"src/train.py": "import torch\nif __name__ == '__main__':\n    torch.ones(1).cuda().backward()\n"}
    plain = {path: text for path, text in FILES.items() if not path.startswith("configs/")} | program
    assert "torch-geometric" not in installed(checkout, plain)
