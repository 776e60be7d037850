"""Runs that only the largest cards hold: what is said at their command counts, and their image runs on such a card."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
RECIPE = "base_model: maker/Giant-Flash\nadapter: lora\nlora_r: 16\nmicro_batch_size: 1\nsequence_len: 4096\n"
README = "# Tuning\n\n```bash\n{remark}\naxolotl train ours.yaml\n```\n"


@pytest.mark.parametrize(
    ("remark", "size_gb", "image"),
    [
        ("# 2xB200: ~140GB/GPU", 180, "cuda12.8"),
        ("# 8xH100: ~70GB/GPU", 80, "cuda12.4"),
        ("# about 900GB in all", 20, "cuda12.4"),  # of no card
    ],
)
def test_what_stands_at_the_command_may_be_more_than_a_usual_card_has(
    checkout: Build, remark: str, size_gb: int, image: str
) -> None:
    analysis = analyze(checkout({"README.md": README.format(remark=remark), "ours.yaml": RECIPE}))
    assert analysis.spec.hardware.vram_required_gb == size_gb
    assert image in (analysis.spec.environment.base_image or "")
    assert not any("does not run on" in said for said in analysis.not_understood)


@pytest.mark.parametrize(
    ("remark", "cards", "size_gb"),
    [
        ("  # ~83.1 GiB", 1, 96),  # about what the sum says of one card
        ("", 2, 80),
        ("  # ~60 GiB", 2, 80),  # each of several cards' share
    ],
)
def test_an_amount_that_is_the_whole_sum_is_one_card_s(checkout: Build, remark: str, cards: int, size_gb: int) -> None:
    recipe = "base_model: maker/Giant-128B\nload_in_4bit: true\nadapter: qlora\nlora_r: 32\nmicro_batch_size: 2\nsequence_len: 2048\ngradient_checkpointing: true\n"
    readme = f"# Tuning\n\n```bash\naxolotl train ours.yaml{remark}\n```\n"
    hardware = analyze(checkout({"README.md": readme, "ours.yaml": recipe})).spec.hardware
    assert (hardware.gpu_count, hardware.vram_required_gb) == (cards, size_gb)


@pytest.mark.parametrize(
    ("told", "size_gb"),
    [
        ("Training consumes ~160G GPU memory. For example, you can train on 8 RTX 3090:", 20),
        ("Training consumes ~20G GPU memory. For example, you can train on 8 RTX 3090:", 20),
        ("Training consumes ~150G GPU memory. For example, you can train on 8 B200:", 180),
    ],
)
def test_more_than_the_card_named_with_it_has_is_the_sum_over_all(checkout: Build, told: str, size_gb: int) -> None:
    program = "import torch\nfrom parts import Net\nif __name__ == '__main__':\n    loss = Net().cuda()(x)\n    loss.backward()\n"
    readme = f"# Net\n## Training\n{told}\n```\npython train.py --devices 8\n```\n"
    spec = analyze(checkout({"README.md": readme, "train.py": program})).spec
    assert (spec.hardware.gpu_count, spec.hardware.vram_required_gb) == (8, size_gb)
