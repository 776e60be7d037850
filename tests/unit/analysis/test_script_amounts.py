"""What a launch script says right above what it starts was seen with that very run: it counts more than the sum of terms."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

COMMAND = "swift sft \\\n  --model Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4 \\\n  --tuner_type lora \\\n  --per_device_train_batch_size 1 \\\n  --max_length 2048\n"
STARTS = f"CUDA_VISIBLE_DEVICES=0,1 {COMMAND}"


@pytest.mark.parametrize(
    ("remark", "least", "most"), [("# 2 * 30GiB", 30, 32), ("# 2 * 80GiB", 60, 80), ("# the usual start", 40, 80)]
)
def test_an_amount_in_the_script_is_that_of_the_run(checkout: Build, remark: str, least: int, most: int) -> None:
    tree = checkout({"train.sh": f"{remark}\n{STARTS}", "requirements.txt": "ms-swift\n"})
    assert least <= (analyze(tree).spec.hardware.vram_required_gb or 0) <= most
