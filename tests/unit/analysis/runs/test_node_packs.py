"""Packs of ComfyUI's nodes: what they run comes before what a node of theirs tunes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
PACK = "from .nodes.a_train import Tune\nfrom .nodes.speak import Speak\nNODE_CLASS_MAPPINGS = {'Tune': Tune, 'Speak': Speak}\n"
TUNE = """
import torch

class Tune:
    def run(self, model, batches):
        step = torch.optim.AdamW(model.parameters())
        for batch in batches:
            model(batch).backward()
            step.step()
"""
SPEAK = """
import torch
from transformers import AutoModel, pipeline

class Speak:
    def run(self, text):
        with torch.no_grad():
            return pipeline("text-to-speech", "suno/bark-small")(text)
"""


@pytest.mark.parametrize(
    ("pack", "workload"),
    [(PACK, WorkloadType.INFERENCE), ("from .nodes import a_train, speak\n", WorkloadType.TRAINING)],
)
def test_a_pack_is_for_what_its_nodes_run(checkout: Build, pack: str, workload: WorkloadType) -> None:
    files = {"__init__.py": pack, "nodes/__init__.py": "", "nodes/a_train.py": TUNE, "nodes/speak.py": SPEAK}
    assert analyze(checkout({**files, "requirements.txt": "torch\ntransformers\n"})).spec.meta.workload_type is workload


def test_a_command_that_a_document_tells_of_stays_first(checkout: Build) -> None:
    files = {"__init__.py": PACK, "nodes/__init__.py": "", "nodes/a_train.py": TUNE, "nodes/speak.py": SPEAK}
    train = "import torch\nfrom nodes.a_train import Tune\nif __name__ == '__main__':\n    Tune().run(torch.nn.Linear(2, 2), [])\n"
    readme = "# Nodes\n\n## Training\n\n```\npython train.py\n```\n"
    tree = checkout({**files, "train.py": train, "README.md": readme, "requirements.txt": "torch\n"})
    assert analyze(tree).spec.meta.workload_type is WorkloadType.TRAINING


@pytest.mark.parametrize(("pack", "is_installed"), [(PACK, True), ("from .nodes import a_train, speak\n", False)])
def test_what_a_pack_loads_at_once_is_installed(checkout: Build, pack: str, *, is_installed: bool) -> None:
    files = {
        "__init__.py": f"from .nodes import masks\n{pack}",
        "nodes/__init__.py": "",
        "nodes/a_train.py": TUNE,
        "nodes/masks.py": "import scipy\n",
        "nodes/speak.py": SPEAK,
        "requirements.txt": "torch\ntransformers\n",
    }
    found = analyze(checkout(files)).spec.dependencies.requirements or ()
    assert ("scipy" in found) is is_installed
