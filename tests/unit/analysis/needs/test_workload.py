from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
TRAINING, INFERENCE, INTERACTIVE, CPU_ONLY = (
    WorkloadType.TRAINING,
    WorkloadType.INFERENCE,
    WorkloadType.INTERACTIVE,
    WorkloadType.CPU_ONLY,
)
MAIN = "\nif __name__ == '__main__':\n    main()\n"


def notebook(code: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": code, "outputs": [{"text": "loss.backward()"}]}]})


@pytest.mark.parametrize(
    ("program", "workload"),
    [
        ("import torch\ndef main():\n    loss.cuda().backward()", TRAINING),
        ("import lightning as L\ndef main():\n    L.Trainer(devices=1).fit(model)", TRAINING),
        ("import torch, clip\ndef main():\n    clip.load('ViT-B/32', 'cuda')[0].encode_image(x)", INFERENCE),
        ("from lightning.pytorch.cli import LightningCLI\ndef main():\n    LightningCLI(Model)", TRAINING),
        ("from trl import SFTConfig\ndef main():\n    SFTConfig()", TRAINING),
        ("from accelerate import Accelerator\ndef main():\n    accelerator.backward(loss)", TRAINING),
        ("import deepspeed\ndef main():\n    deepspeed.initialize(model=model)", TRAINING),
        ("import jax\ndef main():\n    jax.value_and_grad(loss)(p)", TRAINING),
        ("import jax, optax\ndef main():\n    tx = optax.adamw(1e-3)", TRAINING),
        ("from flax.training import train_state\ndef main():\n    state.apply_gradients(grads=g)", TRAINING),
        ("import tensorflow as tf\ndef main():\n    with tf.GradientTape() as t: pass", TRAINING),
        ("import tensorflow as tf\ndef main():\n    estimator = tf.estimator.Estimator(f)\n    estimator.train(i)", TRAINING),
        ("import tensorflow as tf\ndef main():\n    tf.train.AdamOptimizer(1).minimize(loss)", TRAINING),
        ("import keras\nfrom sklearn.model_selection import train_test_split\ndef main():\n    model.fit(x, y)", TRAINING),
        ("from mmengine.runner import Runner\ndef main():\n    runner = Runner.from_cfg(c)\n    runner.train()", TRAINING),
        ("from detectron2.engine import DefaultTrainer\ndef main():\n    DefaultTrainer(c).train()", TRAINING),
        ("from ultralytics import YOLO\ndef main():\n    YOLO('a.pt').train(data='d')", TRAINING),
        ("from stable_baselines3 import PPO\ndef main():\n    PPO('p', 'e').learn(1)", TRAINING),
        ("import torch, gym_world\ndef main():\n    net.cuda()\n    ppo_runner.learn(num_learning_iterations=9)", TRAINING),
        ("import torch, agents\ndef main():\n    net.cuda()\n    model.learn(total_timesteps=9)", TRAINING),
        ("import torch, mine\ndef main():\n    net.cuda().generate(x)\n    trainer.train_rlhf(batch)", TRAINING),
        ("import torch, deepspeed\ndef main():\n    net.cuda()\n    engine.train_batch(data_iter=rows)", TRAINING),
        ("import torch, mine\ndef main():\n    net.cuda().generate(x)\n    sizes.train_batch(x)", INFERENCE),
        ("import tensorflow as tf\ndef main():\n    op = model.training(model.inference(x), rate)", TRAINING),
        ("import xgboost as xgb\ndef main():\n    p = {'tree_method': 'gpu_hist'}\n    xgb.train(p, d)", TRAINING),
        ("import xgboost as xgb\ndef main():\n    xgb.XGBClassifier(device='cuda').fit(x, y)", TRAINING),
        ("import tensorflow as tf\ndef main():\n    net.training(False)\n    net.predict(x)", INFERENCE),
        ("from torch.optim import SGD\ndef main():\n    update(SGD(net.parameters()), net.cuda())", TRAINING),
        ("import torch, ignite.engine as e\ndef main():\n    e.create_supervised_trainer(m.cuda(), o)", TRAINING),
        ("import fairseq\nfrom fairseq_cli.train import cli_main\ndef main():\n    cli_main()", TRAINING),
        ("import jax\nfrom mine import get_trainer\ndef main():\n    trainer = get_trainer()\n    trainer(rng=r)", TRAINING),
        ("from nemo.collections import llm\ndef main():\n    llm.llama3_8b.pretrain_recipe(dir='/r')", TRAINING),
        ("import cuml\ndef main():\n    forest = cuml.ensemble.RandomForestClassifier()\n    forest.fit(x, y)", TRAINING),
        ("import speechbrain as sb, sklearn.metrics\ndef main():\n    sounds_brain.fit(epochs, data)", TRAINING),
        ("import torch\nfrom mine.train import parse\ndef main():\n    parse()\n    m.cuda().load_state_dict(s)", INFERENCE),
        ("import torch\ndef main():\n    o = torch.optim.Adam([x], lr=1)\n    l.cuda().backward()\n    o.step()", INFERENCE),
        ("from vllm import LLM\ndef main():\n    LLM('a').generate(p)", INFERENCE),
        ("from diffusers import StableDiffusionPipeline as P\ndef main():\n    P.from_pretrained('a').to('cuda')", INFERENCE),
        ("import whisper\ndef main():\n    whisper.load_model('base').transcribe('a')", INFERENCE),
        ("from transformers import pipeline\ndef main():\n    pipeline('asr')", INFERENCE),
        ("import tensorflow as tf\ndef main():\n    tf.saved_model.load(path).signatures['score'](x)", INFERENCE),
        ("import cupy\nfrom mine import MixtureTrainer\ndef main():\n    MixtureTrainer().fit(x).predict(x)", INFERENCE),
        ("import cupy, torch\nfrom mine import NetTrainer\ndef main():\n    NetTrainer(net.cuda()).fit(x)", TRAINING),
        ("from mmdet.apis import init_detector\ndef main():\n    init_detector('c')", INFERENCE),
        ("import torch\ndef main():\n    model.eval()\n    model.cuda().load_state_dict(s)", INFERENCE),
        ("import xgboost as xgb\ndef main():\n    xgb.train({'tree_method': 'hist'}, d)", CPU_ONLY),
        ("import lightgbm\ndef main():\n    lightgbm.train({}, d)", CPU_ONLY),
        ("from sklearn.svm import SVC\ndef main():\n    SVC().fit(x, y)", CPU_ONLY),
        ("import openai\ndef main():\n    openai.chat.completions.create()", CPU_ONLY),
        ("from langchain_anthropic import ChatAnthropic\ndef main():\n    ChatAnthropic().invoke('x')", CPU_ONLY),
        ("from scipy.optimize import minimize\ndef main():\n    minimize(f, x)", CPU_ONLY),
        ("import pandas, fastapi\ndef main():\n    app.train()", CPU_ONLY),
        ("import torch\ndef main():\n    loss.backward()", CPU_ONLY),
    ],
)  # fmt: skip
def test_what_a_program_calls_says_what_it_is_for(checkout: Build, program: str, workload: WorkloadType) -> None:
    found = analyze(checkout({"program.py": program + MAIN}))
    assert found.spec.meta.workload_type is workload
    assert (found.spec.hardware.gpu_count > 0) == (workload is not CPU_ONLY)


@pytest.mark.parametrize(
    ("files", "workload"),
    [
        # Folders of configuration, and `main.py`: the ancestor calls them interactive.
        ({"qlora.yaml": "base_model: a/b-7b\nadapter: qlora\nlearning_rate: 1e-4\n"}, TRAINING),
        ({"sft.yaml": "model_name_or_path: a/b-7b\nfinetuning_type: lora\nlearning_rate: 1e-4\n"}, TRAINING),
        ({"main.py": "import torch\nloss.cuda().backward()\n"}, TRAINING),
        # Nothing that needs a GPU: the ancestor never says cpu-only.
        ({"train.py": "from sklearn.svm import SVC\nSVC().fit(x, y)\n", "requirements.txt": "scikit-learn\n"}, CPU_ONLY),
        ({"README.md": "# Tool\n", "tool/cli.py": "import click\n", "tests/fixtures/train.py": "import torch\nloss.cuda().backward()\n"}, CPU_ONLY),
        # A substring of a path is no training: `ptuning/`, `sft` in a name.
        ({"chat.py": "import torch\nmodel.cuda().generate(x)\n", "ptuning/readme_only.py": "x = 1\n"}, INFERENCE),
        ({"soft_prompts/serve.py": "import torch\nif __name__ == '__main__':\n    model.cuda().generate(x)\n"}, INFERENCE),
        # Tests, documentation, vendored code, registries and outputs do not speak.
        ({"serve.py": "import torch\nmodel.cuda().generate(x)\n", "tests/train.py": "import torch\nloss.backward()\n", "third_party/train.py": "import torch\nloss.backward()\n"}, INFERENCE),
        ({"a.ipynb": notebook("import torch\nmodel.cuda().generate(x)")}, INTERACTIVE),
        ({"a.ipynb": notebook("import pandas")}, CPU_ONLY),
        # A program trains through what it imports, when its options say so.
        ({"run.py": "import argparse\nfrom engine import fit\np = argparse.ArgumentParser()\np.add_argument('--lr', default=1.0)\nif __name__ == '__main__':\n    fit(net.load_state_dict(s))\n", "engine.py": "import torch\ndef fit(m):\n    loss.cuda().backward()\n"}, TRAINING),
        ({"demo.py": "from engine import fit, run\nif __name__ == '__main__':\n    run()\n", "engine.py": "import torch\ndef fit(m):\n    loss.cuda().backward()\n"}, INFERENCE),
    ],
)  # fmt: skip
def test_what_the_ancestor_misses(checkout: Build, files: dict[str, str], workload: WorkloadType) -> None:
    assert analyze(checkout(files)).spec.meta.workload_type is workload


def test_a_library_that_only_offers_to_work_with_a_gpu_library_needs_none(checkout: Build) -> None:
    project = '[build-system]\nrequires=["hatchling"]\n[project]\nname="lib"\ndependencies=["numpy"]\n'
    few = {f"lib/m{number}.py": "import numpy\n" for number in range(40)} | {"lib/torch_part.py": "import torch\n"}
    examples = {"examples/train.py": "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"}
    assert analyze(checkout({"pyproject.toml": project, **few, **examples})).spec.meta.workload_type is CPU_ONLY


def test_a_library_whose_list_leaves_out_what_users_install_needs_one(checkout: Build) -> None:
    project = '[build-system]\nrequires=["hatchling"]\n[project]\nname="lib"\ndependencies=["numpy"]\n'
    many = {f"lib/m{number}.py": "import torch\n" for number in range(4)} | {"lib/__init__.py": "import numpy\n"}
    program = {"tools/train.py": "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"}
    assert analyze(checkout({"pyproject.toml": project, **many, **program})).spec.meta.workload_type is TRAINING


def test_extras_of_a_library_without_a_learner_need_no_gpu(checkout: Build) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "envs"\ndependencies = ["numpy"]\n[project.optional-dependencies]\n'
        'jax = ["jax"]\nall = ["envs[jax]"]\n',
        "README.md": 'Install all with `pip install "envs[all]"`.\n',
        "envs/__init__.py": "import numpy\n",
        "envs/arrays.py": "import jax\n\ndef convert(x):\n    return jax.numpy.asarray(x)\n",
    }
    assert analyze(checkout(files)).spec.meta.workload_type is CPU_ONLY
    # The same list, and a program that trains with what the extra brings.
    files["train.py"] = (
        "import jax\nfrom envs import arrays\ngrads = jax.grad(loss)(w)\nif __name__ == '__main__':\n    pass\n"
    )
    assert analyze(checkout(files)).spec.meta.workload_type is TRAINING


def test_a_copy_of_a_library_beside_ones_own_package_says_nothing(checkout: Build) -> None:
    files = {
        "segment.py": "from mine import Model\nmodel = Model('a.pt')\nprint(model('a.jpg'))\n",
        "mine/__init__.py": "from ultralytics import YOLO\nimport torch\n\nclass Model(YOLO):\n    def see(self, x):\n        return self.cuda().predict(x)\n",
        "ultralytics/__init__.py": "import torch\n\nclass YOLO:\n    def fit(self, loss):\n        loss.backward()\n",
    }
    assert analyze(checkout(files)).spec.meta.workload_type is INFERENCE


def test_a_library_that_is_the_project_itself_is_no_copy(checkout: Build) -> None:
    files = {
        "start.py": "from ultralytics import fit\nfit()\nif __name__ == '__main__':\n    pass\n",
        "ultralytics/__init__.py": "import torch\n\ndef fit():\n    loss.cuda().backward()\n",
    }
    assert analyze(checkout(files)).spec.meta.workload_type is TRAINING


def test_module_that_takes_all_names_of_another_trains_with_its_library(checkout: Build) -> None:
    files = {
        "README.md": "```\ncd gcn\npython train.py\n```\n",
        "requirements.txt": "tensorflow\n",
        "gcn/train.py": "import tensorflow as tf\nfrom gcn.models import GCN\nmodel = GCN()\ntf.Session().run(model.step)\n",
        "gcn/models.py": "from gcn.layers import *\nclass GCN:\n    optimizer = tf.train.AdamOptimizer(learning_rate=0.01)\n",
        "gcn/layers.py": "import tensorflow as tf\n",
    }
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.TRAINING


def test_command_of_a_library_needs_a_gpu_only_where_what_it_imports_does(checkout: Build) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "dash"\ndependencies = ["pandas", "click", "plotly", "joblib"]\n[project.scripts]\ndash = "dash.cli:main"\n',
        "README.md": "```\ndash run x.yaml\n```\n",
        "dash/__init__.py": "",
        "dash/cli.py": "from dash.core import predict\ndef main():\n    model.predict(x)\nif __name__ == '__main__':\n    main()\n",
        "dash/core.py": "import pandas\ndef predict(x):\n    import torch\n    return torch.load(x).predict(x)\n",
    }
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_batch_of_thousands_of_texts_is_counted_in_tokens(checkout: Build) -> None:
    program = "import torch\nfrom transformers import AutoModel\nmodel = AutoModel.from_pretrained('bert-base-uncased')\nparser.add_argument('--batch_size', default=3000)\nparser.add_argument('--max_length', default=150)\nif __name__ == '__main__':\n    model.cuda()\n    loss.backward()\n"
    found = analyze(checkout({"train.py": program, "requirements.txt": "torch\ntransformers\n"}))
    assert found.breakdown is not None
    assert any("batch 20 x 150" in term.basis for term in found.breakdown.terms)


@pytest.mark.parametrize(("readme", "workload"), [("pip install mine[local]\n", "cpu-only"), ("pip install mine[local]\npython -m mine talk.wav\n", "inference")])  # fmt: skip
def test_an_extra_is_not_needed_by_a_module_that_nobody_is_told_to_start(checkout, readme, workload):
    tree = checkout({
        "pyproject.toml": "[build-system]\nrequires = ['setuptools']\n[project]\nname = 'mine'\nversion = '1'\ndependencies = ['requests']\n"
        "[project.optional-dependencies]\nlocal = ['faster-whisper']\n",
        "mine/__init__.py": "",
        "mine/__main__.py": "from mine.engine import hear\nhear('a.wav')\n",
        "mine/engine.py": "def hear(path):\n    from faster_whisper import WhisperModel\n    return WhisperModel('small').transcribe(path)\n",
        "README.md": f"```sh\n{readme}```\n",
    })  # fmt: skip
    assert analyze(tree).spec.meta.workload_type.value == workload


@pytest.mark.parametrize(
    "program",
    [
        "from onmt.inference_engine import InferenceEnginePY\nInferenceEnginePY(opt).infer_list(rows)\n",
        "from xturing.models import GenericModel\nGenericModel('distilgpt2').generate(texts=['a'])\n",
        "from vissl.utils.distributed_launcher import launch_distributed\nlaunch_distributed(cfg)\n",
    ],
)
def test_libraries_that_bring_what_computes_need_a_gpu(checkout: Build, program: str) -> None:
    assert analyze(checkout({"run.py": program})).spec.meta.workload_type is not CPU_ONLY
