"""A configuration that a document leaves open is the one that the checkout's scripts hand to the same program."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import best, value_of_best
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build

TRAIN = """
import torch
from omegaconf import OmegaConf

config = OmegaConf.from_cli()
model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for batch in loader:
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
"""
CONFIG = "training:\n  batch_size: 192{remark}\n  mixed_precision: bf16\n"


def files(open_config: str, remark: str = "") -> dict[str, str]:
    return {
        "README.md": f"# Train\n\n```\naccelerate launch train.py config={open_config}\n```\n",
        "train.py": TRAIN,
        "jobs/run.sh": "accelerate launch train.py config=configs/pictures.yaml\n",
        "configs/pictures.yaml": CONFIG.format(remark=remark),
    }


@pytest.mark.parametrize(
    ("open_config", "confidence"), [("path/to/yaml/config", Confidence.HIGH), ("configs/other.yaml", Confidence.LOW)]
)
def test_an_open_configuration_is_a_scripts(checkout: Build, open_config: str, confidence: Confidence) -> None:
    found = best(analyze(checkout(files(open_config))).findings, "training.batch_size")
    assert found is not None
    assert (found.value, found.confidence) == ("192", confidence)


@pytest.mark.parametrize(
    ("remark", "card"),
    [("  # on 80GB A100", "A100-80GB"), ("  # A100 80GB", "A100-80GB"), ("  # on A100", None), ("", None)],
)
def test_a_remark_beside_a_batch_names_the_card_that_it_fills(checkout: Build, remark: str, card: str | None) -> None:
    found = analyze(checkout(files("path/to/yaml/config", remark))).findings
    assert value_of_best(found, "documented.card") == card
