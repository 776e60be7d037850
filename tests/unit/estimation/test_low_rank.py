"""GaLore and its kin: what they remember by their papers' tables, and what these papers measured."""

from __future__ import annotations

import dataclasses

import pytest

from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.low_rank import is_low_rank, remembered
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import GB, GIB, estimate_vram
from gpu_lol_action.estimation.vram_question import Method, VramQuestion
from gpu_lol_action.estimation.vram_states import moments_gb, trained_bytes

found_model = find_model("huggyllama/llama-7b")
assert found_model is not None
LLAMA = found_model
SQUARE = ModelFacts("square", "llm", 0.0, 1024, 10, 16, 16, source="size", feed_forward=1024)
SQUARE = dataclasses.replace(
    SQUARE, parameters_b=10 * 7 * 1024**2 / 1e9
)  # seven matrices of 1024 x 1024, and nothing else


@pytest.mark.parametrize(
    ("optimizer", "moments", "projections"),
    [
        ("galore_adamw", 2 * 1024 * 64, 1024 * 64),  # Zhao et al. 2024, table 1: 2 n r and m r
        ("apollo_adamw", 2 * 1024 * 64, 0),  # Zhu et al. 2024, table 1: 2 n r
        ("apollo_mini", 2 * 1024, 0),  # of rank 1
    ],
)
def test_the_numbers_are_those_of_the_papers_tables(optimizer: str, moments: int, projections: int) -> None:
    kept = remembered(optimizer, SQUARE, 64)
    assert kept is not None
    assert kept.moments_b * 1e9 == pytest.approx(70 * moments)
    assert kept.projections_b * 1e9 == pytest.approx(70 * projections)


def test_a_rank_that_nothing_says_is_a_quarter_of_the_width() -> None:
    assert remembered("galore", LLAMA, 0) == remembered("galore", LLAMA, 1024)


def test_embeddings_and_head_keep_both_moments() -> None:
    kept = remembered("apollo", LLAMA, 1)
    assert kept is not None
    assert kept.moments_b > 2 * 32000 * 4096 / 1e9  # one of the two matrices at least: where they are tied


def test_others_are_none_of_them() -> None:
    assert not is_low_rank("adamw_torch")
    assert remembered("adamw", LLAMA, 128) is None
    assert remembered("galore", ModelFacts("no shape", "llm", 7.0), 128) is None


def test_bytes_follow_the_width_of_moments() -> None:
    wide = VramQuestion(LLAMA, Method.FULL, optimizer="galore_adamw", optimizer_rank=1024)
    narrow = dataclasses.replace(wide, is_pure_low_precision=True)
    eight = dataclasses.replace(wide, optimizer="galore_adamw_8bit")
    assert moments_gb(wide) == pytest.approx(2 * moments_gb(narrow))
    assert moments_gb(wide) == pytest.approx(4 * moments_gb(eight))
    assert trained_bytes(dataclasses.replace(wide, optimizer="q_galore_adamw8bit"))[0] == 1.0


def test_q_apollo_trains_on_quantized_weights_layer_by_layer() -> None:
    question = VramQuestion(LLAMA, Method.PRETRAIN, optimizer="q_apollo_per_layer", optimizer_rank=1, batch_size=1,
                            sequence_length=256, is_pure_low_precision=True)  # fmt: skip
    assert trained_bytes(question)[0] == 1.0
    found = estimate_vram(question)
    assert found.low_gib <= 12 * GB / GIB <= found.high_gib  # "LLaMA-7B, single GPU, 12GB", as its authors' scripts say
    plain = estimate_vram(dataclasses.replace(question, optimizer="apollo_per_layer"))
    assert plain.expected_gib > found.expected_gib + 5


@pytest.mark.parametrize(
    ("optimizer", "is_pure", "published_gb"),
    [
        ("galore_adamw8bit_per_layer", True, 22.8),  # Zhao et al. 2024: 7 B within 24 GB
        ("q_galore_adamw8bit_per_layer", False, 15.26),  # Q-GaLore's README: batch 16 of 256 tokens, checkpointing
    ],
)
def test_the_papers_measured_figures_lie_within_the_range(
    optimizer: str, published_gb: float, *, is_pure: bool
) -> None:
    question = VramQuestion(LLAMA, Method.PRETRAIN, optimizer=optimizer, optimizer_rank=1024, batch_size=16,
                            sequence_length=256, is_checkpointing=True, is_pure_low_precision=is_pure)  # fmt: skip
    found = estimate_vram(question)
    assert found.low_gib <= published_gb * GB / GIB <= found.high_gib
    assert found.expected_gib == pytest.approx(published_gb * GB / GIB, rel=0.1)


def test_a_model_of_no_size_has_no_moments() -> None:
    assert trained_bytes(VramQuestion(ModelFacts("toy", "llm", 0.0, 16, 1, 1, 1), Method.PRETRAIN))[2] == 4.0
