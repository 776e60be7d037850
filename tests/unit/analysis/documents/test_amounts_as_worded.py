"""Amounts of GPU memory and cards in the many words in which documents say them, and what only looks like one."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases
from gpu_lol_action.analysis.documents.documented_phrases import card_phrases

DEMANDED = {
    "your GPU must have 80GB of memory": 80,
    "make sure your card has 24G of VRAM": 24,
    "Please ensure that your GPU has 24GB of memory": 24,
    "you should have 10GB of VRAM": 10,
    "8 GB VRAM or higher": 8,
    "GPU: NVIDIA with 8GB VRAM or more": 8,
    "Nvidia GPUs with at least 8GBs of V-RAM are recommended.": 8,
    "Your GPU should have at least 70GB": 70,
    "8GB VRAM and 16GB RAM required": 8,
    "Each card requires 128GB of RAM and 24GB of GPU memory.": 24,
    "VRAMは12GB以上": 12,
    "최소 24GB VRAM": 24,
    "Se requieren 12 GB de VRAM": 12,
    "12 Go de VRAM minimum": 12,
}
TOLD = {
    "Max GPU memory: 21.5GB": 21.5,
    "Inference costs 14GB of GPU memory": 14,
    "GPU: 24 GB VRAM (RTX 3090/4090)": 24,
    "peak memory of 13GB": 13,
    "with a 12GB VRAM GPU": 12,
    "can be fine-tuned on a consumer GPU with 24GB": 24,
    "GPU usage: 18GB": 18,
    "单卡24G显存": 24,
    "显存要求\uff1a24GB": 24,
    "单卡 NVIDIA A800-SXM4-80GB 占用 9.9 GiB\uff0c训练耗时 35min": 9.9,
    "System requirements: GPU - 16 GB": 16,
    "GPU memory of 80 GB": 80,
    "VRAM 16 GB": 16,
    "VRAM (16 GB)": 16,
    "24GB or larger GPU": 24,
    "16G memory GPU": 16,
    "GPU mem: 16G": 16,
    "65GB per GPU": 65,
    "65 GB/GPU": 65,
    "memory per GPU: 65GB": 65,
    "GPU memory cost 38G": 38,
    "38G GPU memory cost": 38,
    "below 14GB of VRAM": 14,
    "about 20GB of RAM on a single GPU": 20,
    "a GPU with 11GB RAM": 11,
}
OTHERS = (
    "requires 64GB RAM",
    "16GB RAM is recommended",
    "The dataset needs 24GB of disk space",
    "download 24GB of weights",
    "saves 12GB of VRAM",
    "you do not need 24GB of VRAM",
    "does not fit in 24GB of VRAM",
    "OOM on 16GB GPUs",
)


@pytest.mark.parametrize(("words", "gigabytes"), DEMANDED.items())
def test_what_is_demanded_is_heard_however_it_is_worded(words: str, gigabytes: float) -> None:
    assert [(phrase.size_gb, phrase.is_demanded) for phrase in memory_phrases(words)] == [(gigabytes, True)]


@pytest.mark.parametrize(("words", "gigabytes"), TOLD.items())
def test_what_something_takes_is_heard_however_it_is_worded(words: str, gigabytes: float) -> None:
    assert [phrase.size_gb for phrase in memory_phrases(words)] == [gigabytes]


@pytest.mark.parametrize("words", OTHERS)
def test_main_memory_disks_and_savings_are_no_need(words: str) -> None:
    assert list(memory_phrases(words)) == []


@pytest.mark.parametrize(
    ("words", "card", "count"),
    [
        ("8 GPUs of A100", "A100", 8),
        ("8 GPUs (A100)", "A100", 8),
        ("A100s x8", "A100", 8),
        ("3090 GPU * 8", "RTX3090", 8),
        ("eight (8) A100 GPUs", "A100", 8),
        ("H20-96G x 8", "H20", 8),
        ("a DGX A100", "A100", 8),
        ("a DGX-1", "V100", 8),
        ("an RTX A4000", "RTXA4000", None),
        ("an RTX 3090 Ti", "RTX3090Ti", None),
        ("a 4090D", "RTX4090D", None),
        ("an NVIDIA L20", "L20", None),
    ],
)
def test_cards_are_heard_with_their_number(words: str, card: str, count: int | None) -> None:
    assert [(phrase.card, phrase.count) for phrase in card_phrases(f"We trained it on {words}.")] == [(card, count)]


@pytest.mark.parametrize(
    ("line", "card", "count"),
    [
        ("- GPU: RTX 3090", "RTX3090", None),
        ("Hardware: 1 x A100 80GB", "A100-80GB", 1),
        ("Environment: Python 3.10, CUDA 11.8, 1 x RTX A6000", "RTXA6000", 1),
        ("- **GPU**: NVIDIA H200", "H200", None),
        ("The code has been tested on Ubuntu 20.04 with an NVIDIA RTX 4090.", "RTX4090", None),
        ("训练使用单张 RTX 3090 显卡", "RTX3090", 1),
    ],
)
def test_a_card_behind_a_label_or_a_verb_far_away_was_used(line: str, card: str, count: int | None) -> None:
    (phrase,) = card_phrases(line)
    assert (phrase.card, phrase.count) == (card, count)
    assert phrase.is_run
    assert phrase.is_had


def test_water_is_no_card() -> None:
    assert list(card_phrases("We train a potential for H20 and CO2.")) == []
    assert [phrase.card for phrase in card_phrases("We train it on an NVIDIA H20.")] == ["H20"]


def test_a_card_in_a_question_or_a_list_of_others_was_not() -> None:
    assert [phrase.is_had for phrase in card_phrases("Which is faster, an RTX 3090 or an A100?")] == [False]
    assert [phrase.is_had for phrase in card_phrases("支持A100和H100")] == [False]
