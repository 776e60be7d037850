"""The smallest size of card that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.gpus import accelerators

Build = Callable[[Mapping[str, str]], Checkout]
NET = """import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(784, 10)
    def forward(self, x):
        return self.head(x.flatten(1))
"""
TRAIN = """if __name__ == '__main__':
    net = Net().cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in load():
        nn.functional.cross_entropy(net(x.cuda()), y.cuda()).backward()
        optimizer.step()
"""
INFER = "from transformers import AutoModel\nif __name__ == '__main__':\n    AutoModel.from_pretrained('google-bert/bert-base-uncased').cuda()(x)\n"


# What looks at the pictures is known, and the rest is not: the sum is that of a part.
PARTS = "import torch, torchvision\nfrom torch import nn\nfrom elsewhere import Net\nseen = torchvision.models.squeezenet1_1().features\n"
WIDE = NET.replace("nn.Linear(784, 10)", "nn.Linear(15000, 15000)").replace(".flatten(1)", ".flatten(1)[:, :15000]")


MIDDLING = WIDE.replace("15000", "8000")


@pytest.mark.parametrize(
    ("code", "size"),
    [(NET + TRAIN, 8), (MIDDLING + TRAIN, 12), (WIDE + TRAIN, 12), (INFER, 12), (PARTS + TRAIN, 12)],
)
def test_no_smaller_card_is_asked_for_than_is_cheapest(checkout: Build, code: str, size: int) -> None:
    hardware = analyze(checkout({"main.py": code, "README.md": "```\npython main.py\n```\n"})).spec.hardware
    assert hardware.vram_required_gb == size
    assert (hardware.needed_gib or 99) <= 6  # what was computed stays beside it


def test_documentation_says_how_little_is_enough(checkout: Build) -> None:
    said = "# Net\nTraining needs 3 GB of GPU memory.\n```\npython main.py\n```\n"
    assert analyze(checkout({"main.py": NET + TRAIN, "README.md": said})).spec.hardware.vram_required_gb == 8


@pytest.mark.parametrize(("asked", "is_doubted"), [(8, False), (6, False), (40, True)])
def test_a_file_that_asks_for_what_is_needed_is_not_doubted(checkout: Build, asked: int, is_doubted: bool) -> None:
    tree = checkout({"main.py": INFER, "README.md": "```\npython main.py\n```\n"})
    found = analyze(tree, f"hardware: {{vram_required_gb: {asked}}}\n")
    assert ("hardware.vram_required_gb" in {each.key for each in found.differences}) is is_doubted


LABELS = """import torch
from transformers import AutoModelForSequenceClassification
if __name__ == '__main__':
    model = AutoModelForSequenceClassification.from_pretrained('google-bert/bert-base-uncased').cuda()
    batch_size, max_length = 4, 64
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("processes", "size"), [(1, 12), (2, 12), (4, 16), (8, 16)])
def test_machines_with_many_cards_have_cards_of_16(checkout: Build, processes: int, size: int) -> None:
    readme = f"# Labels\n```bash\ntorchrun --nproc_per_node {processes} train.py\n```\n"
    hardware = analyze(checkout({"train.py": LABELS, "README.md": readme})).spec.hardware
    assert (hardware.gpu_count, hardware.vram_required_gb) == (processes, size)


def test_what_documentation_says_of_many_cards_wins(checkout: Build) -> None:
    readme = "# Labels\n```bash\ntorchrun --nproc_per_node 4 train.py\n```\nTraining takes 4 GB of GPU memory on each card.\n"
    assert analyze(checkout({"train.py": LABELS, "README.md": readme})).spec.hardware.vram_required_gb == 8


ASKED = "from transformers import AutoModelForCausalLM as A\nif __name__ == '__main__':\n    A.from_pretrained('{}').half().cuda().generate(x)\n"


@pytest.mark.parametrize(
    ("model", "said", "size"),
    [
        ("Qwen/Qwen3-8B", "", 24),
        ("Qwen/Qwen3-8B", "Inference needs 18 GB of GPU memory.", 20),
        ("meta-llama/Llama-3.1-8B-Instruct", "", 20),  # of which 2.8 GiB are left
    ],
)
def test_a_sum_that_fills_a_card_of_20_asks_for_24(checkout: Build, model: str, said: str, size: int) -> None:
    readme = f"{said}\n```\npython main.py\n```\n"
    hardware = analyze(checkout({"main.py": ASKED.format(model), "README.md": readme})).spec.hardware
    assert hardware.vram_required_gb == size
    # No card of 20 GB is offered for what asks for 24.
    assert ((hardware.needed_gib or 0) > accelerators()["RTXA4500"].memory_gib) is (size == 24)


AGENT = "from stable_baselines3 import PPO\nif __name__ == '__main__':\n    PPO('MlpPolicy', 'CartPole-v1', device='cuda').learn(10_000)\n"


@pytest.mark.parametrize(
    ("code", "parts", "size"),
    [
        (INFER, 18, 12),
        (INFER, 19, 16),
        (MIDDLING + TRAIN, 19, 16),
        (NET + TRAIN, 18, 8),
        (NET + TRAIN, 19, 16),
        (AGENT, 30, 8),
    ],
)
def test_of_a_large_project_a_small_sum_is_a_part(checkout: Build, code: str, parts: int, size: int) -> None:
    tree = {f"lib/part_{number}.py": "import torch\nSEEN = torch.device('cuda')\n" for number in range(parts)}
    found = analyze(checkout({"main.py": code, "README.md": "```\npython main.py\n```\n", **tree}))
    assert found.spec.hardware.vram_required_gb == size
