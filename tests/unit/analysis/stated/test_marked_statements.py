"""What else is known of a documented amount or card."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.stated.marked_statements import of_one_size
from gpu_lol_action.analysis.stated.reconcile import WEIGHT_OF_CARD, WEIGHT_OF_NAMED_CARD, Statement, reconcile
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from tests.unit.analysis.conftest import Build


def card(name: str, path: str, gib: float, confidence: Confidence = Confidence.MEDIUM) -> Statement:
    finding = Finding("documented.card", name, "named", confidence, Evidence(path, 3))
    return Statement(gib, True, WEIGHT_OF_CARD, 1, finding)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([card("A100-80GB", "README.md", 79.2)], "A100-80GB"),
        ([card("A100-80GB", "README.md", 79.2), card("A100", "README.md", 39.6)], "A100"),
        ([card("A100-80GB", "README.md", 79.2), card("A100", "notes.md", 39.6, Confidence.LOW)], "A100-80GB"),
        ([card("A100-80GB", "README.md", 79.2, Confidence.LOW)], "A100"),
        ([card("H100", "README.md", 79.0)], "A100"),
    ],
)
def test_a_script_s_card_has_the_size_that_documents_tell_of(told: list[Statement], expected: str) -> None:
    ordered = card("A100", "train.slurm", 39.6, Confidence.HIGH)
    found = of_one_size([*told, ordered])[-1]
    assert (found.finding.value, found.memory_gib > 70) == (expected, expected == "A100-80GB")


NET = """import hydra, torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3000, 3000)
    def forward(self, x):
        return self.head(x)
@hydra.main(config_path='configs', config_name='base')
def main(config):
    net = Net().cuda()
    loader = torch.utils.data.DataLoader(data, batch_size=config.batch_size)
    torch.optim.Adam(net.parameters())
    net(x).sum().backward()
if __name__ == '__main__':
    main()
"""


@pytest.mark.parametrize(
    ("settings", "size"),
    [
        ("# Setting for 48GB GPUs\nbatch_size: 80\nworkers: 4\n", 48),
        ("batch_size: 80  # for GPUs with 48 GB of memory\nworkers: 4\n", 48),
        ("batch_size: 80\nworkers: 4\n# Setting for 48GB GPUs\nchunk: 9\n", 12),  # of something else
    ],
)
def test_a_remark_at_the_batch_says_what_it_was_chosen_for(checkout: Build, settings: str, size: int) -> None:
    found = analyze(checkout({"train.py": NET, "configs/base.yaml": settings}))
    assert found.spec.hardware.vram_required_gb == size


@pytest.mark.parametrize(
    ("computed", "is_rough", "weight", "is_taken"),
    [
        (127, True, WEIGHT_OF_CARD, True),
        (127, False, WEIGHT_OF_CARD, False),  # what is surely known is another run's
        (127, True, WEIGHT_OF_NAMED_CARD, False),  # of a card that is only named nobody says that it ran there
        (79, True, WEIGHT_OF_CARD, False),
    ],
)
def test_what_no_usual_card_holds_ran_on_the_one_that_was_used(
    computed: float, is_rough: bool, weight: float, is_taken: bool
) -> None:
    used = Statement(31.4, True, weight, 1, card("V100-32GB", "README.md", 31.4).finding)
    agreed = reconcile(computed, [used], is_rough=is_rough)
    assert (agreed is not None and agreed.required_gib) == (31 if is_taken else False)


ORDERED = """#!/bin/bash
#SBATCH --gres=gpu:v100:1
#SBATCH --time=24:00:00

module load cuda
export A=1
export B=2
export C=3
export D=4
export E=5
export F=6
export G=7
python train.py
"""
PICTURES = """import torch
from diffusers import UNet2DConditionModel
unet = UNet2DConditionModel.from_pretrained('stable-diffusion-v1-5/stable-diffusion-v1-5', subfolder='unet').cuda()
loader = torch.utils.data.DataLoader(data, batch_size=16)
optimizer = torch.optim.AdamW(unet.parameters())
unet(x).sample.mean().backward()
"""


@pytest.mark.parametrize(("ordered", "holds"), [(ORDERED, True), ("python train.py\n", False)])
def test_the_card_that_the_runs_own_script_orders_holds_it(checkout: Build, ordered: str, holds: bool) -> None:
    found = analyze(checkout({"train.py": PICTURES, "run.sh": ordered}))
    assert found.breakdown is not None
    assert (found.breakdown.computed_gib or found.breakdown.required_gib) > 40
    assert ((found.spec.hardware.vram_required_gb or 0) <= 16) is holds
