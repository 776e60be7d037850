"""How trainings cut their models over cards: Megatron-LM's flags, nanotron's and torchtitan's sections, ms-swift's commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis

Build = Callable[[Mapping[str, str]], Checkout]
GPT = """#!/bin/bash
GPUS_PER_NODE=8
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes 1 pretrain_gpt.py \\
    --num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 --max-position-embeddings 2048 \\
    --micro-batch-size 1 --global-batch-size 1536 --train-iters 500000 --fp16 --tokenizer-type GPT2BPETokenizer \\
    --tensor-model-parallel-size 8 --pipeline-model-parallel-size 16
"""
MIXTRAL = """torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py \\
    --use-mcore-models --seq-length 4096 --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \\
    --swiglu --untie-embeddings-and-output-weights --group-query-attention --num-query-groups 8 \\
    --num-experts 8 --moe-router-topk 2 --tokenizer-type Llama2Tokenizer --micro-batch-size 1 --global-batch-size 256 --bf16 \\
    --tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --expert-model-parallel-size 8 \\
    --use-distributed-optimizer --sequence-parallel
"""
NANOTRON = """model:
  model_config:
    hidden_size: 2048
    num_hidden_layers: 24
    num_attention_heads: 16
    vocab_size: 50272
parallelism:
  dp: {dp}
  pp: {pp}
  tp: {tp}
tokens:
  micro_batch_size: 2
  sequence_length: 1024
  train_steps: 100
optimizer:
  learning_rate_scheduler:
    learning_rate: 0.0003
"""


def said(analysis: Analysis, field: str) -> str | None:
    return next((finding.value for finding in analysis.findings if finding.field == field), None)


def test_a_cut_model_fits_cards_that_none_alone_would_hold(checkout: Build) -> None:
    found = analyze(checkout({"train_175b.sh": GPT}))
    assert said(found, "training.tensor_parallel") == "8"
    assert said(found, "training.pipeline_parallel") == "16"
    assert found.spec.hardware.vram_required_gb == 80
    assert found.spec.hardware.gpu_count == 8
    assert found.spec.hardware.num_nodes == 16  # 8 x 16 cards


def test_flags_build_a_mixture_of_experts(checkout: Build) -> None:
    found = analyze(checkout({"train_mixtral.sh": MIXTRAL}))
    assert said(found, "training.runtime") == "megatron"
    assert said(found, "training.sharding") == "zero-1"
    assert said(found, "training.whole_norms") is None
    assert found.breakdown is not None
    assert "46.7 B" in found.breakdown.terms[0].basis
    assert found.spec.hardware.num_nodes == 4
    assert found.spec.hardware.vram_required_gb <= 80


@pytest.mark.parametrize(("dp", "pp", "tp", "count"), [(2, 2, 2, 8), (1, 1, 2, 8), (2, 1, 2, 4), (8, 4, 4, 8)])
def test_nanotrons_section_says_the_cards(checkout: Build, dp: int, pp: int, tp: int, count: int) -> None:
    found = analyze(checkout({"config.yaml": NANOTRON.format(dp=dp, pp=pp, tp=tp)}))
    assert said(found, "training.tensor_parallel") == str(tp)
    assert found.spec.hardware.gpu_count == count


def test_a_short_word_alone_means_something_else(checkout: Build) -> None:
    text = (
        "base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 1\nsequence_len: 512\noptimizer: adamw_torch\npp: 4\n"
    )
    found = analyze(checkout({"run.yaml": text}))
    assert said(found, "training.pipeline_parallel") is None


def test_an_engines_parallelism_is_not_the_trainers(checkout: Build) -> None:
    command = """python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct algorithm.adv_estimator=grpo \\
  actor_rollout_ref.rollout.tensor_model_parallel_size=4 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 trainer.n_gpus_per_node=8
"""
    found = analyze(checkout({"run.sh": command}))
    assert said(found, "training.tensor_parallel") is None
    assert said(found, "training.runtime") is None


def test_megatron_recomputes_whole_layers_or_attention_alone(checkout: Build) -> None:
    for words, state in (("--recompute-granularity full --recompute-method uniform", "on"), ("--recompute-granularity selective", "off")):  # fmt: skip
        found = analyze(checkout({"train_175b.sh": GPT.rstrip() + " " + words + "\n"}))
        assert said(found, "training.gradient_checkpointing") == state


@pytest.mark.parametrize(
    ("kind", "terms"),
    [
        ("--rlhf_type ppo --reward_model Qwen/Qwen2.5-7B-Instruct", {"critic", "reward model"}),
        ("--rlhf_type gkd --teacher_model Qwen/Qwen2.5-14B-Instruct", {"teacher"}),
        ("--rlhf_type cpo", set[str]()),
    ],
)
def test_swifts_ways_of_feedback_keep_further_models(checkout: Build, kind: str, terms: set[str]) -> None:
    command = f"NPROC_PER_NODE=4 swift rlhf {kind} --model Qwen/Qwen2.5-7B-Instruct --tuner_type lora --torch_dtype bfloat16 --max_length 1024 --per_device_train_batch_size 1\n"  # fmt: skip
    found = analyze(checkout({"run.sh": command}))
    assert found.breakdown is not None
    assert {t.name for t in found.breakdown.terms} & {"critic", "reward model", "teacher"} == terms


def test_verls_actor_is_cut_as_its_own_section_says(checkout: Build) -> None:
    command = """backend=megatron
max_response_length=$((1024 * 2))
python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer algorithm.adv_estimator=grpo \\
  actor_rollout_ref.model.path=$ROOT/models/Qwen3-8B actor_rollout_ref.actor.strategy=$backend \\
  data.max_prompt_length=512 data.max_response_length=$max_response_length \\
  actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \\
  actor_rollout_ref.rollout.tensor_model_parallel_size=2 trainer.n_gpus_per_node=8
"""
    found = analyze(checkout({"run.sh": command}))
    assert said(found, "training.tensor_parallel") == "4"
    assert said(found, "training.sharding") is None
    assert said(found, "training.sequence_length") == "2560"
    assert found.breakdown is not None
    assert "8.19 B" in found.breakdown.terms[0].basis


def test_the_cores_that_hold_one_replica_divide_its_model(checkout: Build) -> None:
    program = "import json\nimport jax\nparams = json.load(open('c.json'))\nloss.backward()\noptimizer.step()\n"
    for cores, expected in ((8, {"8"}), (1, set())):
        tree = checkout(
            {
                "train.py": program,
                "c.json": f'{{"layers": 28, "cores_per_replica": {cores}}}',
                "README.md": "```\npython train.py --config c.json\n```\n",
            }
        )
        assert {f.value for f in analyze(tree).findings if f.field == "training.tensor_parallel"} == expected
