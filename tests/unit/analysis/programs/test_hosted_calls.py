"""Models that a program only names to somebody's service are none of the machine's; those of a service on the machine are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

LARGE = "meta-llama/Meta-Llama-3.1-405B-Instruct"
REQUEST = (
    "from openai import OpenAI\nclient = OpenAI(api_key=KEY, base_url='{address}')\n"
    "def ask(text):\n    return client.chat.completions.create(model='" + LARGE + "', messages=[text])\n"
)
EMBEDS = "import torch\nfrom transformers import AutoModel\nfrom ask import ask\nmodel = AutoModel.from_pretrained('BAAI/bge-m3').cuda()\nask(model(x))\n"


def models(checkout: Checkout) -> set[str]:
    return {f.value for f in analyze(checkout).findings if f.field == "model.id"}


@pytest.mark.parametrize(
    ("address", "is_here"), [("https://api.deepinfra.com/v1/openai", False), ("http://localhost:8000/v1", True)]
)
def test_a_request_names_a_model_of_the_service(checkout: Build, address: str, is_here: bool) -> None:
    tree = checkout({"run.py": EMBEDS, "ask.py": REQUEST.format(address=address)})
    assert "BAAI/bge-m3" in models(tree)
    assert (LARGE in models(tree)) is is_here


@pytest.mark.parametrize(
    "config",
    [
        'config = LLMConfig({"model": "Qwen/Qwen2.5-Coder-32B-Instruct", "api_type": "openai", "base_url": "https://router.example/v1"})\n',
        'llm = ChatOpenAI(model="Qwen/Qwen2.5-Coder-32B-Instruct", api_key=KEY)\n',
        'text = litellm.completion(model="Qwen/Qwen2.5-Coder-32B-Instruct", messages=[x])\n',
    ],
)
def test_a_client_is_configured_with_one(checkout: Build, config: str) -> None:
    tree = checkout({"run.py": EMBEDS.replace("from ask import ask\n", config)})
    assert models(tree) == {"BAAI/bge-m3"}


@pytest.mark.parametrize(
    ("send", "is_here"),
    [
        ("requests.post('https://api.example/chat', json=payload)", False),
        ("requests.post('http://localhost:8000/chat', json=payload)", True),
        ("model.generate(payload)", True),
    ],
)
def test_what_is_sent_to_a_service_names_its_model(checkout: Build, send: str, is_here: bool) -> None:
    code = f"import requests\ndef ask(text):\n    payload = {{\n        'model': '{LARGE}',\n        'messages': [text],\n    }}\n    return {send}\n"
    tree = checkout({"run.py": EMBEDS, "ask.py": code})
    assert (LARGE in models(tree)) is is_here


def test_a_trainer_beside_a_client_keeps_its_model(checkout: Build) -> None:
    text = (
        "import torch\nimport argparse\nfrom transformers import AutoModelForCausalLM\njudge = OpenAI(api_key=KEY)\n"
        "if __name__ == '__main__':\n    p = argparse.ArgumentParser()\n    p.add_argument('--model_name', default='Qwen/Qwen2.5-7B')\n"
        "    args = p.parse_args()\n    model = AutoModelForCausalLM.from_pretrained(args.model_name).cuda()\n    loss.backward()\n"
    )
    assert models(checkout({"train.py": text})) == {"Qwen/Qwen2.5-7B"}


@pytest.mark.parametrize("name", ["LlamaParse", "LlamaIndexReader", "LlamaCloudIndex"])
def test_what_llamaindex_sells_is_no_llama(checkout: Build, name: str) -> None:
    text = f"import torch\nparser = {name}(result_type='markdown')\nmodel = torch.load('x.pt').cuda()\nmodel.generate(parser)\n"
    tree = checkout({"run.py": text + "if __name__ == '__main__':\n    main()\n"})
    assert not [f for f in analyze(tree).findings if f.field == "model.family"]


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
        (ASKS, FAR, False),  # a request is one, wherever it goes to
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
