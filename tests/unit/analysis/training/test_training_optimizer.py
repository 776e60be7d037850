"""Optimizers that save memory, as training tools switch them on, and what that leaves of gradients and states."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis

Build = Callable[[Mapping[str, str]], Checkout]
FACTORY = """model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
stage: sft
do_train: true
finetuning_type: full
cutoff_len: 2048
per_device_train_batch_size: 1
"""
GALORE = "use_galore: true\ngalore_layerwise: true\ngalore_rank: 128\n"


def said(analysis: Analysis, field: str) -> str | None:
    return next((finding.value for finding in analysis.findings if finding.field == field), None)


def test_galore_layer_by_layer_at_16_bit_fits_a_card_of_32_gb(checkout: Build) -> None:
    found = analyze(checkout({"run.yaml": FACTORY + GALORE + "pure_bf16: true\n"}))
    assert said(found, "training.optimizer_rank") == "128"
    assert said(found, "training.gradients") == "freed"
    assert said(found, "training.weights") == "bf16"
    assert found.spec.hardware.vram_required_gb <= 32


def test_galore_that_is_not_layerwise_keeps_all_gradients(checkout: Build) -> None:
    text = FACTORY + GALORE.replace("layerwise: true", "layerwise: false") + "pure_bf16: true\n"
    found = analyze(checkout({"run.yaml": text}))
    assert said(found, "training.gradients") is None
    assert found.breakdown is not None
    assert sum(term.gib for term in found.breakdown.terms if term.name == "gradients") > 14


@pytest.mark.parametrize(
    ("text", "optimizer", "rank"),
    [
        (FACTORY + "use_apollo: true\napollo_rank: 16\n", "apollo", "16"),
        (FACTORY + "use_badam: true\n", "badam", None),
        (FACTORY + "optim: adamw_torch\ngalore_rank: 16\n", "adamw_torch", None),
        (FACTORY + "optim: galore_adamw_layerwise\noptim_args: rank=64, update_proj_gap=100\n", "galore_adamw_layerwise", "64"),
        ("base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 1\nsequence_len: 512\nlisa_n_layers: 4\noptimizer: adamw_torch\n", "lisa", None),
        ("base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 1\nsequence_len: 512\noptimizer: muon\n", "muon", None),
    ],
)  # fmt: skip
def test_tools_name_their_optimizers(checkout: Build, text: str, optimizer: str, rank: str | None) -> None:
    found = analyze(checkout({"run.yaml": text}))
    assert said(found, "training.optimizer") == optimizer
    assert said(found, "training.optimizer_rank") == rank


def test_a_wrapper_around_a_usual_optimizer_trains_a_block_at_a_time(checkout: Build) -> None:
    code = """import torch
from badam import BlockOptimizer
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf", torch_dtype=torch.bfloat16)
optimizer = BlockOptimizer(torch.optim.AdamW(model.parameters(), lr=1e-6), switch_block_every=100)
for batch in batches:
    model(**batch).loss.backward()
    optimizer.step()
"""
    found = analyze(checkout({"train.py": code}))
    assert said(found, "training.optimizer") == "badam"
    assert found.breakdown is not None
    assert sum(term.gib for term in found.breakdown.terms if term.name in {"gradients", "optimizer"}) < 4


def test_stepping_in_the_backward_pass_frees_gradients(checkout: Build) -> None:
    text = """model:
  _component_: torchtune.models.mistral.mistral_7b
checkpointer:
  checkpoint_dir: /tmp/Mistral-7B-v0.1
tokenizer:
  max_seq_len: 1024
batch_size: 2
optimizer:
  _component_: bitsandbytes.optim.PagedAdamW
gradient_accumulation_steps: 1
optimizer_in_bwd: True
enable_activation_checkpointing: True
dtype: bf16
"""
    found = analyze(checkout({"recipes/7B_full_low_memory.yaml": text}))
    assert said(found, "training.gradients") == "freed"


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("optax.adafactor(learning_rate=1e-3)", "Adafactor"),
        ("optax.chain(optax.clip(1.0), optax.lion(1e-4))", "Lion"),
        ("optax.adamw(1e-4)", None),  # the usual one, which is assumed
        ("optax.sgd(1e-2) if small else optax.adam(1e-3)", None),
        ("schedule.sgd(1e-2)", None),
    ],
)
def test_optax_s_functions_are_optimizers(checkout: Build, call: str, name: str | None) -> None:
    program = f"import jax\nimport optax\noptimizer = {call}\ngrads = jax.grad(loss)(params)\nupdates, state = optimizer.update(grads, state)\nparams = optax.apply_updates(params, updates)\n"
    files = checkout({"train.py": program})
    assert said(analyze(files), "training.optimizer") == name


@pytest.mark.parametrize(
    ("text", "optimizer"),
    [
        ("torch.optim.AdamW", "torch.optim.AdamW"),
        ("bitsandbytes.optim.PagedAdamW", "bitsandbytes.optim.PagedAdamW"),
        (
            "model.decoder.layers",
            None,
        ),  # a table of where architectures keep their layers: `{"opt": "model.decoder.layers"}`
        ("./adam.pt", None),
    ],
)
def test_a_dotted_name_is_an_optimizer_by_its_last_word(checkout: Build, text: str, optimizer: str | None) -> None:
    assert said(analyze(checkout({"run.yaml": FACTORY + f"opt: {text}\n"})), "training.optimizer") == optimizer


SHARDS = """import argparse
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModelForCausalLM
p = argparse.ArgumentParser()
p.add_argument("--fsdp", default=False, action="store_true", help="Use FullyShardedDataParallel.")
args = p.parse_args()
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
if args.fsdp:
    model = FSDP(model)
loss.backward()
"""


@pytest.mark.parametrize(("option", "sharding"), [("", None), (" --fsdp", "zero-3")])
def test_a_switch_that_is_off_shards_nothing(checkout: Build, option: str, sharding: str | None) -> None:
    readme = f"# Net\n```\ntorchrun --nproc_per_node 4 train.py{option}\n```\n"
    assert said(analyze(checkout({"train.py": SHARDS, "README.md": readme})), "training.sharding") == sharding


@pytest.mark.parametrize(
    ("word", "optimizer"),
    [
        ("fsdp", None),
        ("optimizer", None),
        ("deepspeed", None),
        ("default", None),
        ("adamw_8bit", "adamw_8bit"),
        ("sgd", "sgd"),
    ],
)
def test_who_steps_is_no_optimizer(checkout: Build, word: str, optimizer: str | None) -> None:
    assert said(analyze(checkout({"run.yaml": FACTORY + f"optim: {word}\n"})), "training.optimizer") == optimizer
