"""Trainings that no machine of eight cards holds: they are divided over several, as everybody who runs them does."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = (
    "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('{}')\n"
    "opt = torch.optim.AdamW(model.parameters())\nmodel(x).loss.backward()\nopt.step()\n"
)


@pytest.mark.parametrize(
    ("model", "machines"),
    [("mistralai/Mixtral-8x22B-v0.1", 8), ("meta-llama/Llama-3.1-405B", 16), ("meta-llama/Llama-2-7b-hf", 1)],
)
def test_what_no_machine_holds_takes_several(checkout: Build, model: str, machines: int) -> None:
    analysis = analyze(checkout({"train.py": TRAIN.format(model)}))
    hardware = analysis.proposed.hardware
    assert (hardware.vram_required_gb, hardware.num_nodes) == (80, machines)
    assert any(f"{machines} machines" in said for said in analysis.not_understood) is (machines > 1)
    assert hardware.gpu_count <= 8


def test_cards_that_something_counts_stay_as_they_are(checkout: Build) -> None:
    files = {"train.py": TRAIN.format("meta-llama/Llama-3.1-405B"), "run.sh": "torchrun --nproc_per_node 4 train.py\n"}
    hardware = analyze(checkout(files)).proposed.hardware
    assert (hardware.gpu_count, hardware.num_nodes) == (4, 1)


def test_a_batch_that_no_machine_holds_is_set_aside_before_machines_are_counted(checkout: Build) -> None:
    files = {
        "train.py": TRAIN.format("meta-llama/Llama-2-70b-hf"),
        "run.sh": "python train.py --per_device_train_batch_size 1024\n",
    }
    analysis = analyze(checkout(files))
    hardware = analysis.proposed.hardware
    assert (hardware.vram_required_gb, hardware.gpu_count) == (80, 8)
    assert hardware.num_nodes > 1
    assert any("against what was read" in said for said in analysis.not_understood)


def test_what_is_so_already_is_not_assumed(checkout: Build) -> None:
    script = TRAIN.format("meta-llama/Llama-2-70b-hf").replace("hf')", "hf', torch_dtype=torch.bfloat16)")
    files = {"train.py": f"{script}model.gradient_checkpointing_enable()\n",
             "run.sh": "python train.py --per_device_train_batch_size 1024 --bf16\n"}  # fmt: skip
    said = [gap for gap in analyze(checkout(files)).not_understood if "assumed" in gap]
    assert any("is assumed against what was read: more machines" in gap for gap in said), said
    assert not any("16-bit" in gap or "checkpointing" in gap for gap in said)


ADAPTERS = """import torch
from transformers import AutoModelForCausalLM
from peft import LoraConfig, get_peft_model
model = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf', torch_dtype=torch.float16)
model = get_peft_model(model, LoraConfig(r=8))
model(x).loss.backward()
"""


@pytest.mark.parametrize(
    ("command", "size", "assumed"),
    [
        ("python train.py\n", 24, ["a batch of 1 is assumed"]),
        ("python train.py --per_device_train_batch_size 8\n", 80, []),  # somebody decided
        ("torchrun --nproc_per_node 4 train.py\n", 80, []),  # a machine of several cards has larger ones
    ],
)
def test_adapters_are_given_the_batch_that_an_ordinary_card_holds(
    checkout: Build, command: str, size: int, assumed: list[str]
) -> None:
    analysis = analyze(checkout({"train.py": ADAPTERS, "run.sh": command}))
    assert analysis.proposed.hardware.vram_required_gb == size
    said = [each.partition(":")[0] for each in analysis.not_understood]
    assert [each for each in said if each.startswith("a batch of")] == assumed


def test_adapters_that_no_ordinary_card_holds_keep_their_batch(checkout: Build) -> None:
    large = ADAPTERS.replace("Llama-2-7b-hf", "Llama-2-13b-hf")
    analysis = analyze(checkout({"train.py": large}))
    assert not any("a batch of" in said for said in analysis.not_understood)


TRL = """from trl import {trainer}, ModelConfig, TrlParser
if __name__ == '__main__':
    args, model_config = TrlParser(({trainer}, ModelConfig)).parse_args_and_config()
    {trainer}(model=model_config.model_name_or_path, args=args).train()
"""


@pytest.mark.parametrize("trainer", ["SFTTrainer", "GRPOTrainer", "DPOTrainer"])
def test_a_trainer_of_loaded_models_takes_the_name_that_a_configuration_gives(checkout: Build, trainer: str) -> None:
    configured = "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nper_device_train_batch_size: 1\nbf16: true\n"
    analysis = analyze(checkout({"train.py": TRL.format(trainer=trainer), "configs/stage-1.yaml": configured}))
    method = next(f for f in analysis.findings if f.field == "training.method")
    assert (method.value, method.why) == ("full", "a loaded model is trained with all its parameters")
    assert analysis.proposed.hardware.vram_required_gb == 80


MAKES_CLIPS = """import torch
from diffusers import StableDiffusionPipeline
if __name__ == '__main__':
    pipe = StableDiffusionPipeline.from_pretrained('stable-diffusion-v1-5/stable-diffusion-v1-5', torch_dtype=torch.float16).to('cuda')
    batch_size = {batch}
    pipe(['a'] * batch_size, height=2048, width=2048, batch_size=batch_size)
"""


@pytest.mark.parametrize(
    ("batch", "assumed"), [(2, []), (900, ["one sample at a time is assumed against what was read"])]
)
def test_an_inference_that_no_card_holds_makes_one_at_a_time(checkout: Build, batch: int, assumed: list[str]) -> None:
    analysis = analyze(checkout({"make.py": MAKES_CLIPS.format(batch=batch)}))
    assert (analysis.proposed.hardware.vram_required_gb or 999) <= 80
    assert analysis.proposed.hardware.gpu_count == 1
    said = [each.rpartition(": ")[0].rpartition("), and ")[2] for each in analysis.not_understood]
    assert [each for each in said if each.startswith("one sample")] == assumed
