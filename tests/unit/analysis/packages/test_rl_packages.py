"""What a run of reinforcement learning asks for in its configuration's words, and no import of its folder says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

SLIME = "python3 train.py --actor-num-gpus-per-node 4 --hf-checkpoint org/net --rollout-batch-size 8 --num-rollout 9\n"
OPENRLHF = "python3 -m openrlhf.cli.train_ppo_ray --actor.num_gpus_per_node 4 --rollout.batch_size 8 --vllm.num_engines 4 --train.lr 1e-6\n"


def found(tree: Checkout) -> set[str]:
    return {f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"}


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"run.sh": SLIME}, {"git+https://github.com/THUDM/slime.git", "ray", "sglang[all]", "megatron-core"}),
        ({"run.sh": OPENRLHF}, {"openrlhf", "ray", "vllm"}),
        (
            {
                "run.sh": "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=org/net actor_rollout_ref.rollout.name=sglang\n"
            },
            {"verl", "ray", "torch", "transformers", "hydra-core", "tensordict", "sglang[all]"},
        ),
        (
            {
                "run.sh": "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=a/b generator.inference_engine.backend=vllm\n"
            },
            {"ray", "vllm"},
        ),
        (
            {
                "train.py": "import torch\nfrom areal import PPOTrainer\nif __name__ == '__main__':\n    PPOTrainer().train()\n",
                "conf.yaml": "rollout:\n  backend: sglang:d4p1t1\nactor:\n  backend: fsdp:d4p1t1\n  path: org/net\n",
                "README.md": "```bash\npython3 train.py --config conf.yaml\n```\n",
            },
            {"sglang[all]"},
        ),
        ({"run.sh": "trl grpo --model_name_or_path org/net --use_vllm true --learning_rate 1e-6\n"}, {"trl", "vllm"}),
    ],
)
def test_the_words_of_a_run_name_its_library_its_engine_and_rays_cluster(
    checkout: Build, files: dict[str, str], wanted: set[str]
) -> None:
    assert wanted <= found(checkout(files))


@pytest.mark.parametrize(
    "files",
    [
        {"run.sh": OPENRLHF},  # its dots become the same words as slime's
        {"run.sh": "python train.py --lr 1\n", "train.py": "import torch\nloss.backward()\n"},
    ],
)
def test_other_runs_are_not_taken_for_slimes(checkout: Build, files: dict[str, str]) -> None:
    assert not any("slime" in name for name in found(checkout(files)))


def test_an_engine_that_is_switched_off_is_not_installed(checkout: Build) -> None:
    assert "vllm" not in found(
        checkout({"run.sh": "trl grpo --model_name_or_path org/net --use_vllm false --learning_rate 1e-6\n"})
    )


def test_what_other_scripts_sample_with_is_installed_where_no_list_is(checkout: Build) -> None:
    files = {"a_sft.sh": "deepspeed --module openrlhf.cli.train_sft --train.lr 1e-6\n", "b_ppo.sh": OPENRLHF}
    assert {"vllm", "ray"} <= found(checkout(files))
