"""Repositories that look like those that are left to the cores, and that have a use for a card all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
LONG = "# Tool\n\n" + "It works on what it is given and writes down what comes out of it. " * 5 + "\n"
MAIN = "if __name__ == '__main__':\n    pass\n"
TRAIN = f"import torch\nnet = torch.nn.Linear(2, 2)\nnet(torch.ones(2)).sum().backward()\n{MAIN}"
ON_A_CARD = TRAIN.replace("(2, 2)", "(2, 2).to(torch.device('cuda' if torch.cuda.is_available() else 'cpu'))")
STEPS = {f"steps/s{number:02}.py": "import json\n" for number in range(29)}


def workload(checkout: Build, files: Mapping[str, str]) -> str:
    return analyze(checkout(files)).spec.meta.workload_type.value


RUNNER = """import torch
from opts import read
class Runner:
    def __init__(self, args, net):
        self.where = args{taken}
        self.net = net.to(self.where)
    def fit(self, x):
        self.net(x.to(self.where)).sum().backward()
"""
STARTS = f"import torch\nfrom opts import read\nfrom runner import Runner\nRunner(read(), torch.nn.Linear(2, 2)).fit(1)\n{MAIN}"
OPTIONS = "import argparse\ndef read():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('{0}', default={1})\n    return parser.parse_args()\n"


@pytest.mark.parametrize(
    ("taken", "options"),
    [
        (".device", OPTIONS.format("--device", "'cpu'")),
        (".place", OPTIONS.format("--gpu-number", "0").replace("gpu-number", "gpu-number', dest='place")),
        ("['device']", "import json\ndef read():\n    return json.load(open('said.json'))\n"),
        (".train.device", "def read():\n    pass\n"),
    ],
)
def test_a_device_may_be_said_elsewhere(checkout: Build, taken: str, options: str) -> None:
    files = {
        "README.md": LONG + "```\npython train.py\n```\n",
        "train.py": STARTS,
        "runner.py": RUNNER.format(taken=taken),
    }
    assert workload(checkout, {**files, "opts.py": options}) == "training"
    plain = {**files, "runner.py": RUNNER.format(taken=".like"), "opts.py": "def read():\n    pass\n"}
    assert workload(checkout, plain) == "cpu-only"


@pytest.mark.parametrize(
    "start",
    [
        "importlib.import_module('nets.' + sys.argv[1])",
        "subprocess.run(['python', 'nets/a.py'])",
        "exec(open(p).read())",
    ],
)
def test_what_is_started_by_a_name_may_use_a_card(checkout: Build, start: str) -> None:
    files = {
        "README.md": LONG + "```\npython train.py\n```\n",
        "train.py": f"import importlib, subprocess, sys\n{start}\n{TRAIN}",
        "nets/a.py": "import torch\ndef run(x):\n    torch.nn.Linear(2, 2).cuda()(x)\n",
    }
    assert workload(checkout, files) == "training"


def test_a_module_that_was_left_out_says_nothing(checkout: Build) -> None:
    files = {
        "README.md": LONG + "```\npython train.py\n```\n",
        "train.py": f"from models.large import Net\n{TRAIN}",
        "models/small.py": "import torch\n",
        "other.py": "import torch\nx = torch.ones(2).cuda()\n",
    }
    assert workload(checkout, files) == "training"
    tried = (
        files["train.py"]
        .replace("from models.large", "try:\n    from models.large")
        .replace("Net\n", "Net\nexcept ImportError:\n    pass\n", 1)
    )
    assert workload(checkout, {**files, "train.py": tried}) == "cpu-only"
    assert workload(checkout, {**files, "models/large.py": "import torch\nclass Net:\n    pass\n"}) == "cpu-only"


LOADS = "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('org/net-8B', device_map='auto')\nif __name__ == '__main__':\n    model.generate(1)\n"
TUNES = "from transformers import AutoModel, Trainer\nfrom peft import get_peft_model\nif __name__ == '__main__':\n    Trainer(get_peft_model(AutoModel.from_pretrained('org/net-8B'))).train()\n"


@pytest.mark.parametrize(
    ("program", "listed", "expected"),
    [(LOADS, "transformers\n", "inference"), (TUNES, "transformers\npeft\n", "training"), (ON_A_CARD, "torch\n", "training"), (LOADS, "flask\n", "inference")],
)  # fmt: skip
def test_the_one_program_of_many_may_be_what_the_project_is_for(
    checkout: Build, program: str, listed: str, expected: str
) -> None:
    files = {"README.md": LONG, "requirements.txt": listed, "work.py": program, **STEPS}
    assert workload(checkout, files) == expected


@pytest.mark.parametrize(
    "more",
    ["See [tuning](tune/README.md).\n", "We train in `tune`.\n", "It takes 8 A100 GPUs.\n"],
)
def test_clients_make_the_data_for_a_training(checkout: Build, more: str) -> None:
    files = {
        "README.md": f"{LONG}{more}```\npython ask.py\n```\n",
        "ask.py": "from openai import OpenAI\nOpenAI().chat.completions.create(model='gpt-4o', messages=[])\n",
        "tune/README.md": "# Tuning\n```\npython train.py\n```\n",
        "tune/train.py": ON_A_CARD,
        "requirements.txt": "openai\ntorch\n",
    }
    assert workload(checkout, files) == "training"
    assert workload(checkout, {**files, "README.md": f"{LONG}```\npython ask.py\n```\n"}) == "cpu-only"


@pytest.mark.parametrize(
    "said",
    [
        "If no GPU is found,\nall computations are performed on the CPU.",
        "With `--no-cuda` all computations are done on the CPU.",
        "A card has to have 24 GB; otherwise the computation will be done on the CPU.",
    ],
)
def test_computing_on_cores_may_be_the_other_way(checkout: Build, said: str) -> None:
    train = TRAIN.replace("(2, 2)", "(2, 2).to(where)")
    files = {"README.md": f"{LONG}{said}\n```\npython train.py\n```\n", "train.py": train}
    assert workload(checkout, files) == "training"
    plain = "If you ask, we answer. All computations are performed on the CPU."
    assert workload(checkout, {**files, "README.md": files["README.md"].replace(said, plain)}) == "cpu-only"


IN_A_CONTAINER = {
    "Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN pip install tensorflow\nCMD nvidia-smi\n"
}


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ("Building the image does not require a GPU, but running it does.", {}),
        ("The web page does not require a GPU.", {}),
        ("Reading does not require a GPU.\n```\ndocker run --gpus all org/image\n```\n", IN_A_CONTAINER),
    ],
)
def test_one_step_may_need_no_card(checkout: Build, said: str, more: Mapping[str, str]) -> None:
    part = (
        "import tensorflow as tf\ndef net(path):\n    with tf.device('/GPU:0'):\n        return tf.keras.Sequential()\n"
    )
    files = {"README.md": f"{LONG}{said} It has a GPU mode.\n", "tool/net.py": part, **more}
    assert workload(checkout, files) != "cpu-only"


def test_what_lies_between_two_docstrings_is_no_remark(checkout: Build) -> None:
    text = (
        'import tensorflow as tf\ndef first(x):\n    """Says "so"."""\n    return x\n'
        "model = tf.keras.Sequential([tf.keras.layers.MultiHeadAttention(4, 2)])\nmodel.fit(first(1), 2)\n"
        'def last(x):\n    """Nothing."""\n    return x\n'
    )
    files = {"README.md": LONG + "```\npython train.py\n```\n", "train.py": text}
    assert workload(checkout, files) == "training"
    assert workload(checkout, {**files, "train.py": text.replace("MultiHeadAttention", "Dense")}) == "cpu-only"
