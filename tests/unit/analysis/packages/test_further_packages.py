"""What the files of a checkout name and what is not proposed: whoever reads them may still ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages.further_packages import MAX_FURTHER, MAX_OF_A_FILE, further_packages
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]

TREE = {
    "requirements.txt": "torch\nnumpy\n",
    "train.py": "import torch\nimport numpy\nfor x in data:\n    loss.backward()\nif __name__ == '__main__': pass\n",
}


def named(tree: Checkout) -> dict[str, str]:
    """Return requirement and place of each."""
    requirements = analyze(tree).proposed.dependencies.requirements
    found = further_packages(tree, primary_run(tree), requirements)
    return {finding.value: str(finding.evidence) for finding in found}


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"tools/plot.py": "import matplotlib\n"}, {"matplotlib": "tools/plot.py:1"}),
        (
            {"README.md": "# Lab\n## Optional\n```\npip install spconv-cu120\n```\n"},
            {"spconv-cu120": "README.md:4"},
        ),
        ({"export/requirements.txt": "onnx==1.15.0\n"}, {"onnx==1.15.0": "export/requirements.txt:1"}),
        ({"scripts/all.sh": "pip install faiss-gpu==1.7.2\n"}, {"faiss-gpu==1.7.2": "scripts/all.sh:1"}),
        (
            {"envs/voice.yml": "name: voice\ndependencies:\n  - pip:\n    - voicefixer==0.1.2\n"},
            {"voicefixer==0.1.2": "envs/voice.yml:4"},
        ),
        # The version that a list tells, and the run's own module first.
        (
            {
                "train.py": TREE["train.py"] + "try:\n    import wandb\nexcept ImportError:\n    wandb = None\n",
                "a/extra.py": "import attr\nimport wandb\n",
                "a/requirements.txt": "wandb==0.16\n",
            },
            {"wandb==0.16": "train.py:7", "attrs": "a/extra.py:1"},
        ),
    ],
)
def test_it_is_named_with_its_place(checkout: Build, files: dict[str, str], wanted: dict[str, str]) -> None:
    assert named(checkout({**TREE, **files})) == wanted


@pytest.mark.parametrize(
    "files",
    [
        {"tools/plot.py": "import torch\nimport os\nimport unheard_of_module\n"},
        {"README.md": "```\npip install git+https://example.org/stranger/thing.git pytest black\n```\n"},
        {"tests/test_net.py": "import scipy\n"},
        {"requirements-dev.txt": "scipy\n"},
    ],
)
def test_what_is_proposed_or_unknown_or_an_address_or_a_developers_is_not(
    checkout: Build, files: dict[str, str]
) -> None:
    assert named(checkout({**TREE, **files})) == {}


def test_however_much_is_named_it_is_bounded_and_always_the_same(checkout: Build) -> None:
    lists = {
        f"{folder}/requirements.txt": "".join(f"{folder}-{number:02}\n" for number in range(30)) for folder in "abcdef"
    }
    found = list(named(checkout({**TREE, **lists})))
    assert found == [f"{folder}-{number:02}" for folder in "abcd" for number in range(MAX_OF_A_FILE)][:MAX_FURTHER]
