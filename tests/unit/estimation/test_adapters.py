from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.estimation.adapters import adapter_parameters_b, trainable_b
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import Method, VramQuestion, estimate_vram


def known(name: str) -> ModelFacts:
    found = find_model(name)
    assert found is not None
    return found


LLAMA = known("meta-llama/Llama-2-7b-hf")
SDXL = VramQuestion(known("stabilityai/stable-diffusion-xl-base-1.0"), Method.LORA, batch_size=3, is_checkpointing=True)


def adapters_gib(breakdown: MemoryBreakdown) -> float:
    return next(term.gib for term in breakdown.terms if term.name == "adapters")


def test_query_and_value_of_a_language_model() -> None:
    # rank 8 on q and v of Llama-2-7B: 4,194,304 trainable parameters (peft prints it).
    assert adapter_parameters_b(LLAMA, 8, is_everywhere=False) * 1e9 == pytest.approx(4_194_304, rel=0.001)


def test_a_model_of_which_only_the_size_is_known_has_the_usual_proportions() -> None:
    unknown = ModelFacts("acme/seven-b", "llm", LLAMA.parameters_b)
    for is_everywhere in (False, True):
        counted = adapter_parameters_b(LLAMA, 16, is_everywhere=is_everywhere)
        assert adapter_parameters_b(unknown, 16, is_everywhere=is_everywhere) == pytest.approx(counted, rel=0.1)


@pytest.mark.parametrize(
    ("name", "denoiser_b", "counted_m"),
    [
        # Per rank, in millions: in + out of each adapted matrix of the public configurations.
        ("stabilityai/stable-diffusion-xl-base-1.0", 2.567, 1.4515),
        ("black-forest-labs/FLUX.1-dev", 11.901, 2.803),
        ("Wan-AI/Wan2.1-T2V-14B", 14.288, 3.277),
        ("PixArt-alpha/PixArt-XL-2-1024-MS", 0.611, 0.516),
    ],
)
def test_a_denoiser_is_within_a_third_of_its_count(name: str, denoiser_b: float, counted_m: float) -> None:
    asked = VramQuestion(
        ModelFacts(name, "diffusion-image", denoiser_b * 1.4), Method.LORA, adapted_b=denoiser_b, lora_rank=1
    )
    assert trainable_b(asked) * 1000 == pytest.approx(counted_m, rel=0.34)


def test_the_rank_of_a_pipelines_adapters_counts() -> None:
    small, large = (estimate_vram(replace(SDXL, lora_rank=rank)) for rank in (8, 256))
    assert adapters_gib(large) == pytest.approx(32 * adapters_gib(small), rel=0.02)
    assert large.expected_gib - small.expected_gib > 3


def test_more_matrices_have_more_adapters() -> None:
    assert trainable_b(replace(SDXL, is_lora_everywhere=True)) > trainable_b(SDXL)
