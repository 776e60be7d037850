"""Programs that train or run a model by a library whose calls say so only together with its name."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.programs.behavior import Behavior, behavior_of
from gpu_lol_action.analysis.python.code import read_python
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("from llama_cpp import Llama\nLlama(model_path='a.gguf')('x')\n", Behavior.INFERS),
        ("from net import Llama\nLlama(layers=2)\n", Behavior.NEITHER),
        ("import easyocr\neasyocr.Reader(['en']).readtext('a.png')\n", Behavior.INFERS),
        ("from csv import reader as Reader\nReader('a.csv')\n", Behavior.NEITHER),
        ("from axolotl.cli.train import do_cli\ndo_cli('c.yml')\n", Behavior.TRAINS),
        ("import equinox as eqx\neqx.filter_value_and_grad(loss)(m)\n", Behavior.TRAINS),
        ("from mmengine.runner import Runner\nr = Runner.from_cfg(cfg)\nr.train()\n", Behavior.TRAINS),
        ("import horovod.torch as hvd\nloss.backward()\nopt.step()\n", Behavior.TRAINS),
        ("from ray.train.torch import TorchTrainer\nTorchTrainer(f).fit()\n", Behavior.TRAINS),
        ("import ray\nray.init()\n", Behavior.NEITHER),
        (
            "import chainerrl\nimport chainer\nchainerrl.experiments.train_agent_with_evaluation(agent=a, env=e)\n",
            Behavior.TRAINS,
        ),
        (
            "import torch, pfrl\npfrl.experiments.eval_performance(env=e)\npfrl.experiments.train_agent_batch(a, e)\n",
            Behavior.TRAINS,
        ),
        ("from tinygrad import Tensor\nloss.backward()\n", Behavior.TRAINS),
        (
            "import art\nfrom art.local import LocalBackend\nart.TrainableModel(name='a', base_model='b')\n",
            Behavior.TRAINS,
        ),
        (
            "import art\nart.TrainableModel(name='a', base_model='b')\n",
            Behavior.NEITHER,
        ),  # trained elsewhere, or another library
        (
            "from labml import experiment\nfrom labml_nn.gpt import Net\nwith experiment.start():\n    conf.run()\n",
            Behavior.TRAINS,
        ),
        ("from mistralrs import Runner, Which\nRunner(which=Which.Plain(model_id='a/b'))\n", Behavior.INFERS),
        ("from skorch import NeuralNetClassifier\nNeuralNetClassifier(M).fit(x, y)\n", Behavior.TRAINS),
        ("from sklearn.svm import SVC\nSVC().fit(x, y)\n", Behavior.NEITHER),
        (
            "from cuml.ensemble import RandomForestClassifier as F\nfrom sklearn.datasets import load_iris\nF().fit(x, y)\n",
            Behavior.TRAINS,
        ),
        ("import mii\nmii.serve('mistralai/Mistral-7B-v0.1')\n", Behavior.INFERS),
        ("from ludwig.api import LudwigModel\nLudwigModel('c.yaml').train(dataset='d.csv')\n", Behavior.TRAINS),
        ("from skyrl.train.entrypoints.main_base import BasePPOExp\nBasePPOExp(cfg).run()\n", Behavior.TRAINS),
        ("import torch\nfrom torchtitan.config import TrainingConfig\nTrainingConfig(steps=9)\n", Behavior.TRAINS),
        ("import paddle.fluid as fluid\nfluid.optimizer.Adam(0.1).minimize(loss)\n", Behavior.TRAINS),
        ("import torch\nfrom scipy import optimize\noptimize.minimize(f, x)\n", Behavior.NEITHER),
        ("import mii\nmii.client('mistralai/Mistral-7B-v0.1').terminate_server()\n", Behavior.NEITHER),
    ],
)
def test_calls_of_libraries_say_what_is_done(text: str, does: Behavior) -> None:
    assert behavior_of(read_python(text))[0] is does


UNSLOTH = (
    "from unsloth import FastLanguageModel\nfrom trl import SFTTrainer\n"
    "model, tok = FastLanguageModel.from_pretrained('Qwen/Qwen2.5-7B')\n"
    "model = FastLanguageModel.get_peft_model(model, r=16{more})\nSFTTrainer(model=model).train()\n"
)


@pytest.mark.parametrize(("more", "state"), [("", "on"), (", use_gradient_checkpointing=False", "off")])
def test_adapters_of_unsloth_come_with_checkpointing(checkout: Build, more: str, state: str) -> None:
    found = detect_all(checkout({"train.py": UNSLOTH.format(more=more)}))
    assert [f.value for f in found if f.field == "training.gradient_checkpointing"] == [state]


@pytest.mark.parametrize(
    ("files", "model"),
    [
        ({"README.md": "# N\n```\npython train.py Qwen/Qwen2.5-7B\n```\n"}, "Qwen/Qwen2.5-7B"),
        ({"README.md": "# N\n```\npython train.py data/train\n```\n"}, None),
        ({"run.sh": 'M=("Qwen/Qwen2.5-7B" "b/c")\nfor m in "${M[@]}"; do\n  python train.py --model $m\ndone\n'}, "Qwen/Qwen2.5-7B"),
        ({"run.sh": 'M=("b/c" "Qwen/Qwen2.5-7B")\npython train.py --model ${M[1]}\n'}, "Qwen/Qwen2.5-7B"),
    ],
)  # fmt: skip
def test_a_model_is_handed_by_its_place_or_out_of_a_list(
    checkout: Build, files: dict[str, str], model: str | None
) -> None:
    train = "import sys\nfrom transformers import AutoModelForCausalLM as A, Trainer\nTrainer(A.from_pretrained(sys.argv[1])).train()\n"
    found = detect_all(checkout({"train.py": train, **files}))
    assert next((f.value for f in found if f.field == "model.id"), None) == model


@pytest.mark.parametrize(
    ("files", "model"),
    [
        ({"README.md": "# E\n```\nlm_eval --model hf --model_args pretrained=Qwen/Qwen2.5-7B --tasks mmlu\n```\n"}, "Qwen/Qwen2.5-7B"),
        ({"README.md": '# E\n```\nlighteval vllm "model_name=Qwen/Qwen2.5-7B" "leaderboard|mmlu|0|0"\n```\n'}, "Qwen/Qwen2.5-7B"),
        ({"README.md": "# E\n```\nevalplus.evaluate --model Qwen/Qwen2.5-7B --dataset humaneval\n```\n"}, "Qwen/Qwen2.5-7B"),
        ({"a.py": "from langchain_huggingface import HuggingFacePipeline as P, HuggingFacePipeline\nHuggingFacePipeline.from_model_id(model_id='Qwen/Qwen2.5-7B', task='x')\n"}, "Qwen/Qwen2.5-7B"),
        ({"a.py": "from llama_index.llms.huggingface import HuggingFaceLLM\nHuggingFaceLLM(model_name='Qwen/Qwen2.5-7B').complete('x')\n"}, "Qwen/Qwen2.5-7B"),
        ({"a.py": "from langchain_huggingface import HuggingFaceEndpoint\nHuggingFaceEndpoint(repo_id='Qwen/Qwen2.5-7B').invoke('x')\n"}, None),
    ],
)  # fmt: skip
def test_what_evaluates_or_wraps_a_model_loads_it(checkout: Build, files: dict[str, str], model: str | None) -> None:
    analysis = analyze(checkout(files))
    assert next((f.value for f in analysis.findings if f.field == "model.id"), None) == model
    assert bool(analysis.spec.hardware.gpu_count) is (model is not None)


def test_what_measures_a_model_comes_behind_what_trains_one(checkout: Build) -> None:
    files = {
        "README.md": "# N\n## Evaluation\n```\nbash eval/run.sh\n```\n## Training\n```\nbash scripts/<7b|14b>.sh\n```\n",
        "eval/run.sh": "evalplus.codegen --model a/b --dataset humaneval\n",
        "scripts/7b.sh": "python train.py --lr 1e-6\n",
        "train.py": "import torch\nloss.backward()\noptimizer.step()\n",
    }
    run = primary_run(checkout(files))
    assert run is not None
    assert run.behavior is Behavior.TRAINS
