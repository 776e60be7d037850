"""Models that a program has Ollama serve are as large as its names say."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

CHAT = "import ollama\nprint(ollama.chat(model={name}, messages=[]))\n"
CHAIN = "from langchain_ollama import ChatOllama\nprint(ChatOllama(model={name}).invoke('a'))\n"


@pytest.mark.parametrize("program", [CHAT, CHAIN])
@pytest.mark.parametrize(
    ("name", "card_gb"), [("llama3.1:70b", 48), ("llama3.1:8b", 12), ("qwen2.5-coder:32b", 24), ("llama3.3", 48)]
)
def test_card_holds_the_model_that_is_asked_for(checkout: Build, program: str, name: str, card_gb: int) -> None:
    found = analyze(checkout({"main.py": program.format(name=repr(name)), "requirements.txt": "ollama\n"}))
    assert found.spec.hardware.vram_required_gb == card_gb
    assert found.breakdown is not None
    assert any(each.field == "model.id" and each.evidence.line == 2 for each in found.findings)


def test_size_that_a_name_has_without_a_tag_is_told(checkout: Build) -> None:
    found = analyze(checkout({"main.py": CHAT.format(name="'mistral'"), "requirements.txt": "ollama\n"}))
    told = next(each for each in found.findings if each.field == "model.id")
    assert (told.value, told.why) == ("mistral:7b", "Ollama is asked for `mistral`, which is `mistral:7b`")


def test_embeddings_and_models_of_its_cloud_take_no_card(checkout: Build) -> None:
    for name in ("nomic-embed-text", "gpt-oss:120b-cloud"):
        found = analyze(checkout({"main.py": CHAT.format(name=repr(name)), "requirements.txt": "ollama\n"}))
        assert not found.spec.hardware.gpu_count


SETTINGS = "from pydantic_settings import BaseSettings\n\n\nclass Settings(BaseSettings):\n    brain: str = 'llama3.1:70b'\n\n\nsettings = Settings()\n"
CLIENT = "from openai import OpenAI\n\nclient = OpenAI(base_url='{}', api_key='a')\nprint(client.chat.completions.create(model='llama3.1:70b', messages=[]))\n"
CONFIGURED = (
    "import yaml\n\ncfg = yaml.safe_load(open('config.yaml'))\n" + CHAIN.format(name="cfg['net']['brain']"),
    {"config.yaml": "net:\n  brain: llama3.1:70b\n"},
)


@pytest.mark.parametrize(
    ("program", "files"),
    [
        CONFIGURED,
        ("from settings import settings\n" + CHAIN.format(name="settings.brain"), {"settings.py": SETTINGS}),
        (CLIENT.format("http://localhost:11434/v1"), {}),
    ],
)
def test_its_name_is_followed_to_where_it_is_said(checkout: Build, program: str, files: dict[str, str]) -> None:
    found = analyze(checkout({"main.py": program, "requirements.txt": "ollama\n", **files}))
    assert found.spec.hardware.vram_required_gb == 48


@pytest.mark.parametrize("url", ["http://localhost:8000/v1", "https://models.example.org:11434/v1"])
def test_a_client_of_another_server_asks_it_for_nothing(checkout: Build, url: str) -> None:
    found = analyze(checkout({"main.py": CLIENT.format(url), "requirements.txt": "openai\n"}))
    assert not found.spec.hardware.gpu_count
