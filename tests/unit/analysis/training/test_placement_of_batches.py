"""What is divided over cards, and what is not: states over all machines, and no batch of an inference."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = (
    "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments, HfArgumentParser\n"
    "args = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()[0]\n"
    "model = AutoModelForCausalLM.from_pretrained('mistralai/Mixtral-8x7B-v0.1')\nTrainer(model, args).train()\n"
)
ZERO = '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}'
RUN = "torchrun --nnodes %d --nproc_per_node 8 train.py --deepspeed zero.json --bf16 True --per_device_train_batch_size 1 --gradient_checkpointing True\n"


def needed(checkout: Build, nodes: int) -> float:
    files = {"train.py": TRAIN, "zero.json": ZERO, "README.md": f"```\n{RUN % nodes}```\n"}
    analysis = analyze(checkout(files))
    assert (analysis.proposed.hardware.gpu_count, analysis.proposed.hardware.num_nodes) == (8, nodes)
    assert analysis.breakdown is not None
    return analysis.breakdown.expected_gib


def test_states_are_divided_among_the_cards_of_all_machines(checkout: Build) -> None:
    two, six = needed(checkout, 2), needed(checkout, 6)
    # 16 bytes for each of 46.7 billion parameters: 43.5 GiB of each of 16 cards, 14.5 of each of 48.
    assert two - six == pytest.approx(43.5 - 14.5, abs=5)


@pytest.mark.parametrize(("batch", "is_assumed"), [(256, True), (1, False)])
def test_no_batch_of_an_inference_takes_several_cards(checkout: Build, batch: int, is_assumed: bool) -> None:
    program = (
        "import argparse, torch\nfrom transformers import AutoModelForCausalLM\np = argparse.ArgumentParser()\n"
        f"p.add_argument('--batch_size', type=int, default={batch})\np.add_argument('--dtype', default='fp32')\nargs = p.parse_args()\n"
        "model = AutoModelForCausalLM.from_pretrained('google/gemma-2-2b', torch_dtype=torch.float32).cuda()\nmodel.generate(x)\n"
    )
    analysis = analyze(checkout({"README.md": "```\npython use.py\n```\n", "use.py": program}))
    assert analysis.proposed.hardware.gpu_count == 1
    assert any("is assumed against what was read" in gap for gap in analysis.not_understood) is is_assumed
