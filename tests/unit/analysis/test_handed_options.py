"""Keywords that hand on an option, which the command gives (``gpus_per_node=args.tasks_per_node``)."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.runs.settings import look_up, scope_of
from tests.unit.analysis.conftest import Build

PROGRAM = (
    "import argparse\nimport torch\nimport submitit\np = argparse.ArgumentParser()\n"
    "p.add_argument('--tasks-per-node', type=int, default=1)\np.add_argument('--cards', type=int)\nargs = p.parse_args()\n"
    "loss.backward()\noptimizer.step()\nexecutor = submitit.AutoExecutor()\n"
    "executor.update_parameters(timeout_min=60, gpus_per_node={value})\n"
)


@pytest.mark.parametrize(
    ("value", "given", "count"),
    [
        ("args.tasks_per_node", "--tasks-per-node 8", "8"),
        ("self.args.tasks_per_node", "--tasks-per-node=4", "4"),
        ("args.cards", "--cards 8", "8"),  # which the program starts with nothing
        ("args.tasks_per_node", "--tasks-per-node $N", "1"),
        ("args.tasks_per_node", "--cards 8", "1"),
        ("job.tasks_per_node", "--tasks-per-node 8", "1"),  # of something else than the options
        ("args.cluster.tasks_per_node", "--tasks-per-node 8", "1"),
        ("2", "--tasks-per-node 8", "2"),
        ("args.cards", "", None),
    ],
)
def test_a_keyword_has_what_the_command_gives_its_option(
    checkout: Build, value: str, given: str, count: str | None
) -> None:
    readme = f"```\npython train.py --lr 1e-4 {given}\n```\n"
    tree = checkout({"train.py": PROGRAM.format(value=value), "README.md": readme})
    found = look_up(scope_of(tree, primary_run(tree)), ["gpus_per_node"])
    assert (found and found.text) == count


def test_the_cards_of_a_submitted_job_are_those_of_the_command(checkout: Build) -> None:
    readme = "```\npython train.py --nodes 2 --tasks-per-node 8\n```\n"
    tree = checkout({"train.py": PROGRAM.format(value="args.tasks_per_node"), "README.md": readme})
    counts = {f.value for f in analyze(tree).findings if f.field == "hardware.gpu_count"}
    assert counts == {"8"}


def test_what_judges_beside_a_training_hands_on_nothing(checkout: Build) -> None:
    program = (
        "import torch\nfrom torch.utils.data import DataLoader\nloader = DataLoader(train_set, batch_size=args.train_batch)\n"
        "judged = DataLoader(val_set, batch_size=args.val_batch)\nloss.backward()\noptimizer.step()\n"
    )
    readme = "```\npython train.py --train_batch 8 --val_batch 64\n```\n"
    tree = checkout({"train.py": program, "README.md": readme})
    scope = scope_of(tree, primary_run(tree))
    assert [found.text for found in scope.under(["batch_size"])] == ["8"]
