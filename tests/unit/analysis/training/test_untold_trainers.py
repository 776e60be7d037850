"""Trainers of diffusion models whose command is not known: their own batch, precision and checkpointing are nobody's run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.training.untold_trainers import as_told
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import Method, VramQuestion

Build = Callable[[Mapping[str, str]], Checkout]
TRAINER = """
import argparse
import torch
from diffusers import {pipeline}, {denoiser}
p = argparse.ArgumentParser()
p.add_argument("--pretrained_model_name_or_path", type=str, default=None, required=True)
p.add_argument("--resolution", type=int, default=512)
p.add_argument("--train_batch_size", type=int, default=16)
p.add_argument("--gradient_checkpointing", action="store_true")
p.add_argument("--mixed_precision", type=str, default=None)
args = p.parse_args()
net = {denoiser}.from_pretrained(args.pretrained_model_name_or_path, subfolder="unet")
if args.gradient_checkpointing:
    net.enable_gradient_checkpointing()
optimizer = torch.optim.AdamW(net.parameters())
loss.backward()
optimizer.step()
"""
PICTURES = TRAINER.format(pipeline="StableDiffusionPipeline", denoiser="UNet2DConditionModel")
LARGE = TRAINER.format(pipeline="FluxPipeline", denoiser="FluxTransformer2DModel")
COMMAND = "python train.py --pretrained_model_name_or_path stable-diffusion-v1-5/stable-diffusion-v1-5{}\n"


def basis(found: Analysis, name: str = "activations") -> str:
    assert found.breakdown is not None
    return next(term.basis for term in found.breakdown.terms if term.name == name)


def test_an_untold_trainer_takes_one_sample_and_says_so(checkout: Build) -> None:
    found = analyze(checkout({"train.py": PICTURES}))
    assert "1 x 512 x 512" in basis(found)
    assert any("16 are what the program starts with" in gap for gap in found.not_understood)


@pytest.mark.parametrize(
    ("command", "samples"), [(COMMAND.format(""), "16 x 512"), (COMMAND.format(" --train_batch_size 4"), "4 x 512")]
)
def test_what_a_command_says_or_leaves_to_the_program_holds(checkout: Build, command: str, samples: str) -> None:
    assert samples in basis(analyze(checkout({"train.py": PICTURES, "train.sh": command})))


def test_a_program_that_names_its_model_can_be_started_as_it_is(checkout: Build) -> None:
    named = PICTURES.replace("default=None, required=True", 'default="stable-diffusion-v1-5/stable-diffusion-v1-5"')
    assert "16 x 512" in basis(analyze(checkout({"train.py": named})))


@pytest.mark.parametrize(("method", "samples"), [(Method.FULL, 1), (Method.LORA, 1), (Method.PRETRAIN, 16)])
def test_a_program_that_builds_its_denoiser_itself_needs_no_command(method: Method, samples: int) -> None:
    model = find_model("stable-diffusion-v1-5/stable-diffusion-v1-5")
    assert model is not None
    findings = (
        Finding("training.batch_size", "16", "`batch_size` is 16", Confidence.HIGH, Evidence("train.py", 3)),
        Finding("entry_point", "train.py", "it trains", Confidence.MEDIUM, Evidence("train.py", 9)),
    )
    told, said = as_told(VramQuestion(model=model, method=method, batch_size=16), findings, frozenset())
    assert told.batch_size == samples
    assert bool(said) is (samples == 1)


def test_what_a_card_of_one_s_own_does_not_hold_is_saved(checkout: Build) -> None:
    large, small = (analyze(checkout({"train.py": program})) for program in (LARGE, PICTURES))
    assert ", gradient checkpointing" in basis(large)
    assert "no gradient checkpointing" in basis(small)


def test_a_network_that_is_no_diffusion_model_keeps_its_batch(checkout: Build) -> None:
    program = PICTURES.replace("from diffusers import StableDiffusionPipeline, UNet2DConditionModel", "import timm")
    program = program.replace('UNet2DConditionModel.from_pretrained(args.pretrained_model_name_or_path, subfolder="unet")',
                              "timm.create_model('resnet50')")  # fmt: skip
    assert basis(analyze(checkout({"train.py": program}))).startswith("resnet50, 16 x")
