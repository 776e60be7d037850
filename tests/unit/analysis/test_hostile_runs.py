"""Files that somebody wrote so that finding the runs takes long: all are answered, in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
MANY = 20_000
LIMIT_SECONDS = 15
LISTED = "backbone:\n" + "  - [-1, 1, Conv, [64, 3, 2]]\n" * 4000
NETWORK = """
import torch
import yaml

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        BODY
        self.head = torch.nn.Linear(10, 10)

    def forward(self, x):
        return self.head(x)

if __name__ == '__main__':
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.rand(2, 10)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": "```\n" + "".join(f"bash x.sh {number}\n" for number in range(MANY)), "x.sh": "python train.py $1\n" * 500},
        {"a.sh": "bash b.sh 1\n" * 2000, "b.sh": "bash c.sh $1\n" * 2000, "c.sh": "bash a.sh $1\n" * 2000},
        {"a.sh": "A=xxxxxxxxxx\n" + "A=$A$A$A$A\n" * 2000 + "python train.py " + "$A" * 4000 + "\n"},
        {"a.sh": "ARGS=(\n" * MANY + 'B="\n' * MANY},
        {"a.sh": "python train.py " + "# " * 3000 + "\n", "b.sh": ("python train.py " + "'#" * 3000 + "\n") * 20},
        {"a.sh": "python " + "$a" * 500 + ".py\n" + "python " + "a." * 3000 + "b\n"},
        {"pyproject.toml": "[project.scripts]\n" + "\n" * 150_000 + "".join(f'c{number} = "m{number}:f"\n' for number in range(3000))},
        {"sky.yaml": "resources:\n" + "\n" * MANY + "run: python train.py\n"},
        {"train.py": TRAIN + "\n" * 200_000 + "assert world_size == 4\n"},
        {"README.md": "# Training\n" + "Trained on 4 A100 GPUs.\n" * 4000 + "```\ntorchrun --nproc_per_node=N train.py\n```\n"},
        {"Makefile": "".join(f"t{number}: t{number + 1}\n\tmake t{number + 1}\n" for number in range(3000))},
        {"train.py": NETWORK.replace("BODY", "d = [[yaml.safe_load(open('net.yaml')) for _ in range(500)] for _ in range(500)]"), "net.yaml": LISTED},
        {"train.py": NETWORK.replace("BODY", "d = [torch.nn.Linear(3, 3) for _ in range(512)]\n        for _ in range(512):\n            d = self.row = torch.nn.Sequential(*[d, *d][:512])\n        for _ in range(512):\n            self.row = torch.nn.Sequential(*[self.row] * 512)")},
        {f"p{number}.py": TRAIN.replace("import torch", f"import torch\nimport p{number + 1}") for number in range(300)},
    ],
)  # fmt: skip
def test_hostile_files_are_answered_in_time(checkout: Build, files: dict[str, str]) -> None:
    tree = checkout({"train.py": TRAIN, **files})
    started = time.perf_counter()
    found = analyze(tree)
    assert time.perf_counter() - started < LIMIT_SECONDS
    assert found.spec.needs_gpu
    assert len(found.profiles) <= 7
