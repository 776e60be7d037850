"""Repositories that stand for one model: what their README shows is the work."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

CARD = """# {title}
```python
from transformers import pipeline
pipe = pipeline("text-generation", model="{loaded}", torch_dtype="auto", device_map="auto")
print(pipe(prompt)[0])
```
"""


def notebook(code: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": [code]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


ASKS = notebook("!pip install openai\nimport openai, requests\nrequests.post('https://host/v1', json={})\n")


def kind(checkout: Build, files: Mapping[str, str]) -> WorkloadType | None:
    return analyze(checkout(files)).spec.meta.workload_type


def test_notebooks_that_ask_a_server_are_not_a_model_card_s_work(checkout: Build) -> None:
    files = {
        "README.md": CARD.format(title="Net-V2: calls functions", loaded="us/Net-V2-13B"),
        "eval/bench.ipynb": ASKS,
    }
    spec = analyze(checkout(files)).spec
    assert spec.meta.workload_type is WorkloadType.INFERENCE
    assert 24 <= (spec.hardware.vram_required_gb or 0) <= 32
    assert "transformers" in spec.dependencies.requirements


@pytest.mark.parametrize(
    "change",
    [
        {
            "README.md": CARD.format(title="Prompts", loaded="us/Net-V2-13B")
        },  # one model of those that it may be used with
        {"client.py": "import requests\nif __name__ == '__main__':\n    requests.get('https://host')\n"},
        {
            "pyproject.toml": '[build-system]\nrequires=["setuptools"]\n[project]\nname="net"\ndependencies=["requests"]\n'
        },
    ],
)
def test_what_is_one_use_of_many_says_nothing(checkout: Build, change: Mapping[str, str]) -> None:
    files = {"README.md": CARD.format(title="Net-V2", loaded="us/Net-V2-13B"), "eval/bench.ipynb": ASKS, **change}
    assert kind(checkout, files) is WorkloadType.CPU_ONLY
