"""Flyte's tasks say which card they take, and how many."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

TASK = "from flytekit import Resources, task\nfrom flytekit.extras.accelerators import {card}\nfrom flytekitplugins.inference import Ollama\n{server}\n@task(accelerator={card}, requests={asked})\ndef answer(question: str) -> str:\n    return question\n"


@pytest.mark.parametrize(
    ("text", "workload", "cards"),
    [
        (TASK.format(card="A10G", server="", asked='Resources(gpu="2")'), "inference", 2),
        (TASK.format(card="T4", server='served = Ollama(model="ours")', asked='Resources(gpu="0")'), "inference", 1),
        ("import flyte\nenv = flyte.TaskEnvironment(name='a', resources=flyte.Resources(cpu=1, gpu='A100:4'))\n", "inference", 4),
        (TASK.format(card="T4", server="", asked='Resources(gpu="0")'), "cpu-only", 0),
        ("import flyte\nenv = flyte.TaskEnvironment(name='gpu', resources=flyte.Resources(cpu=1))\n", "cpu-only", 0),
        ("from ours import Resources\nasked = Resources(gpu=4)\n", "cpu-only", 0),
    ],
)  # fmt: skip
def test_what_a_workflow_asks_for(checkout: Build, text: str, workload: str, cards: int) -> None:
    found = analyze(checkout({"ours/ours/serve.py": text})).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == (workload, cards)


def test_the_card_of_a_workflow_is_an_order(checkout: Build) -> None:
    text = TASK.format(card="A10G", server="", asked='Resources(gpu="1")')
    findings = analyze(checkout({"serve.py": text})).findings
    assert [f.value for f in findings if f.field == "documented.card"] == ["A10G"]
