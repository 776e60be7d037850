from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import GB, GIB, Method, Sharding, VramQuestion, estimate_vram


def ask(model: str, method: Method, **said: object) -> VramQuestion:
    facts = find_model(model)
    assert facts is not None
    return replace(VramQuestion(model=facts, method=method, precision="fp32"), **said)  # type: ignore[arg-type]  # fields by name


def high_gb(question: VramQuestion) -> float:
    return estimate_vram(question).high_gib * GIB / GB


STABLE = ask("runwayml/stable-diffusion-v1-5", Method.LORA)
# Eight heads' softmax of 4096 x 4096 tokens at 32 bit, the largest layer of Stable Diffusion 1 at 512 pixels.
LARGEST_GB = 8 * 4096**2 * 4 / 1e9


def test_high_holds_attention_scores_unless_attention_is_known_to_be_fused() -> None:
    fused = replace(STABLE, is_attention_fused=True)
    assert estimate_vram(fused).expected_gib == estimate_vram(STABLE).expected_gib
    assert estimate_vram(fused).required_gib == estimate_vram(STABLE).required_gib
    # Five such layers are saved, five of a sixteenth of it and what cross attention adds, and two more of the largest at work.
    besides = high_gb(STABLE) - high_gb(fused)
    assert besides == pytest.approx((5.46 * 1.1 + 2) * LARGEST_GB, rel=0.02)
    eight = high_gb(replace(STABLE, batch_size=8)) - high_gb(replace(fused, batch_size=8))
    assert eight == pytest.approx(8 * besides, rel=0.01)


def test_scores_grow_with_the_square_of_the_pictures_positions_and_shrink_with_checkpointing() -> None:
    fused = replace(STABLE, is_attention_fused=True)
    once = high_gb(STABLE) - high_gb(fused)
    large = high_gb(replace(STABLE, image_height=1024)) - high_gb(replace(fused, image_height=1024))
    assert large == pytest.approx(16 * once, rel=0.05)
    one_layer = high_gb(replace(STABLE, is_checkpointing=True)) - high_gb(replace(fused, is_checkpointing=True))
    assert one_layer == pytest.approx(3.1 * LARGEST_GB, rel=0.02)


def test_eager_attention_is_in_the_sum() -> None:
    eager = replace(STABLE, is_attention_eager=True)
    grown = estimate_vram(eager).expected_gib - estimate_vram(STABLE).expected_gib
    assert grown * GIB / GB == pytest.approx((5.46 * 1.1 + 2) * LARGEST_GB, rel=0.02)


@pytest.mark.parametrize("model", ["stabilityai/stable-diffusion-xl-base-1.0", "black-forest-labs/FLUX.1-dev"])
def test_denoisers_that_came_after_fused_attention_have_no_scores(model: str) -> None:
    question = ask(model, Method.LORA)
    assert high_gb(question) == high_gb(replace(question, is_attention_fused=True))


def test_full_training_may_keep_an_average_of_the_weights() -> None:
    full = ask("runwayml/stable-diffusion-v1-5", Method.FULL, is_attention_fused=True, precision="fp16")
    control = replace(full, trained_part="controlnet")
    sums = [sum(t.gib for t in estimate_vram(each).terms) for each in (full, control)]
    assert estimate_vram(full).high_gib - sums[0] > 0.86 * 4 * GB / GIB
    assert estimate_vram(control).high_gib - sums[1] < 0.86 * 4 * GB / GIB
    sharded = replace(full, sharding=Sharding.ZERO3, gpu_count=8)
    assert estimate_vram(sharded).high_gib < 0.5 * estimate_vram(full).high_gib


def test_inference_and_states_alone_have_nothing_besides() -> None:
    for question in (replace(STABLE, method=Method.INFERENCE), replace(STABLE, batch_size=0)):
        assert high_gb(question) == high_gb(replace(question, is_attention_fused=True))
