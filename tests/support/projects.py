"""A small project that trains a network on a card, for tests about where in a checkout it lies."""

from __future__ import annotations

TRAIN = (
    "import torch\nfrom torchvision.models import resnet50\nmodel = resnet50().cuda()\n"
    "optimizer = torch.optim.SGD(model.parameters(), 0.1)\nfor x, y in loader:\n    loss = model(x).sum()\n"
    "    loss.backward()\n    optimizer.step()\n"
)


def project(gigabytes: int, train: str = TRAIN) -> dict[str, str]:
    """Return its files; its README says how much memory it needs."""
    return {
        "train.py": train,
        "README.md": f"# Net\n\nNeeds {gigabytes} GB of VRAM.\n\n```\npython train.py --batch-size 32\n```\n",
        "requirements.txt": "torch\ntorchvision\n",
    }
