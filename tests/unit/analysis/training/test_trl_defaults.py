"""Activation checkpointing that nobody writes down: recent TRL's, and PyTorch's wrapper."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.training.training import detect

Build = Callable[[Mapping[str, str]], Checkout]
TUNE = """
from trl import SFTConfig, SFTTrainer
args = {config}
trainer = SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, train_dataset=data)
trainer.train()
"""


def checkpointing(files: Checkout) -> str | None:
    found = {finding.field: finding.value for finding in detect(files, primary_run(files))}
    return found.get("training.gradient_checkpointing")


@pytest.mark.parametrize(
    ("config", "asked", "state"),
    [
        ("SFTConfig(output_dir='o')", "trl>=0.22.1", "on"),
        ("SFTConfig(output_dir='o')", "trl==0.24.0", "on"),
        ("SFTConfig(output_dir='o')", "trl==1.2.0", "on"),
        ("SFTConfig(output_dir='o')", "trl==0.12.1", None),
        ("SFTConfig(output_dir='o', max_length=1024)", "trl==0.12.1", None),
        ("SFTConfig(output_dir='o')", "trl==0.21.0", None),
        ("SFTConfig(output_dir='o')", "trl>=0.12.1", "on"),
        ("SFTConfig(output_dir='o')", "trl>=0.12.1,<0.22", None),
        ("SFTConfig(output_dir='o')", "trl>=0.12.1,<=0.24", "on"),
        ("SFTConfig(output_dir='o')", "trl~=0.12.1", None),
        ("SFTConfig(output_dir='o')", "trl\ntransformers==4.51.3", None),
        ("SFTConfig(output_dir='o')", "trl\ntransformers==4.57.1", "on"),
        ("SFTConfig(output_dir='o')", "trl", "on"),
        ("SFTConfig(output_dir='o', max_length=1024)", "trl", "on"),
        ("SFTConfig(output_dir='o', max_seq_length=1024)", "trl", None),
        ("SFTConfig(output_dir='o', gradient_checkpointing=False)", "trl==0.24.0", "off"),
        ("TrainingArguments(output_dir='o')", "trl==0.24.0", None),
    ],
)
def test_recent_trl_checkpoints_by_itself(checkout: Build, config: str, asked: str, state: str | None) -> None:
    files = checkout({"train.py": TUNE.replace("{config}", config), "requirements.txt": f"torch\n{asked}\n"})
    assert checkpointing(files) == state


LOADED = "model = AutoModelForCausalLM.from_pretrained(a.name, {word}=torch.bfloat16)\n"
DERIVED = "from trl import SFTConfig, SFTTrainer\nclass Ours(SFTConfig):\n    rank: int = 8\na = HfArgumentParser(Ours).parse_args_into_dataclasses()[0]\n"
PARSED = "from trl import SFTConfig, SFTTrainer, TrlParser\na, b = TrlParser((ScriptArguments, SFTConfig)).parse_args_and_config()\n"
OTHER = "from trl import SFTTrainer\na = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()[0]\n"


@pytest.mark.parametrize(
    ("taken", "word", "asked", "state"),
    [
        (DERIVED, "dtype", "trl", "on"),
        (PARSED, "dtype", "trl", "on"),
        (PARSED, "torch_dtype", "trl==0.24.0", "on"),
        (PARSED, "torch_dtype", "trl", "on"),
        (PARSED, "dtype", "trl==0.12.1", None),
        (OTHER, "dtype", "trl", None),
    ],
)
def test_configuration_of_trl_is_taken_without_a_call(
    checkout: Build, taken: str, word: str, asked: str, state: str | None
) -> None:
    program = f"{taken}{LOADED.format(word=word)}SFTTrainer(model=model, args=a, train_dataset=data).train()\n"
    assert checkpointing(checkout({"train.py": program, "requirements.txt": f"torch\n{asked}\n"})) == state


def test_a_layer_that_is_wrapped_is_computed_again(checkout: Build) -> None:
    program = "import torch\nfrom model import Net\nnet = Net().cuda()\n{wrap}\nloss = net(x)\nloss.backward()\noptimizer.step()\n"
    wrapped = program.replace("{wrap}", "net.block = checkpoint_wrapper(net.block)")
    assert checkpointing(checkout({"train.py": wrapped})) == "on"
    assert checkpointing(checkout({"train.py": program.replace("{wrap}", "net.block = wrapper(net.block)")})) is None


@pytest.mark.parametrize(
    ("policy", "precision"),
    [
        ("MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)", "bf16"),
        ("Dense(8, param_dtype=torch.bfloat16)", None),  # how a layer's weights lie
    ],
)
def test_fsdp_s_policy_says_the_precision(checkout: Build, policy: str, precision: str | None) -> None:
    program = f"import torch\nfrom model import Net\npolicy = {policy}\nnet = fully_shard(Net().cuda())\nloss.backward()\noptimizer.step()\n"
    files = checkout({"train.py": program})
    found = {finding.field: finding.value for finding in detect(files, primary_run(files))}
    assert found.get("training.precision") == precision
