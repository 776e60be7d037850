"""Which of a folder's recipes stands for it, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
RECIPE = "base_model: {}\nmicro_batch_size: 1\nlearning_rate: 1e-4\n"


@pytest.mark.parametrize(
    ("names", "first"),
    [
        # The alphabet has 13B before 7B, and a dot parts no words.
        (["13B_lora", "70B_lora", "7B_lora"], "7B_lora"),
        (["32B_lora", "0.5B_lora", "7B_lora", "72B_lora"], "7B_lora"),
        (["14B", "3B"], "3B"),  # of one larger and one smaller most have a card for the smaller
        (["gemma-270m", "gemma-4b"], "gemma-4b"),
        (["mixtral-8x22b", "mixtral-8x7b"], "mixtral-8x7b"),
        (["llama3_1_70b", "llama3_1_8b"], "llama3_1_8b"),
        (["qwen_0_5b", "qwen_3b"], "qwen_3b"),
        # What is made for one card is no variant of its recipe.
        (["7B_lora", "7B_lora_single_device"], "7B_lora_single_device"),
        (["scout-fsdp1", "scout-single-h100"], "scout-single-h100"),
        # Words that say a variant still go behind.
        (["8B_lora_dpo", "70B_lora"], "70B_lora"),
        (["b", "a"], "a"),
    ],
)
def test_a_usual_size_on_one_card_stands_for_a_folder(checkout: Build, names: Sequence[str], first: str) -> None:
    run = primary_run(checkout({f"{name}.yaml": RECIPE.format("google/gemma-2b") for name in names}))
    assert run is not None
    assert run.evidence.path == f"{first}.yaml"


@pytest.mark.parametrize(
    ("switches", "workload"),
    [
        ("do_predict: true\nfinetuning_type: lora\n", WorkloadType.INFERENCE),
        ("do_predict: true\ndo_train: true\nfinetuning_type: lora\n", WorkloadType.TRAINING),
        ("do_eval: true\nlearning_rate: 1e-4\n", WorkloadType.TRAINING),  # judged while it is trained
        ("finetuning_type: lora\n", WorkloadType.TRAINING),
    ],
)
def test_a_recipe_that_only_tries_a_trained_model_infers(
    checkout: Build, switches: str, workload: WorkloadType
) -> None:
    tree = checkout({"try.yaml": f"model_name_or_path: Qwen/Qwen2.5-7B\ncutoff_len: 2048\n{switches}"})
    assert analyze(tree).spec.meta.workload_type is workload
