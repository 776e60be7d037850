"""Weights that lie at 32 bit because nobody said otherwise."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

LOAD = "AutoModelForCausalLM.from_pretrained('EleutherAI/gpt-j-6b'{said}){then}"
PROGRAM = (
    "from {library} import AutoModelForCausalLM\nif __name__ == '__main__':\n    model = "
    + LOAD
    + ".cuda()\n    model.generate(x)\n"
)
README = "# Net\n```\npython run.py\n```\n"


def gib(tree: Build, needs: str, library: str = "transformers", said: str = "", then: str = "") -> int:
    program = PROGRAM.format(library=library, said=said, then=then)
    found = analyze(tree({"run.py": program, "README.md": README, "requirements.txt": needs}))
    return found.spec.hardware.needed_gib or 0


@pytest.mark.parametrize("needs", ["torch\ntransformers==4.23.1\n", "torch==1.12.1\ntransformers\n"])
def test_older_releases_load_weights_at_32_bit(checkout: Build, needs: str) -> None:
    assert gib(checkout, needs) >= 24


@pytest.mark.parametrize(
    ("needs", "library", "said", "then"),
    [
        ("torch\ntransformers>=5\n", "transformers", "", ""),
        ("torch\ntransformers==4.23.1\n", "transformers", ", torch_dtype=dtype", ""),
        ("torch\ntransformers==4.23.1\n", "transformers", "", ".half()"),
        ("torch\nctransformers\ntransformers==4.23.1\n", "ctransformers", "", ""),
    ],
)
def test_what_says_another_width_is_believed(checkout: Build, needs: str, library: str, said: str, then: str) -> None:
    assert gib(checkout, needs, library, said, then) < 20
