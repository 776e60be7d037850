"""Small repositories in the styles that one meets: each names its model, its numbers or its shape in a way of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_run
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.memory.memory_need import best
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.finding import Confidence

Build = Callable[[Mapping[str, str]], Checkout]

TRAIN = "    model = AutoModelForCausalLM.from_pretrained({name})\n    model.to('cuda')\n    Trainer(model).train()\n"
HEAD = "from transformers import AutoModelForCausalLM, Trainer\n"
STEP = "    loss = net(x.cuda())\n    loss.backward()\n"

# name: (files, what must be found: the surest finding of each field)
STYLES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "argparse, the default a constant of another module": (
        {
            "constants.py": "DEFAULT_BASE = 'EleutherAI/pythia-2.8b'\n",
            "train.py": f"{HEAD}import argparse\nfrom constants import DEFAULT_BASE\nif __name__ == '__main__':\n"
            "    p = argparse.ArgumentParser()\n    p.add_argument('--input-model', default=DEFAULT_BASE)\n"
            f"    args = p.parse_args()\n{TRAIN.format(name='args.input_model')}",
        },
        {"model.id": "EleutherAI/pythia-2.8b"},
    ),
    "click, several flags": (
        {
            "train.py": f"{HEAD}import click\n@click.command()\n@click.option('-m', '--model', default='Qwen/Qwen2.5-7B')\n"
            "@click.option('-b', '--batch-size', 'batch_size', default=3)\ndef main(model, batch_size):\n"
            f"{TRAIN.format(name='model')}\nif __name__ == '__main__':\n    main()\n",
        },
        {"model.id": "Qwen/Qwen2.5-7B", "training.batch_size": "3"},
    ),
    "typer, defaults in the first place and annotated": (
        {
            "train.py": f"{HEAD}import typer\nfrom typing import Annotated\napp = typer.Typer()\n@app.command()\n"
            "def main(base: str = typer.Option('mistralai/Mistral-7B-v0.1', help='x'), "
            "batch_size: Annotated[int, typer.Option()] = 6):\n"
            f"{TRAIN.format(name='base')}\nif __name__ == '__main__':\n    app()\n",
        },
        {"model.id": "mistralai/Mistral-7B-v0.1", "training.batch_size": "6"},
    ),
    "absl flags": (
        {
            "train.py": f"{HEAD}from absl import app, flags\nflags.DEFINE_string('checkpoint', 'facebook/opt-1.3b', 'x')\n"
            "flags.DEFINE_integer('batch_size', 5, 'x')\nFLAGS = flags.FLAGS\ndef main(_):\n"
            f"{TRAIN.format(name='FLAGS.checkpoint')}\nif __name__ == '__main__':\n    app.run(main)\n",
        },
        {"model.id": "facebook/opt-1.3b", "training.batch_size": "5"},
    ),
    "a dataclass with a default factory for HfArgumentParser": (
        {
            "sft.py": f"{HEAD}from dataclasses import dataclass, field\nfrom transformers import HfArgumentParser\n"
            "MODEL = 'google/gemma-2-2b'\n@dataclass\nclass Arguments:\n    base: str = field(default_factory=lambda: MODEL)\n"
            "    per_device_train_batch_size: int = field(default=2)\ndef main():\n"
            f"    a, = HfArgumentParser(Arguments).parse_args_into_dataclasses()\n{TRAIN.format(name='a.base')}\n"
            "if __name__ == '__main__':\n    main()\n",
        },
        {"model.id": "google/gemma-2-2b", "training.batch_size": "2"},
    ),
    "tyro, nested dataclasses": (
        {
            "train.py": f"{HEAD}import tyro\nfrom dataclasses import dataclass, field\n@dataclass\nclass Net:\n"
            "    hub: str = 'microsoft/phi-2'\n@dataclass\nclass Config:\n    net: Net = field(default_factory=Net)\n"
            f"    batch_size: int = 7\ndef main(c: Config):\n{TRAIN.format(name='c.net.hub')}\n"
            "if __name__ == '__main__':\n    main(tyro.cli(Config))\n",
        },
        {"model.id": "microsoft/phi-2", "training.batch_size": "7"},
    ),
    "fire, the parameters of a function": (
        {
            "finetune.py": f"{HEAD}import fire\ndef train(base: str = 'tiiuae/falcon-7b', micro_batch_size: int = 4):\n"
            f"{TRAIN.format(name='base')}\nif __name__ == '__main__':\n    fire.Fire(train)\n",
        },
        {"model.id": "tiiuae/falcon-7b", "training.batch_size": "4"},
    ),
    "YAML read by the program, keys of its own making": (
        {
            "train.py": f"{HEAD}import yaml\ndef main():\n    cfg = yaml.safe_load(open('settings/run.yaml'))\n"
            f"    name = cfg['llm']['weights']\n{TRAIN.format(name='name')}\nif __name__ == '__main__':\n    main()\n",
            "settings/run.yaml": "llm:\n  weights: Qwen/Qwen2.5-3B\nbatch_size: 9\n",
        },
        {"model.id": "Qwen/Qwen2.5-3B", "training.batch_size": "9"},
    ),
    "TOML as the program's default": (
        {
            "train.py": f"{HEAD}import argparse, tomllib\nif __name__ == '__main__':\n    p = argparse.ArgumentParser()\n"
            "    p.add_argument('--config', default='configs/base.toml')\n    cfg = tomllib.load(open(p.parse_args().config))\n"
            f"{TRAIN.format(name='cfg.model.name')}",
            "configs/base.toml": '[model]\nname = "meta-llama/Llama-3.2-1B"\n[training]\nbatch_size = 11\n',
        },
        {"model.id": "meta-llama/Llama-3.2-1B", "training.batch_size": "11"},
    ),
    "TOML named by a script": (
        {
            "run.sh": "torchrun --nproc_per_node=4 train.py --config conf/big.toml\n",
            "train.py": f"{HEAD}if __name__ == '__main__':\n{TRAIN.format(name='cfg.model.path')}",
            "conf/big.toml": '[model]\npath = "Qwen/Qwen2.5-14B"\n',
        },
        {"model.id": "Qwen/Qwen2.5-14B", "hardware.gpu_count": "4"},
    ),
    "OmegaConf with places to fill": (
        {
            "train.py": f"{HEAD}from omegaconf import OmegaConf\ncfg = OmegaConf.load('config.yaml')\n"
            f"if __name__ == '__main__':\n{TRAIN.format(name='cfg.run.start')}",
            "config.yaml": "size: 1.5B\nfamily: Qwen/Qwen2.5\nrun:\n  start: ${family}-${size}\n  batch_size: ${oc.env:BATCH,13}\n",
        },
        {"model.id": "Qwen/Qwen2.5-1.5B", "training.batch_size": "13"},
    ),
    "Hydra groups of several folders": (
        {
            "src/train.py": f"{HEAD}import hydra\n@hydra.main(version_base=None, config_path='../configs', config_name='train.yaml')\n"
            f"def main(cfg):\n{TRAIN.format(name='cfg.model.name')}\nif __name__ == '__main__':\n    main()\n",
            "configs/train.yaml": "defaults:\n  - _self_\n  - model: small\n  - override hydra/launcher: basic\n  - experiment: null\n",
            "configs/model/small.yaml": "name: openai-community/gpt2-medium\n",
            "configs/model/big.yaml": "name: openai-community/gpt2-xl\n",
        },
        {"model.id": "openai-community/gpt2-medium"},
    ),
    "ml_collections, a program that returns the configuration": (
        {
            "main.py": "import jax, flax\nfrom absl import app\nfrom ml_collections import config_flags\n"
            "config_flags.DEFINE_config_file('config', 'configs/default.py', 'x')\ndef main(_):\n"
            "    grad = jax.value_and_grad(f)(x)\nif __name__ == '__main__':\n    app.run(main)\n",
            "configs/default.py": "import ml_collections\ndef get_config():\n    config = ml_collections.ConfigDict()\n"
            "    config.batch_size = 48\n    config.model = ml_collections.ConfigDict({'num_layers': 24, 'emb_dim': 1024})\n    return config\n",
        },
        {"training.batch_size": "48", "model.layers": "24", "model.hidden_size": "1024"},
    ),
    "a table of ids behind an option": (
        {
            "train.py": f"{HEAD}import argparse\nMODELS = {{'small': 'Qwen/Qwen2.5-0.5B', 'big': 'Qwen/Qwen2.5-32B'}}\n"
            "if __name__ == '__main__':\n    p = argparse.ArgumentParser()\n    p.add_argument('--size', default='small')\n"
            f"    args = p.parse_args()\n{TRAIN.format(name='MODELS[args.size]')}",
        },
        {"model.id": "Qwen/Qwen2.5-0.5B"},
    ),
    "a name put together": (
        {
            "train.py": f"{HEAD}ORG = 'EleutherAI'\nSIZE = '1.4b'\nif __name__ == '__main__':\n"
            + TRAIN.format(name="f'{ORG}/pythia-{SIZE}'"),
        },
        {"model.id": "EleutherAI/pythia-1.4b"},
    ),
    "the environment with a fallback": (
        {
            "serve.py": "import os\nfrom transformers import pipeline\nNAME = os.getenv('MODEL') or 'HuggingFaceH4/zephyr-7b-beta'\n"
            "pipe = pipeline('text-generation', model=NAME, device='cuda')\nif __name__ == '__main__':\n    print(pipe('x'))\n",
        },
        {"model.id": "HuggingFaceH4/zephyr-7b-beta", "workload": "inference"},
    ),
    "a registry of shapes in a library file": (
        {
            "train.py": "import argparse, torch\nfrom models import vit\nif __name__ == '__main__':\n    p = argparse.ArgumentParser()\n"
            f"    p.add_argument('--model', default='vit_base')\n    net = vit.__dict__[p.parse_args().model]().cuda()\n{STEP}",
            "models/vit.py": "def vit_large():\n    return ViT(depth=24, embed_dim=1024)\ndef vit_base():\n"
            "    return ViT(depth=12, embed_dim=768)\ndef vit_huge():\n    return ViT(depth=32, embed_dim=1280)\n",
        },
        {"model.layers": "12", "model.hidden_size": "768"},
    ),
    "a registry of which the run names nothing": (
        {
            "train.py": f"import torch\nfrom zoo import build\nif __name__ == '__main__':\n    net = build(x).cuda()\n{STEP}",
            "zoo.py": "CONFIGS = {'a': dict(n_layer=6, n_embd=384), 'b': dict(n_layer=24, n_embd=1024), 'c': dict(n_layer=48, n_embd=1600)}\n",
        },
        {"model.layers": "", "model.hidden_size": ""},
    ),
    "a preset that is a function": (
        {
            "run.sh": "torchrun --nproc_per_node=8 -m lab.train --config lab_1b\n",
            "lab/__init__.py": "",
            "lab/train.py": f"import torch\nif __name__ == '__main__':\n    net = build(parse()).cuda()\n{STEP}",
            "lab/presets.py": "from .shapes import shape_of\ndef lab_1b():\n    return Config(model=shape_of('1B'), batch_size=4)\n"
            "def lab_7b():\n    return Config(model=shape_of('7B'), batch_size=1)\n",
            "lab/shapes.py": "SHAPES = {'tiny': Shape(n_layers=2, dim=64), '1B': Shape(n_layers=16, dim=2048), '7B': Shape(n_layers=32, dim=4096)}\n"
            "def shape_of(name):\n    return SHAPES[name]\n",
        },
        {"model.layers": "16", "model.hidden_size": "2048", "training.batch_size": "4", "hardware.gpu_count": "8"},
    ),
    "a configuration that lies ready for accelerate": (
        {
            "src/sft.py": f"{HEAD}if __name__ == '__main__':\n{TRAIN.format(name=repr('Qwen/Qwen2.5-7B'))}",
            "accelerate/ddp.yaml": "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmachine_rank: 0\nnum_processes: 8\n",
            "accelerate/zero3.yaml": "compute_environment: LOCAL_MACHINE\ndeepspeed_config:\n  zero_stage: 3\ndistributed_type: DEEPSPEED\nnum_machines: 2\nnum_processes: 8\n",
        },
        {"model.id": "Qwen/Qwen2.5-7B", "hardware.gpu_count": "4", "training.sharding": "zero-3"},
    ),
    "a configuration whose name a script puts together": (
        {
            "slurm/train.slurm": 'MODEL="$2"\nTASK="$3"\nCONFIG=recipes/$MODEL/$TASK/config.yaml\naccelerate launch src/$TASK.py --config $CONFIG\n',
            "src/sft.py": f"{HEAD}if __name__ == '__main__':\n{TRAIN.format(name='args.model')}",
            "recipes/one/eval/config.yaml": "model_name_or_path: Qwen/Qwen2.5-32B\n",
            "recipes/two/sft/config.yaml": "model_name_or_path: Qwen/Qwen2.5-1.5B\nper_device_train_batch_size: 16\n",
        },
        {"model.id": "Qwen/Qwen2.5-1.5B", "training.batch_size": "16"},
    ),
    "modules of folders that are no packages, above the program": (
        {
            "exp/bin/train.py": f"import torch\nfrom nets import small\nif __name__ == '__main__':\n    net = small.build().cuda()\n{STEP}",
            "exp/nets/small.py": "def build():\n    return GPT(n_layer=5, n_embd=320, vocab_size=1000)\n",
        },
        {"model.layers": "5", "model.hidden_size": "320", "model.vocabulary": "1000"},
    ),
    "a relative import of two folders above": (
        {
            "lab/__init__.py": "",
            "lab/run/__init__.py": "",
            "lab/run/train.py": f"import torch\nfrom ..nets.gpt import GPT\nif __name__ == '__main__':\n    net = GPT().cuda()\n{STEP}",
            "lab/nets/gpt.py": "class GPT:\n    def __init__(self, n_layer=7, n_embd=448):\n        pass\n",
        },
        {"model.layers": "7", "model.hidden_size": "448"},
    ),
    "a JSON read through a module of its own": (
        {
            "train.py": f"import torch\nfrom config import load\nif __name__ == '__main__':\n    net = build(load()).cuda()\n{STEP}",
            "config.py": "import json\nPATH = 'settings.json'\ndef load():\n    return json.load(open(PATH))\n",
            "settings.json": '{"network": [{"num_layers": 10, "hidden_size": 640}], "batch_size": 21}',
        },
        {"model.layers": "10", "model.hidden_size": "640", "training.batch_size": "21"},
    ),
    "a text encoder beside the network": (
        {
            "train.py": f"import torch\nfrom conditioners import Text\nif __name__ == '__main__':\n    net = Net(Text()).cuda()\n{STEP}",
            "conditioners.py": "from transformers import AutoModel\nclass Text:\n    m = AutoModel.from_pretrained('google/flan-t5-xxl')\n",
        },
        {"workload": "training"},
    ),
    "a server that a program starts": (
        {
            "worker.py": "import subprocess\nMODEL = 'Qwen/Qwen2.5-7B-Instruct'\ndef start():\n"
            "    return subprocess.Popen(['vllm', 'serve', MODEL, '--max-model-len', '8192', '--tensor-parallel-size', '2'])\n",
        },
        {
            "model.id": "Qwen/Qwen2.5-7B-Instruct",
            "workload": "inference",
            "hardware.gpu_count": "2",
            "serving.memory_share": "0.9",
        },
    ),
    "a service on a server's image": (
        {
            "docker-compose.yml": "services:\n  llm:\n    image: vllm/vllm-openai:v0.6.0\n    command: --model mistralai/Mistral-7B-Instruct-v0.3 --max-model-len 4096\n",
        },
        {"model.id": "mistralai/Mistral-7B-Instruct-v0.3", "workload": "inference"},
    ),
    "an image that serves what its user names": (
        {
            "Dockerfile": "ARG VERSION=v0.9.0\nFROM vllm/vllm-openai:${VERSION}\nENV HF_HOME=/data\n",
            "presets.yaml": "model: Qwen/Qwen2.5-32B-Instruct\n",
            "small.yaml": "model: Qwen/Qwen2.5-3B-Instruct\n",
        },
        {"model.family": "Qwen/Qwen2.5-3B-Instruct", "workload": "inference"},
    ),
    "a container that is run by hand": (
        {
            "README.md": "```\ndocker run --gpus all -p 8000:8000 --ipc=host vllm/vllm-openai:latest --model Qwen/Qwen2.5-7B-Instruct\n```\n",
            "client.py": "import requests\n",
        },
        {"model.id": "Qwen/Qwen2.5-7B-Instruct", "workload": "inference"},
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_what_a_repository_names_in_its_own_way_is_found(checkout: Build, style: str) -> None:
    files, expected = STYLES[style]
    tree = checkout(files)
    findings = detect_run(tree, primary_run(tree))
    found = {field: (item.value if (item := best(findings, field)) is not None else "") for field in expected}
    assert found == dict(expected)


def test_an_option_of_the_command_hides_the_programs_default(checkout: Build) -> None:
    program = f"{HEAD}import argparse\nif __name__ == '__main__':\n    p = argparse.ArgumentParser()\n    p.add_argument('--model', default='facebook/opt-13b')\n{TRAIN.format(name='p.parse_args().model')}"
    tree = checkout({"train.py": program, "run.sh": "python train.py --model ''\n"})
    assert not [
        f for f in detect_run(tree, primary_run(tree)) if f.field == "model.id" and f.confidence is Confidence.HIGH
    ]


def test_what_a_module_beside_the_model_loads_is_only_a_hint(checkout: Build) -> None:
    files, _ = STYLES["a text encoder beside the network"]
    tree = checkout(files)
    found = best(detect_run(tree, primary_run(tree)), "model.id")
    assert found is not None
    assert found.confidence is Confidence.LOW


def test_a_dictionary_is_no_registry_where_its_parts_are_unlike_each_other(checkout: Build) -> None:
    tree = checkout(
        {
            "train.py": "import torch\nCONFIG = {'model': {'n_layer': 9, 'n_embd': 576}, 'data': {'path': 'x'}, 'optim': {'batch_size': 17}}\n"
            f"if __name__ == '__main__':\n    net = build(CONFIG).cuda()\n{STEP}",
        }
    )
    findings = detect_run(tree, primary_run(tree))
    assert [found.value for field in ("model.layers", "training.batch_size") if (found := best(findings, field))] == [
        "9",
        "17",
    ]


def test_names_made_of_names_without_end_take_no_time(checkout: Build) -> None:
    doubled = "".join(f"w{n} = f'" + ("{w" + str(n + 1) + "}") * 12 + "'\n" for n in range(40))
    tree = checkout({"train.py": f"import torch\n{doubled}w40 = w0\ncall(model=w0, arch=w1)\n{STEP}"})
    assert not [f for f in detect_run(tree, primary_run(tree)) if f.field == "model.id"]
