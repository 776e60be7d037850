"""Packages of hosts' own files."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.dependencies.hosted_packages import hosted_lists
from gpu_lol_action.analysis.packages import packages
from tests.unit.analysis.conftest import Build

MODEL = "import torch\nclass Model:\n    def load(self):\n        self.model = torch.load('x').cuda()\n    def predict(self, request):\n        return self.model(request)\n"


def named(checkout: Build, files: dict[str, str]) -> list[str]:
    return [f.value for f in packages.detect(checkout(files)) if f.field == "dependencies.requirements"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "config.yaml",
            "model_name: x\nrequirements:\n- transformers==4.34.0\n- accelerate\nresources: {accelerator: A10G}\n",
        ),
        ("cog.yaml", "build:\n  gpu: true\n  python_packages:\n    - transformers==4.34.0\n    - accelerate\n"),
        ("bentofile.yaml", "service: x\npython:\n  packages:\n    - transformers==4.34.0\n    - accelerate\n"),
    ],
)
def test_packages_that_a_host_is_told_are_installed(checkout, name, text):
    found = named(checkout, {"model/model.py": MODEL, name: text})
    assert {"transformers==4.34.0", "accelerate"} <= set(found)


def test_list_that_a_hosts_file_points_to_is_read(checkout):
    files = {"model/model.py": MODEL, "config.yaml": "requirements_file: ./deploy/requirements.txt\n"}
    declared, lists = hosted_lists(checkout({**files, "deploy/requirements.txt": "accelerate\n"}), ("model", ""), ())
    assert (declared, [source.path for source in lists]) == ([], ["deploy/requirements.txt"])
    assert hosted_lists(checkout({**files, "config.yaml": "model_name: x\n"}), ("model", ""), ()) == ([], [])


def test_projects_own_list_comes_before_its_hosts(checkout):
    files = {"model/model.py": MODEL, "config.yaml": "requirements:\n- accelerate\n", "requirements.txt": "torch\n"}
    assert "accelerate" not in named(checkout, files)


def test_config_without_a_model_beside_it_is_no_hosts(checkout):
    found = named(checkout, {"train.py": MODEL, "config.yaml": "requirements:\n- accelerate\n"})
    assert "accelerate" not in found


def test_what_readers_are_told_comes_before_a_hosts_list(checkout):
    cog = "build:\n  gpu: true\n  python_packages:\n    - transformers==4.29.2\n"
    told = "## Setup\n```\npip install torch torchvision\npip install transformers==4.25.1 diffusers\n```\n"
    found = named(checkout, {"train.py": MODEL, "cog.yaml": cog, "README.md": told})
    assert [each for each in found if each.startswith("transformers")] == ["transformers==4.25.1"]


def test_a_host_still_tells_what_a_document_leaves_out(checkout):
    cog = "build:\n  gpu: true\n  python_packages:\n    - transformers==4.29.2\n"
    found = named(
        checkout, {"train.py": MODEL, "cog.yaml": cog, "README.md": "## Setup\n```\npip install torch\n```\n"}
    )
    assert "transformers==4.29.2" in found


def test_a_table_of_packages_is_a_list_of_them(checkout):
    text = (
        '[cerebrium.dependencies.pip]\ntorch = ">=2.4"\n"infinity-emb[all]" = "latest"\nnumpy = "1.26.4"\n'
        '[cerebrium.dependencies.apt]\nffmpeg = "latest"\n'
    )
    found = named(checkout, {"main.py": "import torch\ntorch.load('x').cuda()\n", "cerebrium.toml": text})
    assert found == ["torch>=2.4", "infinity-emb[all]", "numpy==1.26.4"]
