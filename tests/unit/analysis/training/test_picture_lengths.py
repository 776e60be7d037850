"""The length of samples with pictures: what the run says, else the picture's tokens and a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = """from dataclasses import dataclass
from transformers import HfArgumentParser, Qwen2VLForConditionalGeneration, Trainer, TrainingArguments

@dataclass
class Arguments(TrainingArguments):
    model_id: str = "Qwen/Qwen2-VL-7B-Instruct"
    {length}image_max_pixels: int = 12845056

if __name__ == "__main__":
    args = HfArgumentParser(Arguments).parse_args_into_dataclasses()[0]
    model = Qwen2VLForConditionalGeneration.from_pretrained("Qwen/Qwen2-VL-7B-Instruct")
    Trainer(model=model, args=args).train()
"""


@pytest.mark.parametrize(
    ("length", "options", "tokens"),
    [
        ("", "--image_max_pixels $((640 * 28 * 28))", 640 + 256),
        ("", "", 2551 + 256),
        ("", "--image_max_pixels $((640 * 28 * 28)) --max_seq_length 4096", 4096),
    ],
)
def test_a_picture_lengthens_its_sample(checkout: Build, length: str, options: str, tokens: int) -> None:
    script = f"deepspeed --num_gpus 8 train.py --per_device_train_batch_size 1 --bf16 True {options}\n"
    found = analyze(checkout({"train.py": TRAIN.format(length=length), "finetune.sh": script}))
    assert found.breakdown is not None
    assert any(f"1 x {tokens} tokens" in term.basis for term in found.breakdown.terms)
