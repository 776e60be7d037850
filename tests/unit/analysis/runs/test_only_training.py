"""Trainings over several machines that a README sends its reader to, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nmodel = torch.nn.Linear(3, 3).cuda()\nmodel(torch.ones(3).cuda()).sum().backward()\n"
INFER = "import torch\nmodel = torch.nn.Linear(3, 3).cuda()\nmodel.eval()\nprint(model.predict(torch.ones(3)))\n"
JOB = "#!/bin/bash\n#SBATCH --nodes=16\n#SBATCH --gpus-per-node=4\nsrun python train.py\n"
TOLD = "## Training\n\nA script for a cluster is in `submit.sh`.\n\n"
USED = "## Evaluation of forecasts\n\n```\npython inference.py\n```\n\n"


@pytest.mark.parametrize(
    ("readme", "expected"), [(f"# Winds\n\n{TOLD}{USED}", "training"), (f"# Winds\n\n{USED}{TOLD}", "inference")]
)
def test_it_is_what_is_run_where_it_is_told_of_first(checkout: Build, readme: str, expected: str) -> None:
    # What lies beside it, and no document tells of, changes nothing.
    tree = checkout(
        {
            "README.md": readme,
            "train.py": TRAIN,
            "inference.py": INFER,
            "submit.sh": JOB,
            "try.sh": "srun -n 4 python train.py\n",
        }
    )
    assert analyze(tree).spec.meta.workload_type.value == expected


def test_a_later_stage_of_pre_training_is_not_the_main_run(checkout: Build) -> None:
    section = "## {}\n\n```\npython {} --lr 1\n```\n\n"
    tune, later = section.format("Answers", "train_answers.py"), "horovodrun -np 4 python"
    files = {"train_answers.py": TRAIN, "pretrain_more.py": TRAIN, "pretrain.py": TRAIN}
    second = section.format("2nd Stage Pre-training", "pretrain_more.py").replace("python", later)
    tree = checkout({**files, "README.md": f"# Pictures\n\n{tune}{second}"})
    assert analyze(tree).spec.hardware.gpu_count == 1
    first = section.format("Pre-training", "pretrain.py").replace("python", later)
    tree = checkout({**files, "README.md": f"# Pictures\n\n{tune}{first}"})
    assert analyze(tree).spec.hardware.gpu_count == 4


def test_continual_pre_training_is_a_main_run(checkout: Build) -> None:
    section = "## {}\n\n```\n{} {}\n```\n\n"
    tune = section.format("Answers", "python", "train_answers.py")
    more = section.format("Continual Pre-training", "horovodrun -np 4 python", "pretrain.py")
    files = {"train_answers.py": TRAIN, "pretrain.py": TRAIN, "README.md": f"# Pictures\n\n{tune}{more}"}
    assert analyze(checkout(files)).spec.hardware.gpu_count == 4
