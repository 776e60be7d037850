"""Reinforcement learning with an engine beside the trainer, in the words of verl, OpenRLHF, TRL, ms-swift and oat."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis

Build = Callable[[Mapping[str, str]], Checkout]
VERL = """python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo \\
    data.train_batch_size=1024 \\
    data.max_prompt_length=512 \\
    data.max_response_length=1024 \\
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \\
    actor_rollout_ref.model.enable_gradient_checkpointing=True \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \\
    actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\
    actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \\
    actor_rollout_ref.rollout.n=5 \\
    trainer.n_gpus_per_node=8 {more}
"""
OPENRLHF = """python3 -m openrlhf.cli.train_ppo_ray \\
   --ref_num_nodes 1 --ref_num_gpus_per_node {each} \\
   --reward_num_nodes 1 --reward_num_gpus_per_node {each} \\
   --critic_num_nodes 1 --critic_num_gpus_per_node {each} \\
   --actor_num_nodes 1 --actor_num_gpus_per_node {each} \\
   --vllm_num_engines 2 --vllm_tensor_parallel_size 1 {more} \\
   --pretrain OpenRLHF/Llama-3-8b-sft-mixture --reward_pretrain OpenRLHF/Llama-3-8b-rm-mixture \\
   --micro_train_batch_size 2 --prompt_max_len 1024 --generate_max_len 1024 --zero_stage 3 --bf16 --gradient_checkpointing
"""
GRPO = """from trl import GRPOConfig, GRPOTrainer, TrlParser

def main(script_args, training_args, model_args):
    trainer = GRPOTrainer(model=model_args.model_name_or_path, args=training_args)
    trainer.train()

if __name__ == "__main__":
    parser = TrlParser((GRPOConfig,))
    main(*parser.parse_args_and_config())
"""
RECIPE = """model_name_or_path: Qwen/Qwen2.5-1.5B-Instruct
bf16: true
use_vllm: true
{more}per_device_train_batch_size: 4
max_prompt_length: 512
max_completion_length: 1024
gradient_checkpointing: true
"""


def said(analysis: Analysis, field: str) -> str | None:
    return next((finding.value for finding in analysis.findings if finding.field == field), None)


def term(analysis: Analysis, name: str) -> float:
    assert analysis.breakdown is not None
    return sum(each.gib for each in analysis.breakdown.terms if each.name == name)


def test_verls_hybrid_engine_shares_the_cards(checkout: Build) -> None:
    found = analyze(checkout({"run_grpo.sh": VERL.format(more="")}))
    assert said(found, "rl.engine") == "colocated"
    assert [said(found, f"rl.{name}") for name in ("engine_share", "engine_parts", "engine_sleeps", "group")] == [
        "0.6", "2", "yes", "5"]  # fmt: skip
    assert said(found, "rl.critic") is None
    assert said(found, "training.batch_size") == "4"
    assert said(found, "training.sharding") == "fsdp"
    assert found.spec.hardware.gpu_count == 8


def test_verls_ppo_trains_a_critic_besides(checkout: Build) -> None:
    text = VERL.replace("adv_estimator=grpo", "adv_estimator=gae").format(more="critic.model.path=Qwen/Qwen2.5-0.5B")
    found = analyze(checkout({"run_ppo.sh": text}))
    assert said(found, "rl.critic") == "Qwen/Qwen2.5-0.5B"
    assert 0 < term(found, "critic") < term(found, "optimizer")


def test_what_verl_moves_away_while_it_generates_is_back_when_it_steps(checkout: Build) -> None:
    moved = "actor_rollout_ref.actor.fsdp_config.param_offload=True actor_rollout_ref.actor.fsdp_config.optimizer_offload=True"
    found = analyze(checkout({"run_grpo.sh": VERL.format(more=moved)}))
    assert said(found, "rl.trainer_moved") == "yes"
    assert said(found, "training.offload") is None
    assert term(found, "optimizer") > 5


@pytest.mark.parametrize(
    ("more", "tokens", "batch"),
    [
        # Ulysses hands each card a part of every text, and of a budget of tokens that of all of them.
        ("actor_rollout_ref.actor.ulysses_sequence_parallel_size=2", None, "batch 4 x 768"),
        ("actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.actor.ppo_max_token_len_per_gpu=12288 actor_rollout_ref.actor.ulysses_sequence_parallel_size=2", "12288", "batch 16 x 768"),
        ("actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.actor.ppo_max_token_len_per_gpu=12288", "12288", "batch 8 x 1536"),
        ("actor_rollout_ref.model.use_remove_padding=True", None, "batch 2 x 1536"),
    ],
)  # fmt: skip
def test_verls_batches_are_those_of_a_pass(checkout: Build, more: str, tokens: str | None, batch: str) -> None:
    found = analyze(checkout({"run_grpo.sh": VERL.format(more=more)}))
    assert said(found, "training.card_tokens") == tokens
    assert found.breakdown is not None
    assert any(batch in each.basis for each in found.breakdown.terms)


@pytest.mark.parametrize(
    ("each", "more", "engine", "count"),
    [
        (2, "", "separate", 8),  # 2 + 2 + 2 + 2 and two engines: more than a machine has
        (1, "", "separate", 6),
        (1, "--colocate_actor_ref --colocate_critic_reward", "separate", 4),
        (4, "--colocate_all_models --vllm_gpu_memory_utilization 0.5 --vllm_enable_sleep", "colocated", 4),
    ],
)
def test_openrlhfs_groups_have_cards_of_their_own_or_share_them(
    checkout: Build, each: int, more: str, engine: str, count: int
) -> None:
    found = analyze(checkout({"train_ppo.sh": OPENRLHF.format(each=each, more=more)}))
    assert said(found, "rl.engine") == engine
    assert found.spec.hardware.gpu_count == count


def test_a_colocated_reward_model_lies_beside_the_critic(checkout: Build) -> None:
    more = "--colocate_all_models --vllm_gpu_memory_utilization 0.5 --vllm_enable_sleep"
    found = analyze(checkout({"train_ppo.sh": OPENRLHF.format(each=8, more=more)}))
    assert term(found, "critic") > term(found, "reward model") > 0


def test_trls_server_takes_a_card_more_than_the_trainer(checkout: Build) -> None:
    files = {
        "grpo.py": GRPO,
        "recipe.yaml": RECIPE.format(more=""),
        "run.sh": "accelerate launch --num_processes=3 grpo.py --config recipe.yaml\n",
    }
    found = analyze(checkout(files))
    assert said(found, "rl.engine") == "separate"
    assert found.spec.hardware.gpu_count == 4


def test_a_server_takes_the_cards_that_it_is_shown(checkout: Build) -> None:
    readme = """# Training

```bash
CUDA_VISIBLE_DEVICES=0,1,2,3 trl vllm-serve --model Qwen/Qwen2.5-1.5B-Instruct --data-parallel-size 4
CUDA_VISIBLE_DEVICES=4,5 accelerate launch --num_processes 2 grpo.py --config recipe.yaml
```
"""
    found = analyze(checkout({"README.md": readme, "grpo.py": GRPO, "recipe.yaml": RECIPE.format(more="")}))
    assert found.spec.hardware.gpu_count == 6


def test_a_server_elsewhere_takes_none(checkout: Build) -> None:
    more = "vllm_mode: server\nvllm_server_host: 10.0.0.2\n"
    files = {
        "grpo.py": GRPO,
        "recipe.yaml": RECIPE.format(more=more),
        "run.sh": "accelerate launch --num_processes=3 grpo.py --config recipe.yaml\n",
    }
    assert analyze(checkout(files)).spec.hardware.gpu_count == 3


def test_trls_colocated_engine_takes_its_share(checkout: Build) -> None:
    more = "vllm_mode: colocate\nvllm_gpu_memory_utilization: 0.5\n"
    files = {"grpo.py": GRPO, "run.sh": "accelerate launch --num_processes=2 grpo.py --config recipe.yaml\n"}
    alone = analyze(checkout({**files, "recipe.yaml": RECIPE.format(more="").replace("use_vllm: true\n", "")}))
    found = analyze(checkout({**files, "recipe.yaml": RECIPE.format(more=more)}))
    assert found.spec.hardware.gpu_count == 2
    assert alone.breakdown is not None
    assert found.breakdown is not None
    assert found.breakdown.expected_gib == pytest.approx(min(alone.breakdown.expected_gib * 2, 79), rel=0.02)


def test_oats_engine_shares_the_cards(checkout: Build) -> None:
    readme = """```bash
python train_zero.py --gpus 8 --collocate --vllm_sleep --vllm_gpu_ratio 0.35 --pretrain Qwen/Qwen2.5-1.5B --bf16 --zero-stage 2
```
"""
    code = """from transformers import AutoModelForCausalLM
def main(args):
    model = AutoModelForCausalLM.from_pretrained(args.pretrain)
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
if __name__ == "__main__":
    main(parser.parse_args())
"""
    found = analyze(checkout({"README.md": readme, "train_zero.py": code}))
    assert said(found, "rl.engine_share") == "0.35"
    assert said(found, "rl.engine_sleeps") == "yes"


def test_a_replay_buffer_in_main_memory_offloads_no_weights(checkout: Build) -> None:
    code = """import torch
from transformers import AutoModelForCausalLM
from buffers import ReplayBuffer
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", torch_dtype=torch.bfloat16)
buffer = ReplayBuffer(limit=0, cpu_offload=True)
for batch in buffer:
    model(**batch).loss.backward()
    optimizer.step()
"""
    found = analyze(checkout({"train.py": code, "buffers.py": "class ReplayBuffer:\n    def __init__(self, limit, cpu_offload=True): ...\n"}))  # fmt: skip
    assert said(found, "training.offload") is None


def test_a_loader_that_could_quantize_does_not(checkout: Build) -> None:
    code = """from transformers import AutoModelForCausalLM, BitsAndBytesConfig
class Actor:
    def __init__(self, name, load_in_4bit=False, lora_rank=0):
        config = None
        if load_in_4bit:
            config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
        self.model = AutoModelForCausalLM.from_pretrained(name, quantization_config=config)
"""
    train = """from actor import Actor
actor = Actor("Qwen/Qwen2.5-7B")
for batch in batches:
    actor.model(**batch).loss.backward()
    optimizer.step()
"""
    found = analyze(checkout({"actor.py": code, "train.py": train}))
    assert said(found, "training.method") == "full"


@pytest.mark.parametrize(
    ("words", "batch"),
    [
        ("ppo_micro_batch_size_per_gpu=4", {"training.batch_size": "4"}),
        ("ppo_micro_batch_size=16", {"training.batch_size": "16", "training.batch_spread": "all"}),
        ("ppo_mini_batch_size=256", {"training.batch_size": "1024"}),
    ],
)
def test_first_releases_of_verl_say_a_pass_for_all_cards(checkout: Build, words: str, batch: dict[str, str]) -> None:
    script = VERL.replace("ppo_micro_batch_size_per_gpu=4", words).format(more="")
    analysis = analyze(checkout({"run.sh": script}))
    found = {field: said(analysis, field) for field in ("training.batch_size", "training.batch_spread")}
    assert {field: value for field, value in found.items() if value is not None} == batch


def test_verls_supervised_trainer_says_the_samples_of_a_pass(checkout: Build) -> None:
    text = (
        "torchrun --standalone --nproc_per_node=4 -m verl.trainer.fsdp_sft_trainer data.train_batch_size=256 "
        "data.micro_batch_size_per_gpu=2 data.max_length=8192 model.partial_pretrain=Qwen/Qwen2.5-0.5B {}\n"
    )
    found = [analyze(checkout({"run_sft.sh": text.format(more)})) for more in ("", "ulysses_sequence_parallel_size=4")]
    assert [said(each, "training.batch_size") for each in found] == ["2", "2"]
    assert [said(each, "training.sequence_parallel") for each in found] == [None, "4"]
    assert term(found[1], "logits") < term(found[0], "logits")


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        # ms-swift's word means: while the engine generates.
        ("swift rlhf --rlhf_type grpo --offload_optimizer true --offload_model true --deepspeed zero3", None),
        # What DeepSpeed keeps in main memory for good stays there.
        ("swift rlhf --rlhf_type grpo --deepspeed zero3_offload", "optimizer"),
        ("swift sft --deepspeed zero3 --offload_optimizer true", "optimizer"),
    ],
)
def test_an_optimizer_that_only_waits_for_the_engine_is_on_the_card(
    checkout: Build, options: str, kept: str | None
) -> None:
    command = f"NPROC_PER_NODE=4 {options} --model Qwen/Qwen2.5-7B-Instruct --tuner_type full --use_vllm true\n"
    assert said(analyze(checkout({"run.sh": command})), "training.offload") == kept


@pytest.mark.parametrize(
    ("more", "cards"),
    [
        ("trainer.placement.colocate_all=true", "4"),
        ("", "4"),
        ("trainer.placement.colocate_all=false", "6"),
        ("trainer.placement.colocate_all=false generator.inference_engine.num_engines=4", "8"),
    ],
)
def test_skyrls_engines_lie_beside_the_policy_or_on_its_cards(checkout: Build, more: str, cards: str) -> None:
    command = (
        "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=Qwen/Qwen2.5-1.5B-Instruct "
        "trainer.placement.policy_num_gpus_per_node=4 generator.inference_engine.tensor_parallel_size=2 "
    )
    assert said(analyze(checkout({"run.sh": f"{command}{more}\n"})), "hardware.gpu_count") == cards


NEMO_RL = """import os
from nemo_rl.algorithms.grpo import grpo_train, setup

def main(args):
    if not args.config:
        args.config = os.path.join(os.path.dirname(__file__), "configs", "grpo.yaml")
    grpo_train(*setup(load_config(args.config)))

if __name__ == "__main__":
    main(parse_args())
"""
POLICY = """grpo:
  num_generations_per_prompt: 16
policy:
  model_name: Qwen/Qwen2.5-1.5B
  train_micro_batch_size: 4
  max_total_sequence_length: 512
  precision: bfloat16
  dtensor_cfg:
    enabled: true
    cpu_offload: {moved}
  megatron_cfg:
    enabled: false
    tensor_model_parallel_size: 4
  generation:
    backend: vllm
    vllm_cfg:
      tensor_parallel_size: 1
      gpu_memory_utilization: 0.6
    colocated:
      enabled: {together}
cluster:
  gpus_per_node: 2
  num_nodes: 1
"""


@pytest.mark.parametrize(("together", "engine"), [("true", "colocated"), ("false", "separate")])
def test_nemo_rl_says_whose_cards_its_engine_has(checkout: Build, together: str, engine: str) -> None:
    policy = POLICY.format(together=together, moved="false")
    found = analyze(checkout({"run_grpo.py": NEMO_RL, "configs/grpo.yaml": policy}))

    assert (found.spec.meta.workload_type.value, found.spec.hardware.gpu_count) == ("training", 2)
    assert (said(found, "rl.engine"), said(found, "training.sharding")) == (engine, "fsdp")
    assert said(found, "rl.engine_share") == ("0.6" if engine == "colocated" else None)
    assert said(found, "training.tensor_parallel") is None  # its section says that it is off
    assert "vllm" in found.spec.dependencies.requirements


def test_nemo_rl_moves_what_it_is_told_to(checkout: Build) -> None:
    policy = POLICY.format(together="true", moved="true")
    found = analyze(checkout({"run_grpo.py": NEMO_RL, "configs/grpo.yaml": policy}))
    assert said(found, "training.offload") == "parameters"


def test_a_distillation_has_its_teacher_beside_it(checkout: Build) -> None:
    policy = f"{POLICY.format(together='true', moved='false')}teacher:\n  model_name: Qwen/Qwen3-4B\n"
    found = analyze(checkout({"run_grpo.py": NEMO_RL, "configs/grpo.yaml": policy}))
    assert said(found, "rl.teacher") == "Qwen/Qwen3-4B"


def test_tokens_of_a_card_are_not_divided_among_the_cards(checkout: Build) -> None:
    script = (
        "ray job submit -- python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate"
        " --hf-checkpoint Qwen/Qwen3-4B --tensor-model-parallel-size 2 --rollout-num-gpus-per-engine 2"
        " --recompute-granularity full {batch} --use-dynamic-batch-size --max-tokens-per-gpu 16384\n"
    )

    def needed(batch: str) -> int:
        return analyze(checkout({"run.sh": script.format(batch=batch)})).spec.hardware.vram_required_gb

    assert needed("--global-batch-size 256") == needed("") > 60


OF_OPTIONS = """import argparse
from trl import GRPOConfig, GRPOTrainer

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slice", type=float, default=0.9)
    parser.add_argument("--tries", type=int, default=2)
    args = parser.parse_args()
    config = GRPOConfig(output_dir="out", use_vllm=True, vllm_mode="colocate", vllm_gpu_memory_utilization=args.slice, num_generations=args.tries)
    GRPOTrainer(model="Qwen/Qwen2.5-1.5B-Instruct", args=config, reward_funcs=[len], train_dataset=data).train()

if __name__ == "__main__":
    main()
"""
OF_A_MODULE = """from trl import GRPOConfig, GRPOTrainer

def learn(share):
    config = GRPOConfig(output_dir="out", use_vllm=True, vllm_mode="colocate", vllm_gpu_memory_utilization=share, num_generations=6)
    GRPOTrainer(model="Qwen/Qwen2.5-1.5B-Instruct", args=config, reward_funcs=[len], train_dataset=data).train()
"""


@pytest.mark.parametrize(
    "files",
    [
        {"grpo.py": OF_OPTIONS, "run.sh": "python grpo.py --slice 0.35 --tries 6\n"},
        {"grpo.py": OF_OPTIONS, "Makefile": "SLICE ?= 0.35\n\ntrain:\n\tpython grpo.py --slice $(SLICE) --tries 6\n"},
        {"learning.py": OF_A_MODULE, "grpo.py": "from learning import learn\n\nlearn(0.35)\n"},
    ],
)
def test_trls_engine_is_told_by_whatever_tells_the_configuration(checkout: Build, files: dict[str, str]) -> None:
    found = analyze(checkout(files))
    assert [said(found, f"rl.{name}") for name in ("engine", "engine_share", "group")] == ["colocated", "0.35", "6"]


def test_an_engine_that_nothing_of_the_run_makes_is_not_told(checkout: Build) -> None:
    other = "from learning import other\n\nother()\n"
    more = OF_A_MODULE + '\n\ndef other():\n    GRPOTrainer(model="Qwen/Qwen2.5-1.5B-Instruct", args=GRPOConfig(output_dir="out"), reward_funcs=[len], train_dataset=data).train()\n'  # fmt: skip
    assert said(analyze(checkout({"learning.py": more, "grpo.py": other})), "rl.engine") is None
