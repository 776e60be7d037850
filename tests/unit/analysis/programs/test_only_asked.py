"""Trainers that are only asked, boosted trees that are only loaded, and trainers that are derived and not started: nothing is trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.program_behavior import program_behavior

Build = Callable[[Mapping[str, str]], Checkout]


def behavior(checkout: Build, files: Mapping[str, str]) -> Behavior:
    tree = checkout(files)
    source = tree.find("work.py")
    assert source is not None
    return program_behavior(tree, source)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("trainer.predict(net, data)", Behavior.INFERS),
        ("trainer.test(net)", Behavior.NEITHER),
        ("trainer.fit(net)\ntrainer.test(net)", Behavior.TRAINS),
        ("trainer.predict(net, data)\ntrainer.train()", Behavior.TRAINS),
        ("start(trainer)", Behavior.TRAINS),
    ],
)
def test_a_trainer_that_is_only_asked_trains_nothing(checkout: Build, told: str, expected: Behavior) -> None:
    text = f"from pytorch_lightning import Trainer\nnet = 1\ntrainer = Trainer(devices=1)\n{told}\n"
    assert behavior(checkout, {"work.py": text}) is expected


@pytest.mark.parametrize(
    ("told", "trains"), [("clf.load_model('m.json')\nclf.predict(x)", False), ("clf.fit(x, y)", True)]
)
def test_boosted_trees_that_are_only_loaded_train_nothing(checkout: Build, told: str, trains: bool) -> None:
    text = f"import xgboost\nclf = xgboost.XGBClassifier(device='cuda')\n{told}\n"
    assert (behavior(checkout, {"work.py": text}) is Behavior.TRAINS) is trains


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("from lab import Trainer\nclass Skeleton(Trainer):", Behavior.INFERS),
        # A trainer of the repository's own is there to train with.
        ("from base import Trainer\nclass Skeleton(Trainer):", Behavior.TRAINS),
        ("class Skeleton:", Behavior.TRAINS),
    ],
)
def test_a_library_s_trainer_that_is_derived_is_not_started_yet(checkout: Build, head: str, expected: Behavior) -> None:
    custom = f"import torch\n{head}\n    def train_step(self, batch):\n        self.loss(batch).backward()\n"
    use = "import torch\nfrom custom import *\nKINDS = [Skeleton]\ndef run(net):\n    return torch.inference_mode()\n"
    work = "import use\nif __name__ == '__main__':\n    use.run(net)\n"
    base = "class Trainer:\n    pass\n"
    files = {"base.py": base, "custom.py": custom, "use.py": use, "work.py": work}
    assert behavior(checkout, files) is expected
