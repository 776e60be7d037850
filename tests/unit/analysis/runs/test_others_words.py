"""What another program, cell, service, trial or half of the data says is not what the run is told: each of these was once taken for it."""

from __future__ import annotations

import json

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from tests.unit.analysis.conftest import Build

SMALL, LARGE = "facebook/opt-125m", "Qwen/Qwen2.5-7B"
TRAIN = f"""import argparse
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

p = argparse.ArgumentParser()
p.add_argument("--source", default="web")
p.add_argument("--model", default="{SMALL}")
p.add_argument("--batch_size", type=int, default=4)
a = p.parse_args()
model = AutoModelForCausalLM.from_pretrained(a.model)
Trainer(model, TrainingArguments("o", per_device_train_batch_size=a.batch_size, bf16=True), train_dataset=None).train()
"""
OWN = """import torch
from transformers import AutoModelForCausalLM
{before}
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B").cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for x in load():
    {step}
    loss.backward()
    optimizer.step()
"""
STEP = "loss = model(**x).loss"


def notebook(*cells: str) -> str:
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": cell} for cell in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


def best(analysis: Analysis, field: str) -> str:
    found = [each for each in analysis.findings if each.field == field]
    return max(found, key=lambda each: each.confidence).value if found else ""


def container(name: str, rest: str) -> dict[str, str]:
    return {"compose.yaml": f"{rest}services:\n  {name}:\n    image: vllm/vllm-openai\n    command: --model {LARGE}\n"}


TREES: dict[str, tuple[dict[str, str], str, str]] = {
    "a cell of a shell's own variable": (
        {"a.ipynb": notebook("BS = 8", f"%%bash\nBS=32\npython train.py --model {LARGE} --batch_size $BS"), "train.py": TRAIN},
        "training.batch_size", "32",
    ),
    "a loop's variable": (
        {"a.ipynb": notebook("bs = 8", "!for bs in 16 32; do python train.py --batch_size $bs; done"), "train.py": TRAIN},
        "training.batch_size", "4",
    ),
    "a name that is set anew": (
        {"a.ipynb": notebook(f'M = "{SMALL}"', "M, N = load()", "!python train.py --model {M} --batch_size 9"), "train.py": TRAIN},
        "training.batch_size", "9",
    ),
    "a word that is a session's name elsewhere": (
        {"train.py": TRAIN, "run.sh": f"python train.py --source screen --model {LARGE} --batch_size 16\n"}, "training.batch_size", "16",
    ),
    "a switch of screen": (
        {"train.py": TRAIN, "run.sh": f"screen -L -dmS a python train.py --model {LARGE} --batch_size 16\n"}, "training.batch_size", "16",
    ),
    "a service that is called like a part": (container("build", ""), "model.id", LARGE),
    "an example beside what is fallen back to": (
        {"compose.yaml": f"services:\n  a:\n    image: vllm/vllm-openai\n    command: --model ${{MODEL:-{LARGE}}}\n", ".env.example": f"MODEL={SMALL}\n"},
        "model.id", LARGE,
    ),
    "a service of its own image": (
        {"compose.yaml": f"x-v: &v\n  image: vllm/vllm-openai\nservices:\n  proxy:\n    build: ./proxy\n    command: --model {SMALL}\n  llm:\n    <<: *v\n    command: --model {LARGE}\n"},
        "model.id", LARGE,
    ),
    "words behind a switch that is off": (
        {"serve.py": "import argparse, subprocess\np = argparse.ArgumentParser()\np.add_argument('--tight', action='store_true')\np.add_argument('--how', default='awq')\n"
         f"args = p.parse_args()\ncmd = ['vllm', 'serve', '{LARGE}']\nif args.tight:\n    cmd += ['--quantization', args.how]\nsubprocess.run(cmd)\n"},
        "model.weight_bits", "",
    ),
    "another class's fields": (
        {".env": f"OTHER={SMALL}\nBRAIN={LARGE}\n",
         "app.py": "from pydantic_settings import BaseSettings\nfrom transformers import AutoModelForCausalLM\n\n\nclass Kept:\n    other: str = 'x'\n\n\n"
         "class Settings(BaseSettings):\n    brain: str = 'x'\n    class Config:\n        env_file = '.env'\n\n\nmodel = AutoModelForCausalLM.from_pretrained(Settings().brain).cuda()\n"},
        "model.id", LARGE,
    ),
    "the half that judges": (
        {"train.py": OWN.format(before="import argparse\np = argparse.ArgumentParser()\np.add_argument('--eval_split', default='test')\nargs = p.parse_args()\n"
                                "LOADERS = {'train': {'batch_size': 32, 'max_length': 2048}, 'test': {'batch_size': 1, 'max_length': 256}}", step=STEP)},
        "training.batch_size", "32",
    ),
    "several batches by their places": (
        {"train.py": OWN.format(before="from torch.utils.data import DataLoader\na = DataLoader(CIFAR10(train=False), 1000)\nb = DataLoader(CIFAR10(), 64, True)\n", step=STEP)},
        "training.batch_size", "",
    ),
    "an object that is made to try": (
        {"train.py": "from dataclasses import dataclass\n" + OWN.format(
            before="from transformers import HfArgumentParser\n\n\n@dataclass\nclass Args:\n    batch_size: int = 8\n\n\nSMOKE = Args(batch_size=1)\n(a,) = HfArgumentParser(Args).parse_args_into_dataclasses()", step=STEP)},
        "training.batch_size", "8",
    ),
    "a switch of numbers beside what they are": (
        {"config.yaml": "amp:\n  enabled: true\n", "run.sh": "python train.py --config config.yaml\n",
         "train.py": OWN.format(before="import argparse, yaml\np = argparse.ArgumentParser()\np.add_argument('--config')\ncfg = yaml.safe_load(open(p.parse_args().config))",
                                step="with torch.autocast('cuda', dtype=torch.bfloat16):\n        loss = model(**x).loss")},
        "training.precision", "bf16",
    ),
    "an entry that an option of its name lacks": (
        {"settings.json": '{"lora": {"r": 16}}', "train.py": OWN.format(
            before="import argparse, json\nfrom peft import LoraConfig, get_peft_model\np = argparse.ArgumentParser()\np.add_argument('--lora', default=None)\na = p.parse_args()\n"
            "cfg = json.load(open('settings.json'))", step="if cfg['lora']:\n        model = get_peft_model(model, LoraConfig(r=16))\n    loss = model(**x).loss")},
        "training.method", "lora",
    ),
    "anybody's module of a network": (
        {"config.yaml": "network_module: models.head\n", "run.sh": "python train.py --config config.yaml\n",
         "train.py": OWN.format(before="import argparse, yaml\np = argparse.ArgumentParser()\np.add_argument('--config')\ncfg = yaml.safe_load(open(p.parse_args().config))", step=STEP)},
        "training.method", "full",
    ),
}  # fmt: skip


@pytest.mark.parametrize("tree", TREES)
def test_it_is_not_what_the_run_is_told(checkout: Build, tree: str) -> None:
    files, field, told = TREES[tree]

    assert best(analyze(checkout({**files, "requirements.txt": "torch\ntransformers\n"})), field) == told


@pytest.mark.parametrize(
    "call",
    [
        "e = Engine()\ne.load('flux')",
        "Engine.create('flux')",
        "from engine import build as made\nmade('flux')",
        "pool.submit(build, 'flux')",
    ],
)
def test_a_call_that_is_not_seen_leaves_no_branch_untaken(checkout: Build, call: str) -> None:
    load = "if kind == 'flux':\n{0}    pipe = FluxPipeline.from_pretrained('black-forest-labs/FLUX.1-dev')\n{0}elif kind == 'sdxl':\n{0}    pipe = StableDiffusionXLPipeline.from_pretrained('stabilityai/stable-diffusion-xl-base-1.0')\n"
    engine = (
        "from diffusers import FluxPipeline, StableDiffusionXLPipeline\n\n\ndef build(kind='sdxl'):\n    " + load.format("    ")
        + "\n\nclass Engine:\n    def load(self, kind='sdxl'):\n        " + load.format("        ")
        + "\n    @classmethod\n    def create(cls, kind='sdxl'):\n        " + load.format("        ")
    )  # fmt: skip
    files = {
        "engine.py": engine,
        "generate.py": f"from engine import Engine, build\n{call}\nprint(pipe('a cat').images)\n",
        "README.md": "```\npython generate.py\n```\n",
    }

    found = [
        each
        for each in analyze(checkout({**files, "requirements.txt": "diffusers\ntorch\n"})).findings
        if each.field == "model.id"
    ]

    assert "black-forest-labs/FLUX.1-dev" in [
        each.value for each in found if each.confidence is max(f.confidence for f in found)
    ]
