"""A guessed sum over what most cards have, and documentation that would have said so: an ordinary card is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.silent_documents import LEAST_WORDS, SILENCE
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.stated.ordinary_cards import COMMON_GIB, ordinary
from gpu_lol_action.analysis.stated.reconcile import Statement
from gpu_lol_action.cli import main
from gpu_lol_action.domain.card_sizes import ORDINARY_GIB
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.vram import Method, VramQuestion
from tests.support.networks import PICTURES

Build = Callable[[Mapping[str, str]], Checkout]
PROGRAM = PICTURES.replace("Pictures(), batch_size=64", "Pictures(image_size=512), batch_size=48")
TUNED = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
Trainer(model, TrainingArguments(".", bf16=True, per_device_train_batch_size=1)).train()
"""
README = "# Net\n\nRun `python train.py` to train it.\n\n" + "It restores what a picture has lost. " * (
    LEAST_WORDS // 6
)


def need(checkout: Build, readme: str, program: str = PROGRAM) -> int:
    hardware = analyze(
        checkout({"train.py": program, "README.md": readme, "requirements.txt": "torch\n"})
    ).spec.hardware
    assert hardware.needed_gib is not None
    return hardware.needed_gib


def test_a_guessed_training_over_what_most_cards_have_takes_one_of_these_where_the_readme_is_silent(
    checkout: Build,
) -> None:
    card = analyze(checkout({"train.py": PROGRAM, "README.md": README, "requirements.txt": "torch\n"}))
    assert (card.spec.hardware.needed_gib, card.spec.hardware.vram_required_gb) == (ORDINARY_GIB, 24)
    assert card.breakdown is not None
    assert card.breakdown.computed_gib is not None
    assert card.breakdown.high_gib >= card.breakdown.computed_gib > 30
    assert card.alternatives == ()
    assert "README.md names no card of more than 24 GB" in card.breakdown.notes[-1]


@pytest.mark.parametrize(
    "more",
    ["We thank for the A100 GPUs.", "Training takes 40 GB of GPU memory."],
    ids=["a larger card", "as much memory"],
)
def test_where_the_readme_speaks_of_more_the_sum_is_asked_for(checkout: Build, more: str) -> None:
    assert need(checkout, README + f"\n\n{more}\n") > ORDINARY_GIB


def test_a_training_on_several_machines_needs_its_sum_though_nobody_says_so(checkout: Build) -> None:
    launch = README.replace("python train.py", "torchrun --nnodes 4 --nproc_per_node 8 train.py")
    assert need(checkout, launch) > ORDINARY_GIB


def test_a_page_of_few_words_is_not_silent_on_purpose(checkout: Build) -> None:
    assert need(checkout, "# Net\n\nRun `python train.py`.\n") > ORDINARY_GIB


def test_a_named_model_needs_what_it_needs(checkout: Build) -> None:
    assert need(checkout, README, TUNED) > 2 * ORDINARY_GIB


def test_a_small_sum_stays(checkout: Build) -> None:
    assert need(checkout, README, PROGRAM.replace("=48", "=4")) < ORDINARY_GIB


NAMED = Finding("model.id", "a/b", "", Confidence.HIGH, Evidence("train.py", 3))
TUNED_WHOLE = VramQuestion(ModelFacts("a/b", "llm", 7.0, source="table"), Method.FULL)


def sum_of(expected: float, required: float) -> MemoryBreakdown:
    return MemoryBreakdown((), expected * 0.8, expected, required * 1.2, required, "full")


def card_named(gib: float) -> Statement:
    return Statement(gib, True, 0.3, 1, Finding("documented.card", "H200", "", Confidence.LOW, Evidence("README.md")))


@pytest.mark.parametrize(
    ("expected", "required", "named", "taken"),
    [
        (80, 97, None, COMMON_GIB),
        (80, 97, 79.2, COMMON_GIB),
        (80, 97, 138.0, None),  # who names a larger card has it
        (60, 79, None, None),
        (118, 140, None, COMMON_GIB),
        (120, 140, None, None),  # on no card of 80 GB, whatever the formulas are off by
    ],
)
def test_a_sum_up_to_half_over_the_largest_common_card_is_of_a_run_that_fitted_there(
    expected: float, required: float, named: float | None, taken: int | None
) -> None:
    said = [card_named(named)] if named else []
    agreed = ordinary(sum_of(expected, required), TUNED_WHOLE, (NAMED,), Confidence.MEDIUM, said, is_for_batch=False)
    assert (agreed.required_gib if agreed is not None else None) == taken
    assert agreed is None or "nothing names a card of more than 80 GB" in agreed.why


def test_a_batch_that_was_written_for_cards_that_nobody_counted_needs_its_sum() -> None:
    # More of the same run took the cheaper card: two for one batch, and one of the same for twice that.
    found = [
        ordinary(sum_of(100, 120), TUNED_WHOLE, (NAMED,), Confidence.MEDIUM, [], is_for_batch=not counted)
        for counted in (True, False)
    ]
    assert [agreed.required_gib if agreed is not None else None for agreed in found] == [COMMON_GIB, None]


def test_adapters_are_not_asked_for_on_much_less_than_their_sum() -> None:
    adapters = replace(TUNED_WHOLE, method=Method.LORA)
    found = [
        ordinary(sum_of(each, 97), adapters, (NAMED,), Confidence.MEDIUM, [], is_for_batch=False) for each in (80, 95)
    ]
    assert [each is not None for each in found] == [True, False]


@pytest.mark.parametrize(
    ("question", "taken"),
    [
        (VramQuestion(ModelFacts("own transformer", "llm", 0.4, source="shape"), Method.PRETRAIN), ORDINARY_GIB),
        (VramQuestion(ModelFacts("own transformer", "llm", 1.2, source="shape"), Method.PRETRAIN), None),
        (TUNED_WHOLE, ORDINARY_GIB),  # only assumed, however large
        (replace(TUNED_WHOLE, gpu_count=8), None),
        (replace(TUNED_WHOLE, gpu_count=8, method=Method.LORA), ORDINARY_GIB),
    ],
)
def test_what_is_trained_in_data_centers_needs_its_sum_though_nobody_says_so(
    question: VramQuestion, taken: int | None
) -> None:
    silent = Finding(SILENCE, "22", "", Confidence.LOW, Evidence("README.md"))
    agreed = ordinary(sum_of(40, 48), question, (silent,), Confidence.LOW, [], is_for_batch=False)
    assert (agreed.required_gib if agreed is not None else None) == taken


def test_a_comment_shows_that_card_first_and_the_sum_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in {"train.py": PROGRAM, "README.md": README, "requirements.txt": "torch\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["analyze", str(tmp_path), "--format", "markdown"]) == 0
    said = capsys.readouterr().out
    row = next(line for line in said.splitlines() if line.startswith("| memory per GPU |"))
    assert row.startswith("| memory per GPU | **24 GB** (computed: ")
    assert "nothing names a larger card" in row
    assert "**What was computed** (" in said
    assert "A card must offer **22 GiB**: computed " in said


@pytest.mark.parametrize(
    ("kind", "batch", "kept", "gib"),
    [
        ("diffusion-video", 1, 190.0, COMMON_GIB),
        ("diffusion-video", 1, 20.0, None),  # its states alone take 175
        ("diffusion-video", 8, 190.0, None),
        ("llm", 1, 190.0, None),
    ],
)
def test_a_denoiser_s_few_samples_that_no_card_would_hold_were_held_by_one(
    kind: str, batch: int, kept: float, gib: int | None
) -> None:
    breakdown = MemoryBreakdown((MemoryTerm("activations", kept, ""),), 128.0, 195.0, 313.0, 255.0, "full")
    question = VramQuestion(ModelFacts("denoiser", kind, 1.5), Method.FULL, batch_size=batch)
    agreed = ordinary(breakdown, question, (), Confidence.MEDIUM, (), is_for_batch=False)
    assert (agreed.required_gib if agreed is not None else None) == gib
