"""A trainer that is not here says in its name which model it is made for, where the command has a path of its user's."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

OPTIONS = "--network_module=networks.lora --network_dim=32 --train_batch_size=2 --learning_rate=1e-4"


def model(checkout: Build, command: str) -> str | None:
    found = analyze(checkout({"train.sh": f"{command}\n"})).findings
    return next((each.value for each in found if each.field in {"model.id", "model.family"}), None)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("sdxl_train_network.py", "stabilityai/stable-diffusion-xl-base-1.0"),
        ("./sd-scripts/sdxl_train.py", "stabilityai/stable-diffusion-xl-base-1.0"),
        ("train_network.py", "stable-diffusion-v1-5/stable-diffusion-v1-5"),
        ("flux_train_network.py", "black-forest-labs/FLUX.1-dev"),
        ("sd3_train_network.py", "stabilityai/stable-diffusion-3-medium-diffusers"),
        ("train_dreambooth_lora_flux.py", "black-forest-labs/FLUX.1-dev"),
        ("src/musubi_tuner/wan_train_network.py", "Wan-AI/Wan2.1-T2V-14B"),
        ("hv_train_network.py", "tencent/HunyuanVideo"),
    ],
)
@pytest.mark.parametrize("path", ["/workspace/mine_v4.safetensors", "$MODEL", "path/to/model"])
def test_the_name_of_a_trainer_says_its_family(checkout: Build, program: str, expected: str, path: str) -> None:
    found = model(checkout, f"accelerate launch {program} --pretrained_model_name_or_path={path} {OPTIONS}")
    assert found == expected


@pytest.mark.parametrize("program", ["train.py", "train_llama.py", "flux_capacity/train.py"])
def test_another_name_says_nothing_of_pictures(checkout: Build, program: str) -> None:
    found = model(
        checkout, f"accelerate launch {program} --model_path=/workspace/mine.safetensors --learning_rate=1e-4"
    )
    assert found is None or "llama" in found.lower()


def test_a_model_that_is_named_goes_before_the_trainers_family(checkout: Build) -> None:
    named = "--pretrained_model_name_or_path=/workspace/sd3.5_large.safetensors"
    found = model(checkout, f"accelerate launch sd3_train_network.py {named} {OPTIONS}")
    assert found == "sd3.5_large.safetensors"


@pytest.mark.parametrize("folder", ["/workspace/models/", "./models/", "~/"])
def test_a_published_file_of_weights_is_known_in_any_folder(checkout: Build, folder: str) -> None:
    command = f"accelerate launch train.py --pretrained_model_name_or_path={folder}sd_xl_base_1.0.safetensors {OPTIONS}"
    assert model(checkout, command) == "sd_xl_base_1.0.safetensors"
