"""Words of training tools in their own configurations and options: adapters, offloading, optimizers, layouts over cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.spec import WorkloadType

AXOLOTL = "base_model: meta-llama/Llama-3.1-8B\nsequence_len: 2048\nmicro_batch_size: 1\noptimizer: adamw_bnb_8bit\n"
FACTORY = "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nstage: sft\ncutoff_len: 2048\nper_device_train_batch_size: 1\n"


def analyzed(tmp_path: Path, text: str, name: str = "run.yaml") -> Analysis:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return analyze(read_checkout(tmp_path))


def said(analysis: Analysis, field: str) -> str | None:
    return next((finding.value for finding in analysis.findings if finding.field == field), None)


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (AXOLOTL + "adapter:\nlora_r: 64\n", "full"),
        (AXOLOTL + "adapter: # none here\nlora_r: 64\n", "full"),
        (AXOLOTL + "adapter: lora\nlora_r: 64\n", "lora"),
        (AXOLOTL + "lora_r: 64\n", "lora"),
        (FACTORY + "finetuning_type: oft\n", "lora"),
        (FACTORY + "finetuning_type: oft\nquantization_bit: 4\n", "qlora"),
        (FACTORY + "finetuning_type: full\n", "full"),
        (
            "model: Qwen/Qwen3-4B\nmicro_batch_size: 1\nlearning_rate: 1e-4\npeft_config:\n  name: lora\n  r: 16\n",
            "lora",
        ),
    ],
)
def test_a_tools_word_for_adapters_is_the_method(tmp_path: Path, text: str, method: str) -> None:
    assert said(analyzed(tmp_path, text), "training.method") == method


@pytest.mark.parametrize(
    ("word", "state"), [("true", "on"), ("offload", "on"), ("unsloth", "on"), ("false", "off"), ("never", "off")]
)
def test_checkpointing_is_on_where_its_kind_is_said(tmp_path: Path, word: str, state: str) -> None:
    found = analyzed(tmp_path, f"{AXOLOTL}gradient_checkpointing: {word}\n")
    assert said(found, "training.gradient_checkpointing") == state


def test_bits_of_quantization_make_adapters_on_four_bits(tmp_path: Path) -> None:
    command = "swift sft --model Qwen/Qwen2.5-7B-Instruct --tuner_type lora --quant_bits 4 --quant_method bnb\n"
    assert said(analyzed(tmp_path, command, "run.sh"), "training.method") == "qlora"


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ("deepspeed: deepspeed_configs/zero3_bf16_cpuoffload_all.json\n", "optimizer"),
        ("deepspeed: ds_z2_offload_optimizer.json\n", "optimizer"),
        ("optimizer_cpu_offload: true\n", "optimizer"),
        ("deepspeed: deepspeed_configs/zero3_bf16_cpuoffload_params.json\n", None),
        ("deepspeed: deepspeed_configs/zero3_bf16.json\n", None),
    ],
)
def test_what_is_kept_in_main_memory_is_read_off_switches_and_names(
    tmp_path: Path, more: str, kept: str | None
) -> None:
    assert said(analyzed(tmp_path, AXOLOTL + more), "training.offload") == kept


def test_an_optimizer_that_is_switched_on_by_its_own_word_counts(tmp_path: Path) -> None:
    found = analyzed(tmp_path, FACTORY + "finetuning_type: full\nuse_apollo: true\npure_bf16: true\n")
    assert said(found, "training.optimizer") == "apollo"
    assert found.spec.hardware.gpu_count == 1


@pytest.mark.parametrize(
    ("more", "count"),
    [
        ("dp_shard_size: 2\ncontext_parallel_size: 2\ntensor_parallel_size: 2\n", 8),
        ("context_parallel_size: 4\n", 4),
        ("dp_shard_size: 4\ndp_replicate_size: 2\ntensor_parallel_size: 2\n", 8),
        ("context_parallel_size: 1\n", 1),
    ],
)
def test_the_ways_of_dividing_the_work_multiply(tmp_path: Path, more: str, count: int) -> None:
    small = AXOLOTL.replace("Llama-3.1-8B", "Llama-3.2-1B")
    assert analyzed(tmp_path, small + more).spec.hardware.gpu_count == count


def test_reading_options_with_transformers_needs_no_card(tmp_path: Path) -> None:
    program = (
        "from datasets import load_dataset\nfrom transformers import HfArgumentParser\n\n"
        'if __name__ == "__main__":\n    args = HfArgumentParser(dict).parse_args_into_dataclasses()\n'
        '    load_dataset("a/b").push_to_hub("c/d")\n'
    )
    assert analyzed(tmp_path, program, "tldr.py").spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_of_several_recipes_one_whose_model_is_known_stands_for_the_folder(tmp_path: Path) -> None:
    strange = (
        FACTORY.replace("meta-llama/Meta-Llama-3-8B-Instruct", "some-team/Strange-Thing") + "finetuning_type: full\n"
    )
    (tmp_path / "a_strange.yaml").write_text(strange, encoding="utf-8")
    found = analyzed(tmp_path, FACTORY + "finetuning_type: full\n", "b_known.yaml")
    assert said(found, "model.id") == "meta-llama/Meta-Llama-3-8B-Instruct"


OPENMMLAB = """from mmengine.optim import AmpOptimWrapper
from peft import LoraConfig
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

pretrained_model_name_or_path = "meta-llama/Meta-Llama-3-8B-Instruct"
max_length = 2048
batch_size = 1
max_epochs = 3
model = dict(
    llm=dict(
        type=AutoModelForCausalLM.from_pretrained,
        pretrained_model_name_or_path=pretrained_model_name_or_path,
    ),
    MORE
)
train_dataloader = dict(batch_size=batch_size)
optim_wrapper = dict(type=AmpOptimWrapper)
train_cfg = dict(max_epochs=max_epochs)
default_hooks = dict()
"""


@pytest.mark.parametrize(
    ("more", "method"),
    [
        (
            "quantization_config=dict(type=BitsAndBytesConfig, load_in_4bit=True), lora=dict(type=LoraConfig, r=64)",
            "qlora",
        ),
        ("lora=dict(type=LoraConfig, r=64)", "lora"),
    ],
)
def test_a_configuration_that_imports_what_it_names_is_a_run(tmp_path: Path, more: str, method: str) -> None:
    found = analyzed(tmp_path, OPENMMLAB.replace("MORE", more), "llama3_8b.py")
    assert found.spec.meta.workload_type is WorkloadType.TRAINING
    assert said(found, "training.method") == method


def test_what_assigns_parts_and_defines_functions_is_no_configuration(tmp_path: Path) -> None:
    program = OPENMMLAB.replace("MORE", "") + "\n\ndef run():\n    return model\n"
    assert analyzed(tmp_path, program, "lib.py").spec.meta.workload_type is not WorkloadType.TRAINING


def test_of_xtuners_recipes_the_one_with_adapters_stands_for_the_folder_and_checkpoints(tmp_path: Path) -> None:
    full = OPENMMLAB.replace("    MORE\n", "")
    (tmp_path / "llama3_8b_full_e3.py").write_text(
        full.replace("from peft", "from xtuner.model import A\nfrom peft"), "utf-8"
    )
    adapted = OPENMMLAB.replace("MORE", "lora=dict(type=LoraConfig, r=64, load_in_4bit=True)")
    found = analyzed(
        tmp_path, adapted.replace("from peft", "from xtuner.model import A\nfrom peft"), "llama3_8b_qlora_e3.py"
    )
    assert said(found, "training.method") == "qlora"
    assert said(found, "training.gradient_checkpointing") == "on"


FSDP = (
    "fsdp_config:\n  fsdp_version: 2\n  offload_params: {offload}\n  transformer_layer_cls_to_wrap: LlamaDecoderLayer\n"
)
PLAIN_FULL = "base_model: meta-llama/Llama-3.2-1B\nsequence_len: 1024\nmicro_batch_size: 1\noptimizer: adamw_torch\nbf16: auto\ngradient_checkpointing: true\n"


@pytest.mark.parametrize(("offload", "kept"), [("true", "parameters"), ("false", None)])
def test_a_section_on_fsdp_divides_the_model_over_two_cards_at_least(tmp_path: Path, offload: str, kept: str | None) -> None:  # fmt: skip
    found = analyzed(tmp_path, AXOLOTL + "adapter: qlora\nload_in_4bit: true\n" + FSDP.format(offload=offload))
    assert said(found, "training.sharding") == "zero-3"
    assert said(found, "training.offload") == kept
    assert found.spec.hardware.gpu_count == 2


def test_fsdp_takes_as_many_cards_as_its_model_needs(tmp_path: Path) -> None:
    text = AXOLOTL.replace("3.1-8B", "3.1-70B") + FSDP.format(offload="false")
    assert analyzed(tmp_path, text).spec.hardware.gpu_count == 8


def test_experts_of_an_axolotl_configuration_lie_on_cards_of_their_own(tmp_path: Path) -> None:
    found = analyzed(tmp_path, AXOLOTL + "expert_parallel_size: 2\ndp_shard_size: 2\n")
    assert found.spec.hardware.gpu_count == 4


def test_axolotl_trains_the_16_bit_weights_that_it_loads(tmp_path: Path) -> None:
    found = analyzed(tmp_path, PLAIN_FULL)
    assert said(found, "training.weights") == "bf16"
    assert found.breakdown is not None
    states = sum(t.gib for t in found.breakdown.terms if t.name in {"weights", "gradients", "optimizer", "casts"})
    assert states == pytest.approx(1.236 * 8 * 1e9 / 2**30, rel=0.03)  # 2 + 2 + 4 bytes per parameter


@pytest.mark.parametrize("more", ["deepspeed: deepspeed_configs/zero2.json\n", FSDP.format(offload="false")])
def test_what_divides_the_states_keeps_32_bit_copies(tmp_path: Path, more: str) -> None:
    assert said(analyzed(tmp_path, PLAIN_FULL + more), "training.weights") is None


@pytest.mark.parametrize(
    ("words", "weights"),
    [
        ("bf16: false\nfp16: false\nfloat16: true", "fp16"),
        ("bfloat16: true", "bf16"),
        ("fp16: true", None),  # mixed precision
        ("bf16: false\nfloat16: false", None),
    ],
)
def test_axolotl_has_words_for_16_bit_without_mixed_precision(tmp_path: Path, words: str, weights: str | None) -> None:
    assert said(analyzed(tmp_path, PLAIN_FULL.replace("bf16: auto", words)), "training.weights") == weights
