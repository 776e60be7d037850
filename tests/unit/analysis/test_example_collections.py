"""Folders of well-known collections looked at alone: their outer name, their old programs, their steps, their commands."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.documented_phrases import card_phrases, gpu_number
from gpu_lol_action.analysis.packages import packages
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import local_imports
from gpu_lol_action.analysis.programs.outer_packages import outer_packages, without_outer
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

MAIN = "if __name__ == '__main__':\n    app.run(main)\n"
TF = "import tensorflow as tf\nfrom absl import app\n"
STEP = "def work(x):\n    optimizer.apply_gradients(x)\n"


def first(checkout: Build, files: dict[str, str]) -> tuple[Behavior, str] | None:
    run = primary_run(checkout(files))
    return (run.behavior, run.shown) if run is not None else None


def test_folder_is_found_under_the_name_that_its_modules_call_it_by(checkout: Build) -> None:
    program = f"{TF}from official.nlp.old import data_lib\nfrom official.nlp.old import loop\n{MAIN}"
    tree = checkout({"work.py": program, "loop.py": f"{TF}{STEP}", "data_lib.py": "", "other.py": ""})
    assert outer_packages(tree) == (("official", "nlp", "old"),)
    assert without_outer(tree, "official.nlp.old.loop") == "loop"
    assert without_outer(tree, "official.vision.loop") is None
    source = tree.find("work.py")
    assert source is not None
    assert {found.path for found in local_imports(tree, source)} == {"data_lib.py", "loop.py"}
    run = primary_run(tree)
    assert run is not None
    assert run.behavior is Behavior.TRAINS


@pytest.mark.parametrize(
    "imports",
    [
        "from transformers import loop\nfrom transformers import data_lib\n",  # a library of that name is installed
        "from official import loop\nfrom official import a\nfrom official import b\n",  # one of three may be chance
        "import loop\nimport data_lib\n",
    ],
)
def test_library_of_whose_modules_some_are_called_like_ours_is_no_outer_name(checkout: Build, imports: str) -> None:
    assert outer_packages(checkout({"work.py": imports, "loop.py": "", "data_lib.py": ""})) == ()


def test_the_folder_itself_is_the_package_that_its_programs_import(checkout: Build) -> None:
    package = "from .datasets import get_set\nfrom .loop import run, splits\n"
    files = {
        "__init__.py": package,
        "datasets.py": "def get_set(): ...\n",
        "loop.py": "import torch\ndef run():\n    loss.backward()\n",
    }
    tree = checkout({**files, "net.py": "import torch\nfrom citation import get_set, run\nrun(get_set())\n"})
    source = tree.find("net.py")
    assert source is not None
    assert outer_packages(tree) == (("citation",),)
    assert {found.path for found in local_imports(tree, source)} == {"__init__.py"}
    # One name may be chance, and what the package does not give is somebody else's.
    for imports in ("from citation import run\n", "from citation import run, other\n"):
        assert outer_packages(checkout({**files, "net.py": imports})) == ()


def test_loop_of_tf_slim_trains(checkout: Build) -> None:
    program = f"{TF}slim = tf.contrib.slim\ndef main(_):\n    slim.learning.train(make(), '/tmp')\n{MAIN}"
    found = first(checkout, {"go.py": program})
    assert found is not None
    assert found[0] is Behavior.TRAINS


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("run_squad.py", f"{TF}from official.nlp.bert import run_squad as other\ndef main(_):\n    other.go()\n{MAIN}", Behavior.TRAINS),
        ("train_net.py", f"{TF}def main(_):\n    begin 'at once'\n{MAIN}", Behavior.TRAINS),
        ("show_net.py", f"{TF}def main(_):\n    begin 'at once'\n{MAIN}", None),
        ("bench.py", "from transformers import TensorFlowBenchmark\nif __name__ == '__main__':\n    TensorFlowBenchmark(a).run()\n", Behavior.INFERS),
    ],
)  # fmt: skip
def test_program_that_shows_little_is_told_by_its_name_or_its_library(
    checkout: Build, name: str, text: str, expected: Behavior | None
) -> None:
    found = first(checkout, {name: text})
    assert (found[0] if found else None) is expected


def test_tokenizers_training_and_making_a_vocabulary_are_steps_beside(checkout: Build) -> None:
    readme = "```\npython gen_vocab.py --dataset=imdb\npython train_unigram.py --vocab_size 9\npython run_mlm.py\n```\n"
    files = {
        "README.md": readme,
        "gen_vocab.py": f"{TF}def main(_):\n    model.predict(1)\n{MAIN}",
        "train_unigram.py": "from tokenizers.trainers import UnigramTrainer\nfrom transformers import AlbertTokenizerFast\nUnigramTrainer()\n",
        "run_mlm.py": f"{TF}def main(_):\n    model.fit(1)\n{MAIN}",
    }
    found = first(checkout, files)
    assert found is not None
    assert "run_mlm.py" in found[1]


def test_page_below_takes_nothing_from_the_program_that_it_speaks_of(checkout: Build) -> None:
    files = {
        "train.py": f"{TF}{STEP}{MAIN}",
        "demo.py": f"{TF}def main(_):\n    print(model.predict(1))\n{MAIN}",
        "pages/one.md": "```\npython train.py --steps=9\n```\n",
    }
    found = first(checkout, files)
    assert found is not None
    assert found[0] is Behavior.TRAINS


def test_command_for_a_tpu_comes_behind_the_one_for_cards(checkout: Build) -> None:
    readme = "## One\n```\npython main.py --strategy_type=tpu --tpu=me\n```\n## Two\n```\npython main.py --strategy_type=mirrored --num_gpus=4\n```\n"
    tree = checkout({"README.md": readme, "main.py": f"{TF}{STEP}{MAIN}"})
    assert analyze(tree).spec.hardware.gpu_count == 4


@pytest.mark.parametrize(
    ("line", "expected"),
    [("The experiment was run on 8 GPU V100 (16 GB RAM each).", ("V100", 8)), ("It was trained with 4 GPUs A100 for a day.", ("A100", 4))],
)  # fmt: skip
def test_number_before_the_word_gpu_is_that_of_the_card_behind_it(line: str, expected: tuple[str, int]) -> None:
    assert [(p.card, p.count) for p in card_phrases(line)] == [expected]


def test_tensorflows_nightly_build_gets_tensorflows_image(checkout: Build) -> None:
    files = {"requirements.txt": "tf-nightly-gpu\nsix\n", "train.py": f"{TF}{STEP}{MAIN}"}
    spec = analyze(checkout(files)).spec
    assert spec.meta.workload_type is WorkloadType.TRAINING
    assert "tensorflow" in (spec.environment.base_image or "")


def test_hyphened_name_before_a_gpu_is_no_number_of_them(checkout: Build) -> None:
    assert gpu_number("to run the model on CIFAR-10 and GPU 0") is None
    assert gpu_number("we use 10 and GPU 0") is None
    assert gpu_number("trained with 4 NVIDIA GPUs") == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("model_def.py", "import tensorflow as tf\nfrom determined.keras import TFKerasTrial\nclass IrisTrial(TFKerasTrial):\n    pass\n"),
        ("go.py", "import chainer\nfrom chainer import training\nif __name__ == '__main__':\n    training.Trainer(updater).run()\n"),
    ],
)  # fmt: skip
def test_frameworks_whose_own_loop_trains_are_seen(checkout: Build, name: str, text: str) -> None:
    spec = analyze(checkout({name: text})).spec
    assert spec.meta.workload_type is WorkloadType.TRAINING


def test_program_that_is_not_here_may_reach_a_gpu(checkout: Build) -> None:
    files = {
        "README.md": "```\npython3 -m verl.trainer.main_ppo data.train_batch_size=8 trainer.n_gpus_per_node=4\n```\n",
        "algo.py": "import torch\ndef loss(x):\n    return torch.mean(x)\n",
    }
    assert analyze(checkout(files)).spec.hardware.gpu_count == 4


def test_card_beside_helpers_shows_what_is_run(checkout: Build) -> None:
    shown = "```python\nfrom vllm import LLM\nllm = LLM(model='mistralai/Mistral-7B-v0.1')\nllm.generate(x)\n```\n"
    files = {"README.md": shown, "utils/text.py": "def clean(x):\n    return x\n"}
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.INFERENCE
    library = {**files, "pyproject.toml": "[project]\nname = 'x'\nversion = '1'\ndependencies = ['numpy']\n"}
    assert analyze(checkout({**library, "x/__init__.py": ""})).spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_seconds_of_sound_are_those_that_the_command_cuts_to(checkout: Build) -> None:
    program = (
        "from transformers import AutoModelForAudioClassification, Trainer\n"
        "model = AutoModelForAudioClassification.from_pretrained(args.model_name_or_path)\nTrainer(model=model).train()\n"
    )
    command = "python run_audio.py --model_name_or_path facebook/wav2vec2-base --per_device_train_batch_size 32 --max_length_seconds {}"
    sizes = [
        analyze(checkout({"README.md": f"```\n{command.format(n)}\n```\n", "run_audio.py": program})).breakdown
        for n in (1, 16)
    ]
    assert sizes[0] is not None
    assert sizes[1] is not None
    assert 4 * sizes[0].expected_gib < sizes[1].expected_gib


def test_a_folder_that_is_called_by_its_outer_name_is_no_unknown_package(checkout: Build) -> None:
    program = "from bandit.tools import loop\nfrom bandit.tools import data\nimport stranger\nimport torch\nnet.cuda()\nloss.backward()\n"
    tree = checkout({"train.py": program, "tools/__init__.py": "", "tools/loop.py": "", "tools/data.py": ""})
    said = [found.why for found in packages.detect(tree) if found.value == "imports"]
    assert len(said) == 1
    assert said[0].endswith("not installed: stranger (train.py:3)")
