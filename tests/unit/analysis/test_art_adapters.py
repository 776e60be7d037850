"""ART's own backend trains adapters on weights of 4 bit, which its program need not say."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

PROGRAM = """
import art
{takes}

async def main():
    model = art.TrainableModel(name='a', project='b', base_model='Qwen/Qwen2.5-7B-Instruct'{config})
    await model.register({backend})
    await model.train(groups)
"""
LOCAL = "from art.local import LocalBackend"


@pytest.mark.parametrize(
    ("backend", "config", "method"),
    [
        ("LocalBackend()", "", "qlora"),
        (
            "LocalBackend()",
            ", _internal_config=art.dev.InternalModelConfig(init_args=dict(load_in_4bit=False))",
            "lora",
        ),
    ],
)
def test_its_weights_lie_at_four_bit_unless_told_otherwise(
    checkout: Build, backend: str, config: str, method: str
) -> None:
    program = PROGRAM.format(takes=LOCAL, backend=backend, config=config)
    assert value_of_best(detect_all(checkout({"train.py": program})), "training.method") == method
