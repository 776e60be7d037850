"""Trainers of pictures' and films' models that are not here, by the files and options that their own pages show."""

from __future__ import annotations

import json

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

XL = "stabilityai/stable-diffusion-xl-base-1.0"
FLUX = "black-forest-labs/FLUX.1-dev"
START = "accelerate launch sdxl_train_network.py"
KOHYA = f"""pretrained_model_name_or_path = "{XL}"
dataset_config = "sets/mine.toml"
network_module = "networks.lora"
network_dim = 64
optimizer_type = "AdamW8bit"
mixed_precision = "bf16"
gradient_checkpointing = true
"""
SETS = "[[datasets]]\nresolution = 768\nbatch_size = 5\n\n[[datasets.subsets]]\nimage_dir = '/data'\n"
OPTIONS = "--network_dim 64 --optimizer_type AdamW8bit --mixed_precision bf16 --gradient_checkpointing"
TOOLKIT = f"""job: extension
config:
  process:
    - type: sd_trainer
      network:
        type: lora
        linear: 16
      datasets:
        - resolution: [ 1024 ]
      train:
        batch_size: 1
        gradient_checkpointing: true
        lr: 1e-4
        optimizer: adamw8bit
        dtype: bf16
      model:
        name_or_path: {FLUX}
        quantize: true
"""
TUNER = {"--model_type": "lora", "--lora_rank": 16, "--pretrained_model_name_or_path": FLUX, "--train_batch_size": 1,
         "--learning_rate": 1e-4, "--mixed_precision": "bf16", "--optimizer": "adamw_bf16",
         "--base_model_precision": "int8-quanto"}  # fmt: skip
PIPE = f"""dataset = 'mine.toml'
micro_batch_size_per_gpu = 2

[model]
type = 'flux'
diffusers_path = '{FLUX}'
dtype = 'bfloat16'
transformer_dtype = 'float8'

[adapter]
type = 'lora'
rank = 32

[optimizer]
lr = 2e-5
"""


def told(checkout: Build, files: dict[str, str]) -> dict[str, str]:
    return {finding.field: finding.value for finding in reversed(analyze(checkout(files)).findings)}


@pytest.mark.parametrize("start", [f"{START} --config_file=mine.toml", f"{START} --config_file ./mine.toml"])
def test_a_file_of_a_run_names_what_is_trained_and_the_file_of_its_data(checkout: Build, start: str) -> None:
    found = told(checkout, {"train.sh": f"{start}\n", "mine.toml": KOHYA, "sets/mine.toml": SETS})
    assert found["training.method"] == "lora"
    assert found["training.lora_rank"] == "64"
    assert found["training.batch_size"] == "5"
    assert found["media.image_size"] == "768"


def test_a_module_of_no_name_adapts_nothing(checkout: Build) -> None:
    config = KOHYA.replace('"networks.lora"', '"none"').replace("network_dim = 64\n", "")
    start = "accelerate launch sdxl_train.py --config_file=mine.toml\n"
    assert told(checkout, {"train.sh": start, "mine.toml": config})["training.method"] == "full"


def test_a_judges_data_are_not_the_runs(checkout: Build) -> None:
    config = KOHYA.replace("dataset_config", "validation_config")
    files = {"train.sh": f"{START} --config_file=mine.toml\n", "mine.toml": config, "sets/mine.toml": SETS}
    assert "media.image_size" not in told(checkout, files)


def test_a_toolkits_network_is_an_adapter_and_its_model_is_quantized(checkout: Build) -> None:
    found = told(checkout, {"config/mine.yaml": TOOLKIT, "train.sh": "python run.py config/mine.yaml\n"})
    assert (found["training.method"], found["model.weight_bits"]) == ("lora", "8")


def test_another_network_is_none_and_a_switch_may_be_off(checkout: Build) -> None:
    config = TOOLKIT.replace("type: lora", "type: unet").replace("quantize: true", "quantize: false")
    found = told(checkout, {"config/mine.yaml": config, "train.sh": "python run.py config/mine.yaml\n"})
    assert found["training.method"] == "full"
    assert "model.weight_bits" not in found


@pytest.mark.parametrize(
    "files",
    [
        {"config/config.json": json.dumps(TUNER)},
        {"run.sh": "accelerate launch train.py " + " ".join(f"{key}={value}" for key, value in TUNER.items()) + "\n"},
    ],
)
def test_options_are_read_in_a_file_as_they_are_in_a_command(checkout: Build, files: dict[str, str]) -> None:
    found = told(checkout, files)
    assert found["model.id"] == FLUX
    assert (found["training.method"], found["training.lora_rank"]) == ("lora", "16")
    assert found["model.weight_bits"] == "8"


@pytest.mark.parametrize(
    ("held", "bits"), [("no_change", ""), ("nf4-bnb", "4"), ("int4-quanto", "4"), ("fp8-quanto", "8")]
)
def test_how_wide_a_frozen_denoiser_lies_is_in_its_word(checkout: Build, held: str, bits: str) -> None:
    found = told(checkout, {"config/config.json": json.dumps({**TUNER, "--base_model_precision": held})})
    assert found.get("model.weight_bits", "") == bits


def test_a_pipelines_path_and_its_narrow_denoiser(checkout: Build) -> None:
    start = "deepspeed --num_gpus=1 train.py --deepspeed --config mine_run.toml\n"
    sets = "resolutions = [1024]\n"
    found = told(checkout, {"run.sh": start, "mine_run.toml": PIPE, "mine.toml": sets})
    assert found["model.id"] == FLUX
    assert (found["training.method"], found["model.weight_bits"]) == ("lora", "8")


@pytest.mark.parametrize(("switch", "bits"), [("--fp8_base ", "8"), ("", "")])
def test_a_switch_for_eight_bits(checkout: Build, switch: str, bits: str) -> None:
    start = f"accelerate launch flux_train_network.py --pretrained_model_name_or_path /w/flux1-dev.safetensors {switch}"
    assert told(checkout, {"train.sh": f"{start}{OPTIONS}\n"}).get("model.weight_bits", "") == bits


@pytest.mark.parametrize(
    ("program", "part"),
    [("train_controlnet.py", "controlnet"), ("textual_inversion.py", "textual inversion"), ("train_text_to_image.py", None)],
)  # fmt: skip
def test_what_is_trained_beside_the_model_is_in_the_programs_name(
    checkout: Build, program: str, part: str | None
) -> None:
    start = f"accelerate launch {program} --pretrained_model_name_or_path={XL} --resolution=768 --train_batch_size=2\n"
    assert told(checkout, {"train.sh": start}).get("media.trained_part") == part
