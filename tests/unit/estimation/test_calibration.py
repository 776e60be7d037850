"""What measurements change of an estimate, what they must not, and what they say a file should ask for."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.measured import MeasuredRun
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm
from gpu_lol_action.estimation.calibration import LEAST_RATIO, SpecAdvice, advise, calibrate, workload_of
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import Method, VramQuestion, estimate_vram

MODEL = find_model("Qwen/Qwen2.5-7B")
assert MODEL is not None
QUESTION = VramQuestion(MODEL, Method.LORA, batch_size=2, sequence_length=1024)
TERMS = estimate_vram(QUESTION).terms
WORKLOAD = workload_of(QUESTION, TERMS)
ESTIMATE = MemoryBreakdown((MemoryTerm("weights", 21.3, "all"),), 18.0, 21.3, 26.0, 24.0, "lora", workload=WORKLOAD)


def measured(peak: float, **changes: object) -> MeasuredRun:
    run = MeasuredRun(
        at=datetime(2026, 11, 20, 3, 0, tzinfo=timezone.utc),
        sha="a" * 40,
        how="smoke",
        command="python train.py",
        card="NVIDIA L4",
        peak_gib=peak,
        card_gib=44.9,
        samples=30,
        is_whole=True,
        workload=WORKLOAD,
        low_gib=18.0,
        expected_gib=21.3,
        high_gib=26.0,
    )
    return replace(run, **changes)  # type: ignore[arg-type]  # keyword bag


def test_range_is_narrowed_to_what_was_measured_and_says_so() -> None:
    found = calibrate(ESTIMATE, [measured(19.4), measured(19.8, sha="b" * 40)])
    assert (found.low_gib, found.high_gib, found.required_gib) == (19.4, 21.78, 22.0)
    assert found.estimated == (18.0, 21.3, 26.0)
    assert "estimated 21.3 GiB, measured 19.8 GiB (\u22127 %; NVIDIA L4, `smoke` at bbbbbbb" in found.notes[-2]
    assert "measured 2 times" in found.notes[-1]
    assert "18.0 to 26.0 GiB and is now 19.4 to 21.8" in found.notes[-1]
    assert found.terms == ESTIMATE.terms


def test_one_run_alone_leaves_more_room() -> None:
    assert calibrate(ESTIMATE, [measured(19.8)]).high_gib == 23.76


def test_what_was_estimated_too_low_is_raised() -> None:
    found = calibrate(ESTIMATE, [measured(35.0)])
    assert found.low_gib == found.expected_gib == 35.0
    assert found.required_gib == 42.0


def test_card_on_which_it_ran_with_room_is_enough() -> None:
    assert calibrate(ESTIMATE, [measured(20.0, card_gib=22.5)]).required_gib == 22.0
    # A smaller run on a smaller card proves nothing for the larger one.
    assert calibrate(ESTIMATE, [measured(20.0, card_gib=22.5), measured(30.0)]).required_gib == 33.0


@pytest.mark.parametrize("peak", [19.0, 20.4, 21.95, 25.2, 43.0, 70.3])
@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("card", [22.5, 44.9, 79.6, None])
def test_never_below_what_was_measured(peak: float, is_whole: bool, card: float | None) -> None:
    runs = [measured(19.0), measured(peak, is_whole=is_whole, card_gib=card)]
    found = calibrate(ESTIMATE, runs)
    assert found.required_gib >= peak - 0.05
    assert found.high_gib >= round(peak, 2)
    assert found.low_gib <= found.expected_gib <= found.high_gib


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"card_gib": 35.5}, "its card was full"),
        ({"is_whole": False}, "it did not come to its end"),
        ({"samples": 2}, "it did not come to its end"),
    ],
)
def test_full_card_and_early_end_say_at_least(changes: dict[str, object], why: str) -> None:
    found = calibrate(ESTIMATE, [measured(35.0, **changes)])
    assert (found.low_gib, found.high_gib, found.required_gib) == (35.0, 35.0, 35.0)
    assert f"at least 35.0 GiB were measured on this very workload (NVIDIA L4, `smoke` at aaaaaaa on 2026-11-20; {why})" in found.notes[-1]  # fmt: skip
    assert calibrate(ESTIMATE, [measured(17.0, is_whole=False)]) is ESTIMATE


def test_run_that_never_did_the_work_narrows_nothing() -> None:
    assert calibrate(ESTIMATE, [measured(LEAST_RATIO * ESTIMATE.low_gib - 0.1)]) is ESTIMATE


@pytest.mark.parametrize(
    "changes",
    [
        {"batch_size": 4},
        {"sequence_length": 2048},
        {"precision": "fp16"},
        {"method": Method.QLORA},
        {"lora_rank": 64},
        {"gpu_count": 2},
        {"optimizer": "sgd"},
        {"is_checkpointing": True},
    ],
    ids=str,
)
def test_another_question_is_another_workload(changes: dict[str, object]) -> None:
    other = replace(QUESTION, **changes)  # type: ignore[arg-type]  # keyword bag
    workload = workload_of(other, TERMS)
    assert workload != WORKLOAD
    assert calibrate(replace(ESTIMATE, workload=workload), [measured(19.8)]).high_gib == ESTIMATE.high_gib


def test_model_of_the_same_name_and_another_size_is_another_workload() -> None:
    assert MODEL is not None
    grown = replace(QUESTION, model=replace(MODEL, parameters_b=MODEL.parameters_b * 2))
    assert workload_of(grown, TERMS) != WORKLOAD
    told_elsewhere = replace(QUESTION, model=replace(MODEL, source="hub", note="looked up"))
    assert workload_of(told_elsewhere, TERMS) == WORKLOAD
    assert workload_of(QUESTION, (*TERMS, MemoryTerm("model beside", 3.0, "a judge"))) != WORKLOAD


def test_without_a_workload_nothing_is_the_same() -> None:
    nameless = replace(ESTIMATE, workload=None)
    assert calibrate(nameless, [measured(19.8, workload=None)]) is nameless


def test_documentations_word_is_only_raised() -> None:
    stated = Finding("documented.memory_gb", "24", "the README says 24 GB", Confidence.HIGH, Evidence("README.md", 3))
    weighed = replace(ESTIMATE, weighed=stated, computed_gib=23.0)
    assert calibrate(weighed, [measured(19.8), measured(19.8)]).required_gib == 24.0
    assert calibrate(weighed, [measured(30.0), measured(30.0)]).required_gib == 33.0


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        (40, SpecAdvice(40, 24, 19.8)),
        (33, None),
        (22, None),
        (20, None),
        (19, SpecAdvice(19, 24, 19.8)),
        (None, None),
    ],
)
def test_what_a_file_should_ask(asked: int | None, advice: SpecAdvice | None) -> None:
    assert advise(asked, 18.0, [measured(19.8), measured(19.4)]) == advice


def test_full_card_says_too_little_and_never_too_much() -> None:
    full = [measured(21.9, card_gib=22.5)]
    assert advise(80, 18.0, full) is None
    assert advise(16, 18.0, full) == SpecAdvice(16, 24, 21.9)
    assert advise(80, 18.0, [measured(5.0)]) is None
