"""Configurations that a program does not name outright: put together of its options, the only one there is, the plainest of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.training.training import detect

Build = Callable[[Mapping[str, str]], Checkout]
ENGINE = (
    '{"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}'
)
OTHER = '{"train_micro_batch_size_per_gpu": 16, "zero_optimization": {"stage": 2}}'
TRAIN = """
import argparse
import deepspeed
parser = argparse.ArgumentParser()
parser.add_argument("--model", type=str)
parser.add_argument("--stage", type=int, default=1)
args = vars(parser.parse_args())
settings = {path}
model = AutoModelForCausalLM.from_pretrained("facebook/opt-6.7b")
engine, *_ = deepspeed.initialize(config=settings, model=model)
engine.backward(loss)
engine.step()
"""
BY_OPTIONS = """f'engine/{args["model"]}_stage_{args["stage"]}.json'"""


@pytest.mark.parametrize(
    ("path", "files", "batch"),
    [
        (BY_OPTIONS, {"engine/small_stage_1.json": ENGINE}, "2"),
        (BY_OPTIONS, {"engine/small_stage_1.json": ENGINE, "engine/large_stage_1.json": OTHER}, "2"),
        (BY_OPTIONS, {"engine/large_stage_1.json": ENGINE}, None),
        ("f'engine/{name}.json'", {"engine/a.json": ENGINE}, "2"),
        ("f'engine/{name}.json'", {"engine/a.json": ENGINE, "engine/b.json": OTHER}, None),
        ("f'{folder}/{name}.json'", {"engine/a.json": ENGINE}, None),
        ("f'results/{name}.json'", {"engine/a.json": ENGINE}, None),
    ],
)
def test_a_path_that_is_put_together_is_followed_to_its_only_file(
    checkout: Build, path: str, files: Mapping[str, str], batch: str | None
) -> None:
    tree = checkout({"train.py": TRAIN.replace("{path}", path), "run.sh": "python train.py --model small\n", **files})
    found = {finding.field: finding.value for finding in detect(tree, primary_run(tree))}
    assert found.get("training.batch_size") == batch


CHAT = """
import argparse
import torch
from transformers import LlamaForCausalLM
parser = argparse.ArgumentParser()
parser.add_argument("--cfg-path", {rest}help="path to configuration file.")
args = parser.parse_args()
low_resource = Config(args).low_resource
if low_resource:
    model = LlamaForCausalLM.from_pretrained("huggyllama/llama-7b", load_in_8bit=True)
else:
    model = LlamaForCausalLM.from_pretrained("huggyllama/llama-7b", torch_dtype=torch.float16)
model.generate(**inputs)
"""
OFF = "model:\n  arch: chat\n  low_resource: False\n"


@pytest.mark.parametrize(
    ("rest", "files", "bits"),
    [
        ("required=True, ", {"eval_configs/chat.yaml": OFF}, 16),
        ("required=True, ", {"eval_configs/chat.yaml": OFF, "eval_configs/small.yaml": OFF}, 8),
        ("required=True, ", {"assets/chat.yaml": OFF}, 8),
        ("", {"eval_configs/chat.yaml": OFF}, 8),
    ],
)
def test_a_program_that_must_be_told_a_configuration_is_told_the_only_one(
    checkout: Build, rest: str, files: Mapping[str, str], bits: int
) -> None:
    analysis = analyze(checkout({"chat.py": CHAT.replace("{rest}", rest), **files}))
    assert analysis.breakdown is not None
    weights = next(term for term in analysis.breakdown.terms if term.name == "weights")
    assert f"{bits} bit" in weights.basis


def test_of_a_folder_of_configurations_the_plainest_name_is_the_run(checkout: Build) -> None:
    config = (
        "base_model: huggyllama/llama-7b\nload_in_4bit: true\nadapter: qlora\nmicro_batch_size: 1\nsequence_len: 2048\n"
    )
    names = ("a-7b-fsdp-qlora", "a-7b-qlora", "a-7b-think-qlora")
    analysis = analyze(checkout({f"{name}.yaml": config for name in names}))
    assert next(finding.value for finding in analysis.findings if finding.field == "entry_point") == "a-7b-qlora.yaml"


@pytest.mark.parametrize(
    ("others", "name"),
    [
        (("fnlp/moss-moon-003-sft",), "fnlp/moss-moon-003-sft"),
        (("THUDM/chatglm3-6b", "ZhipuAI/chatglm3-6b", "BAAI/bge-m3"), "THUDM/chatglm3-6b"),
        (("facebook/opt-1.3b", "facebook/opt-6.7b"), "meta-llama/Llama-2-7b-hf"),
        ((), "meta-llama/Llama-2-7b-hf"),
    ],
)
def test_what_a_tuning_loads_is_the_only_model_of_the_other_programs(
    checkout: Build, others: tuple[str, ...], name: str
) -> None:
    tune = "import sys\nfrom transformers import AutoModelForCausalLM, Trainer\nmodel = AutoModelForCausalLM.from_pretrained(sys.argv[1])\nTrainer(model=model).train()\n"
    demos = {
        f"demos/{index}.py": f"from transformers import AutoModel\nmodel = AutoModel.from_pretrained('{other}')\nmodel.generate()\n"
        for index, other in enumerate(others)
    }
    analysis = analyze(checkout({"finetune.py": tune, **demos}))
    assert analysis.breakdown is not None
    assert any(name in term.basis for term in analysis.breakdown.terms)


def test_weights_on_a_disk_are_not_on_the_card(checkout: Build) -> None:
    program = "import argparse\nimport deepspeed\nfrom transformers import AutoModelForCausalLM\np = argparse.ArgumentParser()\np.add_argument('--disk-offload', action='store_true')\n"
    program += "config = {'zero_optimization': {'stage': 3}}\nmodel = AutoModelForCausalLM.from_pretrained('facebook/opt-30b')\nengine = deepspeed.initialize(model=model, config=config)[0]\nengine.module.generate(x)\n"
    on = analyze(checkout({"run.py": program, "run.sh": "deepspeed --num_gpus 1 run.py --disk-offload\n"}))
    off = analyze(checkout({"run.py": program, "run.sh": "deepspeed --num_gpus 1 run.py\n"}))
    assert on.spec.hardware.vram_required_gb < off.spec.hardware.vram_required_gb


TUNED = "learning_rate: 2.0e-4\nper_device_train_batch_size: {batch}\nmax_length: 4096\nmodel_name_or_path: Qwen/Qwen2.5-7B\n"


def test_of_two_configurations_of_one_program_only_one_speaks(checkout: Build) -> None:
    """A full run's batch and a LoRA's method would be nobody's run."""
    program = "from trl import SFTTrainer, TrlParser\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained(args.model)\nSFTTrainer(model=model).train()\n"
    full, lora = TUNED.format(batch=2), "use_peft: true\nlora_r: 8\n" + TUNED.format(batch=16)
    engine = "deepspeed_config:\n  zero_stage: 3\ndistributed_type: DEEPSPEED\nnum_processes: 8\n"
    files = {"sft.py": program, "configs/a_full.yaml": full, "configs/b_lora.yaml": lora, "configs/zero3.yaml": engine}
    tree = checkout(files)
    found = {finding.field: finding.value for finding in detect(tree, primary_run(tree))}
    assert found["training.batch_size"] == "2"
    assert found["training.method"] == "full"
    assert found["training.sharding"] == "zero-3"  # what says other things stands beside it


GRPO = """
import argparse
import os
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--config", type=str, default=None)
args = parser.parse_args()
if not args.config:
    args.config = os.path.join(
        os.path.dirname(__file__), {parts}
    )
model = load(args.config)
loss.backward()
"""
SMALL = "policy:\n  model_name: Qwen/Qwen2.5-1.5B\n  train_micro_batch_size: 4\n"


@pytest.mark.parametrize(
    ("parts", "files", "batch"),
    [
        ('"configs", "small.yaml"', {"examples/configs/small.yaml": SMALL}, "4"),
        ('"small.yaml",', {"examples/small.yaml": SMALL}, "4"),
        ('"configs", "small.yaml"', {"configs/small.yaml": SMALL}, None),
    ],
)
def test_a_program_starts_with_the_configuration_that_it_finds_from_its_own_folder(
    checkout: Build, parts: str, files: Mapping[str, str], batch: str | None
) -> None:
    run = "python examples/train.py\n"
    tree = checkout({"examples/train.py": GRPO.replace("{parts}", parts), "run.sh": run, **files})
    found = {finding.field: finding.value for finding in detect(tree, primary_run(tree))}
    assert found.get("training.batch_size") == batch


BASE = "import ml_collections\ndef get_config():\n    config = ml_collections.ConfigDict()\n    config.batch_size = 24\n    return config\n"
GOES_ON = "from work.configs import base_config\ndef get_config():\n    config = base_config.get_config()\n    config.model_type = 'x'\n    return config\n"
LOADER = "def loader(batch_size=256):\n    return batch_size\n"
PROGRAM = "import torch\nfrom work.loader import loader\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"


@pytest.mark.parametrize(
    ("config", "batch"),
    [
        (GOES_ON, "24"),
        ("from work.configs.base_config import *\nmodel_type = 'x'\n", "24"),
        # Something of another module is used, and nothing of a configuration is gone on with.
        ("from work.configs import base_config\ndef make():\n    return base_config\n", None),
    ],
)
def test_a_configuration_in_python_goes_on_with_another(checkout: Build, config: str, batch: str | None) -> None:
    files = {
        "README.md": "```\npython work/train.py --config=work/configs/small.py\n```\n",
        "work/train.py": PROGRAM,
        "work/loader.py": LOADER,
        "work/configs/small.py": config,
        "work/configs/base_config.py": BASE,
    }
    tree = checkout(files)
    found = [
        f.value
        for f in detect(tree, primary_run(tree))
        if f.field == "training.batch_size" and f.evidence.path != "work/loader.py"
    ]
    assert (found[0] if found else None) == batch
