"""Runs that only show that all is there come behind the others; what trains beside a model that is used counts no cards for it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nimport hydra\nif __name__ == '__main__':\n    loss.cuda().backward()\n    optimizer.step()\n"
INFER = "import torch\nfrom diffusers import DiffusionPipeline as P\nif __name__ == '__main__':\n    P.from_pretrained(args.path).to('cuda')(prompt)\n"


@pytest.mark.parametrize(
    ("readme", "line"),
    [
        ("## Validating installation\n```\n./train.py a=1\n```\n## Experiments\n```\n./train.py a=2\n```\n", 7),
        ("## Verify the setup\n```\n./train.py a=1\n```\n## Experiments\n```\n./train.py a=2\n```\n", 7),
        ("## A toy example\n```\n./train.py a=1\n```\n## Experiments\n```\n./train.py a=2\n```\n", 7),
        # The thing that pictures show, with which every fork of a well-known example begins.
        ("## Cat toy example\n```\n./train.py a=1\n```\n## Experiments\n```\n./train.py a=2\n```\n", 3),
        # "Validation" of a model is none of an installation.
        ("## Validation loss\n```\n./train.py a=1\n```\n## Experiments\n```\n./train.py a=2\n```\n", 3),
        ("## Use\n```\n./train.py +experiments=net_overfit\n./train.py +experiments=net\n```\n", 4),
        ("## Use\n```\n./train.py +experiments=net_large\n./train.py +experiments=net\n```\n", 3),
        ("## Use\n```\n./train.py EVAL_ONLY=True\n./train.py EVAL_ONLY=False\n```\n", 4),
    ],
)
def test_what_tries_an_installation_or_overfits_is_a_variant(checkout: Build, readme: str, line: int) -> None:
    run = primary_run(checkout({"README.md": readme, "train.py": TRAIN}))
    assert run is not None
    assert (run.evidence.path, run.evidence.line) == ("README.md", line)


@pytest.mark.parametrize(("command", "count"), [("python app.py", 1), ("accelerate launch train.py", 6)])
def test_how_a_training_is_sharded_counts_no_cards_for_a_demo(checkout: Build, command: str, count: int) -> None:
    readme = (
        f"# Net\n```\n{command}\n```\nIt requires 44 GB of GPU memory.\n\n## Faster\nTrain with 6 GPUs as follows.\n"
    )
    sharded = "distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 2\nnum_machines: 1\n"
    train = TRAIN.replace("import hydra\n", "from accelerate import Accelerator\nAccelerator()\n")
    tree = checkout({"README.md": readme, "app.py": INFER, "train.py": train, "accelerate_config.yaml": sharded})
    assert analyze(tree).spec.hardware.gpu_count == count
