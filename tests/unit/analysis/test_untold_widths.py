"""Widths and batches that a program has where nothing tells it others."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

DREAMBOOTH = """
import argparse
import torch
from accelerate import Accelerator
from diffusers import DiffusionPipeline, UNet2DConditionModel
from peft import LoraConfig, get_peft_model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mixed_precision", default=None)
    parser.add_argument("--with_prior_preservation", action="store_true")
    parser.add_argument("--train_batch_size", type=int, default=4)
    args = parser.parse_args()
    accelerator = Accelerator(mixed_precision=args.mixed_precision)
    dtype = torch.float16 if accelerator.device.type == "cuda" else torch.float32
    pipeline = DiffusionPipeline.from_pretrained("stabilityai/stable-diffusion-2-1", torch_dtype=dtype)
    unet = UNet2DConditionModel.from_pretrained("stabilityai/stable-diffusion-2-1", subfolder="unet")
    unet = get_peft_model(unet, LoraConfig(r=8))
    weight_dtype = torch.float32
    if accelerator.mixed_precision == "fp16":
        weight_dtype = torch.float16
    unet.to(accelerator.device, dtype=weight_dtype)
    for batch in loader:
        loss = unet(batch).loss
        accelerator.backward(loss)
        optimizer.step()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("options", "precision", "pairs"),
    [
        ("", "fp32", None),
        ("--mixed_precision fp16", "fp16", None),
        ("--mixed_precision bf16 --with_prior_preservation", "bf16", "on"),
        ("--mixed_precision no", "fp32", None),
    ],
)
def test_accelerate_computes_as_it_is_told(checkout: Build, options: str, precision: str, pairs: str | None) -> None:
    readme = f"# Draw\n\n```\naccelerate launch train.py --train_batch_size 1 {options}\n```\n"
    found = analyze(checkout({"README.md": readme, "train.py": DREAMBOOTH})).findings
    assert value_of_best(found, "training.precision") == precision
    assert value_of_best(found, "training.pairs") == pairs


@pytest.mark.parametrize(
    ("given", "option", "precision"),
    [
        # A function's own default is what it starts with until it is told; what a call is given is not told away.
        ("args.mixed_precision", "--mixed_precision no", "fp32"),
        ("args.mixed_precision", "", "fp16"),
        ('"bf16"', "--mixed_precision no", "bf16"),
    ],
)
def test_a_command_that_says_no_is_believed(checkout: Build, given: str, option: str, precision: str) -> None:
    program = DREAMBOOTH.replace(
        "Accelerator(mixed_precision=args.mixed_precision)", f"Accelerator(mixed_precision={given})"
    )
    program = program.replace("    weight_dtype = torch.float32\n", "    weight_dtype = load.dtype\n")
    program = program.replace("default=None)", 'default="fp16")', 1)
    readme = f"# Draw\n\n```\naccelerate launch train.py --train_batch_size 1 {option}\n```\n"
    analysis = analyze(checkout({"README.md": readme, "train.py": program}))
    assert value_of_best(analysis.findings, "training.precision") == precision
    if precision == "fp32":
        assert not any("16-bit numbers" in gap for gap in analysis.not_understood)


LOOP = """
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from peft import LoraConfig, get_peft_model{imports}

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", quantization_config=BitsAndBytesConfig(load_in_4bit=True))
{prepared}model = get_peft_model(model, LoraConfig(r=8))
for batch in loader:
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("prepared", "state"), [("", "off"), ("model = prepare_model_for_kbit_training(model)\n", "on")]
)
def test_a_loop_of_its_own_keeps_what_nothing_computes_again(checkout: Build, prepared: str, state: str) -> None:
    imports = ", prepare_model_for_kbit_training" if prepared else ""
    tree = checkout({"train.py": LOOP.format(imports=imports, prepared=prepared)})
    assert value_of_best(analyze(tree).findings, "training.gradient_checkpointing") == state
