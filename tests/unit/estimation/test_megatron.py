"""Models that Megatron-LM's flags build, and what a card keeps of them under tensor, pipeline and expert parallelism."""

from __future__ import annotations

import dataclasses

import pytest

from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.megatron import (
    MEGATRON,
    Flags,
    activation_parts,
    experts_b,
    model_of_flags,
    share_on_rank,
)
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import GB, GIB, Method, Sharding, VramQuestion, estimate_vram
from gpu_lol_action.estimation.vram_states import trained_bytes


def known(name: str) -> ModelFacts:
    found = find_model(name)
    assert found is not None
    return found


QWEN_MOE = known("Qwen/Qwen3-30B-A3B")
GPT = model_of_flags(Flags(96, 12_288, 51_200, heads=96))
RUN = VramQuestion(GPT, Method.FULL, runtime=MEGATRON, sequence_length=2048)


def term(question: VramQuestion, *names: str) -> float:
    return sum(t.gib for t in estimate_vram(question).terms if t.name in names) * GIB / GB


@pytest.mark.parametrize(
    ("flags", "billions", "active"),
    [
        (Flags(96, 12_288, 51_200, heads=96), 174.6, 0.0),  # GPT-3
        (Flags(32, 4096, 32_000, heads=32, kv_heads=32, feed_forward=11_008, is_gated=True, is_untied=True), 6.74, 0.0),  # Llama 2
        (Flags(32, 4096, 32_000, 32, 8, 14_336, 8, 2, is_gated=True, is_untied=True), 46.7, 12.9),  # Mixtral 8x7B
    ],
)  # fmt: skip
def test_flags_build_the_published_sizes(flags: Flags, billions: float, active: float) -> None:
    built = model_of_flags(flags)
    assert built.parameters_b == pytest.approx(billions, rel=0.01)
    assert built.active_parameters_b == pytest.approx(active, rel=0.01)


@pytest.mark.parametrize(
    ("precision", "each"), [("bf16", (2, 4, 12)), ("fp16", (2, 2, 16)), ("fp32", (4, 4, 8))]
)  # Megatron-LM's documentation of its distributed optimizer
def test_bytes_are_megatrons(precision: str, each: tuple[float, ...]) -> None:
    assert trained_bytes(dataclasses.replace(RUN, precision=precision)) == each


def test_tensor_and_pipeline_parallelism_divide_every_state() -> None:
    cut = dataclasses.replace(RUN, tensor_parallel=8, pipeline_parallel=16, gpu_count=8)
    assert term(cut, "weights", "gradients", "optimizer") == pytest.approx(174.6 * 18 / 128, rel=0.01)
    assert not any(t.name in {"casts", "buffers"} for t in estimate_vram(cut).terms)


def test_the_distributed_optimizer_divides_what_it_remembers_alone() -> None:
    cut = dataclasses.replace(RUN, tensor_parallel=8, gpu_count=64, sharding=Sharding.ZERO1)
    assert term(cut, "weights", "gradients") == pytest.approx(174.6 * 6 / 8, rel=0.01)
    assert term(cut, "optimizer") == pytest.approx(174.6 * 12 / 64, rel=0.01)


def test_stages_keep_as_many_samples_as_there_are_stages() -> None:
    whole = dataclasses.replace(RUN, tensor_parallel=8)
    cut = dataclasses.replace(whole, pipeline_parallel=16)
    assert term(cut, "activations") == pytest.approx(term(whole, "activations"))
    assert term(cut, "logits") == 0.0  # the first stage keeps more than the last


def test_without_sequence_parallelism_norms_keep_their_inputs_whole() -> None:
    cut = dataclasses.replace(RUN, tensor_parallel=8)
    assert activation_parts(cut) == 8
    # Korthikanti et al. 2022: 10 + 24 / t of 34 bytes.
    whole_norms = dataclasses.replace(cut, is_sequence_parallel=False)
    assert activation_parts(whole_norms) == pytest.approx(34 / (10 + 24 / 8))


def test_experts_lie_over_replicas_and_the_rest_on_each() -> None:
    question = VramQuestion(QWEN_MOE, Method.FULL, runtime=MEGATRON, tensor_parallel=2, expert_parallel=8, gpu_count=8, sharding=Sharding.ZERO1)  # fmt: skip
    experts = experts_b(QWEN_MOE)
    assert 28 < experts < 31
    on_card = (QWEN_MOE.parameters_b - experts) / 2 + experts / 8
    assert term(question, "weights") == pytest.approx(on_card * 2, rel=0.01)
    assert share_on_rank(dataclasses.replace(question, model=GPT)) == 1.0
    # ms-swift's example of this run: 8 x 76 GiB.
    found = estimate_vram(dataclasses.replace(question, is_checkpointing=True, sequence_length=2048))
    assert found.low_gib < 76 < found.high_gib * 1.1


def test_gradients_stay_on_the_card_when_the_optimizer_leaves_it() -> None:
    question = VramQuestion(known("Qwen/Qwen2.5-72B-Instruct"), Method.FULL, runtime=MEGATRON, tensor_parallel=8, gpu_count=8,
                            is_optimizer_offloaded=True, is_checkpointing=True, sequence_length=8192)  # fmt: skip
    found = estimate_vram(question)
    assert not any(t.name == "optimizer" for t in found.terms)
    assert found.low_gib < 65 < found.high_gib  # ms-swift's example: 8 x 65 GiB
