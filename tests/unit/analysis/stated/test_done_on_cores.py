"""What a README tells of the CPU: in its title, or of the whole."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.stated.done_on_cores import titled_for_cores
from tests.unit.analysis.conftest import Build

PROGRAM = "from transformers import pipeline\npipe = pipeline('text-generation', model='gpt2')\nprint(pipe('x'))\n"


@pytest.mark.parametrize(
    ("title", "is_for_cores"),
    [
        ("# Running Llama 2 on CPU Inference Locally", True),
        ("# Fast Pictures CPU :sparkles:[![CPU](https://example.org/gpu.svg)](https://example.org)", True),
        ("<h1 align='center'>Chat for CPUs</h1>", True),
        ("# Fast Pictures", False),
        ("# Inference on CPU and GPU", False),
        ("# CPU offloading for large models", False),
        ("# A benchmark of CPUs", False),
        ("[CPU](https://example.org)\n# Pictures", False),
    ],
)
def test_a_title_says_what_it_is_made_for(checkout: Build, title: str, *, is_for_cores: bool) -> None:
    tree = checkout(
        {"README.md": f"{title}\n```\npython app.py\n```\n", "requirements.txt": "transformers\n", "app.py": PROGRAM}
    )
    assert (titled_for_cores(tree) is not None) is is_for_cores
    assert (analyze(tree).spec.meta.workload_type.value == "cpu-only") is is_for_cores


def test_a_default_is_told_of_the_whole(checkout: Build) -> None:
    readme = "# Answers\n- Hardware friendly, defaults to running in a pure CPU environment.\n```\npython app.py\n```\n"
    tree = checkout({"README.md": readme, "requirements.txt": "transformers\n", "app.py": PROGRAM})
    assert analyze(tree).spec.meta.workload_type.value == "cpu-only"
