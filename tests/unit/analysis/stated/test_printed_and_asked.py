"""Figures that documents print or answer with: nvidia-smi's table, a question in bold, megabytes in a column, the head of a program."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, detect_all
from gpu_lol_action.analysis.documents.documented_amounts import in_use
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nfrom mynet import Net\nnet = Net().cuda()\nnet(x).sum().backward()\n"
SMI = "|   0  NVIDIA GeForce RTX 3090    Off  | 00000000:01:00.0 Off |                  N/A |\n| 30%   45C    P2   200W / 350W |  20480MiB / 24576MiB |     98%      Default |"


@pytest.mark.parametrize(
    ("line", "gib"),
    [
        ("| 30%   45C    P2   200W / 350W |  20480MiB / 24576MiB |     98%      Default |", 20.0),
        ("| 30%   45C    P8    20W / 350W |    512MiB / 24576MiB |      0%      Default |", None),
        ("|    0   N/A  N/A      1234      C   python                          20478MiB |", None),
        ("20480MiB / 24576MiB of the disk", None),
    ],
)
def test_memory_in_use_is_read_from_nvidia_smi(line: str, gib: float | None) -> None:
    assert in_use(line) == gib


@pytest.mark.parametrize(
    ("told", "gigabytes"),
    [
        (f"```\n{SMI}\n```", 20),
        ("**Q: How much GPU memory do I need?**\n\nA: 24 GB is enough.", 24),
        ("**How long does it take?**\n\nA: 24 hours, and 24 GB of disk.", 12),
        ("| Model | Mem (MiB) |\n|---|---|\n| base | 22500 |", 24),
    ],
)
def test_what_a_readme_prints_or_answers_is_asked_for(checkout: Build, told: str, gigabytes: int) -> None:
    readme = f"# N\n\n```\npython train.py --size base\n```\n\n{told}\n"
    assert analyze(checkout({"README.md": readme, "train.py": TRAIN})).proposed.hardware.vram_required_gb == gigabytes


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ('"""Train the net.\n\nNeeds a GPU with 24 GB of memory.\n"""\n', [("24", 3)]),
        ("# License\n'''Needs 24 GB of VRAM.'''\n", [("24", 2)]),
        ('X = 1\n"""Needs a GPU with 24 GB of memory."""\n', []),
        ('"""Reads 24 GB of data."""\n', []),
    ],
)
def test_the_head_of_a_program_is_a_remark_on_it(checkout: Build, head: str, said: list[tuple[str, int]]) -> None:
    found = detect_all(checkout({"train.py": head + TRAIN}))
    assert [(f.value, f.evidence.line) for f in found if f.field == "documented.memory_gb"] == said


SERVED = "from transformers import AutoModelForCausalLM\nimport torch\nfrom own import {0}\nmodel = {0}.from_pretrained(path, torch_dtype=torch.bfloat16).cuda()\nmodel.generate(x)\n"
OWN = "from transformers import Qwen2ForCausalLM\nclass SpeechQwen(Qwen2ForCausalLM):\n    pass\n"


def test_a_model_that_only_stands_for_a_family_disproves_no_document(checkout: Build) -> None:
    readme = "# S\n\n```\npython use.py\n```\n\nInference uses less than 7GB of VRAM.\n"
    files = {"README.md": readme, "use.py": SERVED.format("SpeechQwen"), "own.py": OWN}
    assert analyze(checkout(files)).proposed.hardware.vram_required_gb == 8
