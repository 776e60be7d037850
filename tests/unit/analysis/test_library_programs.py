"""Folders of launch scripts whose programs are not in them: modules of installed libraries, wrappers, tools' sub-commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.spec import WorkloadType


def analyzed(tmp_path: Path, text: str, name: str = "run.sh") -> Analysis:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return analyze(read_checkout(tmp_path))


@pytest.mark.parametrize(
    ("command", "workload"),
    [
        (
            "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-3B-Instruct",
            WorkloadType.TRAINING,
        ),
        (
            "python -m openrlhf.cli.train_sft --model.model_name_or_path meta-llama/Meta-Llama-3-8B",
            WorkloadType.TRAINING,
        ),
        ("python train/finetune.py --model_name_or_path gpt2", WorkloadType.TRAINING),
        ("python -m verl.trainer.main_generation model.path=Qwen/Qwen2.5-3B-Instruct", WorkloadType.INFERENCE),
        ("python -m verl.trainer.main_eval data.path=out.parquet model.path=gpt2", WorkloadType.CPU_ONLY),
        ("python -m mylib.tools.train", WorkloadType.CPU_ONLY),
        (
            "uv run --isolated --extra fsdp -m lab.train.entrypoints.main_base trainer.policy.model.path=Qwen/Qwen2.5-3B-Instruct",
            WorkloadType.TRAINING,
        ),
        (
            "uv run --isolated --extra fsdp -m lab.data.main_base model.path=Qwen/Qwen2.5-3B-Instruct",
            WorkloadType.CPU_ONLY,
        ),
        ("uv run -m verl.trainer.main_ppo model.path=Qwen/Qwen2.5-3B-Instruct", WorkloadType.TRAINING),
        ("swift rlhf --rlhf_type kto --model Qwen/Qwen2.5-3B-Instruct", WorkloadType.TRAINING),
        ("swift pt --model Qwen/Qwen2.5-3B-Instruct", WorkloadType.TRAINING),
        ("megatron sft --model Qwen/Qwen2.5-3B-Instruct", WorkloadType.TRAINING),
        ("megatron --version", WorkloadType.CPU_ONLY),
        ("swift export --model Qwen/Qwen2.5-3B-Instruct --quant_method awq --quant_bits 4", WorkloadType.INFERENCE),
        (
            "swift export --model Qwen/Qwen2.5-3B-Instruct --quant_bits 4\nswift sft --model Qwen/Qwen2.5-3B-Instruct",
            WorkloadType.TRAINING,
        ),
    ],
)
def test_a_library_module_that_is_not_here_says_what_it_does(
    tmp_path: Path, command: str, workload: WorkloadType
) -> None:
    assert analyzed(tmp_path, f"{command}\n").spec.meta.workload_type is workload


def test_what_is_quantized_is_loaded_whole(tmp_path: Path) -> None:
    command = "swift {} --model Qwen/Qwen2.5-7B-Instruct --quant_bits 4 --quant_method bnb\n"
    written, used = (analyzed(tmp_path, command.format(verb)).breakdown for verb in ("export", "infer"))
    assert written is not None
    assert used is not None
    assert written.terms[0].gib > 2 * used.terms[0].gib


def test_what_a_wrapper_hands_on_is_the_command(tmp_path: Path) -> None:
    found = analyzed(
        tmp_path,
        "python submit.py --cluster big --num_nodes 2 --gpus 4 -- source setup.sh \\&\\& accelerate launch \\\n"
        "    --mixed_precision bf16 lib/finetune.py --model_name_or_path Qwen/Qwen2.5-3B --max_seq_length 1024\n",
    )
    assert found.spec.meta.workload_type is WorkloadType.TRAINING
    assert found.spec.hardware.gpu_count == 4
    assert found.breakdown is not None
    assert "Qwen2.5-3B" in found.breakdown.terms[0].basis


def test_a_command_that_is_kept_in_a_text_is_read(tmp_path: Path) -> None:
    found = analyzed(
        tmp_path,
        "read -r -d '' commands <<EOF\nopenrlhf.cli.train_dpo \\\n   --pretrain meta-llama/Meta-Llama-3-8B \\\n"
        "   --max_len 2048\nEOF\ndeepspeed --num_gpus 8 --module $commands\n",
    )
    assert found.spec.meta.workload_type is WorkloadType.TRAINING
    assert found.spec.hardware.gpu_count == 8
    assert found.breakdown is not None
    assert "Meta-Llama-3-8B" in found.breakdown.terms[0].basis


def test_an_image_called_like_a_project_is_no_tool_of_it(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(
        "# A\n```\ndocker run --gpus=all -v /data:/data megatron-lm nvcr.io/x/pytorch:1 bash examples/a/train_a.sh $1\n```\n",
        encoding="utf-8",
    )
    found = analyzed(tmp_path, "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24\n", "train_a.sh")
    assert found.spec.meta.workload_type is WorkloadType.TRAINING
    assert found.spec.hardware.gpu_count == 8
