"""An application whose only language model Ollama serves beside it computes on the card of its own machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

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


LANGCHAIN = "from langchain_ollama import ChatOllama\n{}\nllm = ChatOllama(model={}, base_url={})\n"


@pytest.mark.parametrize(
    ("program", "workload"),
    [
        (LANGCHAIN.format("", "'llama3.2'", "'http://localhost:11434'"), "inference"),
        (LANGCHAIN.format("NAME = 'llama3.2'", "NAME", "'http://ollama:11434'"), "inference"),
        ("import ollama\ndef ask(text, model='llama3.2'):\n    return ollama.chat(model=model, messages=[text])\n", "inference"),
        # Another machine computes, or Ollama's own company does.
        (LANGCHAIN.format("", "'llama3.2'", "'https://models.ours.example'"), "cpu-only"),
        (LANGCHAIN.format("HOST = 'http://192.168.1.20:11434'", "'llama3.2'", "HOST"), "cpu-only"),
        ("import ollama\nollama.chat(model='gpt-oss:120b-cloud', messages=[])\n", "cpu-only"),
        ("import os\nfrom ollama import Client\nClient(headers={'a': os.environ['OLLAMA_API_KEY']}).chat(model='gpt-oss:120b')\n", "cpu-only"),
        # A remark names one among others, and what stands beside a call for embeddings is no model of Ollama's.
        ("import litellm\nimport sys\n# takes 'ollama/llama3', too\nlitellm.completion(model=sys.argv[1])\n", "cpu-only"),
        ("def ask(name):\n    '''Ask, as model=\"ollama/llama3\" does.'''\n    return ours(model=name)\n", "cpu-only"),
        ("import ollama\nforecast(model='prophet')\nollama.embed(model='nomic-embed-text', input='x')\n", "cpu-only"),
        # A hosted model does as well.
        (LANGCHAIN.format("from langchain_aws import ChatBedrock\nother = ChatBedrock(model_id='x')", "'llama3.2'", "None"), "cpu-only"),
        (CHAT + "from openai import OpenAI\nclient = OpenAI()\n", "cpu-only"),
    ],
)  # fmt: skip
def test_who_computes_for_a_client(checkout: Build, program: str, workload: str) -> None:
    assert analyze(checkout({"app.py": program})).spec.meta.workload_type.value == workload
