"""Which of several cards that documents name is the run's own, and how much memory its name means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.documented_phrases import CardPhrase, card_phrases
from gpu_lol_action.analysis.stated.reconcile import reconcile, statements
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nfrom transformers import AutoModelForCausalLM as A, Trainer\nfrom peft import LoraConfig, get_peft_model\nm = get_peft_model(A.from_pretrained(args.model), LoraConfig(r=16))\nTrainer(m).train()\nif __name__ == '__main__': pass\n"
RUN = "```\ntorchrun --nproc_per_node 4 train.py --model mistralai/Mistral-7B-v0.1 --bf16 --per_device_train_batch_size 1 --gradient_checkpointing\n```\n"
OTHERS = "# Training\nWe train on a machine with 4 V100-32GB GPUs.\n\nEverything was trained on 4 V100-32GB GPUs.\n"


@pytest.mark.parametrize(
    ("said", "card"),
    [
        ("This training took 70 hours on 4 x A6000 GPUs.", "A6000"),
        # On another number of cards it is another run; without one it is no more than the other document's.
        ("This training took 70 hours on 2 x A6000 GPUs.", "V100-32GB"),
        ("", "V100-32GB"),
    ],
)
def test_the_section_of_the_command_names_the_card_of_its_run(checkout: Build, said: str, card: str) -> None:
    tree = checkout({"README.md": f"# M\n## Train\n{RUN}\n{said}\n", "docs/training.md": OTHERS, "train.py": TRAIN})
    breakdown = analyze(tree).breakdown
    assert breakdown is not None
    assert breakdown.weighed is not None
    assert breakdown.weighed.value == card


@pytest.mark.parametrize(
    ("line", "cards"),
    [
        ('<img src="assets/teaser/t4.gif"> was trained', []),
        ("![used](a10.png)", []),
        ("trained on an A100.", ["A100"]),
        ("tested with T4.pth on a T4 card", ["T4"]),
    ],
)
def test_a_picture_s_name_is_no_card(line: str, cards: list[str]) -> None:
    assert [phrase.card for phrase in card_phrases(line)] == cards


@pytest.mark.parametrize(("named", "weighed"), [("RTX3090", "24"), ("RTX2080Ti", "V100")])
def test_an_amount_that_is_a_named_card_s_own_adds_up_no_others(named: str, weighed: str) -> None:
    line, other = Evidence("README.md", 12), Evidence("README.md", 107)
    asked = Finding("documented.training.memory_gb", "24", "", Confidence.HIGH, line)
    card = Finding("documented.training.card", named, "", Confidence.LOW, line)
    used = Finding("documented.training.card", "V100", "", Confidence.MEDIUM, other)
    agreed = reconcile(16, statements([asked, card, used], trains=True), is_rough=False)
    assert agreed is not None
    assert agreed.finding.value == weighed


def test_a_card_that_is_demanded_elsewhere_holds_for_the_section_too(checkout: Build) -> None:
    demand = "# Requirements\nTraining requires 4 x V100-32GB GPUs.\n"
    section = f"# M\n## Train\n{RUN}\nThis training took 70 hours on 4 x A6000 GPUs.\n"
    tree = checkout({"README.md": section, "docs/training.md": demand, "train.py": TRAIN})
    breakdown = analyze(tree).breakdown
    assert breakdown is not None
    assert breakdown.weighed is not None
    assert breakdown.weighed.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    ("line", "card", "count"),
    [
        ("trained on 8 A800 GPUs", "A100-80GB", 8),
        ("trained on 8 A800 40GB GPUs", "A100", 8),
        ("trained on 8 A100 GPUs", "A100", 8),
        ("trained on 8 NVIDIA A100 GPUs, each having 80GB memory", "A100-80GB", 8),
        ("trained on 8 A100 GPUs each with 80GB", "A100-80GB", 8),
        ("trained on 8 A100 GPUs, which have 80GB together with the host", "A100", 8),
    ],
)
def test_a_card_s_size_is_said_by_its_name_or_behind_it(line: str, card: str, count: int) -> None:
    assert [(phrase.card, phrase.count) for phrase in card_phrases(line)] == [(card, count)]
    assert isinstance(next(card_phrases(line)), CardPhrase)


def agreed_on(confidence: Confidence, computed: float, *, is_counted: bool, field: str = "memory_gb") -> int | None:
    demand = Finding(f"documented.{field}", "80", "", confidence, Evidence("README.md", 10))
    said = [replace(each, is_counted=is_counted) for each in statements([demand], trains=False)]
    agreed = reconcile(computed, said, is_rough=False)
    return None if agreed is None else agreed.required_gib


@pytest.mark.parametrize(
    ("computed", "is_counted", "asked"),
    [
        (7, True, 79),  # "at least 3 x 80 GB", of a run on three: what was summed up is a part
        (240, True, 79),  # it ran there
        (7, False, None),
        (240, False, None),
    ],
)
def test_what_is_demanded_of_as_many_cards_is_the_run_s(computed: float, is_counted: bool, asked: int | None) -> None:
    assert agreed_on(Confidence.HIGH, computed, is_counted=is_counted) == asked


def test_what_is_only_mentioned_has_to_be_near() -> None:
    assert agreed_on(Confidence.MEDIUM, 7, is_counted=False) is None
    assert agreed_on(Confidence.MEDIUM, 7, is_counted=True) is None
