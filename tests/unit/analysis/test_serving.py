"""Engines that keep room for the whole context of the model that they serve."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
MODEL = "meta-llama/Llama-3.1-8B-Instruct"
NEEDS = {"requirements.txt": "vllm\n"}


def needed(tree: Checkout) -> int:
    return analyze(tree).spec.hardware.vram_required_gb or 0


@pytest.mark.parametrize(
    "files",
    [
        {"serve.sh": f"vllm serve {MODEL}\n"},
        {"run.py": f"from vllm import LLM\nif __name__ == '__main__':\n    LLM('{MODEL}').generate(['a'])\n"},
        {"service.py": f"import bentoml\n@bentoml.service(resources={{'gpu': 1}})\nclass A:\n    model_id = '{MODEL}'\n    def __command__(self):\n        return ['vllm', 'serve']\n"},
    ],
)  # fmt: skip
def test_what_says_no_length_needs_the_cache_of_a_whole_context(checkout: Build, files: Mapping[str, str]) -> None:
    # 15 GiB of weights and 16 GiB of keys and values: 131,072 tokens x 32 layers x 2 x 8 heads x 128 x 2 bytes.
    assert 31 <= needed(checkout({**NEEDS, **files})) <= 48


def test_a_length_that_is_set_is_what_is_kept(checkout: Build) -> None:
    assert needed(checkout({**NEEDS, "serve.sh": f"vllm serve {MODEL} --max-model-len 4096\n"})) <= 20


def test_transformers_keep_what_they_are_given(checkout: Build) -> None:
    text = f"from transformers import AutoModelForCausalLM as A\nif __name__ == '__main__':\n    A.from_pretrained('{MODEL}').cuda().generate(x)\n"
    assert needed(checkout({"run.py": text})) <= 20
