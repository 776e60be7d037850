"""Trainers that compare with a frozen copy of the model, and those that read answers in pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis

Build = Callable[[Mapping[str, str]], Checkout]
GRPO = """import argparse
from trl import GRPOConfig, GRPOTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--leash", type=float, default=0.0)
args = parser.parse_args()
config = GRPOConfig(output_dir="out", {said})
GRPOTrainer(model="Qwen/Qwen2.5-1.5B-Instruct", args=config, reward_funcs=[len], train_dataset=data).train()
"""
OPENRLHF = (
    "deepspeed --module openrlhf.cli.train_{kind} --pretrain OpenRLHF/Llama-3-8b-sft-mixture --max_len 2048"
    " --micro_train_batch_size 1 --zero_stage 3 --bf16 {more}\n"
)
PPO = """from transformers import AutoModelForCausalLM
from trl import PPOConfig, PPOTrainer

def learn(name):
    policy = AutoModelForCausalLM.from_pretrained(name)
    frozen = AutoModelForCausalLM.from_pretrained(name)
    PPOTrainer(args=PPOConfig(output_dir="out"), model=policy, ref_model=frozen, train_dataset=data).train()

def alone(name):
    policy = AutoModelForCausalLM.from_pretrained(name)
    PPOTrainer(args=PPOConfig(output_dir="out"), model=policy, train_dataset=data).train()
"""


def has(analysis: Analysis, field: str) -> bool:
    return any(finding.field == f"training.{field}" for finding in analysis.findings)


@pytest.mark.parametrize(
    ("said", "options", "kept"),
    [
        ("beta=0.04", "", True),
        ("beta=1e-3", "", True),
        ("beta=args.leash", "--leash 0.04", True),
        # None is loaded where nothing is weighed, nor is one told where nobody says it.
        ("beta=0.0", "", False),
        ("beta=0", "", False),
        ("beta=args.leash", "", False),
        ("beta=somewhere()", "", False),
        ("", "", False),
    ],
)
def test_a_penalty_for_leaving_a_model_keeps_a_copy_of_it(checkout: Build, said: str, options: str, kept: bool) -> None:
    found = analyze(checkout({"grpo.py": GRPO.format(said=said), "run.sh": f"python grpo.py {options}\n"}))
    assert has(found, "reference_model") is kept


@pytest.mark.parametrize(("weight", "kept"), [("0.04", True), ("0.0", False)])
def test_trls_command_says_that_penalty_in_its_configuration(checkout: Build, weight: str, kept: bool) -> None:
    recipe = f"model_name_or_path: Qwen/Qwen2.5-1.5B-Instruct\nbeta: {weight}\nper_device_train_batch_size: 8\n"
    found = analyze(checkout({"run.sh": "trl grpo --config grpo.yaml\n", "grpo.yaml": recipe}))
    assert has(found, "reference_model") is kept


@pytest.mark.parametrize(
    ("kind", "more", "pairs", "kept"),
    [
        ("dpo", "", True, True),
        ("dpo", "--ref_offload", True, False),
        ("rm", "", True, False),
        ("kto", "", False, True),
        ("sft", "", False, False),
    ],
)
def test_openrlhfs_modules_read_pairs_and_keep_a_copy(
    checkout: Build, kind: str, more: str, pairs: bool, kept: bool
) -> None:
    found = analyze(checkout({"run.sh": OPENRLHF.format(kind=kind, more=more)}))
    assert (has(found, "pairs"), has(found, "reference_model")) == (pairs, kept)


@pytest.mark.parametrize(("function", "kept"), [("learn", True), ("alone", False)])
def test_a_reference_handed_over_in_another_module_is_kept(checkout: Build, function: str, kept: bool) -> None:
    main = f'from engine import {function}\n\n{function}("EleutherAI/pythia-1b-deduped")\n'
    engine = PPO if kept else f"{PPO.partition('def learn')[0]}def alone{PPO.partition('def alone')[2]}"
    found = analyze(checkout({"engine.py": engine, "main.py": main}))
    assert has(found, "reference_model") is kept


OWN = """from transformers import Trainer


def collate(rows):
    return rows


def distill(model, ref_model, args):
    return Distiller{kind}(model=model, ref_model=ref_model, args=args)


{more}
"""
PLAIN = """from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
from lib import collate{taken}

model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1b-deduped")
args = TrainingArguments("out", per_device_train_batch_size=4, bf16=True)
Trainer(model=model, args=args, data_collator=collate, train_dataset=data).train()
{used}
"""
SECOND = "def again(model, frozen, args):\n    return DistillTrainer(model=model, ref_model=frozen, args=args)\n"


@pytest.mark.parametrize(
    ("kind", "more", "taken", "used", "kept"),
    [
        ("Trainer", "", "", "", False),
        ("Trainer", "", ", distill", "", False),
        ("Trainer", "", ", distill", "distill(model, other, args).train()", True),
        # Also where an earlier one of the same module is not used.
        ("Trainer", SECOND, ", again", "again(model, other, args).train()", True),
    ],
)
def test_a_reference_that_nobody_hands_over_is_not_kept(
    checkout: Build, kind: str, more: str, taken: str, used: str, kept: bool
) -> None:
    files = {"lib.py": OWN.format(kind=kind, more=more), "train.py": PLAIN.format(taken=taken, used=used)}
    assert has(analyze(checkout(files)), "reference_model") is kept


@pytest.mark.parametrize(("used", "kept"), [("", False), ("again(model, other, args).train()", True)])
def test_a_function_of_the_program_itself_counts_where_it_is_used(checkout: Build, used: str, kept: bool) -> None:
    program = PLAIN.format(taken="", used=used).replace("\nmodel", f"\n{SECOND}\nmodel", 1)
    files = {"lib.py": "def collate(rows):\n    return rows\n", "train.py": program}
    assert has(analyze(checkout(files)), "reference_model") is kept
