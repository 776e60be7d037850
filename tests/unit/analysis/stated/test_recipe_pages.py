"""Pages tell on how many cards a training was done whose program is another project's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

BLOG = "# Training long texts\n\nWe trained GPT on 64 A100 GPUs. Training was stable.\n\nThe small model was trained on 8 A100 GPUs.\n\nWe trained it again on 16 A100 GPUs.\n"
RECIPE = (
    "# Recipe\n\n- all models are trained on a machine with **8 GPUs**\n```bash\npython3 {} data --arch ours\n```\n"
)
PREPARE = {"prepare.py": "import json\nprint(json.dumps({}))\n"}


@pytest.mark.parametrize(
    ("files", "workload", "cards"),
    [
        ({"README.md": BLOG}, "training", 8),
        ({"README.md": RECIPE.format("[FRAMEWORK]/train.py"), **PREPARE}, "training", 8),
        # Told once in passing, beside programs, of a step beside the work, and where no number is told.
        ({"README.md": "# A list\n\nA paper that trained on 64 A100 GPUs.\n"}, "cpu-only", 0),
        ({"README.md": BLOG, **PREPARE}, "cpu-only", 0),
        # A list of what others did: each on cards of its own, or with a link to it.
        ({"README.md": BLOG.replace("8 A100", "8 V100")}, "cpu-only", 0),
        ({"README.md": "# Papers on training\n\n" + "- [One](https://one.example) was trained on 8 A100 GPUs.\n" * 4}, "cpu-only", 0),
        ({"README.md": RECIPE.format("[FRAMEWORK]/prepare.py"), **PREPARE}, "cpu-only", 0),
        ({"README.md": RECIPE.format("[FRAMEWORK]/train.py").replace("8 GPUs", "our machine"), **PREPARE}, "cpu-only", 0),
    ],
)  # fmt: skip
def test_what_pages_tell(checkout: Build, files: dict[str, str], workload: str, cards: int) -> None:
    found = analyze(checkout(files)).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == (workload, cards)
