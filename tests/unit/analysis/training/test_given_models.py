"""What a trainer is given to judge is not what it trains, and lies on the card beside it."""

from __future__ import annotations

import json

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.analysis import Analysis
from tests.unit.analysis.conftest import Build

POLICY = "EleutherAI/pythia-1b-deduped"
JUDGE = "EleutherAI/pythia-410m"
PROGRAM = """from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification
from trl import PPOConfig, PPOTrainer
{critic} = AutoModelForSequenceClassification.from_pretrained("EleutherAI/pythia-410m", num_labels=1)
{judge} = AutoModelForSequenceClassification.from_pretrained("EleutherAI/pythia-410m", num_labels=1)
policy = AutoModelForCausalLM.from_pretrained({name})
trainer = PPOTrainer(args=PPOConfig(per_device_train_batch_size=8, bf16=True), model=policy, ref_model=None, {given}, train_dataset=data)
trainer.train()
"""
BOTH = "reward_model=zeta, value_model=eta"


def program(given: str = BOTH, name: str = f'"{POLICY}"') -> str:
    return PROGRAM.format(critic="eta", judge="zeta", given=given, name=name)


def said(analysis: Analysis, field: str) -> str | None:
    return next((finding.value for finding in analysis.findings if finding.field == field), None)


@pytest.mark.parametrize("is_notebook", [False, True])
def test_a_reward_model_that_is_loaded_first_is_not_the_policy(checkout: Build, is_notebook: bool) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": program().splitlines(keepends=True)}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    found = analyze(checkout({"train.ipynb": notebook} if is_notebook else {"train.py": program()}))
    assert (said(found, "model.id"), said(found, "rl.critic"), said(found, "rl.reward")) == (POLICY, JUDGE, JUDGE)
    assert found.breakdown is not None
    assert {"critic", "reward model"} <= {term.name for term in found.breakdown.terms}


def test_a_judge_is_never_taken_for_an_unknown_policy(checkout: Build) -> None:
    found = analyze(checkout({"train.py": program(name="asked()")}))
    assert said(found, "model.id") is None


def test_what_no_trainer_is_given_lies_beside_nothing(checkout: Build) -> None:
    found = analyze(checkout({"train.py": program(given="reward_model=None")}))
    assert (said(found, "rl.critic"), said(found, "rl.reward")) == (None, None)


def test_what_is_trained_too_is_no_judge(checkout: Build) -> None:
    found = analyze(checkout({"train.py": program(given="reward_model=policy")}))
    assert said(found, "rl.reward") is None


def test_a_notebook_on_one_line_says_nothing_of_which_is_which(checkout: Build) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": program()}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert said(analyze(checkout({"train.ipynb": notebook})), "rl.reward") is None
