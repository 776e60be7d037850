from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

KERNEL = "def dtw(x, block_size: int = 1024):\n    return launch[x.shape[0] // block_size](x)\n"


@pytest.mark.parametrize(
    ("load", "length"),
    [
        ("WhisperForConditionalGeneration.from_pretrained('openai/whisper-small')", None),
        ("AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-1.5B')", "1024"),
    ],
)
def test_a_length_counts_where_the_model_reads_texts(checkout: Build, load: str, length: str | None) -> None:
    program = (
        "import torch\nfrom transformers import AutoModelForCausalLM, WhisperForConditionalGeneration\nfrom timing import dtw\n"
        f"model = {load}.cuda()\ndtw(model.generate(x))\n"
    )
    found = analyze(
        checkout({"run.py": program, "timing.py": KERNEL, "README.md": "```\npython run.py\n```\n"})
    ).findings
    assert value_of_best(found, "training.sequence_length") == length
