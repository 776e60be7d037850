"""Networks of Lightning's that would give a trainer their optimizer, and what is called a solver."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

NETWORK = (
    "import torch\nimport pytorch_lightning as pl\nclass Net(pl.LightningModule):\n    def configure_optimizers(self):\n"
    "        return torch.optim.{}(self.parameters(), 1e-3)\n"
)
PAGE = "import torch\nfrom net import Net\nmodel = Net()\nmodel.load_state_dict(torch.load('a.ckpt'))\nwindow.show(model)\n"


def behavior(checkout: Build, files: dict[str, str]) -> str:
    run = primary_run(checkout({"README.md": "```\npython app.py\n```\n"} | files))
    assert run is not None
    return run.behavior.value


@pytest.mark.parametrize("optimizer", ["RMSprop", "Adam"])
def test_who_imports_a_network_that_could_be_trained_only_runs_it(checkout: Build, optimizer: str) -> None:
    assert behavior(checkout, {"app.py": PAGE, "net.py": NETWORK.format(optimizer)}) == "infers"


def test_a_trainer_beside_it_trains(checkout: Build) -> None:
    program = "import pytorch_lightning as pl\nfrom net import Net\npl.Trainer(devices=1).fit(Net(), loader)\n"
    assert behavior(checkout, {"app.py": program, "net.py": NETWORK.format("Adam")}) == "trains"


@pytest.mark.parametrize(("verb", "expected"), [("train", "trains"), ("predict", "infers")])
def test_a_solver_of_equations_that_trains_its_network_trains(checkout: Build, verb: str, expected: str) -> None:
    program = f"import paddle\nimport ppsci\nsolver = ppsci.solver.Solver(model, constraint)\nsolver.{verb}()\nmodel.predict(x)\n"
    assert behavior(checkout, {"app.py": program}) == expected
