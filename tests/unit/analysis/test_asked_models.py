"""Models that a program asks a far server for are not loaded by it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.assemble import detect_all
from tests.unit.analysis.conftest import Build

HEAD = "import torch\nfrom openai import OpenAI\nfrom transformers import AutoModel\nown = AutoModel.from_pretrained('google-bert/bert-base-uncased').cuda()\n"
FAR, NEAR = "https://api.example.com/v1", "http://localhost:8000/v1"
ASKS = "def ask(m):\n    return client.chat.completions.create(model='meta-llama/Llama-3.1-70B-Instruct', messages=m)\n"
TABLE = "config = {'model': 'meta-llama/Llama-3.1-70B-Instruct', 'api_key': key, 'base_url': 'URL'}\n"
CALL = "chat = ChatOpenAI(model='meta-llama/Llama-3.1-70B-Instruct', base_url='URL')\n"
LOADS = "page = 'URL'\nmodel_name = 'meta-llama/Llama-3.1-70B-Instruct'\nbig = AutoModel.from_pretrained(model_name)\n"


@pytest.mark.parametrize(
    ("program", "url", "is_meant"),
    [
        (f"client = OpenAI(base_url='URL')\n{ASKS}", FAR, False),
        (f"client = OpenAI(base_url='URL')\n{ASKS}", NEAR, True),
        (ASKS, FAR, True),  # nothing says where
        (TABLE, FAR, False),
        (TABLE, NEAR, True),
        (CALL, FAR, False),
        (CALL, "http://10.0.0.4:8000/v1", True),
        (LOADS, FAR, True),
    ],
)
def test_a_model_behind_a_far_address_is_not_loaded(checkout: Build, program: str, url: str, is_meant: bool) -> None:
    tree = checkout({"main.py": HEAD + program.replace("URL", url) + "print(own(x))\n"})
    named = [finding.value for finding in detect_all(tree) if finding.field == "model.id"]
    assert ("meta-llama/Llama-3.1-70B-Instruct" in named) is is_meant
    assert "google-bert/bert-base-uncased" in named
