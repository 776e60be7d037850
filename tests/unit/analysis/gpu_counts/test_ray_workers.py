"""Ray's workers, and what each of them trains with, are told wherever the run says so."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

PROGRAM = """import argparse
import torch
from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer
from torchvision import models
{before}

def work(cfg):
    model = models.resnet50()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in torch.utils.data.DataLoader(data, batch_size=cfg["chunk"]):
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()


{start}
"""
TRAINER = "TorchTrainer(work, train_loop_config={config}, scaling_config=ScalingConfig(num_workers={workers}, use_gpu=True)).fit()"
PARSER = "p = argparse.ArgumentParser()\np.add_argument('--boxes', type=int, default=2)\np.add_argument('--size', type=int, default=8)\nargs = p.parse_args()"


def facts(checkout: Build, before: str, start: str, readme: str = "") -> tuple[str | None, str | None]:
    program = PROGRAM.format(before=before, start=start)
    found = analyze(checkout({"requirements.txt": "torch\nray\n", "train.py": program, "README.md": readme})).findings
    said = {finding.field: finding.value for finding in reversed(found)}
    return said.get("hardware.gpu_count"), said.get("training.batch_size")


def trainer(workers: str, config: str) -> str:
    return TRAINER.format(workers=workers, config=config)


@pytest.mark.parametrize(
    ("before", "start"),
    [
        ("", trainer("4", '{"chunk": 96}')),
        ("BOXES, SIZE = 4, 96", trainer("BOXES", '{"chunk": SIZE}')),
        ("SETTINGS = {'chunk': 96}", trainer("4", "SETTINGS")),
        ("", "def main(boxes, size):\n    " + trainer("boxes", '{"chunk": size}') + "\n\nmain(4, 96)"),
    ],
)  # fmt: skip
def test_workers_and_their_batch_are_followed(checkout: Build, before: str, start: str) -> None:
    assert facts(checkout, before, start) == ("4", "96")


def test_a_command_says_how_many_workers_there_are(checkout: Build) -> None:
    start = trainer("args.boxes", '{"chunk": args.size}')
    assert facts(checkout, PARSER, start) == ("2", "8")
    readme = "```bash\npython train.py --boxes 4 --size 96\n```\n"
    assert facts(checkout, PARSER, start, readme) == ("4", "96")


@pytest.mark.parametrize(
    "start",
    [
        trainer("count()", '{"chunk": size()}'),
        trainer("count()", '{"other": 96}'),
        trainer("count()", "read()"),
        trainer("count()", "{'chunk': A}") + "\n" + trainer("count()", "{'chunk': B}"),
    ],
)
def test_what_is_not_told_in_one_way_is_not_told(checkout: Build, start: str) -> None:
    assert facts(checkout, "", start) == (None, None)
