"""What a trainer's configuration asks for beyond what installs the trainer."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.packages import packages

AXOLOTL = "base_model: google/gemma-2b\nmicro_batch_size: 1\nnum_epochs: 1\ndatasets:\n  - path: a/b\n"
FACTORY = "model_name_or_path: Qwen/Qwen2.5-7B\nfinetuning_type: full\nlearning_rate: 1e-4\n"
NEXT = "model: Qwen/Qwen3-0.6B\nmicro_batch_size: 1\ncutoff_len: 8\ntrain_dataset: a.yaml\nlearning_rate: 1e-4\n"
LOSS = "cut-cross-entropy @ git+https://github.com/axolotl-ai-cloud/ml-cross-entropy.git"


def requirements(tree):
    return {finding.value for finding in packages.detect(tree) if finding.field == "dependencies.requirements"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (AXOLOTL, {"axolotl", "torch", "transformers", "accelerate", "datasets"}),
        (AXOLOTL + "adapter: qlora\n", {"peft", "bitsandbytes"}),
        (AXOLOTL + "adapter: lora\n", {"peft"}),
        (AXOLOTL + "optimizer: adamw_bnb_8bit\n", {"bitsandbytes"}),
        (AXOLOTL + "optimizer: adamw_torch_8bit\n", {"torchao"}),
        (AXOLOTL + "qat:\n  weight_dtype: nvfp4\n", {"torchao"}),
        (AXOLOTL + "flash_attention: true\n", {"flash-attn"}),
        (AXOLOTL + "attn_implementation: flash_attention_2\n", {"flash-attn"}),
        (AXOLOTL + "context_parallel_size: 4\n", {"ring-flash-attn"}),
        (AXOLOTL + "plugins:\n  - axolotl.integrations.liger.LigerPlugin\n", {"liger-kernel"}),
        (AXOLOTL + "plugins:\n  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin\n", {LOSS}),
        (AXOLOTL + "use_onebitllms: true\n", {"onebitllms"}),
        (AXOLOTL + "rl: grpo\ntrl:\n  use_vllm: true\n", {"trl", "vllm"}),
        (FACTORY, {"llamafactory", "torch", "transformers", "accelerate", "datasets"}),
        (FACTORY + "quantization_bit: 4\nflash_attn: fa2\n", {"bitsandbytes", "flash-attn"}),
        (FACTORY + "enable_liger_kernel: true\nuse_kt: true\n", {"liger-kernel", "ktransformers[sft]"}),
        (NEXT + "peft_config:\n  name: lora\n", {"peft"}),
    ],
)
def test_a_configuration_asks_for_what_its_trainer_leaves_out(checkout, text, expected):
    assert expected <= requirements(checkout({"train.yaml": text}))


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        (AXOLOTL, {"peft", "bitsandbytes", "flash-attn", "trl", "vllm", "torchao"}),
        (AXOLOTL + "adapter:\nload_in_4bit: false\nflash_attention: false\n", {"peft", "bitsandbytes", "flash-attn"}),
        (AXOLOTL + "attn_implementation: sdpa\ncontext_parallel_size: 1\n", {"flash-attn", "ring-flash-attn"}),
        (AXOLOTL + "optimizer: adamw_torch_8bit\n", {"bitsandbytes"}),
        (AXOLOTL + "rl:\n# use_vllm: true\n", {"trl", "vllm"}),
        (FACTORY + "flash_attn: auto\n", {"flash-attn", "peft"}),
    ],
)
def test_what_is_off_is_not_asked_for(checkout, text, left_out):
    assert not left_out & requirements(checkout({"train.yaml": text}))


def test_a_configuration_beside_the_first_finds_its_parts_installed(checkout):
    tree = checkout({"a.yaml": AXOLOTL, "b.yaml": AXOLOTL + "adapter: qlora\nload_in_4bit: true\n"})
    assert {"peft", "bitsandbytes"} <= requirements(tree)


def test_a_command_asks_as_a_configuration_does(checkout):
    tree = checkout(
        {"train.sh": "swift sft --model Qwen/Qwen2.5-7B --train_type lora --quant_bits 4 --attn_impl flash_attn\n"}
    )
    assert {"ms-swift", "transformers", "peft", "bitsandbytes", "flash-attn"} <= requirements(tree)


def test_a_program_of_ones_own_reads_such_options_by_itself(checkout):
    program = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
    tree = checkout(
        {"train.py": program, "run.sh": "python train.py --config c.yaml\n", "c.yaml": AXOLOTL + "adapter: lora\n"}
    )
    assert not {"peft", "transformers"} & requirements(tree)


def test_torchtune_leaves_torchao_to_its_user(checkout):
    recipe = "model:\n  _component_: torchtune.models.phi3.lora_phi3_mini\nbatch_size: 2\nmax_steps: 1\n"
    assert {"torchtune", "torchao"} <= requirements(checkout({"lora.yaml": recipe}))


def test_what_a_listed_trainer_brings_is_not_named_and_what_it_leaves_out_is(checkout):
    tree = checkout(
        {"requirements.txt": "axolotl>=0.9\n", "a.yaml": AXOLOTL + "adapter: lora\nflash_attention: true\n"}
    )
    assert requirements(tree) == {"axolotl>=0.9", "flash-attn"}
