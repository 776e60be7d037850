"""What is asked for at the least: on machines with many cards, and of a training whose model nothing names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = (
    "import torch\nfrom transformers import AutoModelForSequenceClassification\n"
    "model = AutoModelForSequenceClassification.from_pretrained({name}).cuda()\n"
    "batch_size = 4\nmax_length = 64\n"
    "if __name__ == '__main__':\n    loss.backward()\n    optimizer.step()\n"
)


def analyzed(checkout: Build, name: str, start: str, more: str = "") -> Analysis:
    readme = f"# Labels\n## Train\n```bash\n{start}\n```\n{more}\n"
    return analyze(
        checkout(
            {"train.py": TRAIN.format(name=name), "README.md": readme, "requirements.txt": "torch\ntransformers\n"}
        )
    )


def asked(analysis: Analysis) -> int | None:
    assert analysis.breakdown is not None
    return analysis.spec.hardware.vram_required_gb


@pytest.mark.parametrize(("processes", "least"), [(1, 8), (2, 8), (4, 16), (8, 16)])
def test_machines_with_many_cards_have_cards_of_16(checkout: Build, processes: int, least: int) -> None:
    analysis = analyzed(checkout, "'bert-base-uncased'", f"torchrun --nproc_per_node {processes} train.py")
    need = asked(analysis)
    assert need is not None
    assert analysis.spec.hardware.gpu_count == processes
    assert need == least if least == 16 else need <= 8


def test_the_bound_is_said(checkout: Build) -> None:
    breakdown = analyzed(checkout, "'bert-base-uncased'", "torchrun --nproc_per_node 8 train.py").breakdown
    assert breakdown is not None
    assert "machines with 8 cards have 16 GB on each at the least" in breakdown.notes
    assert breakdown.required_gib <= breakdown.high_gib


def test_what_documentation_says_of_many_cards_wins(checkout: Build) -> None:
    said = "Training takes 4 GB of GPU memory on each card."
    analysis = analyzed(checkout, "'bert-base-uncased'", "torchrun --nproc_per_node 4 train.py", said)
    need = asked(analysis)
    assert need is not None
    assert need <= 8


def test_a_model_that_nothing_names_speaks_for_no_less_than_the_default(checkout: Build) -> None:
    assert asked(analyzed(checkout, "args.model", "python train.py --model $MODEL")) == 12


def test_a_model_that_is_named_is_what_is_summed(checkout: Build) -> None:
    need = asked(analyzed(checkout, "'bert-base-uncased'", "python train.py"))
    assert need is not None
    assert need < 12
