"""Applications around hosted models whose lists bring `transformers` and no framework: it counts tokens there."""

from __future__ import annotations

import json

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

ASKS = "import requests\nfrom transformers import AutoTokenizer\ndef ask(q):\n    return requests.post(URL, json={'messages': [q]})\n"
LOADS = "import torch\nfrom transformers import AutoModel\nnet = AutoModel.from_pretrained('THUDM/chatglm3-6b').cuda()\nnet.chat(t, 'hi')\n"
TUNES = "from sentence_transformers import SentenceTransformer\nmodel = SentenceTransformer('BAAI/bge-small-zh-v1.5')\nmodel.fit(train_objectives=[(loader, loss)])\n"


def need(checkout: Build, files: dict[str, str]) -> str:
    return analyze(checkout(files)).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("listed", "first", "expected"),
    [
        ("transformers\nzhipuai\n", "main.py", "cpu-only"),
        ("transformers\nopenai\n", "main.py", "cpu-only"),
        ("transformers\ntorch\nopenai\n", "main.py", "inference"),  # a framework is asked for
        ("transformers\n", "main.py", "inference"),  # nobody else computes
        ("transformers\nopenai\n", "local.py", "inference"),  # what is started first computes here
    ],
)
def test_a_page_around_hosted_models_that_offers_one_of_its_own(
    checkout: Build, listed: str, first: str, expected: str
) -> None:
    shown = ["main.py", "local.py"] if first == "main.py" else ["local.py", "main.py"]
    readme = "# Chat\n" + "".join(f"```\npython {name}\n```\n" for name in shown)
    files = {"README.md": readme, "requirements.txt": listed, "main.py": ASKS, "local.py": LOADS}
    assert need(checkout, files) == expected


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("不需要 GPU 环境\uff0c个人电脑即可学习。", "cpu-only"),
        ("GPUは不要です。", "cpu-only"),
        ("GPU가 필요 없습니다.", "cpu-only"),
        ("Learn how to search.", "training"),
        ("微调需要 24G 显存。", "training"),
    ],
)
def test_a_course_whose_readme_denies_the_need_of_a_card(checkout: Build, told: str, expected: str) -> None:
    lesson = json.dumps({"cells": [{"cell_type": "code", "source": TUNES}]})
    assert need(checkout, {"README.md": f"# Course\n\n{told}\n", "chapter7/tune.ipynb": lesson}) == expected


@pytest.mark.parametrize(("moves", "expected"), [(".cuda()", "inference"), ("", "cpu-only")])
def test_a_vocoder_s_own_count_of_cards_is_not_the_program_s(checkout: Build, moves: str, expected: str) -> None:
    program = (
        "import json, torch\nfrom model import Net\nwith open('hifigan-config.json') as file:\n    h = json.load(file)\n"
        f"net = Net(h)\nnet.load_state_dict(torch.load('a.pt'))\nnet = net{moves}.eval()\nnet.generate(torch.zeros(1){moves})\n"
    )
    model = "import torch\nclass Net(torch.nn.Module):\n    def generate(self, x):\n        return x.to(torch.device('cuda'))\n"
    files = {"README.md": "```\npython inference.py\n```\n", "requirements.txt": "torch\n", "inference.py": program}
    files |= {"model.py": model, "hifigan-config.json": '{"resblock": "1", "num_gpus": 0}\n'}
    assert need(checkout, files) == expected


SEEDS = (
    "import openai\nimport torch\nfrom torch.utils.data import Dataset\n\ntorch.manual_seed(1)\ntorch.cuda.manual_seed_all(1)\n"
    "torch.backends.cudnn.deterministic = True\nloader = torch.utils.data.DataLoader(data, generator=torch.Generator())\n"
    "for question in loader:\n    print(openai.Completion.create(prompt=question))\n"
)


@pytest.mark.parametrize(
    ("program", "beside", "expected"),
    [
        (SEEDS, "", "cpu-only"),
        (SEEDS, "import torchtext\n", "cpu-only"),
        (SEEDS.replace("import openai\n", ""), "", "interactive"),  # nobody hosts a model
        (f"{SEEDS}print(torch.nn.Linear(2, 3))\n", "", "interactive"),
        (SEEDS, "from torch import nn\nnet = nn.Linear(2, 3)\n", "interactive"),
        (SEEDS, "from transformers import AutoModel\nnet = AutoModel.from_pretrained('gpt2').cuda()\n", "inference"),
    ],
)
def test_seeds_and_the_order_of_the_data_need_no_card(
    checkout: Build, program: str, beside: str, expected: str
) -> None:
    readme = "# Prompts\n```\npython main.py --method few_shot\n```\n"
    assert need(checkout, {"README.md": readme, "main.py": program, "more.py": beside}) == expected
