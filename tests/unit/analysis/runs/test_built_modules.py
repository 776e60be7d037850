"""Classes that a configuration has built are the run's, though no program imports their modules."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

LAB = """import lightning as L
import timm
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class Lit(L.LightningModule):
    def __init__(self, zoo="resnet18"):
        super().__init__()
        self.save_hyperparameters()
        self.net = timm.create_model(self.hparams.zoo)

    def training_step(self, batch, i):
        return self.net(batch[0]).mean()


class Data(L.LightningDataModule):
    def __init__(self, root="data", chunk=4, px=64):
        super().__init__()
        self.root, self.chunk, self.px = root, chunk, px

    def train_dataloader(self):
        change = transforms.Compose([transforms.RandomResizedCrop(self.px), transforms.ToTensor()])
        return DataLoader(datasets.ImageFolder(self.root, change), batch_size=self.chunk)
"""
HYDRA = """import hydra
import lightning as L

L.seed_everything(1)


@hydra.main(config_path="conf", config_name="train")
def main(cfg):
    trainer = hydra.utils.instantiate(cfg.trainer)
    trainer.fit(hydra.utils.instantiate(cfg.model), hydra.utils.instantiate(cfg.data))


main()
"""
GROUPS = {
    "conf/train.yaml": "defaults:\n  - model: large\n  - data: folder\n  - trainer: one\n",
    "conf/model/large.yaml": "_target_: lab.net.Lit\nzoo: convnext_large\n",
    "conf/data/folder.yaml": "_target_: lab.net.Data\nchunk: 48\npx: 384\n",
    "conf/trainer/one.yaml": "_target_: lightning.Trainer\nmax_epochs: 10\n",
}
SECTIONS = "model:\n  class_path: lab.net.Lit\n  init_args:\n    zoo: convnext_large\n"
SECTIONS += "data:\n  class_path: lab.net.Data\n  init_args:\n    chunk: 48\n    px: 384\n"
COMMAND = {
    "config.yaml": SECTIONS,
    "run.sh": "python train.py fit --config config.yaml\n",
    "train.py": "from lightning.pytorch.cli import LightningCLI\n\nLightningCLI()\n",
}
CALLED = {
    "train.py": "import lightning as L\nfrom lab.net import Data, Lit\n\n"
    'L.Trainer().fit(Lit("convnext_large"), Data("data", 48, px=384))\n'
}


def told(checkout: Build, files: dict[str, str]) -> dict[str, str]:
    lab = {"lab/__init__.py": "", "lab/net.py": LAB, "requirements.txt": "lightning\ntimm\n"}
    found: dict[str, str] = {}
    for each in analyze(checkout({**lab, **files})).findings:
        found.setdefault(each.field, each.value)
    return found


@pytest.mark.parametrize("files", [{**GROUPS, "train.py": HYDRA}, COMMAND, CALLED], ids=["hydra", "lightning", "calls"])
def test_a_class_is_built_with_what_it_is_given(checkout: Build, files: dict[str, str]) -> None:
    found = told(checkout, files)
    assert found["training.batch_size"] == "48"
    assert found["media.image_size"] == "384"
    assert found["media.network"] == "convnext_large"


def test_the_default_counts_where_a_configuration_leaves_an_argument_out(checkout: Build) -> None:
    files = {**GROUPS, "train.py": HYDRA, "conf/data/folder.yaml": "_target_: lab.net.Data\nchunk: 48\n"}
    assert told(checkout, files)["media.image_size"] == "64"


def test_two_configurations_that_do_not_agree_tell_nothing(checkout: Build) -> None:
    both = "train:\n  _target_: lab.net.Data\n  px: 384\nsecond:\n  _target_: lab.net.Data\n  px: 512\n"
    found = told(checkout, {**GROUPS, "train.py": HYDRA, "conf/data/folder.yaml": both})
    assert found["media.image_size"] == "224"  # as the pictures of any folder are taken to be


def test_a_class_of_that_name_in_another_part_of_the_file_is_not_asked(checkout: Build) -> None:
    other = "px: 512\ninner:\n  _target_: lab.net.Data\n  chunk: 48\n"
    assert told(checkout, {**GROUPS, "train.py": HYDRA, "conf/data/folder.yaml": other})["media.image_size"] == "64"
