from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.domain.what_if import Lever
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.levers import combined, variants
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import Method, Sharding, VramQuestion, estimate_vram


def model(name: str = "Qwen/Qwen2.5-1.5B") -> ModelFacts:
    found = find_model(name)
    assert found is not None
    return found


FULL = VramQuestion(model(), Method.FULL, precision="fp32", weight_bits=32, batch_size=8, sequence_length=2048)


def test_a_full_fine_tune_has_every_lever() -> None:
    assert {each.lever for each in variants(FULL)} == {
        Lever.HALF_PRECISION, Lever.HALF_BATCH, Lever.EIGHT_BIT_OPTIMIZER, Lever.CHECKPOINTING, Lever.SHARDING, Lever.LORA,
        Lever.QLORA}  # fmt: skip


@pytest.mark.parametrize("each", variants(FULL), ids=lambda each: each.lever.name)
def test_every_lever_needs_less_than_the_run_as_it_is(each: object) -> None:
    question = each.question  # type: ignore[attr-defined]  # a variant
    assert estimate_vram(question).expected_gib < estimate_vram(FULL).expected_gib


@pytest.mark.parametrize("each", variants(FULL), ids=lambda each: each.lever.name)
def test_every_lever_says_what_it_gives_up_in_one_phrase(each: object) -> None:
    costs = each.costs  # type: ignore[attr-defined]  # a variant
    assert 10 < len(costs) < 90
    assert not costs.endswith(".")


@pytest.mark.parametrize(
    ("change", "gone"),
    [
        ({"batch_size": 1}, Lever.HALF_BATCH),
        ({"is_checkpointing": True}, Lever.CHECKPOINTING),
        ({"optimizer": "paged_adamw_8bit"}, Lever.EIGHT_BIT_OPTIMIZER),
        ({"precision": "bf16", "weight_bits": 16}, Lever.HALF_PRECISION),
        ({"gpu_count": 4, "sharding": Sharding.ZERO3}, Lever.SHARDING),
        ({"method": Method.PRETRAIN}, Lever.LORA),
        ({"method": Method.QLORA, "weight_bits": 4}, Lever.QLORA),
    ],
)
def test_what_is_done_already_is_no_lever(change: dict[str, object], gone: Lever) -> None:
    question = replace(FULL, **change)  # type: ignore[arg-type]  # a table of fields
    assert gone not in {each.lever for each in variants(question)}


def test_inference_is_quantized_and_not_trained() -> None:
    question = VramQuestion(model(), Method.INFERENCE, weight_bits=16)
    assert [each.lever for each in variants(question)] == [Lever.EIGHT_BIT_WEIGHTS, Lever.FOUR_BIT_WEIGHTS]


def test_two_levers_need_less_than_each() -> None:
    by_lever = {each.lever: each for each in variants(FULL)}
    both = combined(by_lever[Lever.HALF_BATCH], by_lever[Lever.CHECKPOINTING])
    assert both is not None
    least = min(
        estimate_vram(by_lever[lever].question).expected_gib for lever in (Lever.HALF_BATCH, Lever.CHECKPOINTING)
    )
    assert estimate_vram(both.question).expected_gib < least
    assert both.words == "batch 8 → 4, accumulated twice, gradient checkpointing"


def test_a_lever_that_the_first_takes_away_is_not_combined() -> None:
    halved = replace(FULL, batch_size=2)
    half = next(each for each in variants(halved) if each.lever is Lever.HALF_BATCH)
    assert combined(half, half) is None
