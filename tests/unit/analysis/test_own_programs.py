"""What small programs and launch scripts of one's own say: arguments that are passed, words put together, attention by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

GPT = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.qkv = nn.Linear(cfg["emb_dim"], 3 * cfg["emb_dim"])
    def forward(self, x):
        {attention}

def loader(text, batch_size=4, max_length=256):
    return torch.utils.data.DataLoader(text, batch_size=batch_size)

def main(cfg, settings):
    model = nn.Sequential(*[Block(cfg) for _ in range(cfg["n_layers"])]).cuda()
    for x in loader(text, batch_size=settings["batch_size"], max_length=cfg["context_length"]):
        model(x).sum().backward()

if __name__ == "__main__":
    main({{"vocab_size": 50257, "context_length": 1024, "emb_dim": 768, "n_heads": 12, "n_layers": 12}}, {{"batch_size": 16}})
"""
BY_HAND = "return torch.softmax((q @ k).masked_fill(mask, -torch.inf), dim=-1) @ v"
FUSED = "return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)"
TRAINER = """
import argparse
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
parser = argparse.ArgumentParser()
parser.add_argument("-bs", "--batch-size", type=int)
if __name__ == "__main__":
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
    Trainer(model=model, args=TrainingArguments(per_device_train_batch_size=args.batch_size)).train()
"""


def analyzed(checkout: Build, files: Mapping[str, str]) -> Analysis:
    return analyze(checkout({"requirements.txt": "torch\ntransformers\n", **files}))


def test_argument_that_a_call_passes_wins_over_the_parameters_default(checkout):
    analysis = analyzed(checkout, {"train.py": GPT.format(attention=FUSED)})
    assert value_of_best(analysis.findings, "training.batch_size") == "16"
    assert value_of_best(analysis.findings, "training.sequence_length") == "1024"


def test_parameters_default_counts_where_no_call_passes_another(checkout):
    program = (
        GPT.format(attention=FUSED).replace('batch_size=settings["batch_size"], ', "").replace('"batch_size": 16', "")
    )
    analysis = analyzed(checkout, {"train.py": program})
    assert value_of_best(analysis.findings, "training.batch_size") == "4"


def test_attention_by_hand_keeps_its_scores(checkout):
    by_hand = analyzed(checkout, {"train.py": GPT.format(attention=BY_HAND)})
    assert value_of_best(by_hand.findings, "training.attention") == "eager"
    fused = analyzed(checkout, {"train.py": GPT.format(attention=FUSED)})
    assert value_of_best(fused.findings, "training.attention") is None
    # 5 bytes per head and pair of positions and layer, twice at 32 bit (Korthikanti et al. 2022): 2 x 5 x 12 x 1024 x 1024 x 12 x 16.
    scores_gib = 2 * 5 * 12 * 1024 * 1024 * 12 * 16 / 2**30
    by_name = {term.name: term.gib for term in by_hand.breakdown.terms}
    less = {term.name: term.gib for term in fused.breakdown.terms}
    assert by_name["activations"] - less["activations"] == pytest.approx(scores_gib, rel=0.01)


@pytest.mark.parametrize(
    ("script", "batch", "count"),
    [
        (': ${BATCH:=12}\n: "${GPUS:=4}"\ntorchrun --nproc_per_node $GPUS train.py -bs $BATCH\n', "12", 4),
        ('ARGS="--seed 1"\nARGS+=" -bs 24"\ntorchrun --nproc_per_node 2 train.py $ARGS\n', "24", 2),
        ("ARGS=(--seed 1)\nARGS+=(-bs 6)\ntorchrun --nproc_per_node 2 train.py ${ARGS[@]}\n", "6", 2),
    ],
)
def test_shell_fallbacks_and_words_that_are_added_reach_the_command(checkout, script, batch, count):
    analysis = analyzed(checkout, {"train.py": TRAINER, "train.sh": f"#!/bin/bash\n{script}"})
    assert value_of_best(analysis.findings, "training.batch_size") == batch
    assert analysis.spec.hardware.gpu_count == count


def test_name_of_quantized_weights_tells_their_bits(checkout):
    config = "model_name_or_path: {}\nfinetuning_type: lora\ncutoff_len: 2048\nper_device_train_batch_size: 1\n"
    plain, packed, half = (
        analyzed(checkout, {"sft.yaml": config.format(name)}).breakdown
        for name in ("unit/Llama-3-8B", "unit/Llama-3-8B-Instruct-AWQ", "unit/Llama-3-8B-AQLM-2Bit-1x16")
    )
    weights = [next(term.gib for term in found.terms if term.name == "weights") for found in (plain, packed, half)]
    assert weights[0] > 2.5 * weights[1] > 2.5 * weights[2]


def test_model_that_deepspeed_only_spreads_is_not_trained(checkout):
    program = """
import deepspeed
from transformers import AutoModelForCausalLM
if __name__ == "__main__":
    model = AutoModelForCausalLM.from_pretrained("facebook/opt-13b").eval()
    engine = deepspeed.initialize(model=model, config_params=config)[0]
    engine.module.generate(tokens)
"""
    files = {"run_model.py": program, "README.md": "```\ndeepspeed --num_gpus 1 run_model.py\n```\n"}
    assert analyzed(checkout, files).spec.meta.workload_type is WorkloadType.INFERENCE
    trains = {**files, "run_model.py": program.replace("config_params=config", "model_parameters=model.parameters()")}
    assert analyzed(checkout, trains).spec.meta.workload_type is WorkloadType.TRAINING


def test_page_on_which_a_training_is_started_trains(checkout):
    page = "import gradio\nimport torch\nfrom tuner import build\nif __name__ == '__main__':\n    build().launch()\n"
    tuner = "import torch\nfrom transformers import AutoModel\ndef build():\n    return AutoModel.from_pretrained('gpt2').generate()\n"
    files = {"tuner.py": tuner, "README.md": "```\npython train_web.py\n```\n"}
    assert analyzed(checkout, {**files, "train_web.py": page}).spec.meta.workload_type is WorkloadType.TRAINING


def test_transformer_too_narrow_for_word_pieces_spells(checkout):
    program = (
        GPT.format(attention=FUSED)
        .replace('"vocab_size": 50257, ', "")
        .replace("768", "64")
        .replace('"n_heads": 12', '"n_heads": 4')
    )
    narrow = analyzed(checkout, {"train.py": program}).breakdown
    logits = next(term for term in narrow.terms if term.name == "logits")
    assert "256" in logits.basis
    assert narrow.required_gib <= 4
