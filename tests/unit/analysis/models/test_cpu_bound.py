"""What imports a GPU library and stays on the CPU all the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
READS = (
    "import numpy as np\nimport tensorflow as tf\n\ndef load(path):\n    path = tf.train.latest_checkpoint(path)\n"
    "    return {{name: tf.train.load_variable(path, name) for name, _ in tf.train.list_variables(path)}}{more}\n"
)
GENERATE = "import numpy as np\nfrom weights import load\n\ndef generate(x):\n    return x\n\nif __name__ == '__main__':\n    generate(load('m'))\n"


def workload(checkout: Checkout) -> str:
    return analyze(checkout).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("more", "is_cpu"),
    [("", True), ("\n\nmodel = tf.keras.Sequential()", False), ("\n\nfrom tensorflow import keras", False)],
)
def test_reading_a_checkpoint_is_no_work_for_a_gpu(checkout: Build, more: str, is_cpu: bool) -> None:
    files = {
        "weights.py": READS.format(more=more),
        "main.py": GENERATE,
        "requirements.txt": "numpy\ntensorflow==2.11.0\n",
    }
    assert (workload(checkout(files)) == "cpu-only") is is_cpu


def test_writing_a_log_is_no_work_for_a_gpu(checkout: Build) -> None:
    text = "from torch.utils.tensorboard import SummaryWriter\nfrom sklearn.svm import SVC\nSVC().fit(x, y)\nSummaryWriter().add_scalar('a', 1)\n"
    assert workload(checkout({"main.py": text, "requirements.txt": "torch\nscikit-learn\n"})) == "cpu-only"


@pytest.mark.parametrize(
    ("listed", "expected"),
    [("tensorflow-cpu\n", "cpu-only"), ("tensorflow-cpu\ntensorflow\n", "training"), ("tensorflow\n", "training")],
)
def test_a_build_without_a_gpu_is_asked_for(checkout: Build, listed: str, expected: str) -> None:
    train = "import tensorflow as tf\nmodel = tf.keras.Sequential()\nmodel.fit(x, y)\n"
    assert workload(checkout({"main.py": train, "requirements.txt": listed})) == expected


@pytest.mark.parametrize(("said", "expected"), [("+cpu", "cpu-only"), ("", "training")])
def test_torchs_build_for_the_cpu_is_one(checkout: Build, said: str, expected: str) -> None:
    train = "import torch\nnet = torch.nn.Linear(1, 1).to(device)\nloss.backward()\n"
    assert workload(checkout({"main.py": train, "requirements.txt": f"torch==2.6.0{said}\n"})) == expected


@pytest.mark.parametrize(
    ("commands", "readme", "expected"),
    [
        ("--model gpt-4", "Set `OPENAI_API_KEY`.", "cpu-only"),
        ("--model gpt-4", "Set the key.", "inference"),
        ("--model gpt-4", "Set `OPENAI_API_KEY`. Local models need a GPU.", "inference"),
        ("--model Qwen/Qwen2.5-7B-Instruct", "Set `OPENAI_API_KEY`.", "inference"),
    ],
)
def test_commands_that_name_hosted_models_need_no_gpu(
    checkout: Build, commands: str, readme: str, expected: str
) -> None:
    program = (
        "import argparse\nimport openai\nfrom transformers import AutoModelForCausalLM\n\n"
        "def local(path):\n    return AutoModelForCausalLM.from_pretrained(path, device_map='auto').generate()\n\n"
        "if __name__ == '__main__':\n    p = argparse.ArgumentParser()\n    p.add_argument('--model')\n    local(p.parse_args().model)\n"
    )
    document = f"# x\n\n{readme}\n\n```\npython main.py {commands}\n```\n"
    files = {"main.py": program, "README.md": document, "requirements.txt": "openai\ntransformers\ntorch\n"}
    assert workload(checkout(files)) == expected


def test_a_collection_of_clients_is_not_one_for_the_few_that_compute(checkout: Build) -> None:
    client = "from openai import OpenAI\nprint(OpenAI().responses.create(input='x'))\n"
    own = "from tensorflow import keras\nmodel = keras.Sequential()\nmodel.fit(x, y)\n"
    files = {f"lesson_{number}/ask.py": client for number in range(12)}
    assert workload(checkout({**files, "lesson_3/train.py": own})) == "cpu-only"


def test_two_of_three_that_compute_make_it_work_for_a_gpu(checkout: Build) -> None:
    own = "import tensorflow as tf\ntf.device('/GPU:0')\nmodel = tf.keras.Sequential()\nmodel.fit(x, y)\n"
    files = {f"lesson_{number}/train.py": own for number in range(8)}
    clients = {f"other_{number}/ask.py": "import openai\n" for number in range(4)}
    assert workload(checkout({**files, **clients})) == "training"


@pytest.mark.parametrize(
    ("listed", "expected"),
    [("langchain-openai\nsentence-transformers\n", "cpu-only"), ("sentence-transformers\n", "interactive")],
)
def test_embeddings_beside_a_hosted_model_need_no_gpu(checkout: Build, listed: str, expected: str) -> None:
    app = "import streamlit as st\nfrom langchain_chroma import Chroma\nst.write('x')\n"
    assert workload(checkout({"app.py": app, "requirements.txt": f"streamlit\n{listed}"})) == expected


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ("def seed():\n    try:\n        import torch\n        torch.manual_seed(0)\n    except ImportError:\n        pass\n", "cpu-only"),
        ("import torch\ntorch.manual_seed(0)\n", "inference"),
    ],
)  # fmt: skip
def test_what_is_taken_along_where_it_is_there_computes_nothing(checkout: Build, seeds: str, expected: str) -> None:
    app = (
        "import litellm\nimport seeds\nfrom sentence_transformers import SentenceTransformer\n"
        "model = SentenceTransformer('all-MiniLM-L6-v2').cuda()\nprint(model.encode(['a']))\n"
    )
    files = {"app.py": app, "seeds.py": seeds, "requirements.txt": "litellm\n"}
    assert workload(checkout({**files, "docs/USE.md": "```\npython app.py\n```\n"})) == expected


def test_binders_environment_is_not_a_projects(checkout: Build) -> None:
    environment = "name: x\ndependencies:\n  - python=3.7\n  - keras\n  - tensorflow\n"
    setup = "from setuptools import setup\nsetup(name='mine', packages=['mine'], install_requires=['numpy', 'scikit-learn'])\n"
    library = {"mine/__init__.py": "import numpy\n", "setup.py": setup}
    assert workload(checkout({**library, "binder/environment.yml": environment})) == "cpu-only"


def test_what_is_drawn_by_a_gradient_is_not_trained(checkout: Build) -> None:
    draw = (
        "import torch\nfrom torch import optim\nz = torch.randn(1, 256, device='cuda', requires_grad=True)\n"
        "opt = optim.{made}\nmodel = load_model('vqgan.ckpt')\nloss = model(z)\nloss.backward()\nopt.step()\n"
    )
    assert workload(checkout({"generate.py": draw.format(made="Adam([z], lr=0.1)")})) == "inference"
    assert workload(checkout({"generate.py": draw.format(made="Adam(model.parameters(), lr=0.1)")})) == "training"
    edit = draw.replace("from torch import optim", "from torch.optim.sgd import SGD").replace(
        "optim.{made}", "SGD(params=[z], lr=0.1)"
    )
    assert workload(checkout({"generate.py": edit})) == "inference"


def test_of_a_library_of_models_only_the_one_that_is_named_speaks(checkout: Build) -> None:
    names = [f"other{number:02}" for number in range(14)]
    package = "".join(f"from .{name} import {name.title()}\n" for name in [*names, "nhits"])
    module = "import torch\n\nclass {cls}(torch.nn.Module):\n    def __init__(self, default_model='{model}'):\n        pass\n"
    files = {
        f"lib/models/{name}.py": module.format(cls=name.title(), model="openai-community/gpt2-xl") for name in names
    }
    files |= {"lib/models/nhits.py": "import torch\n\nclass Nhits(torch.nn.Module):\n    pass\n", "lib/__init__.py": ""}
    files["lib/models/__init__.py"] = package
    script = "from lib.models import Nhits\nmodel = Nhits()\nloss.backward()\n"
    auto = {"lib/auto.py": "".join(f"from .models.{name} import {name.title()}\n" for name in [*names, "nhits"])}
    for text in (script, script.replace("lib.models import", "lib.auto import")):
        analysis = analyze(checkout({**files, **auto, "run.py": text}))
        named = [f for f in analysis.findings if f.field == "model.id" and f.confidence.name != "LOW"]
        assert not named, text


def test_two_libraries_are_called_lightning(checkout: Build) -> None:
    linear = "from lightning.impl.base import BaseEstimator\nfrom lightning import classification\n"
    assert workload(checkout({"explain.py": linear})) == "cpu-only"
    assert workload(checkout({"explain.py": "from lightning import Trainer\nTrainer().fit(model)\n"})) == "training"


CLIENT = "import litellm\nfrom mine.retrieve import Retriever\nprint(litellm.completion(model='gpt-4o'))\n"
RETRIEVER = (
    "class Retriever:\n    def __init__(self, device='cuda'):\n        from sentence_transformers import SentenceTransformer\n"
    "        self.model = SentenceTransformer('BAAI/bge-m3', device=device)\n        self.model.encode(['x'])\n"
    "    def local(self, path):\n        from transformers import AutoModel\n        return AutoModel.from_pretrained(path).cuda().generate()\n"
)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("litellm\nsentence-transformers\n", "cpu-only"),
        # Who installs transformers as well means to run something with it.
        ("litellm\nsentence-transformers\ntransformers\n", "inference"),
        ("sentence-transformers\n", "inference"),
    ],
)
def test_embeddings_beside_a_hosted_model_that_a_command_asks_need_no_gpu(
    checkout: Build, listed: str, expected: str
) -> None:
    client = CLIENT if "litellm" in listed else CLIENT.replace("litellm", "requests")
    files = {"README.md": "# x\n\n```\npython main.py\n```\n", "main.py": client, "mine/retrieve.py": RETRIEVER}
    assert workload(checkout({**files, "mine/__init__.py": "", "requirements.txt": listed})) == expected


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        # It comes with sentence-transformers anyway.
        ({}, "cpu-only"),
        ({"local.py": "from transformers import AutoModel\nAutoModel.from_pretrained('x').cuda().generate()\n"}, "inference"),
        ({"README.md": "```\npython -m vllm.entrypoints.openai.api_server --model Qwen/Qwen2.5-7B\n```\n"}, "inference"),
    ],
)  # fmt: skip
def test_what_embeddings_bring_is_no_model_of_its_own(checkout: Build, added: Mapping[str, str], expected: str) -> None:
    client = "import groq\nfrom langchain_community.embeddings import SentenceTransformerEmbeddings\nSentenceTransformerEmbeddings()\n"
    files = {"main.py": client, "requirements.txt": "groq\ntransformers\nsentence-transformers\n"}
    assert workload(checkout({**files, **added})) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"app.py": "import streamlit as st\nfrom llama_index import agent\nst.write(agent)\n"}, "cpu-only"),
        # A program that imports it computes something; so may what is started with it.
        ({"app.py": "import clip\nclip.load('ViT-B/32')\n"}, "inference"),
        ({"app.py": "import os\n", "README.md": "```\nvllm serve Qwen/Qwen2.5-7B\n```\n"}, "inference"),
    ],
)
def test_a_library_that_is_listed_and_never_imported_needs_no_gpu(
    checkout: Build, files: Mapping[str, str], expected: str
) -> None:
    assert workload(checkout({**files, "requirements.txt": "streamlit\nclip\n"})) == expected


OPENVINO = "from optimum.intel.openvino import OVModelForCausalLM\nfrom transformers import AutoTokenizer\nif __name__ == '__main__':\n    tok = AutoTokenizer.from_pretrained('m')\n    OVModelForCausalLM.from_pretrained('m', device='{}').generate(tok('x'))\n"
IPEX = "from ipex_llm.transformers import AutoModel\nfrom transformers import AutoTokenizer\nif __name__ == '__main__':\n    model = AutoModel.from_pretrained('m', load_in_4bit=True)\n    model.generate(AutoTokenizer.from_pretrained('m')('x'))\n"
ALONE = "import torch\nfrom transformers import AutoModel\nif __name__ == '__main__':\n    AutoModel.from_pretrained('m').cuda().generate(x)\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"chat.py": OPENVINO.format("CPU")}, "cpu-only"),
        ({"chat.py": OPENVINO.format("GPU")}, "cpu-only"),  # Intel's
        ({"chat.py": OPENVINO.format("cuda")}, "inference"),
        ({"chat.py": OPENVINO.format("CPU"), "plain.py": ALONE}, "inference"),
        (
            {
                "chat.py": IPEX,
                "parts.py": "import torch\nfrom transformers import LogitsProcessor\ntorch.cuda.empty_cache()\n",
            },
            "cpu-only",
        ),
        ({"chat.py": IPEX, "plain.py": ALONE}, "inference"),
    ],
)
def test_openvino_computes_on_intels_processors(checkout: Build, files: Mapping[str, str], expected: str) -> None:
    told = {"README.md": "```\npython chat.py\n```\n", "requirements.txt": "transformers\nopenvino\nnncf\n"}
    assert workload(checkout({**told, **files})) == expected


@pytest.mark.parametrize(
    "program",
    [
        "from ultralytics import YOLO\nYOLO('yolov8m.yaml').train(data='coco.yaml', epochs=100)\n",
        "from ultralytics import YOLO\nYOLO('yolov8m.pt').predict('a.jpg')\n",
        "import torch\nfrom transformers import GPT2Config, GPT2LMHeadModel, Trainer\nif __name__ == '__main__':\n    Trainer(model=GPT2LMHeadModel(GPT2Config())).train()\n",
    ],
)
def test_a_program_beside_one_on_intels_processors_takes_the_card_that_it_finds(checkout: Build, program: str) -> None:
    shown = "import cv2\nimport openvino\nprint(openvino.Core().compile_model('model.xml')(cv2.imread('x.jpg')))\n"
    files = {"README.md": "```\npython first.py\n```\n", "first.py": program, "shown.py": shown}
    assert workload(checkout({**files, "requirements.txt": "transformers\nopenvino\nultralytics\n"})) != "cpu-only"


PAGE = "import openai\nfrom clients import make\nif __name__ == '__main__':\n    make('x').generate()\n"
CHOOSES = "def make(name):\n    if name == 'own':\n        from own import Own\n        return Own()\n    from hosted import Hosted\n    return Hosted()\n"
OWN = "import torch\nfrom transformers import AutoModel\nclass Own:\n    def generate(self):\n        return AutoModel.from_pretrained('m').cuda().generate(x)\n"
OFFERS = {
    "app.py": PAGE,
    "clients.py": CHOOSES,
    "own.py": OWN,
    "hosted.py": "import openai\nclass Hosted: ...\n",
    "README.md": "```\npip install -r requirements.txt\npython app.py\n```\n",
    "requirements.txt": "openai\ngradio\n",
    "requirements_advanced.txt": "torch\ntransformers\n",
}


@pytest.mark.parametrize(
    ("change", "is_cpu"),
    [
        ({}, True),
        ({"requirements.txt": "openai\ngradio\ntorch\n"}, False),
        ({"requirements.txt": "gradio\n"}, False),
        ({"clients.py": "from own import Own\ndef make(name):\n    return Own()\n"}, False),
        (
            {"app.py": PAGE.replace("import openai\n", "")},
            False,
        ),  # its modules decide what it is: a command line for several works
    ],
)
def test_a_model_of_ones_own_may_be_an_offer_beside_hosted_ones(
    checkout: Build, change: Mapping[str, str], is_cpu: bool
) -> None:
    assert (workload(checkout({**OFFERS, **change})) == "cpu-only") is is_cpu


RECORDS = "import tensorflow as tf\nfrom tensorflow.core.example import example_pb2\n\ndef write(rows):\n    # a tf.Example of each\n    for row in rows:\n        one = example_pb2.Example()\n        out.write(one.SerializeToString()){more}\n\nwrite([])\n"


@pytest.mark.parametrize(
    ("more", "is_cpu"),
    [
        ("", True),
        (
            "\n        one = tf.train.Example(features=tf.train.Features())\n        tf.io.TFRecordWriter(p).write(one)",
            True,
        ),
        ("\n        net = tf.keras.Sequential()", False),
        ("\n        x = tf.image.decode_png(row)", False),
        ("\n\nfrom tensorflow.python.keras import layers", False),
    ],
)
def test_writing_data_as_records_is_no_work_for_a_gpu(checkout: Build, more: str, is_cpu: bool) -> None:
    assert (workload(checkout({"make_datafiles.py": RECORDS.format(more=more)})) == "cpu-only") is is_cpu


def _lesson(code: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": code}], "nbformat": 4})


CLASSICAL = _lesson("from sklearn.svm import SVC\nSVC().fit(x, y)\n")
NETWORK = "import keras\nmodel = keras.Sequential([keras.layers.Dense(4)])\nmodel.compile('adam')\nmodel.fit(x, y)\n"


@pytest.mark.parametrize(
    ("classical", "others", "networks", "remark", "is_cpu"),
    [
        (10, 0, 1, "", True),
        (9, 0, 1, "", True),
        (10, 0, 1, "# runs on a GPU\n", False),
        (10, 0, 3, "", False),  # too many of them
        (6, 0, 1, "", False),  # no course
        (3, 9, 1, "", False),  # figures of a paper, and what made them
    ],
)
def test_a_course_on_what_cores_compute_needs_no_gpu_for_one_lesson(
    checkout: Build, classical: int, others: int, networks: int, remark: str, *, is_cpu: bool
) -> None:
    files = {f"{n:02}-trees.ipynb": CLASSICAL for n in range(classical)}
    files |= {f"{n:02}-figure.ipynb": _lesson("import matplotlib\nmatplotlib.show(x)\n") for n in range(others)}
    files |= {f"{n:02}-network.ipynb": _lesson(remark + NETWORK) for n in range(networks)}
    tree = checkout({**files, "requirements.txt": "scikit-learn\ntensorflow\n"})
    assert (workload(tree) == "cpu-only") is is_cpu


def test_a_course_whose_readme_starts_a_training_trains(checkout: Build) -> None:
    files = {f"{n:02}-trees.ipynb": CLASSICAL for n in range(12)}
    program = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    optimizer.step()\n"
    tree = checkout({**files, "train.py": program, "README.md": "# C\n```\npython train.py\n```\n"})
    assert workload(tree) == "training"


PAGE = "from langchain_openai import ChatOpenAI\n\ndef answer(text):\n    return ChatOpenAI().invoke(text)\n"
OWN_MODEL = "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('x/y').cuda()\nmodel.generate()\nif __name__ == '__main__': pass\n"


def _assistant(**changed: str) -> dict[str, str]:
    return {
        "README.md": "# Assistant\n```\npip install -r requirements.txt\npython main.py\n```\n",
        "requirements.txt": "langchain-openai\nflask\n",
        "docker/requirements.txt": "torch\ntransformers\n",
        "main.py": "from llm import chat\nif __name__ == '__main__': print(chat.answer('x'))\n",
        "llm/chat.py": PAGE,
        "llm/own.py": OWN_MODEL,
        **changed,
    }


@pytest.mark.parametrize(
    ("changed", "is_cpu"),
    [
        ({}, True),
        ({"README.md": "# Assistant\n```\npython llm/own.py\n```\n"}, False),
        ({"llm/chat.py": PAGE + "import torch\nmodel = torch.load('x').cuda()\n"}, False),
        ({"requirements.txt": "langchain-openai\ntorch\n"}, False),
        ({"llm/chat.py": "def answer(text):\n    return text\n"}, False),
    ],
    ids=["hosted", "the model is what is told", "loaded with the rest", "installed with the rest", "nobody is asked"],
)
def test_a_model_that_nobody_is_told_to_start_is_an_offer_beside_hosted_ones(
    checkout: Build, changed: Mapping[str, str], *, is_cpu: bool
) -> None:
    assert (workload(checkout(_assistant(**changed))) == "cpu-only") is is_cpu


POLE = "import tensorflow as tf\nimport gym\nenv = gym.make('CartPole-v0')\nloss = net(env)\ntf.train.AdamOptimizer(1e-2).minimize(loss)\n"


TORCH_POLE = (
    "import torch\nimport gym\nenv = gym.make('CartPole-v0')\n"
    "device = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')\nnet = torch.nn.Linear(4, 2).to(device)\n"
    "torch.optim.Adam(net.parameters()).step()\nnet(env).backward()\n"
)


BASELINES = (
    "import torch as th\nimport gymnasium\nfrom stable_baselines3 import A2C\nagain = th.cuda.is_available()\n"
    "A2C('MlpPolicy', gymnasium.make('CartPole-v1')).learn(20000)\n"
)


@pytest.mark.parametrize(
    ("program", "readme", "is_cpu"),
    [
        (POLE, "# Balance\n", True),
        (BASELINES, "# Balance\n", True),
        (BASELINES.replace("CartPole-v1", "CarRacing-v2"), "# Drive\n", False),
        (BASELINES.replace("'MlpPolicy', ", "'MlpPolicy', device='cuda', env="), "# Balance\n", False),
        (POLE.replace("CartPole-v0", "MountainCarContinuous-v0"), "# Climb\n", True),
        (POLE + "lake = gym.make('FrozenLake8x8-v1')\n", "# Cross\n", True),
        (TORCH_POLE, "# Balance\n", True),
        (TORCH_POLE.replace("CartPole-v0", "LunarLander-v2"), "# Land\n", True),
        (TORCH_POLE.replace("CartPole-v0", "PongNoFrameskip-v4"), "# Play\n", False),
        (TORCH_POLE + "net.cuda()\n", "# Balance\n", False),
        (TORCH_POLE.replace("Linear(4, 2)", "Conv2d(4, 2, 3)"), "# Look\n", False),
        # A larger world, a word of a card, a world that nothing names, a library that is told where to compute.
        (POLE + "run = gym.make('HalfCheetah-v2')\n", "# Run\n", False),
        (POLE, "# Balance\nIt took an hour on our GPU.\n", False),
        (POLE + "with tf.device('/device:GPU:0'):\n    pass\n", "# Balance\n", False),
        (POLE.replace("'CartPole-v0'", "name"), "# Balance\n", False),
        (POLE.replace("tensorflow as tf", "jax").replace("tf.train.AdamOptimizer", "optax.adam"), "# Balance\n", False),
    ],
)
def test_the_smallest_worlds_are_learned_on_cores(checkout: Build, program: str, readme: str, *, is_cpu: bool) -> None:
    analysis = analyze(checkout({"learn.py": program, "README.md": readme}))
    assert (analysis.spec.meta.workload_type.value == "cpu-only") is is_cpu


WRAPPED = "import torch\nimport elsewhere\n\nif __name__ == '__main__':\n    elsewhere.run(torch.device('cuda'))\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python main.py --epochs 100 --seed 1", "training"),
        ("python main.py --weight-decay 0.1", "training"),
        ("python main.py --epoch 20", "inference"),  # whose weights are loaded
        ("python main.py --inference", "inference"),
    ],
)
def test_what_only_a_training_takes_tells_what_a_library_elsewhere_does(
    checkout: Build, command: str, expected: str
) -> None:
    assert workload(checkout({"main.py": WRAPPED, "README.md": f"# Net\n```\n{command}\n```\n"})) == expected


@pytest.mark.parametrize(
    ("lines", "is_cpu"),
    [
        ("from transformers import AutoModelForCausalLM, AutoTokenizer\nt = AutoTokenizer.from_pretrained('m')\n", True),
        ("import transformers\nt = transformers.AutoTokenizer.from_pretrained('m')\n", True),
        # What is used of it, under whatever name, may compute; so may what another module takes from here.
        ("from transformers import AutoModel, AutoTokenizer\nt = AutoTokenizer.from_pretrained('m')\nm = AutoModel.from_pretrained('m')\n", False),
        ("from transformers import AutoModel as Net, AutoTokenizer\nt = AutoTokenizer.from_pretrained('m')\nm = Net.from_pretrained('m')\n", False),
        ("import transformers\nt = transformers.AutoTokenizer.from_pretrained('m')\nm = transformers.AutoModel.from_pretrained('m')\n", False),
        ("import transformers as hub\nt = hub.AutoTokenizer.from_pretrained('m')\n", False),
        ("from transformers import AutoModel\n", False),
    ],
)  # fmt: skip
def test_a_tokenizer_alone_computes_nothing(checkout: Build, lines: str, is_cpu: bool) -> None:
    program = f"from groq import Groq\n{lines}answer = Groq().chat.completions.create(messages=[])\n"
    assert (workload(checkout({"chat.py": program})) == "cpu-only") is is_cpu


BY_HAND = (
    "import requests\nfrom sentence_transformers import SentenceTransformer\nURL = '{}/v1/chat/completions'\n"
    "near = SentenceTransformer('all-MiniLM-L6-v2').encode(['a'])\nrequests.post(URL, json={{'model': 'big', '{}': near}})\n"
)


@pytest.mark.parametrize(
    ("address", "key", "is_cpu"),
    [
        ("https://api.maker.com", "messages", True),
        ("http://localhost:8000", "messages", False),
        ("https://api.maker.com", "rows", False),
    ],
)
def test_a_hosted_model_is_asked_by_hand(checkout: Build, address: str, key: str, is_cpu: bool) -> None:
    files = {"chat.py": BY_HAND.format(address, key), "requirements.txt": "requests\nsentence-transformers\n"}
    assert (workload(checkout(files)) == "cpu-only") is is_cpu


@pytest.mark.parametrize(
    ("place", "is_cpu"),
    [("F.CPUPlace()", True), ("F.CUDAPlace(0) if args.use_cuda else F.CPUPlace()", False), ("F.CUDAPlace(0)", False)],
)
def test_paddle_s_place_is_the_device(checkout: Build, place: str, *, is_cpu: bool) -> None:
    program = (
        "import paddle.fluid as F\nif __name__ == '__main__':\n"
        f"    F.optimizer.Adam(0.1).minimize(loss)\n    exe = F.Executor({place})\n    exe.run(main)\n"
    )
    analysis = analyze(checkout({"train.py": program, "README.md": "# Walks\n```\npython train.py\n```\n"}))
    assert (analysis.spec.meta.workload_type.value == "cpu-only") is is_cpu


@pytest.mark.parametrize(
    ("where", "is_cpu"), [("on Intel® Xeon® processors", True), ("on Intel(R) Xeon hosts with a GPU", False)]
)
def test_a_readme_names_the_cores_that_it_is_for(checkout: Build, where: str, *, is_cpu: bool) -> None:
    program = "import jax\nimport keras\nmodel = keras.models.load_model('m')\nmodel.predict(1)\n"
    readme = f"# Pictures\n\nThis tells of models {where}.\n\n```\npython look.py\n```\n"
    analysis = analyze(checkout({"look.py": program, "README.md": readme}))
    assert (analysis.spec.meta.workload_type.value == "cpu-only") is is_cpu


@pytest.mark.parametrize(
    ("listed", "expected"), [("tensorflow-gpu==1.15.2", "training"), ("tensorflow==1.15.2", "cpu-only")]
)
def test_a_build_for_cards_was_chosen_for_them(checkout: Build, listed: str, expected: str) -> None:
    program = "import tensorflow as tf\nfrom ourmodels import Net\ntf.logging.set_verbosity('ERROR')\nmodel = Net()\nmodel.fit(data)\n"
    assert workload(checkout({"requirements.txt": f"{listed}\n", "run.py": program})) == expected


def test_who_writes_records_of_data_needs_no_card_whatever_build_is_listed(checkout: Build) -> None:
    program = "import tensorflow as tf\nif __name__ == '__main__':\n    with tf.io.TFRecordWriter('a') as records:\n        records.write(tf.train.Example().SerializeToString())\n"
    files = {"requirements.txt": "tensorflow-gpu==1.15\n", "records.py": program}
    assert workload(checkout({**files, "README.md": "```\npython records.py\n```\n"})) == "cpu-only"


@pytest.mark.parametrize(
    ("program", "is_cpu"),
    [
        ("import tensorflow_hub as hub\nimport openai\nhub.load('https://tfhub.dev/google/universal-sentence-encoder/4')\n", True),
        ("import tensorflow_hub as hub\nimport openai\nhub.load('https://tfhub.dev/google/biggan/4')\n", False),
        ("import tensorflow_hub as hub\nimport tensorflow as tf\nimport openai\nhub.load('https://tfhub.dev/google/universal-sentence-encoder/4')\n", False),
    ],
)  # fmt: skip
def test_a_sentence_encoder_beside_a_hosted_model_is_no_work_for_a_gpu(
    checkout: Build, program: str, *, is_cpu: bool
) -> None:
    tree = checkout({"api.py": program, "requirements.txt": "openai\ntensorflow\ntensorflow_hub\n"})
    assert (workload(tree) == "cpu-only") is is_cpu
