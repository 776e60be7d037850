"""A program that is only named like a test is read where a document for users starts it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.formats.paths import Role
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

ASKS = (
    "from vllm import LLM\nif __name__ == '__main__':\n    print(LLM(model='Qwen/Qwen2.5-7B-Instruct').generate('a'))\n"
)
CHECKS = "import torch\nimport pytest\ndef test_it():\n    assert torch.cuda.is_available()\n"
LIBRARY = "import torch\nfrom transformers import AutoModel\ndef load(name):\n    return AutoModel.from_pretrained(name).cuda().generate(1)\n"


@pytest.mark.parametrize(
    ("document", "text", "is_read"),
    [
        ("README.md", "```\npython scripts/test_time.py c.yaml\n```\n", True),
        ("docs/use.md", "```\ncd x && python3 ./scripts/test_time.py\n```\n", True),
        ("README.md", "Start `torchrun --nproc_per_node 2 scripts/test_time.py`.\n", True),
        # Only named, started by those who change the code, or another file of a like name.
        ("README.md", "The script scripts/test_time.py asks it.\n", False),
        ("README.md", "```\npytest scripts/test_time.py\n```\n", False),
        ("CONTRIBUTING.md", "```\npython scripts/test_time.py\n```\n", False),
        ("README.md", "```\npython scripts/other_test_time.py\n```\n", False),
    ],
)
def test_a_document_for_users_starts_it(checkout: Build, document: str, text: str, is_read: bool) -> None:
    tree = checkout({document: text, "scripts/test_time.py": ASKS, "lib/load.py": LIBRARY})
    source = tree.find("scripts/test_time.py")
    assert source is not None
    assert (source.role is Role.WORKLOAD) is is_read
    assert (source.code is not None) is is_read


@pytest.mark.parametrize(("path", "code"), [("test_it.py", CHECKS), ("tests/test_it.py", ASKS), ("conftest.py", ASKS)])
def test_what_tests_code_stays_out(checkout: Build, path: str, code: str) -> None:
    tree = checkout({"README.md": f"```\npython {path}\n```\n", path: code})
    assert [source.role for source in tree.sources if source.path == path] == [Role.ASIDE]


def test_it_is_the_run_where_nothing_else_is_started(checkout: Build) -> None:
    files = {"recipes/README.md": "```\npython scripts/test_time.py\n```\n", "scripts/test_time.py": ASKS}
    run = primary_run(checkout({**files, "src/lib/models/load.py": LIBRARY, "src/lib/__init__.py": ""}))
    assert run is not None
    assert run.script is not None
    assert run.script.path == "scripts/test_time.py"


def test_a_measurement_at_the_root_that_trains_is_the_run_of_a_library(checkout: Build) -> None:
    module = "import torch\nclass Net(torch.nn.Module):\n    def fit(self):\n        torch.optim.Adam(self.parameters()).step()\n"
    trains = "import torch\nfrom net.model import Net\nif __name__ == '__main__':\n    Net().loss().backward()\n    opt.step()\n"
    run = primary_run(checkout({"benchmark.py": trains, "net/__init__.py": "", "net/model.py": module}))
    assert run is not None
    assert run.evidence.path == "benchmark.py"
