"""RLlib's agents learn on the CPU until a program tells them how many cards their learners take."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

BUILT = """import argparse
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig

parser = argparse.ArgumentParser()
parser.add_argument("--cards", type=int, default=2)
args = parser.parse_args()
config = PPOConfig().environment("CartPole-v1"){told}
algo = config.build()
for i in range(100):
    print(algo.train())
"""
TUNED = """from ray import tune

tuner = tune.Tuner("PPO", param_space={{"env": "CartPole-v1", "framework": "torch"{told}}})
tuner.fit()
"""
OLDER = """import ray
from ray.rllib.agents.ppo import PPOTrainer

ray.init({cluster})
trainer = PPOTrainer(env="CartPole-v0", config={{"num_workers": 4, "framework": "torch"{told}}})
for i in range(1000):
    print(trainer.train())
"""


def answer(checkout: Build, program: str, told: str, cluster: str = "") -> tuple[str, int]:
    files = {
        "train.py": program.format(told=told, cluster=cluster),
        "requirements.txt": "ray[rllib]\ntorch\ngymnasium\n",
    }
    spec = analyze(checkout(files)).spec
    return spec.meta.workload_type.value, spec.hardware.gpu_count


@pytest.mark.parametrize(
    ("program", "told", "count"),
    [
        (BUILT, ".resources(num_gpus=1)", 1),
        (BUILT, ".resources(num_gpus=0.5)", 1),
        (BUILT, ".resources(num_gpus=args.cards)", 2),
        (BUILT, ".learners(num_learners=2, num_gpus_per_learner=1)", 2),
        (BUILT, ".learners(num_learners=0, num_gpus_per_learner=1)", 1),
        (BUILT, ".learners(num_gpus_per_learner=1)", 1),
        (BUILT, ".resources(num_learner_workers=2, num_gpus_per_learner_worker=1)", 2),
        (TUNED, ', "num_gpus": 1', 1),
        (OLDER, ', "num_gpus": 1', 1),
    ],
)
def test_a_learners_cards_are_told(checkout: Build, program: str, told: str, count: int) -> None:
    assert answer(checkout, program, told) == ("training", count)


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (BUILT, ""),
        (BUILT, ".resources(num_gpus=0)"),
        (BUILT, ".learners(num_learners=2, num_gpus_per_learner=0)"),
        (BUILT, ".learners(num_learners=2)"),
        (TUNED, ""),
        (TUNED, ', "num_gpus": 0'),
        (OLDER, ""),
    ],
)
def test_untold_learners_stay_on_the_cpu(checkout: Build, program: str, told: str) -> None:
    assert answer(checkout, program, told) == ("cpu-only", 0)


def test_what_ray_itself_has_is_not_what_learners_take(checkout: Build) -> None:
    assert answer(checkout, OLDER, ', "num_gpus": 1', "num_gpus=4") == ("training", 1)
