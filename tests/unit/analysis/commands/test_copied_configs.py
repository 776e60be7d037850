"""Configurations that a document has its reader copy before a command names the copy."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

TRAIN = (
    "import argparse\nimport json\nimport torch\np = argparse.ArgumentParser()\np.add_argument('--config')\n"
    "params = json.load(open(p.parse_args().config))\nloss.backward()\noptimizer.step()\n"
)
FILES = {"train.py": TRAIN, "configs/6B.json": '{"layers": 28, "d_model": 4096}', "configs/1B.json": '{"layers": 16}'}


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("Duplicate the config file `6B.json`, rename it.", "YOUR_CONFIG.json"),
        ("First edit [the configuration](configs/6B.json).", "path/to/config.json"),
        ("Copy and modify `configs/6B.json` as you like.", "<CONFIG_FILE>"),
        ("```\ncp configs/6B.json configs/mine.json\n```", "configs/mine.json"),
        ("```\ncp configs/1B.json other.json\ncp configs/6B.json ./mine.json\n```", "mine.json"),
        ("```\ncp configs/6B.json runs/\n```", "runs/6B-copy.json/../YOUR_6B.json"),
    ],
)
def test_the_copy_says_what_the_original_does(checkout: Build, text: str, config: str) -> None:
    readme = f"# Training\n{text}\n\n```\npython train.py --config {config}\n```\n"
    run = primary_run(checkout({**FILES, "README.md": readme}))
    assert run is not None
    named = [source.path for source in run.configs]
    assert named == (["configs/6B.json"] if "6B-copy" not in config else [])


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("Duplicate `6B.json` or edit `1B.json`.", "YOUR_CONFIG.json"),  # one of several
        ("Copy `setup.json` first.", "YOUR_CONFIG.json"),  # which is not here
        ("The result is like `6B.json`.", "YOUR_CONFIG.json"),
        ("```\ncp configs/6B.json configs/mine.json\n```", "configs/other.json"),
        ("Edit `6B.json`.", "configs/other.json"),  # no blank, and no copy
    ],
)
def test_what_is_no_copy_stays_open(checkout: Build, text: str, config: str) -> None:
    readme = f"# Training\n{text}\n\n```\npython train.py --config {config}\n```\n"
    run = primary_run(checkout({**FILES, "README.md": readme}))
    assert run is not None
    assert run.configs == ()


def test_a_configuration_that_is_here_is_the_one_that_is_named(checkout: Build) -> None:
    readme = "# Training\nEdit `6B.json`.\n```\npython train.py --config configs/1B.json\n```\n"
    run = primary_run(checkout({**FILES, "README.md": readme}))
    assert run is not None
    assert [source.path for source in run.configs] == ["configs/1B.json"]
