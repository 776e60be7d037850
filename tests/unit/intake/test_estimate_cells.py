from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.estimation.vram import Method, Sharding, VramQuestion, estimate_vram
from gpu_lol_action.intake.estimate_cells import CellProblem, Estimated, check_cell, question_from_cells
from gpu_lol_action.intake.estimate_table import COLUMNS


def asked(**cells: str) -> Estimated:
    found = question_from_cells(cells)
    assert isinstance(found, Estimated)
    return found


def question(**cells: str) -> VramQuestion:
    return asked(**cells).question


def test_what_the_cells_say_wins_over_what_the_name_says() -> None:
    found = question(model="meta-llama/Llama-2-7b-hf", params_B="6.5", layers="30").model
    assert (found.parameters_b, found.layers, found.hidden_size) == (6.5, 30, 4096)


def test_a_name_of_another_size_is_another_model() -> None:
    found = question(model="meta-llama/Llama-2-7b-hf", params_B="70").model
    assert found.parameters_b == 70
    assert found.hidden_size > 4096


def test_a_shape_alone_is_enough() -> None:
    found = question(hidden="4096", layers="32", heads="32", ffn="11008", vocab="32000").model
    assert found.parameters_b == pytest.approx(6.6, abs=0.1)
    assert found.kv_heads == 32


def test_a_size_alone_gets_the_usual_proportions_and_says_so() -> None:
    found = asked(params_B="7")
    assert found.question.model.has_shape
    assert "the usual proportions of 7 B parameters" in found.assumed


@pytest.mark.parametrize("name", ["SD1.5+ControlNet", "my-whisper", "resnet-50"])
def test_a_name_may_say_that_it_is_no_language_model(name: str) -> None:
    assert question(model=name, params_B="1").model.kind != "llm"


@pytest.mark.parametrize("cells", [{}, {"model": "somebody/something"}, {"params_B": "?"}, {"hidden": "4096"}])
def test_without_any_size_the_model_is_the_problem(cells: dict[str, str]) -> None:
    found = question_from_cells(cells)
    assert isinstance(found, CellProblem)
    assert found.column == "model"


@pytest.mark.parametrize(
    ("method", "precision", "bits", "quantization", "is_pure"),
    [
        ("inference", "bf16", 16, "", False),
        ("inference", "fp32", 32, "", False),
        ("inference", "nf4-dq", 4, "nf4-dq", False),
        ("inference", "GPTQ-Int4", 4, "gptq", False),
        ("inference", "Q4_K_M", 4, "q4_k_m", False),
        ("inference", "q4_k", 4, "q4_k", False),
        ("inference", "int8", 8, "int8", False),
        ("inference", "2bit", 2, "int2", False),
        ("qlora", "", 4, "nf4", False),
        ("qlora", "bf16", 4, "nf4", False),
        ("full_ft", "bf16", 16, "", True),
        ("full_ft", "bf16-mixed", 16, "", False),
        ("full_ft", "fp32", 32, "", False),
        ("full_ft", "", 16, "", False),
    ],
)
def test_precision_says_how_weights_lie_and_how_is_computed(
    method: str, precision: str, bits: int, quantization: str, *, is_pure: bool
) -> None:
    found = question(params_B="7", method=method, precision=precision)
    assert (found.weight_bits, found.quantization, found.is_pure_low_precision) == (bits, quantization, is_pure)


def test_name_of_quantized_weights_tells_how_they_lie_unless_it_is_said_or_all_is_trained() -> None:
    named = {"model": "unit/Meta-Llama-3-8B-Instruct-AWQ", "method": "inference"}
    assert (question(**named).weight_bits, question(**named).quantization) == (4, "awq")
    assert "quantization awq (by the model's name)" in asked(**named).assumed
    assert question(**named, precision="bf16").weight_bits == 16
    assert question(**{**named, "method": "lora"}).method is Method.QLORA
    assert question(**{**named, "method": "full_ft"}).quantization == ""


def test_lora_on_quantized_weights_is_qlora() -> None:
    assert question(params_B="7", method="lora", precision="int8").method is Method.QLORA


@pytest.mark.parametrize(
    ("text", "sharding"),
    [
        ("0", Sharding.NONE), ("1.0", Sharding.ZERO1), ("zero2", Sharding.ZERO2), ("ZeRO-3", Sharding.ZERO3),
        ("3-offload", Sharding.ZERO3), ("FSDP", Sharding.FSDP), ("tp", Sharding.TENSOR), ("tp4", Sharding.TENSOR),
        ("pp", Sharding.PIPELINE), ("ddp", Sharding.NONE),
    ],
)  # fmt: skip
def test_sharding_by_its_usual_names(text: str, sharding: Sharding) -> None:
    assert question(params_B="7", method="full_ft", zero_stage=text, n_gpus="4").sharding is sharding


def test_several_cards_for_inference_divide_the_model() -> None:
    assert question(params_B="70", n_gpus="4").sharding is Sharding.TENSOR


@pytest.mark.parametrize(
    ("cells", "optimizer", "parameters", "activations"),
    [
        ({"offload": "optimizer", "zero_stage": "3"}, True, False, False),
        ({"offload": "parameters", "zero_stage": "3"}, True, True, False),
        ({"offload": "activations"}, False, False, True),
        ({"zero_stage": "3-offload"}, True, True, False),
        ({"zero_stage": "2", "notes": "with CPU offload"}, True, False, False),
        ({"zero_stage": "2", "notes": "no CPU offload"}, False, False, False),
        ({"notes": "activation offloading on"}, False, False, True),
        ({"offload": "none"}, False, False, False),
    ],
)
def test_offloading_from_its_cell_or_from_words(
    cells: dict[str, str], *, optimizer: bool, parameters: bool, activations: bool
) -> None:
    found = question(params_B="7", method="full_ft", n_gpus="2", **cells)
    said = (found.is_optimizer_offloaded, found.is_parameters_offloaded, found.is_activations_offloaded)
    assert said == (optimizer, parameters, activations)


def test_a_formulas_row_or_a_batch_of_nothing_asks_for_states_alone() -> None:
    assert question(params_B="7", kind="formula").is_states_only
    assert question(params_B="7", batch="0").is_states_only
    assert not question(params_B="7", kind="measured").is_states_only


def test_what_is_not_said_is_assumed_aloud() -> None:
    said = asked(params_B="7", method="lora")
    assert said.assumed == ("the usual proportions of 7 B parameters", "precision bf16", "batch 1", "1024 tokens",
                            "LoRA rank 16", "gradient checkpointing")  # fmt: skip


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("batch", "eight"), ("batch", "-1"), ("batch", "2.5"), ("seq_len", "0"), ("seq_len", "1e99"), ("n_gpus", "0"),
        ("params_B", "nan"), ("params_B", "inf"), ("params_B", "-7"), ("params_B", "1e9"), ("method", "distill"),
        ("precision", "fp7"), ("zero_stage", "9"), ("grad_ckpt", "maybe"), ("offload", "moon"), ("hidden", "9" * 40),
        ("lora_rank", "²"), ("attention", "divided"),
    ],
)  # fmt: skip
def test_a_cell_that_cannot_be_read_is_named(column: str, text: str) -> None:
    problem = check_cell(column, text)
    assert problem is not None
    assert (problem.column, problem.text) == (column, text)
    assert problem.what


def test_a_junk_cell_leaves_the_rest_of_the_row() -> None:
    found = asked(params_B="7", method="lora", batch="many", seq_len="512")
    assert [problem.column for problem in found.problems] == ["batch"]
    assert (found.question.batch_size, found.question.sequence_length) == (1, 512)


@given(st.dictionaries(st.sampled_from(COLUMNS), st.text(max_size=12) | st.from_regex(r"[0-9]{1,9}", fullmatch=True)))
def test_any_cells_give_a_finite_estimate_or_one_problem(cells: dict[str, str]) -> None:
    found = question_from_cells(cells)
    if isinstance(found, Estimated):
        breakdown = estimate_vram(found.question)
        assert 0 <= breakdown.low_gib <= breakdown.expected_gib <= breakdown.high_gib < 1e30
    else:
        assert found.column == "model"
