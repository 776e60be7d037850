"""How many cards a README shows a model on that the program itself divides."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.gpu_counts.gpu_count import detect
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

PROGRAM = """import tensor_parallel as tp
from transformers import AutoModelForCausalLM
net = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
net = {}
print(net.generate("x"))
"""
README = """# Long
## Play with the pretrained checkpoint
It requires at least 8x RTX 4090.
## Evaluate the pretrained checkpoint
The evaluation requires 4x A100 80GB.
```
python main.py
```
"""


@pytest.mark.parametrize(
    ("divides", "expected"),
    [("tp.tensor_parallel(net, sharded=True)", ["4"]), ("net.half()", [])],
)
def test_what_stands_beside_the_command_goes_first(checkout: Build, divides: str, expected: list[str]) -> None:
    tree = checkout({"README.md": README, "main.py": PROGRAM.format(divides)})
    assert [f.value for f in detect(tree, primary_run(tree))] == expected
