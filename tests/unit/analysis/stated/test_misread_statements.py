"""What stands in documents and states no hardware of the run: found when statements of 683 public folders were looked at one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.analysis.stated.stated_sentences import statements_of
from gpu_lol_action.domain.finding import Evidence

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nloss = torch.nn.Linear(2, 2)(torch.ones(2)).sum()\nloss.backward()\n"
Told = list[tuple[str, str]]


def told(line: str, heading: str = "") -> Told:
    return [
        (f.field.removeprefix("documented."), f.value) for f in statements_of(line, heading, Evidence("README.md", 1))
    ]


def of_document(tree: Checkout) -> Told:
    found = documented.detect(tree, primary_run(tree))
    return [(f.field.removeprefix("documented."), f.value) for f in found if f.evidence.line]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # A rate, and what is saved.
        ("So you need ~2GB of GPU memory for each million gaussians.", []),
        ("It takes about 1.5 GB of VRAM per additional million points.", []),
        ("It takes about 12 GB of VRAM per GPU.", [("memory_gb", "12")]),
        ("Using FP8 weights saves about 10GB of GPU memory.", [] ),
        ("You could save between 1GB of VRAM and 5GB of VRAM this way.", []),
        ("This reduces the GPU memory it needs by roughly 6 GB of VRAM.", []),
        ("To save memory use the small model, which needs 12GB of GPU memory.", [("memory_gb", "12")]),
        # The size of a card, which is read with the card.
        ("It uses 2B parameters on an NVIDIA A100 40GB GPU.", [("card", "A100")]),
        # What is typed.
        ("--cache_dir /ML-A800/hf_cache and 24 more", []),
        ("[--hardware {V100,P100,Others}]", []),
        ("t6 = (t5 * t4).relu()", []),
        ("the norms l1 and l4 of it", []),
        ("It needs one GPU, such as a t4 or better.", [("card", "T4"), ("gpu_count", "1")]),
        ("We trained it on an A100/H100.", [("training.card", "A100-80GB")]),
    ],
)  # fmt: skip
def test_what_is_no_statement_on_the_run(line: str, expected: Told) -> None:
    assert told(line) == expected


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("We use two hosts each having four GPUs.", "the documentation names 4 GPUs, on each of 2 machines"),
        ("You will require 4 nodes of 8 GPUs (80GB of VRAM).", "the documentation names 8 GPUs, on each of 4 machines"),
        ("Across 2 nodes × 8x H100 (80GB) GPUs", "the documentation names 8 × H100, on each of 2 machines"),
        ("**Hardware:** 32 x 8 x A100 GPUs", "the documentation names 8 × A100, on each of 32 machines"),
        ("Run it on nodes with 8 GPUs each, spread across 8 nodes.", "the documentation names 8 GPUs, on each of 8 machines"),
        ("On systems with 8 GPUs, run it twice.", "the documentation names 8 GPUs, as a case that may be"),
        ("If two GPUs are available, both are used.", "the documentation names 2 GPUs, as a case that may be"),
        ("It needs 2 GPUs (lower the batch if you have less).", "the documentation names 2 GPUs"),
        ("Training took 2 days on 8 A800 GPUs.", "the documentation names 8 × A800 (an A100-80GB for export)"),
        ("UPDATE_FREQ=8 # to simulate training on 8 GPUs", "the documentation names 8 GPUs, as a case that may be"),
        ("For single GPU, remove the block.", "the documentation names 1 GPU, as a case that may be"),
        ("若采用更高规格的多卡环境,例如 8x H100", "the documentation names 8 × H100, as a case that may be"),
        ("If it is slow: it was. Training took 2 days on 8 GPUs.", "the documentation names 8 GPUs"),
    ],
)  # fmt: skip
def test_a_number_s_reason_says_of_what_it_is(line: str, why: str) -> None:
    found = [f.why for f in statements_of(line, "", Evidence("README.md", 1)) if f.field == "documented.gpu_count"]
    assert found == [why]


@pytest.mark.parametrize(
    "line",
    [
        "If a single GPU is unable to load the model, use this command.",
        "The weights are too large to fit on a single GPU.",
        "States that don't fit a single GPU are divided.",
        "A single GPU's memory usually is not enough for it.",
        "In VR one GPU is used per eye.",
        "Let one process span a single GPU.",
        "(useful if you want to run several programs on a single GPU)",
    ],
)
def test_one_that_does_not_do_is_no_number(line: str) -> None:
    assert told(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "Training runs on a single GPU.",
        "It fits on a single GPU.",
        "Not tested: one GPU.",
        "One GPU per run is enough.",
    ],
)
def test_one_that_does_is_one(line: str) -> None:
    assert told(line) == [("gpu_count", "1")]


def test_a_card_that_does_not_do() -> None:
    assert told("The training script may not run on a consumer GPU like Tesla T4.") == []
    assert told("It may run on a consumer GPU like Tesla T4.") == [("card", "T4")]
    assert told("It may not run on a consumer GPU like a T4 card. We used an A100.") == [("card", "A100")]


def test_what_others_made_needs_their_memory() -> None:
    line = "It needs 6 GB of VRAM."
    found = [
        list(statements_of(line, heading, Evidence("README.md", 1))) for heading in ("Usage", "Other applications")
    ]
    assert [[f.confidence.name for f in each] for each in found] == [["HIGH"], ["LOW"]]


def test_a_card_is_for_what_its_own_sentence_names(checkout: Build) -> None:
    line = (
        "We train a GPT here. On one A100 GPU this training run takes 3 minutes. Then sample from it with the script."
    )
    assert told(line, "Inference") == [("training.card", "A100"), ("gpu_count", "1")]
    line = "The video is a sample from a model trained for 4,000 steps on 8 A100 GPUs for 10 hours."
    assert told(line, "Demo") == [("training.card", "A100"), ("gpu_count", "8")]
    assert told("Generated by a model trained on COCO, on 8 A100 GPUs.", "Demo")[0] == ("inference.card", "A100")


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("| GPU | arch |\n|---|---|\n| TitanX | sm_52 |\n| GTX 1080 | sm_61 |\n", []),
        ("| GPU | VRAM | Price/hr |\n|---|---|---|\n| RTX4090 | 24GB | $0.34 |\n", []),
        ("| GPU | VRAM | cost |\n|---|---|---|\n| RTX4090 | 24GB | $0.34/hr |\n", []),
        ("| GPU | VRAM | cost |\n|---|---|---|\n| RTX4090 | 24GB | $40 |\n", [("memory_gb", "24"), ("card", "RTX4090")]),
        ("|  | base | ours |\n|---|---|---|\n| KV memory | 13.3 GB | 4.9 GB |\n", []),
        ("|  | base | ours |\n|---|---|---|\n| Peak memory | 75 GB | 60 GB |\n", [("memory_gb", "75"), ("memory_gb", "60")]),
    ],
)  # fmt: skip
def test_tables_of_cards_that_nothing_ran_on(checkout: Build, table: str, expected: Told) -> None:
    assert of_document(checkout({"README.md": f"# M\n\n{table}", "train.py": TRAIN})) == expected


def test_what_is_commented_out_is_not_read(checkout: Build) -> None:
    text = "# M\n\n<!--\nIt needs 48 GB of GPU memory.\n\n| model | VRAM |\n|---|---|\n| a | 40 GB |\n-->\nIt needs 24 GB of GPU memory.\n"
    tree = checkout({"README.md": text, "train.py": TRAIN})
    found = documented.detect(tree, primary_run(tree))
    assert [(f.value, f.evidence.line) for f in found if f.field.endswith("memory_gb")] == [("24", 10)]
