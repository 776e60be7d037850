"""An application whose only language model Ollama serves beside it computes on the card of its own machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

CREW = 'from crewai import Agent, LLM\nllm = LLM(model="ollama/{}", base_url="http://localhost:11434")\n'
CHAT = "import ollama\nprint(ollama.chat(\n    model='llama3.2',\n    messages=[]))\n"


@pytest.mark.parametrize(
    ("files", "workload"),
    [
        ({"app.py": CREW.format("deepseek-r1:7b")}, "inference"),
        ({"app.py": CHAT}, "inference"),
        ({"app.py": "from langchain_ollama import ChatOllama\nllm = ChatOllama(temperature=0, model='mistral')\n"}, "inference"),
        # A hosted model does as well, only texts are embedded, and a library that can ask it among others.
        ({"app.py": CHAT, "README.md": "Set OPENAI_API_KEY, or start Ollama.\n"}, "cpu-only"),
        ({"app.py": CREW.format("nomic-embed-text")}, "cpu-only"),
        ({"app.py": CHAT, **{f"ours/part_{i}.py": "import json\n" for i in range(20)}}, "cpu-only"),
        ({"app.py": "from openai import OpenAI\nOpenAI().chat(model='gpt-4o')\n"}, "cpu-only"),
    ],
)  # fmt: skip
def test_whether_a_model_is_served_here(checkout: Build, files: dict[str, str], workload: str) -> None:
    assert analyze(checkout(files)).spec.meta.workload_type.value == workload
