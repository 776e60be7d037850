"""What is trained to classify, score or embed whole samples computes no logits over a vocabulary; and names of adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis

Build = Callable[[Mapping[str, str]], Checkout]
SWIFT = "swift {} --model Qwen/Qwen2.5-7B-Instruct --per_device_train_batch_size 4 --max_length 2048 {}\n"
PROGRAM = (
    "import torch\nfrom transformers import {0}, AutoModelForCausalLM, Trainer, TrainingArguments\n"
    "model = {0}.from_pretrained('Qwen/Qwen2.5-0.5B')\n{1}"
    "args = TrainingArguments('out', per_device_train_batch_size=4)\nTrainer(model=model, args=args).train()\n"
)


def terms(analysis: Analysis) -> set[str]:
    assert analysis.breakdown is not None
    return {term.name for term in analysis.breakdown.terms}


@pytest.mark.parametrize(
    ("verb", "options", "has_logits"),
    [
        ("sft", "--tuner_type lora", True),
        ("sft", "--tuner_type lora --task_type seq_cls --num_labels 2", False),
        ("sft", "--tuner_type lora --task_type embedding", False),
        ("sft", "--tuner_type lora --task_type causal_lm", True),
        ("rlhf", "--tuner_type lora --rlhf_type rm", False),
        ("rlhf", "--tuner_type lora --rlhf_type dpo", True),
    ],
)
def test_a_tools_task_says_what_head_is_trained(checkout: Build, verb: str, options: str, has_logits: bool) -> None:
    assert ("logits" in terms(analyze(checkout({"run.sh": SWIFT.format(verb, options)})))) is has_logits


@pytest.mark.parametrize(
    ("text", "has_logits"), [("reward_model: true\n", False), ("reward_model: false\n", True), ("", True)]
)
def test_a_recipe_for_rewards_has_no_head_of_words(checkout: Build, text: str, has_logits: bool) -> None:
    recipe = "base_model: google/gemma-2-2b\nmicro_batch_size: 1\nsequence_len: 2048\nlearning_rate: 1e-4\n"
    assert ("logits" in terms(analyze(checkout({"rm.yaml": recipe + text})))) is has_logits


@pytest.mark.parametrize(
    ("kind", "more", "has_logits"),
    [
        ("AutoModelForSequenceClassification", "", False),
        ("AutoModelForTokenClassification", "", False),
        ("AutoModelForCausalLM", "", True),
        # A judge beside what is trained to speak.
        ("AutoModelForSequenceClassification", "policy = AutoModelForCausalLM.from_pretrained('gpt2')\n", True),
    ],
)
def test_the_class_that_is_loaded_says_what_head_is_trained(
    checkout: Build, kind: str, more: str, has_logits: bool
) -> None:
    assert ("logits" in terms(analyze(checkout({"train.py": PROGRAM.format(kind, more)})))) is has_logits


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("lora", "lora"),
        ("adapter", "lora"),
        ("llamapro", "lora"),
        ("reft", "lora"),
        ("full", "full"),
        ("adapterless", "full"),
    ],
)
def test_ways_to_train_few_of_the_weights_by_their_names(checkout: Build, kind: str, method: str) -> None:
    analysis = analyze(checkout({"run.sh": SWIFT.format("sft", f"--tuner_type {kind}")}))
    assert analysis.breakdown is not None
    assert analysis.breakdown.method == method
