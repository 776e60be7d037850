"""Flyte's tasks say which card they take, and how many."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.flyte_orders import flyte_orders
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

TASK = "from flytekit import Resources, task\nfrom flytekit.extras.accelerators import {card}\nfrom flytekitplugins.inference import Ollama\n{server}\n@task(accelerator={card}, requests={asked})\ndef answer(question: str) -> str:\n    return question\n"


@pytest.mark.parametrize(
    ("text", "workload", "cards"),
    [
        (TASK.format(card="A10G", server="", asked='Resources(gpu="2")'), "inference", 2),
        (TASK.format(card="T4", server='served = Ollama(model="ours")', asked='Resources(gpu="0")'), "inference", 1),
        ("import flyte\nenv = flyte.TaskEnvironment(name='a', resources=flyte.Resources(cpu=1, gpu='A100:4'))\n", "inference", 4),
        ("import flyte\nenv = flyte.TaskEnvironment(name='a', resources=flyte.Resources(cpu=1, gpu=flyte.GPU('H100', 8)))\n", "inference", 8),
        (TASK.format(card="T4", server="", asked='Resources(gpu="0")'), "cpu-only", 0),
        # Another library's client has the same name as a server.
        ("from flytekit import task\nfrom flytekitplugins.papermill import NotebookTask\nfrom ours import VLLM\n@task\ndef ask(gpu: str) -> str:\n    return VLLM(address=gpu)\n", "cpu-only", 0),
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


def test_each_task_has_the_card_that_it_names(checkout: Build) -> None:
    tasks = "".join(
        f"@task(\n    limits=Resources(gpu={count}),\n    accelerator={card},\n)\ndef {name}() -> str:\n    return 'x'\n"
        for name, count, card in (("serve", 1, "T4"), ("learn", 4, "A100"))
    )
    source = checkout({"ours.py": f"from flytekit import Resources, task\n{tasks}"}).find("ours.py")
    assert source is not None
    assert [(card, count) for card, count, _ in flyte_orders(source)] == [("T4", 1), ("A100", 4)]
