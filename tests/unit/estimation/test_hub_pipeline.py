from __future__ import annotations

from typing import Any

import pytest

from gpu_lol_action.estimation.hub_pipeline import is_pipeline, read_pipeline
from gpu_lol_action.estimation.model_facts import find_model

MIB = 1024 * 1024


def files(**sizes: int) -> dict[str, Any]:
    return {"siblings": [{"rfilename": path, "size": size} for path, size in sizes.items()]}


def read(sizes: dict[str, int], tag: str = "text-to-image") -> Any:
    return read_pipeline("acme/paint", {"pipeline_tag": tag, "library_name": "diffusers"}, files(**sizes))


# Sizes as those of an SDXL pipeline: 2.567, 0.123, 0.695 and 0.084 B parameters.
SDXL = {
    "unet/diffusion_pytorch_model.fp16.safetensors": 5_135_149_760,
    "text_encoder/model.fp16.safetensors": 246_144_152,
    "text_encoder_2/model.fp16.safetensors": 1_389_382_176,
    "vae/diffusion_pytorch_model.fp16.safetensors": 167_335_342,
}


def test_a_pipelines_models_are_counted_together() -> None:
    known = find_model("stabilityai/stable-diffusion-xl-base-1.0")
    assert known is not None
    found = read(SDXL)
    assert found.parameters_b == pytest.approx(known.parameters_b, rel=0.01)
    assert (found.kind, found.source) == ("diffusion-image", "hub")
    assert read(SDXL, "text-to-video").kind == "diffusion-video"


def test_one_form_of_the_weights_counts_and_what_is_no_part_does_not() -> None:
    more = {
        **{path.replace(".fp16", ""): 2 * size for path, size in SDXL.items()},
        **{path.replace("safetensors", "bin"): size for path, size in SDXL.items()},
        "unet/diffusion_flax_model.msgpack": 10**10,
        "unet/diffusion_pytorch_model.non_ema.safetensors": 10**10,
        "safety_checker/model.safetensors": 10**9,
        "sd_xl_base_1.0.safetensors": 6 * 10**9,
        "vae_1_0/diffusion_pytorch_model.safetensors": 10**9,
        "onnx/unet/model.safetensors": 10**9,
    }
    assert read({**more, **SDXL}) == read(SDXL)


def test_shards_are_one_model() -> None:
    shards = {
        f"transformer/diffusion_pytorch_model-0000{number}-of-00003.safetensors": 8 * 10**9 for number in (1, 2, 3)
    }
    assert read(shards).parameters_b == 12.0
    late = {f"transformer/diffusion_pytorch_model-0000{number}-of-00002.fp16.safetensors": 10**9 for number in (1, 2)}
    assert read(late).parameters_b == 1.0


@pytest.mark.parametrize(
    "listing",
    [
        {},
        {"siblings": None},
        {"siblings": [None, 3, {"rfilename": 3, "size": 3}, {"rfilename": "unet/model.safetensors"}]},
        {"siblings": [{"rfilename": "unet/model.safetensors", "size": True}]},
        {"siblings": [{"rfilename": "unet/model.safetensors", "size": -5}]},
        {"siblings": [{"rfilename": "unet/model.safetensors", "size": 10**40}]},
        {"siblings": [{"rfilename": "../unet/model.safetensors", "size": MIB}]},
        {"siblings": [{"rfilename": "vae/model.safetensors", "size": MIB}]},
        {"siblings": [{"rfilename": "pytorch_lora_weights.safetensors", "size": MIB}]},
    ],
)
def test_what_is_no_pipeline_has_no_size(listing: dict[str, Any]) -> None:
    assert read_pipeline("acme/paint", {}, listing) is None


def test_only_the_hubs_own_word_makes_a_pipeline() -> None:
    assert is_pipeline({"library_name": "diffusers"})
    assert not is_pipeline({"library_name": ["diffusers"]})
