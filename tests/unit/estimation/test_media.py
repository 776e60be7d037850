from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.media import scale_of
from gpu_lol_action.estimation.media_facts import find_network, find_pipeline, networks
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import Method, VramQuestion, estimate_vram


def ask(model: str, method: Method, **said: object) -> VramQuestion:
    facts = find_model(model)
    assert facts is not None
    return replace(VramQuestion(model=facts, method=method, precision="fp16"), **said)  # type: ignore[arg-type]  # fields by name


def gib(question: VramQuestion, name: str = "") -> float:
    found = estimate_vram(question)
    return sum(term.gib for term in found.terms if term.name == name) if name else found.expected_gib


@pytest.mark.parametrize(
    ("question", "published_gib", "within"),
    [
        # Hugging Face's blog posts on SDXL's and Stable Diffusion 3's memory; OpenAI's, Tencent's and THUDM's own tables.
        (ask("stabilityai/stable-diffusion-xl-base-1.0", Method.INFERENCE, batch_size=4), 20.2, 0.1),
        (ask("stabilityai/stable-diffusion-3-medium-diffusers", Method.INFERENCE), 17.5, 0.1),
        (ask("openai/whisper-large", Method.INFERENCE, runtime="openai-whisper"), 9.3, 0.1),
        (ask("tencent/HunyuanVideo", Method.INFERENCE), 55.9, 0.15),
        (ask("zai-org/CogVideoX-5b", Method.INFERENCE), 24.2, 0.1),
        # The table of ShivamShrirao/diffusers: DreamBooth of Stable Diffusion 1.5 with and without what saves memory.
        (
            ask("runwayml/stable-diffusion-v1-5", Method.FULL, is_checkpointing=True, optimizer="adamw8bit",
                are_latents_cached=True), 9.24, 0.1,
        ),
        (ask("runwayml/stable-diffusion-v1-5", Method.FULL, are_latents_cached=True), 16.5, 0.15),
        # YOLOv5's table of batch sizes for a card of 16 GB.
        (ask("yolov5x.pt", Method.FULL, batch_size=16, optimizer="sgd"), 14.0, 0.15),
        (ask("yolov5s.pt", Method.FULL, batch_size=64, optimizer="sgd"), 14.0, 0.15),
    ],
)  # fmt: skip
def test_estimate_is_near_published_figures(question: VramQuestion, published_gib: float, within: float) -> None:
    assert gib(question) == pytest.approx(published_gib, rel=within)


def test_patches_of_two_latents_halve_what_a_clip_keeps() -> None:
    said = {"is_checkpointing": True, "image_height": 480, "image_width": 720, "frames": 49, "precision": "bf16"}
    plain = gib(ask("THUDM/CogVideoX-5b", Method.LORA, **said), "activations")
    doubled = gib(ask("THUDM/CogVideoX1.5-5B", Method.LORA, **said), "activations")
    assert 0.45 * plain < doubled < 0.65 * plain  # 13 positions along time, and 7


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("resnet50", "resnet50"),
        ("timm/resnet50.a1_in1k", "resnet50"),
        ("yolov8n.pt", "yolov8n"),
        ("yolo11m-seg.pt", "yolo11m"),
        ("vit_base_patch16_224.augreg_in21k", "vit_base_patch16_224"),
        ("nvidia/mit-b3", "segformer-b3"),
        ("dinov2_vitl14", "vit_large_patch14_dinov2"),
        ("mask_rcnn", "maskrcnn_resnet50_fpn"),
        ("openai/whisper-large-v3", "whisper-large"),
        ("swin_base_patch4_window7_384", "swin_base_patch4_window7_224"),
    ],
)
def test_find_network_knows_the_spellings_of_libraries(name: str, network: str) -> None:
    found = find_network(name)
    assert found is not None
    assert found.name == network


@pytest.mark.parametrize("name", ["", "x", "main", "model", "bert-base-uncased", "meta-llama/Llama-2-7b-hf", "a b"])
def test_find_network_takes_no_other_name(name: str) -> None:
    assert find_network(name) is None


@pytest.mark.parametrize(
    ("name", "pipeline"),
    [
        ("SG161222/RealVisXL_V4.0", "sdxl"),
        ("Wan-AI/Wan2.1-I2V-14B-720P", "wan2.1-i2v-14b"),
        ("black-forest-labs/FLUX.1-schnell", "flux"),
        ("stabilityai/stable-diffusion-2-1", "stable-diffusion-2"),
        ("somebody/dreamlike-photoreal", "stable-diffusion-1"),
    ],
)
def test_find_pipeline_knows_versions_by_their_ids(name: str, pipeline: str) -> None:
    found = find_pipeline(name)
    assert found is not None
    assert found.name == pipeline


def test_table_is_whole() -> None:
    for network in networks().values():
        assert network.parameters_m > 0, network
        assert network.training_fp32_mb > network.training_mixed_mb / 1.4 > 0, network
        assert 0 < network.inference_fp32_mb < network.training_fp32_mb * 1.5, network
        assert (network.height > 0) != (network.seconds > 0), network


def test_activations_grow_with_pixels_and_batch() -> None:
    small = ask("resnet50", Method.PRETRAIN, batch_size=32, image_height=224)
    kept = gib(small, "activations") - 0.19
    assert gib(replace(small, image_height=448), "activations") - 0.19 == pytest.approx(4 * kept, rel=0.02)
    assert gib(replace(small, batch_size=64), "activations") - 0.19 == pytest.approx(2 * kept, rel=0.02)
    assert gib(replace(small, precision="fp32"), "activations") > 1.8 * kept


def test_offloading_leaves_the_largest_stage() -> None:
    whole = ask("stabilityai/stable-diffusion-3-medium-diffusers", Method.INFERENCE)
    parts = gib(replace(whole, is_one_part_at_a_time=True))
    assert gib(replace(whole, is_parameters_offloaded=True)) < parts < gib(whole) * 0.8


def test_only_the_trained_part_has_optimizer_state() -> None:
    full = ask("runwayml/stable-diffusion-v1-5", Method.FULL)
    control = replace(full, trained_part="controlnet")
    inversion = replace(full, trained_part="textual inversion")
    assert gib(full, "optimizer") == pytest.approx(0.86 * 12 * 1e9 / 2**30, rel=0.01)
    assert gib(inversion, "optimizer") == 0 < gib(control, "optimizer") < 0.5 * gib(full, "optimizer")
    assert gib(control, "frozen parts") > gib(full, "frozen parts")


def test_a_small_network_of_ones_own_needs_a_small_card() -> None:
    facts = ModelFacts("Net", "own", 1_199_882 / 1e9, source="layers")
    found = estimate_vram(VramQuestion(facts, Method.PRETRAIN, precision="fp32", batch_size=64, sample_elements=75_402))
    assert 0.7 < found.expected_gib < 1.2
    assert found.required_gib <= 2
    assert found.notes == ()


def test_a_denoiser_outside_the_table_is_said_to_be_rough() -> None:
    facts = ModelFacts("somebody/new-denoiser", "diffusion-image", 4.0)
    found = estimate_vram(VramQuestion(facts, Method.LORA, is_checkpointing=True))
    assert any("rough" in note for note in found.notes)
    assert 9 < found.expected_gib < 16


@given(st.text(max_size=120))
def test_find_answers_any_text(text: str) -> None:
    network, pipeline = find_network(text), find_pipeline(text)
    assert network is None or network.parameters_m > 0
    assert pipeline is None or pipeline.parameters_m > 0


def test_a_clip_whose_frames_are_encoded_one_by_one_is_as_large_as_it_was_counted() -> None:
    """Stable Video Diffusion's denoiser has 8 GB at work for 25 frames, guided and at 16 bit: less than decoding all of them at once."""
    clip = estimate_vram(ask("stabilityai/stable-video-diffusion-img2vid-xt", Method.INFERENCE, frames=25))
    assert any(term.basis.startswith("decoding, 1 x 576 x 1024") for term in clip.terms)
    assert sum(term.gib for term in clip.terms if term.name == "activations") == pytest.approx(12.0, abs=0.2)


@pytest.mark.parametrize("name", ["unet3d-128", "swinunetr-48"])
def test_volumes_are_as_deep_as_their_pictures_are_high(name: str) -> None:
    question = replace(
        VramQuestion(model=ModelFacts(name, "segmentation", 0.06), method=Method.PRETRAIN, precision="fp32"),
        image_height=96,
    )
    network = find_network(name)
    assert network is not None
    smaller, larger = (scale_of(network, replace(question, image_height=side)) for side in (64, 128))
    assert larger == pytest.approx(8 * smaller)
    assert scale_of(network, replace(question, image_height=64, frames=32)) == pytest.approx(smaller / 2)
    basis = next(term.basis for term in estimate_vram(question).terms if term.name == "activations")
    assert "96 x 96 x 96 voxels" in basis


def test_a_swin_unetr_keeps_more_than_a_plain_one() -> None:
    assert find_network("SwinUNETR") == find_network("swinunetr-48")
