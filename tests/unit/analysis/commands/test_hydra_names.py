"""The configuration that Hydra's own options choose, and options of the same name that mean something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.commands.hydra_names import hydra_named
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
HYDRA = "import hydra\n@hydra.main(config_path='conf', config_name='config')\ndef main(cfg):\n    pass\n"
FILES = {
    "src/train.py": HYDRA,
    "src/plain.py": "print(1)\n",
    "src/exp.py": "import hydra\n@hydra.main(config_name='one.yaml')\ndef main(cfg):\n    pass\n",
    "src/conf/config.yaml": "devices: 1\n",
    "src/conf/big.yaml": "devices: 4\n",
    "src/conf/old.yml": "devices: 2\n",
    "src/conf/exp/one.yaml": "devices: 3\n",
    "conf/top.yaml": "devices: 5\n",
}


@pytest.mark.parametrize(
    ("options", "script", "paths"),
    [
        # Beside the decorator's folder.
        ({"config_name": "big"}, "src/train.py", ["src/conf/big.yaml"]),
        ({"cn": "exp/one"}, "src/train.py", ["src/conf/exp/one.yaml"]),
        ({"config_name": "old.yml"}, "src/train.py", ["src/conf/old.yml"]),
        # In a folder that an option names, seen from the program or from where it is started.
        ({"config_path": "conf", "config_name": "big"}, "src/train.py", ["src/conf/big.yaml"]),
        ({"config_dir": "conf", "config_name": "top"}, "src/train.py", ["conf/top.yaml"]),
        ({"cd": "./src/conf/", "cn": "big"}, None, ["src/conf/big.yaml"]),
        # None of this checkout, none of Hydra, no name at all.
        ({"config_name": "missing"}, "src/train.py", []),
        ({"config_path": "/home/us/src/conf", "config_name": "big"}, "src/train.py", ["src/conf/big.yaml"]),
        ({"config_path": "elsewhere", "config_name": "big"}, "src/train.py", []),
        ({"config_name": "big"}, "src/plain.py", []),
        ({"config_name": "big"}, None, []),
        # The decorator's own name, in another folder; a folder alone says nothing of a program that is not Hydra's.
        ({"config_path": "conf"}, "src/train.py", ["src/conf/config.yaml"]),
        ({"cp": "conf/exp"}, "src/exp.py", ["src/conf/exp/one.yaml"]),
        ({"config_path": "conf"}, "src/plain.py", []),
        ({"config_name": "$NAME"}, "src/train.py", []),
        ({"config_name": "../../../etc/passwd"}, "src/train.py", []),
        ({"config_name": "a" * 5000}, "src/train.py", []),
    ],
)
def test_the_options_choose_a_file(
    checkout: Build, options: dict[str, str], script: str | None, paths: list[str]
) -> None:
    tree = checkout(FILES)
    program = tree.find(script) if script is not None else None
    assert [source.path for source in hydra_named(tree, options, program)] == paths
