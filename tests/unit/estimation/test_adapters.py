from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.estimation.adapters import adapter_parameters_b, trainable_b
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.media_pipelines import with_adapted_part
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import Method, VramQuestion, estimate_vram
from gpu_lol_action.estimation.vram_weights import possible_gb


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
    ("name", "attention_m", "linear_m"),
    [
        # Per rank, in millions: in + out of the matrices of the public configurations; of FLUX.1 attention is that of
        # diffusers' trainers, which put adapters on the MLPs beside it.
        ("stabilityai/stable-diffusion-xl-base-1.0", 1.4515, None),
        ("black-forest-labs/FLUX.1-dev", 2.8017, 4.79),
        ("Wan-AI/Wan2.1-T2V-14B", 3.277, 4.79),
        ("PixArt-alpha/PixArt-XL-2-1024-MS", 0.516, 0.84),
    ],
)
def test_a_denoiser_is_within_a_third_of_its_count(name: str, attention_m: float, linear_m: float | None) -> None:
    asked = with_adapted_part(VramQuestion(known(name), Method.LORA, lora_rank=1))
    assert trainable_b(asked) * 1000 == pytest.approx(attention_m, rel=0.34)
    if linear_m is not None:
        assert trainable_b(replace(asked, is_lora_everywhere=True)) * 1000 == pytest.approx(linear_m, rel=0.2)


def test_the_rank_of_a_pipelines_adapters_counts() -> None:
    small, large = (estimate_vram(replace(SDXL, lora_rank=rank)) for rank in (8, 256))
    assert adapters_gib(large) == pytest.approx(32 * adapters_gib(small), rel=0.02)
    assert large.expected_gib - small.expected_gib > 3


def test_a_paged_optimizer_remembers_the_denoisers_adapters_alone() -> None:
    asked = replace(SDXL, optimizer="paged_adamw_8bit", lora_rank=256)
    part = with_adapted_part(asked)
    assert 0 < possible_gb(part) < possible_gb(asked)
    assert possible_gb(part) == pytest.approx(trainable_b(part) * 2, rel=0.1)
